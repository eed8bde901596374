"""Aggregate functions: their names, their types, and the collector of those that a query uses.

A function is accumulated, ordered or general (see `planner.ir.aggregates`). For an accumulated function,
which skips NULL, FILTER becomes a CASE around the argument; an ordered function places the rows that FILTER
rejects last. Expressions above the aggregation refer to a function by the column that the collector gives it.
Equal functions of equal arguments share one column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from engine.plan.expressions import Call, Case, Foreign, Literal, Op
from engine.plan.nodes import Function
from engine.schema import BIGINT, BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, Kind, Type, numeric
from planner.bind.aggregate_calls import AggregateCall
from planner.bind.coercion import argument, coerce, typed
from planner.bind.session import Session
from planner.bind.whole_group import general
from planner.errors import InvalidQuery
from planner.ir import AggregateFunction, AggregateItem, Attribute, Expression, First, nothing_of
from planner.ir.scalars import TRUE, conjoin, negate
from planner.native.reference import type_of
from planner.positions import fail
from planner.sql_types import MAX_PRECISION

_FUNCTIONS: dict[str, Function] = {
    "count": Function.COUNT,
    "count_if": Function.COUNT,
    "sum": Function.SUM,
    "avg": Function.AVG,
    "min": Function.MIN,
    "max": Function.MAX,
    "bool_and": Function.MIN,
    "bool_or": Function.MAX,
    "any_value": Function.MIN,
}
_BOOLEANS = frozenset({"bool_and", "bool_or", "count_if"})
_FIRSTS = frozenset({"first", "last", "any_value", "arg_min", "arg_max", "arg_min_null", "arg_max_null"})

Bind = Callable[[exp.Expression], Expression]


@dataclass(frozen=True)
class AggregateUse:
    """One use of a function: over `arguments` (over rows if empty), over all values or over distinct ones."""

    function: AggregateFunction
    arguments: tuple[Expression, ...]
    type: Type
    distinct: bool = False


@dataclass
class Collector:
    """The aggregates of one query that groups by `keys`, in the order of their first use, and its GROUPING
    calls."""

    session: Session
    keys: tuple[Expression, ...] = ()
    found: dict[AggregateUse, Attribute] = field(default_factory=dict)
    groupings: dict[tuple[Expression, ...], Attribute] = field(default_factory=dict)

    def column(self, use: AggregateUse, name: str) -> Attribute:
        if use not in self.found:
            nullable = nothing_of(use.function) is None
            self.found[use] = self.session.attribute(name, use.type, nullable)
        return self.found[use]

    def grouping(self, keys: tuple[Expression, ...]) -> Attribute:
        """The column of GROUPING(keys), of all keys if none are given. Raises InvalidQuery for another
        expression."""
        if not set(keys) <= set(self.keys):
            raise InvalidQuery("GROUPING takes only expressions of GROUP BY")
        keys = keys or self.keys
        if keys not in self.groupings:
            self.groupings[keys] = self.session.attribute("grouping", BIGINT, False)
        return self.groupings[keys]

    def items(self, arguments: dict[Expression, int]) -> tuple[AggregateItem, ...]:
        return tuple(
            AggregateItem(attribute, use.function, tuple(arguments[a] for a in use.arguments), use.distinct)
            for use, attribute in self.found.items()
        )


def bind_aggregate(
    call: AggregateCall, bind: Bind, only: Expression | None, framed: bool = False
) -> AggregateUse:
    """The function that a call uses, with FILTER's condition in `only`. A `framed` call gives no First,
    because a window cannot compute one."""
    many = 3 if call.name.startswith("arg_") else 2
    if call.name in ("min", "max", *_FIRSTS) and len(call.arguments) >= many:
        return AggregateUse(*general(call, bind, only))
    if call.name in _FIRSTS and not (call.name == "any_value" and not call.order):
        return AggregateUse(*general(call, bind, only)) if framed else _first(call, bind, only)
    if call.name not in _FUNCTIONS:
        return AggregateUse(*general(call, bind, only))
    arguments = call.arguments
    is_row = len(arguments) == 1 and isinstance(arguments[0], exp.Tuple)
    if call.name == "count" and call.distinct and (is_row or len(arguments) > 1):
        nodes = arguments[0].expressions if is_row else arguments
        return _accumulated(call, bind, _as_one([typed(bind(node)) for node in nodes], not is_row), only)
    if len(arguments) > 1 or (not arguments and call.name != "count"):
        fail(InvalidQuery(f"{call.name} takes one argument"), call.node)
    return _accumulated(call, bind, typed(bind(arguments[0])) if arguments else None, only)


def _accumulated(
    call: AggregateCall, bind: Bind, over: Expression | None, only: Expression | None
) -> AggregateUse:
    """A function that is maintained from sums, or from the first value."""
    function = _FUNCTIONS[call.name]
    if call.name == "count_if" and over is not None:
        only, over = conjoin([only, coerce(over, BOOLEAN)] if only is not None else [over]), None
    if over is None and only is None:
        return AggregateUse(Function.COUNT, (), BIGINT)
    typed = _typed(call.name, function, over if over is not None else TRUE)
    if typed is None:
        return AggregateUse(*general(call, _of_moments(bind) if function is Function.AVG else bind, only))
    value, result = typed
    plain = function in (Function.MIN, Function.MAX)
    return AggregateUse(function, (where(only, value),), result, call.distinct and not plain)


def _of_moments(bind: Bind) -> Bind:
    """Binds a date as a moment: DuckDB averages dates in nanoseconds, which end in 2262."""

    def bound(node: exp.Expression) -> Expression:
        value = typed(bind(node))
        return coerce(value, TIMESTAMP) if value.type == DATE else value

    return bound


def _typed(name: str, function: Function, value: Expression) -> tuple[Expression, Type] | None:
    """The argument as the function takes it, and the result's type; None if only DuckDB knows the type."""
    if name in _BOOLEANS:
        return coerce(value, BOOLEAN), BIGINT if function is Function.COUNT else BOOLEAN
    if function is Function.COUNT:
        return value, BIGINT
    if function in (Function.MIN, Function.MAX):
        return value, value.type
    if value.type == BOOLEAN:
        value = coerce(value, INTEGER)
    type_of(f"{name}({{0}})", (argument(value) if not isinstance(value, Literal) else value.type,))
    if not value.type.is_numeric:
        return None
    if function is Function.AVG:
        return value, DOUBLE
    if value.type.is_integer:
        return value, BIGINT
    if value.type.kind is Kind.NUMERIC:
        return value, numeric(MAX_PRECISION, value.type.scale or 0)
    return coerce(value, DOUBLE), DOUBLE


