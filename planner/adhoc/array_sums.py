"""`||` of arrays in ad-hoc queries, where the dialect lets NULL add nothing: DuckDB's is NULL then.

    h || g || k   →   CASE WHEN COALESCE(h, g, k) IS NULL THEN NULL ELSE list_concat(list_concat(h, g), k) END

Sides are arrays where their form says so, or the name of a column that has one type in the query's tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from sqlglot import exp

from engine.schema import Kind, Type
from planner.adhoc.column_types import column_type
from planner.dialects.traits import Trait, has
from planner.native import templates


def with_array_sums(query: exp.Expression, types: Mapping[str, Type], dialect: str) -> None:
    """Replace the sums of arrays in a query; `types` are those of columns, by name."""
    sums = list(query.find_all(exp.DPipe)) if has(dialect, Trait.NULL_ARRAYS_ADD_NOTHING) else []
    for node in sums:
        if isinstance(node.parent, exp.DPipe):
            continue  # a part of a longer sum
        parts = list(_parts(node))
        if all(_is_array(part, types) or isinstance(part, exp.Null) for part in parts):
            places = [f"{{{place}}}" for place in range(len(parts))]
            added = reduce(lambda left, right: f"list_concat({left}, {right})", places)
            template = f"CASE WHEN COALESCE({', '.join(places)}) IS NULL THEN NULL ELSE {added} END"
            node.replace(templates.sql(template, parts))


def _parts(node: exp.Expression):
    """The sides of a sum of any length, in order."""
    inner = node.unnest()
    if isinstance(inner, exp.DPipe):
        yield from _parts(inner.this)
        yield from _parts(inner.expression)
    else:
        yield node


def _is_array(node: exp.Expression, types: Mapping[str, Type]) -> bool:
    match node.unnest():
        case exp.Array():
            return True
        case exp.Cast(to=exp.DataType(this=exp.DType.ARRAY | exp.DType.LIST)):
            return True
    found = column_type(node, types)
    return found is not None and found.kind is Kind.ARRAY
