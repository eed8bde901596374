"""Checking what a reader found against a table: columns are matched by name, and get the judge of their rows.

Faults of columns (one that the table does not have, a NOT NULL one that is missing, a type that never fits)
are found before anything is read. The judge (`engine.judging`) finds the faults of rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from engine.judging.row_judge import RowJudge
from engine.judging.typed_readings import may_fit
from engine.schema import Schema
from service.errors import Invalid
from service.names import fold_name

Found = Mapping[str, pa.DataType]
"""The columns that a reader found, with their types."""


def match(
    found: Found, table: str, schema: Schema, renamed: Mapping[str, str], ignore_unknown: bool
) -> dict[int, str]:
    """For the places of the table's columns, the names of their columns in the data. Raises Invalid.

    `renamed` maps names of columns in the data to the table's names.
    """
    for name in renamed:
        if name not in found:
            raise Invalid(f"there is no column {name} to rename", _listed(found), code="unknown_column")
    matched: dict[int, str] = {}
    unknown = []
    for name in found:
        place = _place(renamed.get(name, name), schema)
        if place is None:
            unknown.append(name)
        elif place in matched:
            column = schema.names[place]
            raise Invalid(f"{matched[place]} and {name} are both column {column}", code="duplicate_column")
        else:
            matched[place] = name
    if unknown and not (ignore_unknown and not renamed.keys() & set(unknown)):
        raise Invalid(
            f"table {table} has no column {', '.join(unknown)}",
            f'its columns are {", ".join(schema.names)}; use "unknown_columns": "ignore" to leave others out',
            code="unknown_column",
        )
    _check_present(matched, found, table, schema)
    return matched


def row_judge(
    found: Found, matched: Mapping[int, str], schema: Schema, corrupt: str
) -> tuple[RowJudge, list[str]]:
    """The judge of the rows, and the columns of the data that it takes, in their order.

    `corrupt` names the column of what is no record, or is empty. Raises Invalid if a column's type never
    fits.
    """
    taken: list[str] = []
    sources: list[int | None] = []
    for place, column in enumerate(schema.columns):
        name = matched.get(place)
        if name is None:
            sources.append(None)
            continue
        if not may_fit(found[name], column.type):
            raise Invalid(
                f"column {column.name} is {column.type}: values of the type {found[name]} never fit",
                code="type_mismatch",
            )
        sources.append(len(taken))
        taken.append(name)
    record = len(taken) if corrupt else None
    return RowJudge(schema.columns, tuple(sources), record), [*taken, *([corrupt] if corrupt else [])]


def _place(name: str, schema: Schema) -> int | None:
    """The place of the column with this name, taken literally or folded as SQL does."""
    if name in schema.names:
        return schema.index(name)
    try:
        return schema.index(fold_name(name))
    except (KeyError, Invalid):
        return None


def _check_present(matched: Mapping[int, str], found: Found, table: str, schema: Schema) -> None:
    missing = [c.name for i, c in enumerate(schema.columns) if i not in matched and not c.nullable]
    if missing:
        raise Invalid(
            f"there is no column for {', '.join(missing)} of table {table}, which is NOT NULL",
            _listed(found),
            code="missing_column",
        )
    if not matched:
        raise Invalid(f"the data has no column of table {table}", _listed(found), code="missing_column")


def _listed(found: Found) -> str:
    return f"the columns that were found are {', '.join(found)}"
