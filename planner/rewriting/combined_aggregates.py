"""ClickHouse's aggregates by the names of all dialects, with their combinators.

sumIf(x, test)          →  sum(x) FILTER (WHERE test)
uniqExactIf(x, test)    →  count(DISTINCT x) FILTER (WHERE test)
minOrNullIf(x, test)    →  CASE WHEN count(x) FILTER (WHERE test) > 0 THEN min(x) FILTER (WHERE test) END
quantiles(0.5, 0.9)(x)  →  [quantile_cont(x, 0.5), quantile_cont(x, 0.9)]
quantileExact(0.5)(x)   →  the element of the sorted values at that place
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native.templates import sql, with_parts
from planner.positions import fail, refuse

_DIALECTS = frozenset({"clickhouse"})
_Made = Callable[[list[exp.Expression]], exp.Expression]


def _of(node: type[exp.Func]) -> _Made:
    return lambda args: node(**dict(zip(node.arg_types, args, strict=False)))  # type: ignore[return-value]


def _distinct(args: list[exp.Expression]) -> exp.Expression:
    return exp.Count(this=exp.Distinct(expressions=args))


def _quotient(args: list[exp.Expression]) -> exp.Expression:
    """AVGWEIGHTED(x, w)."""
    value, weight = args
    total = exp.Sum(this=exp.Mul(this=exp.paren(value), expression=exp.paren(weight.copy())))
    return exp.paren(exp.Div(this=exp.cast(total, "double"), expression=exp.Sum(this=weight.copy())))


def _skewness(args: list[exp.Expression]) -> exp.Expression:
    """SKEWPOP(x) from the skewness of a sample."""
    form = "{0} * ({1} - 2) / sqrt(CAST({1} AS DOUBLE) * ({1} - 1))"
    return sql(form, [exp.Skewness(this=args[0]), exp.Count(this=args[0].copy())])


_NAMES: Mapping[str, _Made] = {
    **dict.fromkeys(("any", "anylast", "any_value"), _of(exp.AnyValue)),
    "argmax": _of(exp.ArgMax),
    "argmin": _of(exp.ArgMin),
    "avg": _of(exp.Avg),
    "avgweighted": _quotient,
    "corr": _of(exp.Corr),
    "count": _of(exp.Count),
    "covarpop": _of(exp.CovarPop),
    "covarsamp": _of(exp.CovarSamp),
    "grouparray": lambda args: exp.ArrayAgg(this=exp.IgnoreNulls(this=args[0])),
    "groupbitand": _of(exp.BitwiseAndAgg),
    "groupbitor": _of(exp.BitwiseOrAgg),
    "groupbitxor": _of(exp.BitwiseXorAgg),
    "groupuniqarray": _of(exp.ArrayUniqueAgg),
    "kurtpop": lambda args: sql("{0} + 3", [exp.Anonymous(this="kurtosis_pop", expressions=args)]),
    "max": _of(exp.Max),
    "median": lambda args: exp.PercentileCont(this=args[0], expression=exp.Literal.number("0.5")),
    "min": _of(exp.Min),
    "skewpop": _skewness,
    "stddevpop": _of(exp.StddevPop),
    "stddevsamp": _of(exp.StddevSamp),
    **dict.fromkeys(("sum", "sumkahan", "sumwithoverflow"), _of(exp.Sum)),
    **dict.fromkeys(("uniq", "uniqcombined", "uniqcombined64", "uniqexact", "uniqhll12"), _distinct),
    "varpop": _of(exp.VariancePop),
    "varsamp": _of(exp.Variance),
}
"""The aggregate of a name in lower case."""
_PLACE = "CAST(floor({1} * len({0})) AS BIGINT)"
_EXACT = f"list_extract({{0}}, least({_PLACE} + 1, len({{0}})))"
_SORTED = "list_sort({0}, 'ASC', 'NULLS LAST')"
_COMBINED = re.compile(r"(.+?)((?:if|distinct|ornull|ordefault)*)", re.IGNORECASE)


def combined_aggregate(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The aggregate in the words of all dialects; None for any other node."""
    if dialect not in _DIALECTS:
        return None
    match node:
        case exp.ParameterizedAgg():
            return _parameterized(node)
        case exp.AnonymousAggFunc() | exp.CombinedAggFunc():
            return _combined(node)
        case exp.Anonymous() if isinstance(node.parent, exp.Filter) and _is_combined(node.name):
            return _combined(node)
        case (
            exp.Filter(this=exp.Paren(this=exp.Case() as whole))
            | exp.Window(this=exp.Paren(this=exp.Case() as whole))
        ):
            (either,) = whole.args["ifs"]
            return _or_null(_around(node, either.this.this), _around(node, either.args["true"]))
        case exp.Anonymous() if node.name.lower() == "laginframe" and isinstance(node.parent, exp.Window):
            return _of(exp.Lag)([arg.copy() for arg in node.expressions])
    return None


