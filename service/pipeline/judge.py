"""Checking what a reader found against a table: columns are matched by name, values coerced, rows checked.

Faults of columns (one that the table does not have, a NOT NULL one that is missing, a type that never fits)
are found before anything runs. The scan's column `_error` has the fault of each row: the first one, in the
order of the table's columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.schema import Column, Schema
from service.errors import Invalid
from service.names import fold_name
from service.pipeline.spark_casts import spark_cast, spark_identifier, spark_literal, spark_text, spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ERROR = "_error"
"""The last column of a checked frame: the fault of the row, NULL for a good one."""
Found = Mapping[str, str]
"""The columns that a reader found, with Spark's names of their types."""
_SHOWN = 80
"""The most characters of a value that a message shows."""


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


def judged(
    frame: DataFrame,
    found: Found,
    matched: Mapping[int, str],
    schema: Schema,
    corrupt: str,
    also: Sequence[str] = (),
) -> DataFrame:
    """The table's columns, and `_error`. `corrupt` names the frame's column of unreadable records, or is
    empty; `also` has SQL of further columns. Raises Invalid if a column's type never fits."""
    values, errors = [], []
    if corrupt:
        record = spark_identifier(corrupt)
        errors.append(f"CASE WHEN {record} IS NOT NULL THEN {_about('not a record', record, 'string')} END")
    for place, column in enumerate(schema.columns):
        name = matched.get(place)
        value, error = _judged(column, name, found[name] if name is not None else "void")
        values.append(f"{value} AS {spark_identifier(column.name)}")
        errors += [error] if error else []
    error = f"coalesce({', '.join(errors)})" if errors else "NULL"
    return frame.selectExpr(*values, f"CAST({error} AS string) AS {ERROR}", *also)


def _judged(column: Column, name: str | None, source: str) -> tuple[str, str]:
    """SQL of a column's value and of its fault; the latter is empty if there can be none."""
    if name is None:
        return f"CAST(NULL AS {spark_type(column.type)})", ""
    given = spark_identifier(name)
    coerced = spark_cast(given, source, column.type)
    if coerced is None:
        raise Invalid(
            f"column {column.name} is {column.type}: values of Spark's type {source} never fit",
            code="type_mismatch",
        )
    cases = []
    if coerced.fits is not None:
        message = _about(f"column {column.name}", given, source, f" is not a valid {column.type}")
        cases.append(f"WHEN {given} IS NOT NULL AND NOT coalesce({coerced.fits}, false) THEN {message}")
    if not column.nullable:
        message = spark_literal(f"column {column.name}: NULL in a column that is NOT NULL")
        cases.append(f"WHEN {given} IS NULL THEN {message}")
    return coerced.value, f"CASE {' '.join(cases)} END" if cases else ""


def _about(what: str, column: str, source: str, fact: str = "") -> str:
    """SQL of a message about a value."""
    value = f"left({spark_text(column, source)}, {_SHOWN})"
    return f"concat({spark_literal(what + ': ')}, {value}, {spark_literal(fact)})"


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
    names = [name.lower() for name in (*schema.names, ERROR)]
    if len(set(names)) < len(names):
        raise Invalid(
            f"table {table} cannot be loaded",
            f"Spark ignores case in names of columns, and none may be called {ERROR}",
            code="unsupported_table",
        )


def _listed(found: Found) -> str:
    return f"the columns that were found are {', '.join(found)}"
