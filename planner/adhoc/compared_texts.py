"""Texts that are compared with columns, in ad-hoc queries and predicates.

DuckDB compares an enumeration with a text as two texts; PostgreSQL compares them by the order of the labels.
So a label that is compared with a column is cast to the column's type. A value that PostgreSQL writes in
another way than DuckDB reads it, like the time `13:00+01`, is written in DuckDB's way.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from engine.scalar.written import is_rewritten, readable
from engine.schema import Kind, Type
from planner.adhoc.column_types import column_type
from planner.sql_types import duckdb_type

_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_EQUATED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)
_SIDES = ("this", "expression", "low", "high")


def with_texts_of_columns(tree: exp.Expression, types: Mapping[str, Type], dialect: str) -> None:
    """Write each text that is compared with a column so that DuckDB compares them as the column's type does.
    `types` are those of the columns by name."""
    known = {name: type for name, type in types.items() if type.kind is Kind.ENUM or is_rewritten(type)}
    if not known:
        return
    for node in list(tree.find_all(*_ORDERED, *_EQUATED)):
        sides = [node.args[part] for part in _SIDES if node.args.get(part)] + node.expressions
        column = next((side for side in sides if isinstance(side, exp.Column)), None)
        type = column_type(column, known) if column is not None else None
        for text in sides:
            if type is not None and isinstance(text, exp.Literal) and text.is_string:
                _write(text, type, dialect, isinstance(node, _ORDERED))


def _write(text: exp.Literal, type: Type, dialect: str, is_ordered: bool) -> None:
    if type.kind is not Kind.ENUM:
        text.set("this", readable(text.name, type))
    elif is_ordered and dialect != "duckdb":
        text.replace(exp.cast(text.copy(), exp.DataType.build(duckdb_type(type), dialect="duckdb")))