def _is_combined(name: str) -> bool:
    written = _COMBINED.fullmatch(name)
    return written is not None and written[1].lower() in _NAMES


def _combined(node: exp.Expression) -> exp.Expression:
    """An aggregate with a condition as its last argument, over distinct values, or NULL if it has none."""
    written = _COMBINED.fullmatch(node.name)
    name, combinators = written.groups() if written else ("", "")
    made, args = _NAMES.get(name.lower()), [arg.copy() for arg in node.expressions]
    combinators = combinators.lower()
    if made is None or "ordefault" in combinators:
        refuse(node, f"aggregate function {node.name} is not supported")
    test = None
    if "if" in combinators:
        if not args or (len(args) == 1 and name.lower() != "count"):
            fail(InvalidQuery(f"{node.name} takes a value and a condition"), node)
        *args, test = args
    counted: exp.Expression = exp.Count(this=args[0].copy() if args else exp.Star())
    found = made([exp.Distinct(expressions=args[:1])] if "distinct" in combinators else args or [exp.Star()])
    if test is not None:
        counted, found = (exp.Filter(this=each, expression=exp.Where(this=test)) for each in (counted, found))
    return _or_null(counted, found) if "ornull" in combinators else found


def _or_null(counted: exp.Expression, found: exp.Expression) -> exp.Expression:
    return sql("CASE WHEN {0} > 0 THEN {1} END", [counted, found])


def _around(node: exp.Expression, aggregate: exp.Expression) -> exp.Expression:
    """FILTER or OVER of an aggregate that is NULL without values, around a part of it."""
    return with_parts(node, this=aggregate.copy())


def _parameterized(node: exp.ParameterizedAgg) -> exp.Expression:
    """An aggregate with parameters before its arguments: quantile(0.9)(x)."""
    (value,) = node.args["params"] if len(node.args["params"]) == 1 else (None,)
    levels = [level.copy() for level in node.expressions]
    if value is None:
        refuse(node, f"{node.name} of several values is not supported")
    match node.name.lower():
        case "quantile" | "quantileinterpolated" | "median":
            return exp.PercentileCont(this=value.copy(), expression=levels[0])
        case "quantiles":
            each = [exp.PercentileCont(this=value.copy(), expression=level) for level in levels]
            return exp.Array(expressions=each)
        case "quantileexact" if levels:
            return sql(_EXACT, [_sorted(value), levels[0]])
        case "quantilesexact":
            return exp.Array(expressions=[sql(_EXACT, [_sorted(value), level]) for level in levels])
        case "grouparraysorted" if levels:
            return sql("list_slice({0}, 1, {1})", [_sorted(value), levels[0]])
    hint = "write an aggregate without parameters"
    refuse(node, f"aggregate function {node.name} is not supported", hint)


def _sorted(value: exp.Expression) -> exp.Expression:
    return sql(_SORTED, [exp.ArrayAgg(this=exp.IgnoreNulls(this=value.copy()))])
