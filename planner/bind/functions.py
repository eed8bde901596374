"""Scalar functions that the engine has no operator for: DuckDB expressions with places for arguments.

sqlglot writes the function in DuckDB's SQL, DuckDB says its type. Literals stay in the text,
since some functions want constants (the digits of `round`, the part of `date_trunc`). What
gives another answer on another day is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokens import TokenType

from engine.expressions import Foreign, Literal
from planner.bind.coercion import argument, settled
from planner.errors import PlannerError, Unsupported
from planner.ir import Expression
from planner.positions import fail
from planner.reference import function_kinds, type_of

VALUES = (
    exp.Column,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Binary,
    exp.Unary,
    exp.Func,
    exp.Subquery,
    exp.In,
    exp.Between,
    exp.Predicate,
    exp.Filter,
    exp.Window,
)
"""Nodes that stand for a value, and so become arguments."""

_VOLATILE = (
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentDatetime,
    exp.Localtime,
    exp.Localtimestamp,
    exp.CurrentUser,
    exp.Rand,
    exp.Randn,
    exp.Uuid,
)
_MARK = "__argument_"


def bind_function(
    node: exp.Expression, bind: Callable[[exp.Expression], Expression], dialect: str
) -> Expression:
    """`node` with its arguments bound by `bind`, as a Foreign expression of DuckDB's type for it."""
    refuse_volatile(node, dialect)
    arguments: list[Expression] = []
    template_tree = _with_places(node.copy(), node, bind, arguments)
    template = _template(template_tree)
    _check_names(template, node, dialect)
    try:
        type = type_of(template, tuple(argument(a) for a in arguments))
    except Unsupported as error:
        fail(Unsupported(f"{error.message}: {node.sql(dialect)}", error.hint), node)
    except PlannerError as error:
        fail(error, node)
    values = tuple(settled(a) for a in arguments)
    return Foreign(template, values, type)  # type: ignore[arg-type]


def refuse_volatile(node: exp.Expression, dialect: str) -> None:
    if isinstance(node, _VOLATILE):
        fail(_volatile(node.sql(dialect)), node)


def _volatile(name: str) -> Unsupported:
    return Unsupported(
        f"{name} is not deterministic, so a view over it cannot be maintained",
        "write the value as a constant, or keep it in a table",
    )


def _with_places(
    copy: exp.Expression,
    original: exp.Expression,
    bind: Callable[[exp.Expression], Expression],
    arguments: list[Expression],
) -> exp.Expression:
    """`copy` with each value below it replaced by a place, and the values bound into `arguments`."""
    pairs = list(zip(copy.iter_expressions(), original.iter_expressions(), strict=True))
    for child, source in pairs:
        if isinstance(source, exp.Interval):
            _check_interval(source)
        elif isinstance(source, VALUES):
            _place(child, bind(source), arguments)
        elif not isinstance(source, exp.DataType):
            _with_places(child, source, bind, arguments)
    return copy


def _place(child: exp.Expression, bound: Expression, arguments: list[Expression]) -> None:
    if isinstance(bound, Literal) and not re.search(r"[{}]", str(bound.value)):
        return
    child.replace(exp.column(f"{_MARK}{len(arguments)}"))
    arguments.append(bound)


def _check_interval(node: exp.Interval) -> None:
    if node.this is None or any(node.find_all(exp.Column, exp.Query, exp.Func)):
        fail(Unsupported("an interval that is not a constant is not supported"), node)


def _template(tree: exp.Expression) -> str:
    text = tree.sql("duckdb", comments=False)
    return re.sub(rf'"?{_MARK}(\d+)"?', lambda place: f"{{{place[1]}}}", text)


def _check_names(template: str, node: exp.Expression, dialect: str) -> None:
    """Refuse what is no deterministic scalar function, whatever sqlglot calls it."""
    tokens = DuckDB().tokenize(re.sub(r"\{\d+\}", "x", template))
    kinds = function_kinds()
    for i, token in enumerate(tokens):
        name = token.text.lower()
        is_call = i + 1 < len(tokens) and tokens[i + 1].text == "("
        if token.token_type in (TokenType.STRING, TokenType.NUMBER) or name not in kinds:
            continue
        if "volatile" in kinds[name] and (is_call or name.startswith("current_")):
            fail(_volatile(f"{name}()"), node)
        if not is_call or kinds[name] & {"scalar", "macro"}:
            continue
        if "aggregate" in kinds[name]:
            fail(
                Unsupported(
                    f"aggregate function {_name(node, dialect)} is not supported",
                    "supported are count, sum, avg, min, max, bool_and and bool_or",
                ),
                node,
            )
        fail(Unsupported(f"{_name(node, dialect)} is not supported"), node)
    if isinstance(node, exp.UDTF | exp.Explode):
        fail(Unsupported(f"{_name(node, dialect)} is not supported"), node)


def _name(node: exp.Expression, dialect: str) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql(dialect).split("(")[0].lower()
