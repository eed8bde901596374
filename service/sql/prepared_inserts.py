"""Prepared INSERTs: VALUES of parameters and literals into a table, read once and run for many values.

A run gives the changes that the statement would make with these values. It gives none, and the statement has
to be planned with its values, if one of them needs evaluation: a text for a number, a number to be rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from engine.codec.json import encode_rows
from engine.errors import EngineError
from engine.schema import Schema, Type
from engine.state.dictionary import Dictionary
from planner.adhoc.dml_queries import cells, is_default
from planner.adhoc.literals import NotPlain, plain_cell, plain_value
from planner.errors import PlannerError
from planner.identifiers import fold, relation_name
from planner.limits import PlanningLimits, within
from planner.parsing.parameters import Given, names_of
from planner.parsing.script import Piece
from planner.parsing.vocabulary import Vocabulary, with_vocabulary
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.sql.updating import nullable

_MOST = 1_000
"""The most values of a statement that is prepared."""
_PARTS = frozenset({"this", "expression"})
"""Parts that the INSERT may have."""


@dataclass(frozen=True)
class _Argument:
    """The value of the parameter called `name`."""

    name: str


class PreparedInsert:
    """`definition` is the table as it was when the statement was prepared."""

    def __init__(
        self,
        definition: Definition,
        places: tuple[int, ...],
        rows: Sequence[Sequence[object]],
        dialect: str,
    ) -> None:
        """`rows` have values that the codec takes, and arguments, for the columns at `places`."""
        self.definition = definition
        self._places = list(places)
        self._rows = rows
        self._dialect = dialect
        self._schema: Schema = nullable(definition, places)

    def changes(
        self, given: Mapping[str, Given], dictionary: Dictionary, in_utc: bool
    ) -> TableChanges | None:
        """The changes with these values; None if they need evaluation. Whoever calls it holds the texts.
        Moments without an offset are `in_utc`, or need evaluation."""
        types = self._schema.types
        try:
            rows = [
                [
                    _value(cell, type, given, in_utc, self._dialect)
                    for cell, type in zip(row, types, strict=True)
                ]
                for row in self._rows
            ]
            found = encode_rows(rows, self._schema, dictionary)
        except (NotPlain, EngineError):
            return None
        schema = self.definition.schema
        if self._places == list(range(len(schema))):
            return TableChanges.of(ChangeOp.INSERT, schema, found)
        words = np.repeat(self.definition.defaults()[:, np.newaxis], found.shape[1], axis=1)
        words[self._places] = found
        return TableChanges.of(ChangeOp.INSERT, schema, words)


def _value(cell: object, type: Type, given: Mapping[str, Given], in_utc: bool, dialect: str) -> object:
    if not isinstance(cell, _Argument):
        return cell
    found = given.get(cell.name)
    if found is None or found.type is not None:
        raise NotPlain
    return plain_value(found.value, type, in_utc, dialect)


def prepared_insert(
    piece: Piece, definitions: Mapping[str, Definition], vocabulary: Vocabulary, limits: PlanningLimits
) -> PreparedInsert | None:
    """The INSERT that a statement is; None if it is none, or more than plain VALUES."""
    if piece.words(1) != ("INSERT",):
        return None
    try:
        with within(limits):
            tree = with_vocabulary(piece, vocabulary).template()
        return _of_tree(tree, definitions, piece.dialect) if isinstance(tree, exp.Insert) else None
    except (PlannerError, NotPlain, RecursionError, UnicodeError):
        return None


def _of_tree(tree: exp.Insert, definitions: Mapping[str, Definition], dialect: str) -> PreparedInsert | None:
    values, target = tree.expression, tree.this
    if any(value and part not in _PARTS for part, value in tree.args.items()):
        return None
    table = target.this if isinstance(target, exp.Schema) else target
    if not isinstance(values, exp.Values) or not isinstance(table, exp.Table) or _has_more(values):
        return None
    definition = definitions.get(relation_name(table))
    if definition is None or definition.is_view:
        return None
    places = _places(target, definition)
    rows = [cells(row) for row in values.expressions]
    if places is None or any(len(row) != len(places) for row in rows) or len(rows) * len(places) > _MOST:
        return None
    names, columns = names_of(tree), definition.schema.types
    return PreparedInsert(
        definition,
        places,
        [
            [_cell(cell, columns[place], names, dialect) for cell, place in zip(row, places, strict=True)]
            for row in rows
        ],
        dialect,
    )


def _has_more(values: exp.Values) -> bool:
    return any(value and part != "expressions" for part, value in values.args.items())


def _places(target: exp.Expr, definition: Definition) -> tuple[int, ...] | None:
    """The columns that are given values; None if one is unknown, named twice, or filled by the table."""
    names = definition.schema.names
    given = [fold(node) for node in target.expressions] if isinstance(target, exp.Schema) else list(names)
    if len(set(given)) < len(given) or not set(given) <= set(names):
        return None
    places = tuple(map(definition.schema.index, given))
    filling = definition.filling
    if filling is not None and any(p in filling.generated or p in filling.always for p in places):
        return None
    return places


def _cell(cell: exp.Expression, type: Type, names: Mapping[int, str], dialect: str) -> object:
    if isinstance(cell, exp.Parameter | exp.Placeholder) and cell.args.get("kind") is None:
        return _Argument(names[id(cell)])
    if is_default(cell):
        raise NotPlain
    return plain_cell(cell, type, in_utc=False, dialect=dialect)
