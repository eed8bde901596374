"""Columns written out under the names of their tables, for ad-hoc queries: those that FULL JOIN merges too.

p  →  coalesce(a.p, b.p), each as a decimal of all digits where DuckDB would round one of them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from engine.schema import Type
from planner.bind.expressions.comparable_sides import would_be_rounded
from planner.bind.expressions.taken_digits import common_digits
from planner.bind.name_scope import NameScope
from planner.ir import Attribute
from planner.sql_types import duckdb_type

Merged = Mapping[int, tuple[int, int]]
"""The two sources of each column that a FULL JOIN merges."""


def written_column(number: int, scope: NameScope, merged: Merged) -> exp.Expression | None:
    """The column of a number, qualified by its table's name; unqualified if the name is unique in the scope.
    None for a column that has no such name."""
    if number in merged:
        return _coalesced(number, scope, merged)
    found = _owned(number, scope)
    if found is None:
        return None
    alias, column = found
    owner = exp.to_identifier(alias, quoted=True) if alias else None
    return exp.column(exp.to_identifier(column.name, quoted=True), owner)


def rounded_type(number: int, scope: NameScope, merged: Merged) -> Type | None:
    """The decimal with all digits of a merged column's sources, if DuckDB's would have less; else None."""
    types = list(_types(number, scope, merged))
    return common_digits(types) if would_be_rounded(types) else None


def _coalesced(number: int, scope: NameScope, merged: Merged) -> exp.Expression | None:
    left, right = (written_column(part, scope, merged) for part in merged[number])
    if left is None or right is None:
        return None
    type = rounded_type(number, scope, merged)
    if type is not None:
        to = exp.DataType.build(duckdb_type(type), dialect="duckdb")
        left, right = exp.cast(left, to.copy()), exp.cast(right, to)
    return exp.Coalesce(this=left, expressions=[right])


def _types(number: int, scope: NameScope, merged: Merged) -> Iterator[Type]:
    """The types of the columns from which a column is merged."""
    if number in merged:
        for part in merged[number]:
            yield from _types(part, scope, merged)
    elif (found := _owned(number, scope)) is not None:
        yield found[1].type


def _owned(number: int, scope: NameScope) -> tuple[str, Attribute] | None:
    """The column of a number, with the name of its table."""
    for table in scope.tables:
        column = next((column for column in table.columns if column.id == number), None)
        if column is not None and (table.alias or _is_alone(column.name, scope)):
            return table.alias, column
    return None


def _is_alone(name: str, scope: NameScope) -> bool:
    return sum(column.name.lower() == name.lower() for column in scope.star) == 1
