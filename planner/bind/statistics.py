"""Variances, covariances and regressions as expressions over maintained sums.

All follow from the number of rows n, sums, and comoments n * sum(x * y) - sum(x) * sum(y), which the engine
accumulates without loss and rounds once. NUMERIC of more than 18 digits uses a general aggregate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.plan.expressions import Call, Case, Cast, Literal, Op
from engine.plan.nodes import Function
from engine.schema import BIGINT, BOOLEAN, DOUBLE
from planner.bind.aggregate_calls import AggregateCall
from planner.bind.aggregate_uses import AggregateUse, is_known, where
from planner.bind.coercion import coerce, typed
from planner.ir import Expression
from planner.ir.scalars import call as applied
from planner.ir.scalars import conjoin

_OF_ONE = frozenset({"var_samp", "var_pop", "stddev_samp", "stddev_pop", "sem"})
_OF_TWO = frozenset(
    {
        "covar_samp",
        "covar_pop",
        "corr",
        "regr_count",
        "regr_avgx",
        "regr_avgy",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "regr_slope",
        "regr_intercept",
        "regr_r2",
    }
)


@dataclass(frozen=True)
class Moment:
    """The accumulated functions, and the expression of the result over their columns, in order."""

    uses: tuple[AggregateUse, ...]
    value: Callable[[Sequence[Expression]], Expression]


def moment(
    call: AggregateCall, bind: Callable[[exp.Expression], Expression], only: Expression | None
) -> Moment | None:
    """The function of the call, if it can be accumulated; else None. `only` is FILTER's condition."""
    wanted = 1 if call.name in _OF_ONE else 2 if call.name in _OF_TWO else 0
    if not wanted or len(call.arguments) != wanted or (call.distinct and wanted == 2):
        return None
    values = [typed(bind(node)) for node in call.arguments]
    if not all(value.type.is_numeric and not value.type.may_be_wide for value in values):
        return None
    if any(value.type.is_float for value in values):
        values = [coerce(value, DOUBLE) for value in values]
    conditions = [only] if only is not None else []
    if wanted == 2:
        conditions += map(is_known, values)
    values = [where(conjoin(conditions), value) for value in values]
    return _of_one(call, values[0]) if wanted == 1 else _of_two(call.name, values[1], values[0])


def _of_one(call: AggregateCall, x: Expression) -> Moment:
    uses = (
        AggregateUse(Function.COUNT, (x,), BIGINT, call.distinct),
        AggregateUse(Function.COMOMENT, (x, x), DOUBLE, call.distinct),
    )

    def value(columns: Sequence[Expression]) -> Expression:
        n, xx = _double(columns[0]), columns[1]
        match call.name:
            case "var_samp":
                return _from(2, n, _over(xx, _times(n, _less_one(n))))
            case "var_pop":
                return _from(1, n, _over(xx, _times(n, n)))
            case "stddev_samp":
                return _from(2, n, _root(_over(xx, _times(n, _less_one(n)))))
            case "stddev_pop":
                return _from(1, n, _over(_root(xx), n))
        return _from(1, n, _over(_over(_root(xx), n), _root(n)))

    return Moment(uses, value)


def _of_two(name: str, x: Expression, y: Expression) -> Moment:
    count = AggregateUse(Function.COUNT, (x,), BIGINT)
    means = AggregateUse(Function.AVG, (x,), DOUBLE), AggregateUse(Function.AVG, (y,), DOUBLE)
    xx, xy, yy = (AggregateUse(Function.COMOMENT, pair, DOUBLE) for pair in ((x, x), (x, y), (y, y)))
    match name:
        case "regr_count":
            return Moment((count,), lambda c: c[0])
        case "regr_avgx" | "regr_avgy":
            return Moment((means[name == "regr_avgy"],), lambda c: c[0])
        case "regr_sxx" | "regr_sxy" | "regr_syy":
            use = {"regr_sxx": xx, "regr_sxy": xy, "regr_syy": yy}[name]
            return Moment((count, use), lambda c: _from(1, _double(c[0]), _over(c[1], _double(c[0]))))
        case "covar_pop":
            return Moment((count, xy), lambda c: _from(1, n := _double(c[0]), _over(c[1], _times(n, n))))
        case "covar_samp":
            return Moment(
                (count, xy), lambda c: _from(2, n := _double(c[0]), _over(c[1], _times(n, _less_one(n))))
            )
        case "regr_slope":
            return Moment((xx, xy), lambda c: _where_varied(c[0], _over(c[1], c[0]), float("nan")))
        case "regr_intercept":
            return Moment((xx, xy, *means), lambda c: _where_varied(c[0], _intercept(*c)))
        case "regr_r2":
            return Moment((xx, xy, yy), lambda c: _where_varied(c[0], _determined(*c)))
    return Moment((xx, xy, yy), lambda c: _correlation(*c))


def _intercept(xx: Expression, xy: Expression, x: Expression, y: Expression) -> Expression:
    return applied(Op.SUB, y, _times(_over(xy, xx), x), type=DOUBLE)


def _determined(xx: Expression, xy: Expression, yy: Expression) -> Expression:
    """The share of y's variance that x explains; 1 if y is constant."""
    share = _times(_over(xy, xx), _over(xy, yy))
    return Case(((_is_zero(yy), _number(1)),), share, DOUBLE)  # type: ignore[arg-type]


def _correlation(xx: Expression, xy: Expression, yy: Expression) -> Expression:
    value = _over(xy, _times(_root(xx), _root(yy)))
    constant = conjoin([_is_zero(xx), is_known(xx)]), conjoin([_is_zero(yy), is_known(yy)])
    branches = tuple((test, _number(float("nan"))) for test in constant)
    return Case(branches, value, DOUBLE)  # type: ignore[arg-type]


def _where_varied(xx: Expression, value: Expression, otherwise: float | None = None) -> Expression:
    """The value, unless x is constant; then DuckDB's result for that case."""
    return Case(((_is_zero(xx), Literal(otherwise, DOUBLE)),), value, DOUBLE)  # type: ignore[arg-type]


def _is_zero(value: Expression) -> Expression:
    return applied(Op.EQ, value, _number(0), type=BOOLEAN)


def _from(least: int, n: Expression, value: Expression) -> Expression:
    """The value, or NULL if there are fewer than `least` rows."""
    enough = applied(Op.GE, n, _number(least), type=BOOLEAN)
    return Case(((enough, value),), Literal(None, DOUBLE), DOUBLE)  # type: ignore[arg-type]


def _double(count: Expression) -> Expression:
    return Cast(count, DOUBLE)  # type: ignore[arg-type]


def _number(value: float) -> Literal:
    return Literal(float(value), DOUBLE)


def _less_one(n: Expression) -> Expression:
    return applied(Op.SUB, n, _number(1), type=DOUBLE)


def _times(left: Expression, right: Expression) -> Call:
    return applied(Op.MUL, left, right, type=DOUBLE)


def _over(left: Expression, right: Expression) -> Call:
    return applied(Op.DIV, left, right, type=DOUBLE)


def _root(value: Expression) -> Expression:
    return applied(Op.SQRT, value, type=DOUBLE)
