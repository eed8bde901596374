"""The rows of INSERT as words: from VALUES, from a query, or from defaults alone.

Plain values need no evaluation: `NewRows.plain` has their rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from engine.codec.json import encode_rows
from engine.errors import InvalidValue
from engine.state.dictionary import Dictionary
from planner.adhoc.adhoc_query import AdhocQuery
from planner.adhoc.dml_queries import (
    cells,
    default_cells,
    insert_columns,
    insert_query,
    only_column,
    values_query,
)
from planner.adhoc.literals import plain_rows
from planner.errors import InvalidQuery, UnknownColumn
from planner.parsing.column_names import POSTGRES
from planner.positions import fail
from planner.statements.statements import Insert
from planner.suggestions import did_you_mean
from service.definitions.definition import Definition
from service.sql.sight import Sight
from service.sql.updating import check_writable, encoded, naming, nullable


@dataclass(frozen=True, eq=False)
class NewRows:
    """The rows of an INSERT: `words` returns them, int64[W, n]; `plain` has them if they need no query."""

    queries: tuple[AdhocQuery, ...]
    words: Callable[[Sight], np.ndarray]
    plain: np.ndarray | None = None


def new_rows(
    statement: Insert,
    definition: Definition,
    definitions: Mapping[str, Definition],
    dictionary: Dictionary,
) -> NewRows:
    """The rows of an INSERT. Raises a PlannerError or InvalidValue for errors found so far."""
    match statement.query:
        case None:
            words = _whole_rows(np.zeros((0, 1), np.int64), definition, ())
            return NewRows((), lambda sight: words, words)
        case exp.Values() as values:
            return _of_values(statement, values, definition, definitions, dictionary)
    return _of_query(statement, definition, definitions)


def _of_values(
    statement: Insert,
    values: exp.Values,
    definition: Definition,
    definitions: Mapping[str, Definition],
    dictionary: Dictionary,
) -> NewRows:
    places = _places(statement, definition, {len(cells(row)) for row in values.expressions})
    for row in values.expressions:
        _check_width(len(cells(row)), places, row)
    left = default_cells(values)
    for place, column in enumerate(places):
        if sum(at == place for _, at in left) < len(values.expressions):
            check_writable([column], definition, values)
    types = [definition.schema.types[i] for i in places]
    plain = plain_rows(values, types, statement.piece.in_utc, statement.piece.dialect)
    if plain is not None:
        found = encode_rows(plain, nullable(definition, places), dictionary)
        words = _whole_rows(_filled(found, left, definition, places), definition, places)
        return NewRows((), lambda sight: words, words)
    query = values_query(values, types, definitions)

    def evaluate(sight: Sight) -> np.ndarray:
        try:
            answer = sight.ask(query)
        except InvalidValue:
            for place, column in enumerate(places):
                alone = values_query(only_column(values, place), types[place : place + 1], definitions)
                with naming(definition.schema.names[column]):
                    sight.ask(alone)
            raise
        words = encoded(answer, sight, definition, places)
        return _whole_rows(_filled(words, left, definition, places), definition, places)

    return NewRows((query,), evaluate)


def _of_query(statement: Insert, definition: Definition, definitions: Mapping[str, Definition]) -> NewRows:
    query = insert_query(statement, definitions)
    by_name = bool(statement.tree.args.get("by_name"))
    node = statement.tree

    def evaluate(sight: Sight) -> np.ndarray:
        answer = sight.ask(query)
        if by_name:
            places = _by_name(answer.names, definition, node)
        else:
            places = _places(statement, definition, {len(answer.names)})
        _check_width(len(answer.names), places, node.expression)
        check_writable(places, definition, node)
        return _whole_rows(encoded(answer, sight, definition, places), definition, places)

    if statement.columns:
        check_writable(insert_columns(statement, definition.schema), definition, node)
    return NewRows((query,), evaluate)


def _places(statement: Insert, definition: Definition, widths: set[int]) -> tuple[int, ...]:
    """The columns of an INSERT; without a list all of them, or all except generated ones. In `postgres`,
    fewer values are those of the first columns."""
    places = insert_columns(statement, definition.schema)
    if statement.columns or widths == {len(places)}:
        return places
    width = max(widths, default=0)
    if statement.piece.dialect == POSTGRES and len(widths) == 1 and 0 < width < len(places):
        generated = () if definition.filling is None else definition.filling.generated
        if width < len(places) - len(generated):
            return places[:width]
    if definition.filling is None:
        return places
    given = tuple(i for i in places if i not in definition.filling.generated)
    return given if widths == {len(given)} else places


def _by_name(names: Sequence[str], definition: Definition, node: exp.Expression) -> tuple[int, ...]:
    places = []
    for name in names:
        if name not in definition.schema.names:
            known = ", ".join(definition.schema.names)
            hint = did_you_mean(name, definition.schema.names, f"it has {known}")
            fail(UnknownColumn(f'table "{definition.name}" has no column "{name}"', hint), node)
        places.append(definition.schema.index(name))
    return tuple(places)


def _check_width(width: int, places: tuple[int, ...], node: exp.Expression) -> None:
    if width != len(places):
        values = f"{width} value{'s' if width != 1 else ''}"
        columns = f"{len(places)} column{'s' if len(places) != 1 else ''}"
        fail(InvalidQuery(f"{values} for {columns}"), node)


def _filled(
    words: np.ndarray, left: Sequence[tuple[int, int]], definition: Definition, places: tuple[int, ...]
) -> np.ndarray:
    """The words, with defaults where DEFAULT was written."""
    if left:
        defaults = definition.defaults()
        for row, place in left:
            words[place, row] = defaults[places[place]]
    return words


def _whole_rows(words: np.ndarray, definition: Definition, places: tuple[int, ...]) -> np.ndarray:
    """Rows of all columns: the words at `places`, defaults in the others."""
    rows = np.repeat(definition.defaults()[:, np.newaxis], words.shape[1], axis=1)
    rows[list(places)] = words
    return rows
