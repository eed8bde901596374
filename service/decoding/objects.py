"""JSON objects as rows: which value belongs to which column of a table, and what does not fit.

A column that an object leaves out has its default; one that the table does not have is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

import numpy as np

from engine.codec import encode_rows
from engine.errors import InvalidValue
from engine.state.dictionary import Dictionary
from planner.suggestions import did_you_mean
from service.changes.table_changes import TableChanges
from service.definitions.definition import Definition
from service.errors import Invalid
from service.names import fold

Row = Sequence[object]
"""A JSON or Python value for each column of a table."""
FORM = 'a change is {"insert": {...}}, {"delete": {...}} or {"upsert": {...}}'
CHANGE = "change {}"
"""How errors call a place, unless somebody knows better."""


def row_reader(definition: Definition, where: str = CHANGE) -> Callable[[dict, int], Row]:
    """Takes a JSON object, and its place, apart into a row. Invalid; `where` says how it calls the place."""
    names = definition.schema.names
    get = itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)

    def read(row: dict, place: int) -> Row:
        if len(row) == len(names):
            try:
                return get(row)
            except KeyError:
                pass
        return _folded(row, where.format(place), definition)

    return read


def _folded(row: dict, where: str, definition: Definition) -> Row:
    """The row of an object that leaves columns out, or writes their names in another case."""
    values = definition.left_out()
    seen: set[int] = set()
    for key, value in row.items():
        index = column_of(key, definition, where)
        if index in seen:
            raise Invalid(f"{where} has column {key} twice", code="duplicate_column")
        seen.add(index)
        values[index] = value
    return values


def column_of(name: str, definition: Definition, where: str) -> int:
    """The place of the column that a client calls `name`; Invalid if the table has none."""
    names = definition.schema.names
    if name in names:
        return names.index(name)
    try:
        return names.index(fold(name))
    except (ValueError, Invalid):
        raise Invalid(
            f"{where} has a column {name}, which table {definition.name} has not",
            did_you_mean(name, names, f"its columns are {', '.join(names)}"),
            code="unknown_column",
        ) from None


def changes_of(
    ops: Sequence[int],
    rows: Sequence[Row],
    definition: Definition,
    dictionary: Dictionary,
    places: Sequence[int] | None = None,
    where: str = CHANGE,
) -> TableChanges:
    """Operations and their rows as changes; InvalidValue names the place, which is counted unless given."""
    try:
        words = encode_rows(rows, definition.loose, dictionary)
    except InvalidValue as error:
        for place, row in zip(places or range(len(rows)), rows, strict=True):
            try:
                encode_rows([row], definition.loose, dictionary)
            except InvalidValue as found:
                raise InvalidValue(f"{where.format(place)}: {found.message}", found.hint) from None
        raise error
    return TableChanges(definition.schema, np.array(ops, np.int8), words)
