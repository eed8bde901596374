"""Aggregate functions: which there are, their types, and the collection of those a query uses.

FILTER becomes a CASE in the argument (all functions skip NULL). What stands above the
aggregation refers to a function by the column that the collector gives it; the same function
of the same argument is one column.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from engine.expressions import Case, Literal
from engine.plan import Function
from engine.schema import BIGINT, BOOLEAN, DOUBLE, INTEGER, Kind, Type, numeric
from planner.bind.coercion import argument, coerce, settled
from planner.bind.session import Session
from planner.errors import InvalidQuery, Unsupported
from planner.ir import AggregateItem, Attribute, Expression
from planner.positions import fail
from planner.reference import type_of
from planner.scalars import TRUE
from planner.types import MAX_PRECISION

_FUNCTIONS: dict[type[exp.Expression], Function] = {
    exp.Count: Function.COUNT,
    exp.CountIf: Function.COUNT,
    exp.Sum: Function.SUM,
    exp.Avg: Function.AVG,
    exp.Min: Function.MIN,
    exp.Max: Function.MAX,
    exp.LogicalAnd: Function.MIN,
    exp.LogicalOr: Function.MAX,
    exp.AnyValue: Function.MIN,
}
SUPPORTED_AGGREGATES = "supported are count, sum, avg, min, max, bool_and and bool_or"
_BOOLEANS = (exp.LogicalAnd, exp.LogicalOr, exp.CountIf)


@dataclass(frozen=True)
class Aggregated:
    """One use of a function: of `argument` (None: of rows), of its distinct values or of all."""

    function: Function
    argument: Expression | None
    distinct: bool
    type: Type


@dataclass
class Collector:
    """The aggregates of one query, which groups by `keys`, in the order in which they were met; and what
    GROUPING asks of keys."""

    session: Session
    keys: tuple[Expression, ...] = ()
    found: dict[Aggregated, Attribute] = field(default_factory=dict)
    groupings: dict[tuple[Expression, ...], Attribute] = field(default_factory=dict)

    def column(self, use: Aggregated, name: str) -> Attribute:
        if use not in self.found:
            nullable = use.function is not Function.COUNT
            self.found[use] = self.session.attribute(name, use.type, nullable)
        return self.found[use]

    def grouping(self, keys: tuple[Expression, ...]) -> Attribute:
        """The column of GROUPING(keys), of all if it names none; InvalidQuery if one is no key."""
        if not set(keys) <= set(self.keys):
            raise InvalidQuery("GROUPING takes what GROUP BY has")
        keys = keys or self.keys
        if keys not in self.groupings:
            self.groupings[keys] = self.session.attribute("grouping", BIGINT, False)
        return self.groupings[keys]

    def items(self, arguments: dict[Expression, int]) -> tuple[AggregateItem, ...]:
        return tuple(
            AggregateItem(
                attribute,
                use.function,
                None if use.argument is None else arguments[use.argument],
                use.distinct,
            )
            for use, attribute in self.found.items()
        )


def function_name(node: exp.Expression) -> str:
    """What the function is called in PostgreSQL."""
    return node.sql("postgres").split("(")[0].lower()


def is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc | exp.AnyValue)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether the value is one of a group: an aggregate, or a window function, is in it."""
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(is_aggregate(part) or isinstance(part, exp.Window | exp.GroupingId) for part in inside)


def parts(node: exp.Expression) -> tuple[exp.Expression | None, bool]:
    """What an aggregate is over (None for count(*)), and whether DISTINCT; refuses what is not supported."""
    if type(node) not in _FUNCTIONS:
        name = function_name(node)
        fail(Unsupported(f"aggregate function {name} is not supported", SUPPORTED_AGGREGATES), node)
    name = function_name(node)
    this = node.this
    if node.args.get("expressions"):
        fail(InvalidQuery(f"{name} takes one argument"), node)
    distinct = isinstance(this, exp.Distinct)
    if distinct:
        if len(this.expressions) != 1 or this.args.get("on"):
            fail(Unsupported(f"{name}(DISTINCT ...) of several columns is not supported"), node)
        this = this.expressions[0]
    if isinstance(this, exp.Order | exp.HavingMax | exp.Limit | exp.IgnoreNulls | exp.RespectNulls):
        fail(Unsupported(f"{name} with {type(this).__name__.upper()} inside is not supported"), node)
    if this is None or isinstance(this, exp.Star):
        if not isinstance(node, exp.Count):
            fail(InvalidQuery(f"{name} takes one argument"), node)
        return None, False
    return this, distinct


def aggregated(
    node: exp.Expression, over: Expression | None, distinct: bool, only: Expression | None
) -> Aggregated:
    """The use of `node`'s function over a bound argument, FILTER's condition in `only`."""
    function = _FUNCTIONS[type(node)]
    if isinstance(node, exp.CountIf) and over is not None:
        only, over = over if only is None else _both(only, over), None
    if over is None and only is None:
        return Aggregated(Function.COUNT, None, False, BIGINT)
    value, result = _typed(node, function, settled(over) if over is not None else TRUE)
    if only is not None:
        value = Case(((only, value),), Literal(None, value.type), value.type)  # type: ignore[arg-type]
    plain = function in (Function.MIN, Function.MAX)
    return Aggregated(function, value, distinct and not plain, result)


def _both(left: Expression, right: Expression) -> Expression:
    return Case(((left, right),), Literal(False, BOOLEAN), BOOLEAN)  # type: ignore[arg-type]


def _typed(node: exp.Expression, function: Function, value: Expression) -> tuple[Expression, Type]:
    """The argument as the function takes it, and the type of the function's value."""
    if isinstance(node, _BOOLEANS):
        return coerce(value, BOOLEAN), BIGINT if function is Function.COUNT else BOOLEAN
    if function is Function.COUNT:
        return value, BIGINT
    if function in (Function.MIN, Function.MAX):
        return value, value.type
    if value.type == BOOLEAN:
        value = coerce(value, INTEGER)
    type_of(f"{function.value}({{0}})", (argument(value) if not isinstance(value, Literal) else value.type,))
    if not value.type.is_numeric:
        fail(Unsupported(f"{function.value} over {value.type} is not supported"), node)
    if function is Function.AVG:
        return value, DOUBLE
    if value.type.is_integer:
        return value, BIGINT
    if value.type.kind is Kind.NUMERIC:
        return value, numeric(MAX_PRECISION, value.type.scale or 0)
    return coerce(value, DOUBLE), DOUBLE
