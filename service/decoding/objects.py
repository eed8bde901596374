"""JSON objects as rows: each value goes to the column of its name.

A column that an object leaves out gets its default. A name that the table does not have is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

import numpy as np

from engine.codec.json import encode_rows
from engine.errors import InvalidValue
from engine.state.dictionary import Dictionary
from planner.suggestions import did_you_mean
from service.changes.table_changes import TableChanges
from service.definitions.definition import Definition
from service.errors import Invalid
from service.names import fold_name

Row = Sequence[object]
"""A JSON or Python value for each column of a table."""
FORM = 'a change is {"insert": {...}}, {"delete": {...}} or {"upsert": {...}}'
_OP = np.dtype(np.int8)
CHANGE = "change {}"
"""The default format in which errors name a place."""


def row_reader(definition: Definition, where: str = CHANGE) -> Callable[[dict, int], Row]:
    """A function from a JSON object, and its place for errors, to a row. It raises Invalid.

    `where` is the format in which errors name the place.
    """
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
    """The row of an object that leaves columns out or writes their names in another case."""
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
    """The place of the column that a client calls `name`. Raises Invalid if the table has none."""
    names = definition.schema.names
    if name in names:
        return names.index(name)
    try:
        return names.index(fold_name(name))
    except (ValueError, Invalid):
        raise Invalid(
            f"{where} has a column {name}, which table {definition.name} does not have",
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
    """Operations and their rows as changes. InvalidValue names a row's place, by default its number."""
    try:
        words = encode_rows(rows, definition.loose, dictionary)
    except InvalidValue as error:
        for place, row in zip(places or range(len(rows)), rows, strict=True):
            try:
                encode_rows([row], definition.loose, dictionary)
            except InvalidValue as found:
                raise InvalidValue(f"{where.format(place)}: {found.message}", found.hint) from None
        raise error
    return TableChanges(definition.schema, np.array(ops, _OP), words)
