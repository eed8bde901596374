"""Columns that are written as the name of their table: in PostgreSQL, `e` of `unnest(...) AS e(value)`.

A column with that name comes first, so the names are looked up again where the columns are known.
"""

from __future__ import annotations

from sqlglot import exp

_ROW = "stands for a row"


def mark_row(column: exp.Column) -> None:
    """Note that the text has the name of the column's table alone."""
    column.meta[_ROW] = True


def stands_for_row(column: exp.Column) -> bool:
    """Whether the text has the name of the column's table alone."""
    return _ROW in column.meta
