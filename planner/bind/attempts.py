"""TRY(expression): NULL where any part of the expression fails.

The whole expression becomes one DuckDB expression over columns alone, so that no part fails outside TRY.
"""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Call, Case, Cast, ColumnRef, Foreign, Literal, OneOf, Op
from planner.ir import Expression
from planner.native.reference import fill_places, literal_text
from planner.positions import refuse
from planner.sql_types import UNTYPED, duckdb_type

_FUNCTIONS = frozenset({Op.ABS, Op.SQRT, Op.COALESCE, Op.GREATEST, Op.LEAST})
_BEFORE = {Op.NEG: "-", Op.NOT: "NOT "}


def is_attempt(node: exp.Expression) -> bool:
    """Whether the node is a call of TRY."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "TRY" and len(node.expressions) == 1


def attempted(value: Expression, node: exp.Expression) -> Expression:
    """The value, or NULL where it fails. Raises Unsupported at `node` if it needs more than its row."""
    if isinstance(value, Literal | ColumnRef):
        return value
    columns: list[ColumnRef] = []
    text = _text(value, columns, node)
    return Foreign(f"TRY({text})", tuple(columns), value.type)


def _text(value: Expression, columns: list[ColumnRef], node: exp.Expression) -> str:
    """The expression in DuckDB's SQL, cast to its own type, with places for columns."""
    match value:
        case ColumnRef():
            if value not in columns:
                columns.append(value)
            return f"{{{columns.index(value)}}}"
        case Literal(value=None):
            return "NULL" if value.type is UNTYPED else f"CAST(NULL AS {duckdb_type(value.type)})"
        case Literal():
            text = literal_text(value).replace("{", "' || chr(123) || '").replace("}", "' || chr(125) || '")
        case Call(op=op, args=args):
            text = _operation(op, [_text(arg, columns, node) for arg in args])
        case Cast(arg=arg, lenient=lenient):
            function = "TRY_CAST" if lenient else "CAST"
            return f"{function}({_text(arg, columns, node)} AS {duckdb_type(value.type)})"
        case Case(branches=branches, otherwise=otherwise):
            whens = (f"WHEN {_text(c, columns, node)} THEN {_text(v, columns, node)}" for c, v in branches)
            text = f"CASE {' '.join(whens)} ELSE {_text(otherwise, columns, node)} END"
        case Foreign(template=template, args=args):
            text = fill_places(template, [_text(arg, columns, node) for arg in args])
        case OneOf(arg=arg, values=values):
            listed = (_text(Literal(each, arg.type), columns, node) for each in values)
            text = f"({_text(arg, columns, node)}) IN ({', '.join(listed)})"
        case _:
            hint = "write the query or the time outside TRY"
            refuse(node, "TRY of a query or of the time is not supported", hint)
    return f"CAST(({text}) AS {duckdb_type(value.type)})"


def _operation(op: Op, args: list[str]) -> str:
    if op in _FUNCTIONS:
        return f"{op.value}({', '.join(args)})"
    if op in _BEFORE:
        return f"{_BEFORE[op]}({args[0]})"
    if op is Op.IS_NULL:
        return f"({args[0]}) IS NULL"
    return f" {op.value} ".join(f"({arg})" for arg in args)
