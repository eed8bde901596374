"""All tables of ClickHouse's calls, and the nodes that mean something else there."""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.clickhouse.clickhouse_arrays import ARRAYS
from planner.dialects.clickhouse.clickhouse_casts import CASTS, cast_to_moment, cast_to_named, cut_to_digits
from planner.dialects.clickhouse.clickhouse_days import DAYS, in_zone
from planner.dialects.clickhouse.clickhouse_documents import DOCUMENTS
from planner.dialects.clickhouse.clickhouse_maps import MAPS
from planner.dialects.clickhouse.clickhouse_numbers import NUMBERS
from planner.dialects.clickhouse.clickhouse_texts import TEXTS, extracted
from planner.dialects.clickhouse.clickhouse_tuples import TUPLES, tuple_sum
from planner.dialects.decimal_texts import shortened
from planner.native.templates import Meanings, sql

CLICKHOUSE: Meanings = {
    **ARRAYS,
    **CASTS,
    **DAYS,
    **DOCUMENTS,
    **MAPS,
    **NUMBERS,
    **TEXTS,
    **TUPLES,
}
_NUMBERS = frozenset({"nan", "inf"})
"""Names that are numbers."""


def clickhouse_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Add() | exp.Sub() if (tuples := tuple_sum(node)) is not None:
            return tuples
        case exp.Anonymous(expressions=[exp.Anonymous() as inner]) if inner.name.upper() == "TOTIMEZONE":
            return in_zone(node.name.upper(), inner) or node
        case exp.Cast(to=exp.DataType(this=exp.DType.DECIMAL) as type) if len(type.expressions) == 2:
            return cut_to_digits(node, type)
        case exp.Cast(to=exp.DataType(this=exp.DType.DATETIME | exp.DType.DATETIME64) as type):
            return cast_to_moment(node, type)
        case exp.Cast():
            return shortened(node)
        case exp.CastToStrType():
            return cast_to_named([node.this, node.args["to"]])
        case exp.Anonymous(expressions=[text, pattern]) if node.name.upper() == "EXTRACT":
            return extracted([text, pattern])
        case exp.Column(this=exp.Identifier(quoted=False) as name) if (
            not node.table and name.name in _NUMBERS
        ):
            return sql(f"CAST('{name.name}' AS DOUBLE)", [])
        case exp.In(expressions=[_, *_]) if any(isinstance(each, exp.Null) for each in node.expressions):
            # 2 IN (1, NULL) is 0: NULL is no member
            found = node.copy()
            found.set("expressions", [each for each in found.expressions if not isinstance(each, exp.Null)])
            return found
        case exp.Literal(is_string=False) if "." in node.name and "e" not in node.name.lower():
            return exp.Literal.number(f"{node.name}e0")  # 0.1 + 0.2 is 0.30000000000000004
        case exp.Neg(this=exp.Literal(is_string=False) as number) if number is not clickhouse_node(number):
            return exp.Neg(this=clickhouse_node(number))
    return node
