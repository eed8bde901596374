"""Aggregate calls, normalized: each dialect's forms of DISTINCT, ORDER BY, WITHIN GROUP, FILTER and IGNORE
NULLS become one form, and each function's names become one name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from planner.allowed.open_functions import AGGREGATES
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery
from planner.positions import fail, refuse

_CLASSES: dict[type[exp.Expression], str] = {
    exp.AnyValue: "any_value",
    exp.ApproxDistinct: "approx_count_distinct",
    exp.ApproxQuantile: "approx_quantile",
    exp.ApproxQuantiles: "approx_quantiles",
    exp.ArgMax: "arg_max",
    exp.ArgMin: "arg_min",
    exp.ArrayAgg: "array_agg",
    exp.ArrayUniqueAgg: "array_unique_agg",
    exp.Avg: "avg",
    exp.BitwiseAndAgg: "bit_and",
    exp.BitwiseOrAgg: "bit_or",
    exp.BitwiseXorAgg: "bit_xor",
    exp.Corr: "corr",
    exp.Count: "count",
    exp.CountIf: "count_if",
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.First: "first",
    exp.FirstValue: "first",
    exp.GroupConcat: "string_agg",
    exp.Hll: "approx_count_distinct",
    exp.JSONArrayAgg: "json_agg",
    exp.JSONBObjectAgg: "json_object_agg",
    exp.JSONObjectAgg: "json_object_agg",
    exp.Kurtosis: "kurtosis",
    exp.Last: "last",
    exp.LastValue: "last",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Max: "max",
    exp.Median: "median",
    exp.Min: "min",
    exp.Mode: "mode",
    exp.ObjectAgg: "json_object_agg",
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile",
    exp.RegrAvgx: "regr_avgx",
    exp.RegrAvgy: "regr_avgy",
    exp.RegrCount: "regr_count",
    exp.RegrIntercept: "regr_intercept",
    exp.RegrR2: "regr_r2",
    exp.RegrSlope: "regr_slope",
    exp.RegrSxx: "regr_sxx",
    exp.RegrSxy: "regr_sxy",
    exp.RegrSyy: "regr_syy",
    exp.Skewness: "skewness",
    exp.Stddev: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.StddevSamp: "stddev_samp",
    exp.Sum: "sum",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
}
_OF_ORDERS = ("mode", "quantile_cont", "quantile_disc")
"""Functions of the values that their order names: `mode(ORDER BY x)` is DuckDB's other spelling."""
_OTHER_NAMES = {
    "any_value": "arbitrary",
    "avg": "favg mean",
    "bit_and": "bit_and_agg",
    "bit_or": "bit_or_agg",
    "bit_xor": "bit_xor_agg",
    "bool_and": "boolean_and_agg every",
    "bool_or": "boolean_or_agg some",
    "geomean": "geometric_mean",
    "json_agg": "json_array_agg json_arrayagg json_group_array jsonb_agg",
    "json_object_agg": "json_group_object json_objectagg",
    "mode": "stats_mode",
    "stddev_pop": "stdevp",
    "stddev_samp": "std stdev",
    "sum": "fsum kahan_sum sum_no_overflow sumkahan",
    "var_pop": "varp",
    "var_samp": "var",
    "weighted_avg": "wavg",
}
_ALIASES = {alias: name for name, aliases in _OTHER_NAMES.items() for alias in aliases.split()}
_OWN = frozenset({"geomean", "weighted_avg"})
"""Functions for which DuckDB has a macro of several aggregates, not an aggregate."""
_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


@dataclass(frozen=True)
class AggregateCall:
    """`order` is that of the inner ORDER BY and of WITHIN GROUP; `only` is FILTER's condition.

    `arguments` are empty for count(*). For a function with WITHIN GROUP, the first argument is the value that
    it orders. With `has_iso_times`, moments in JSON are those of ISO 8601.
    """

    node: exp.Expression
    name: str
    arguments: tuple[exp.Expression, ...]
    distinct: bool = False
    order: tuple[exp.Ordered, ...] = ()
    only: exp.Expression | None = None
    skips_nulls: bool = False
    has_iso_times: bool = False