def where(condition: Expression | None, value: Expression) -> Expression:
    """The value, or NULL where the condition is not true."""
    if condition is None or condition == TRUE:
        return value
    return Case(((condition, value),), Literal(None, value.type), value.type)  # type: ignore[arg-type]


def _as_one(values: Sequence[Expression], strict: bool) -> Expression:
    """Several values as one text that no other values give; NULL if `strict` and any of them is NULL."""
    places = ", ".join(f"CAST({{{i}}} AS VARCHAR)" for i in range(len(values)))
    text = Foreign(f"CAST([{places}] AS VARCHAR)", tuple(values), TEXT)  # type: ignore[arg-type]
    return where(conjoin([is_known(value) for value in values]), text) if strict else text


def is_known(value: Expression) -> Expression:
    return negate(Call(Op.IS_NULL, (value,), BOOLEAN))  # type: ignore[arg-type]


def _first(call: AggregateCall, bind: Bind, only: Expression | None) -> AggregateUse:
    """A value of the first row that counts; of the last row, by reversing the order."""
    name, by_another = call.name, call.name.startswith("arg_")
    if len(call.arguments) != 1 + by_another:
        fail(InvalidQuery(f"{name} takes {'two arguments' if by_another else 'one argument'}"), call.node)
    value, *others = [typed(bind(node)) for node in call.arguments]
    order = [(other, (name.startswith("arg_max"), False)) for other in others]
    for ordered in call.order:
        desc, nulls_first = bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))
        turned = name == "last"
        order.append((typed(bind(ordered.this)), (desc != turned, nulls_first != turned)))
    needed = others if name.endswith("_null") else [*others, value] if by_another else []
    if call.skips_nulls or name == "any_value":
        needed = [*needed, value]
    conditions = [is_known(v) for v in needed] + ([only] if only is not None else [])
    last = (name == "last", name == "last")
    if not conditions:
        directions = (*(d for _, d in order), last)
        return AggregateUse(First(name, directions), (value, *(o for o, _ in order)), value.type)
    counts = conjoin(conditions)
    directions = ((True, False), *(d for _, d in order), last)
    return AggregateUse(
        First(name, directions), (where(counts, value), counts, *(o for o, _ in order)), value.type
    )