def is_aggregate(node: exp.Expr) -> bool:
    """Whether the node is a call of an aggregate, with or without clauses around it."""
    while isinstance(node, _WRAPPERS):
        node = node.this
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return name in _ALIASES or name in _OWN or name in AGGREGATES
    return isinstance(node, exp.AggFunc)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether the value depends on a group: it contains an aggregate, a window function or GROUPING."""
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(is_aggregate(part) or isinstance(part, exp.Window | exp.GroupingId) for part in inside)


def aggregate_call(node: exp.Expression, dialect: str) -> AggregateCall:
    """The normalized call of a node. Raises Unsupported if there is no such function."""
    only: exp.Expression | None = None
    within: tuple[exp.Ordered, ...] = ()
    skips_nulls = False
    inner = node
    while isinstance(inner, _WRAPPERS):
        match inner:
            case exp.Filter():
                only = inner.expression.this
            case exp.WithinGroup():
                within = tuple(inner.expression.expressions)
            case exp.IgnoreNulls():
                skips_nulls = True
        inner = inner.this
    name = _name(inner, dialect)
    skips_nulls = skips_nulls or bool(inner.args.get("nulls_excluded")) or name == "array_unique_agg"
    has_iso_times = has(dialect, Trait.DOCUMENTS_HAVE_ISO_TIMES)
    call = AggregateCall(node, name, (), False, within, only, skips_nulls, has_iso_times)
    for argument in _arguments(inner):
        call = _with_argument(call, argument)
    is_close = name == "string_agg" and has(dialect, Trait.LISTAGG_JOINS_CLOSELY)
    if is_close and len(call.arguments) == 1:
        call = replace(call, arguments=(*call.arguments, exp.Literal.string("")))
    return _as_known(call)


def _name(node: exp.Expression, dialect: str) -> str:
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return _ALIASES.get(name, name)
    if type(node) is exp.Quantile:
        return "quantile_cont" if has(dialect, Trait.PERCENTILE_INTERPOLATES) else "quantile_disc"
    if type(node) not in _CLASSES:
        name = node.sql("postgres").split("(")[0].lower()
        refuse(node, f"aggregate function {name} is not supported")
    return _CLASSES[type(node)]


def _arguments(node: exp.Expression) -> Iterator[exp.Expression]:
    """The arguments between the parentheses, in order."""
    for key in node.arg_types:
        value = node.args.get(key)
        for argument in value if isinstance(value, list) else [value]:
            if isinstance(argument, exp.JSONKeyValue):
                yield from (argument.this, argument.expression)
            elif isinstance(argument, exp.Expression):
                yield argument


def _with_argument(call: AggregateCall, argument: exp.Expression) -> AggregateCall:
    """The call with one more argument, without the clauses around that argument."""
    match argument:
        case exp.Order(this=None):
            if call.name not in _OF_ORDERS and not call.arguments:
                fail(InvalidQuery(f"{call.name} has an order, but no argument"), call.node)
            return replace(call, order=tuple(argument.expressions))
        case exp.Order():
            return _with_argument(replace(call, order=tuple(argument.expressions)), argument.this)
        case exp.IgnoreNulls():
            return _with_argument(replace(call, skips_nulls=True), argument.this)
        case exp.RespectNulls():
            return _with_argument(call, argument.this)
        case exp.Distinct() if not argument.args.get("on"):
            return replace(call, arguments=(*call.arguments, *argument.expressions), distinct=True)
        case exp.HavingMax():
            name = "arg_max_null" if argument.args.get("max") else "arg_min_null"
            return replace(call, name=name, arguments=(argument.this, argument.expression))
        case exp.Limit() | exp.Distinct():
            construct = type(argument).__name__.upper()
            refuse(call.node, f"{call.name} with {construct} inside is not supported")
        case exp.Star():
            return call
        case _:
            return replace(call, arguments=(*call.arguments, argument))


def _as_known(call: AggregateCall) -> AggregateCall:
    """The call in the normal form of its function."""
    match call.name:
        case "approx_quantile":
            return replace(call, name="quantile_disc", arguments=call.arguments[:2])
        case "approx_quantiles":
            return replace(call, name="quantile_disc", arguments=_quantiles(call))
        case "approx_count_distinct":
            return replace(call, name="count", arguments=call.arguments[:1], distinct=True)
        case "array_unique_agg":
            return replace(call, name="array_agg", distinct=True)
        case "arg_max" | "arg_min" | "max" | "min" if call.order:
            return replace(call, order=())
        case "quantile_cont" | "quantile_disc" if len(call.arguments) == 1 and call.order:
            return replace(call, arguments=(call.order[0].this, *call.arguments))
        case "mode" if not call.arguments and call.order:
            return replace(call, arguments=(call.order[0].this,))
        case "count" if not call.arguments and call.distinct:
            fail(InvalidQuery("count(DISTINCT *) is not supported"), call.node)
        case _:
            return call


def _quantiles(call: AggregateCall) -> tuple[exp.Expression, ...]:
    """The value, and the fractions that divide it into equal shares, from 0 to 1 inclusive."""
    value, *parameters = call.arguments
    shares = parameters[0].name if parameters and isinstance(parameters[0], exp.Literal) else ""
    if not shares.isdigit() or int(shares) < 1:
        fail(InvalidQuery(f"{call.name} takes a value and a number of shares"), call.node)
    fractions = [exp.Literal.number(i / int(shares)) for i in range(int(shares) + 1)]
    return value, exp.Array(expressions=fractions)
