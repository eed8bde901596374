"""ClickHouse's functions of arrays, also those that take a lambda over several arrays, and of tuples.

arrayMap((x, y) -> x + y, a, b)  →  the sums of a[place] and b[place], for each place of a
arrayFirst(x -> x > 2, a)        →  the first element of the filtered array, or the default of its type
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects import array_calls
from planner.dialects.as_written import as_written_in
from planner.errors import InvalidQuery
from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import fail, refuse

_PLACES = "range(1, len({0}) + 1)"
_SUM = "coalesce(list_sum({0}), 0)"
_AGGREGATES = {
    **{name: name for name in ("sum", "min", "max", "avg", "count", "any_value", "median")},
    "any": "first",
    "uniq": "approx_unique",
    "uniqExact": "unique",
    "groupArray": "list",
    "varPop": "var_pop",
    "stddevPop": "stddev_pop",
}
_IN_PLACES = (
    "CASE WHEN {2} > 0 THEN list_slice({0}, {1}, {1} + {2} - 1) WHEN {2} = 0 THEN list_slice({0}, 1, 0)"
    " ELSE list_slice({0}, {1}, len({0}) + {2}) END"
)
_FROM_END = _IN_PLACES.replace("{1}", "(len({0}) + {1} + 1)")


def mapped(args: Args) -> exp.Expression:
    """The values of a lambda over the elements of arrays."""
    function, *arrays = args
    if not isinstance(function, exp.Lambda):
        refuse(function, "the first argument is a lambda here", "write x -> ...")
    names = [parameter.name for parameter in function.expressions]
    if len(names) != len(arrays):
        fail(InvalidQuery(f"a lambda of {len(names)} arguments has {len(arrays)} arrays"), function)
    if len(arrays) == 1:
        return exp.Transform(this=arrays[0].copy(), expression=function.copy())
    at_place = array_calls.at_places(function, names, arrays)
    return exp.Transform(this=sql(_PLACES, arrays[:1]), expression=at_place)


def filtered(args: Args) -> exp.Expression:
    """The elements of the first array for which the lambda holds."""
    if len(args) == 2 and isinstance(args[0], exp.Lambda):
        return exp.ArrayFilter(this=args[1].copy(), expression=args[0].copy())
    places = exp.ArrayFilter(this=sql(_PLACES, args[1:2]), expression=_truth_at_places(args))
    return sql("list_transform({1}, lambda place: list_extract({0}, place))", [args[1], places])


def _truth_at_places(args: Args) -> exp.Lambda:
    function, *arrays = args
    if not isinstance(function, exp.Lambda):
        refuse(function, "the first argument is a lambda here", "write x -> ...")
    return array_calls.at_places(function, [parameter.name for parameter in function.expressions], arrays)


def _of_values(template: str) -> Made:
    """A function of an array, or of the values of a lambda over arrays."""
    return lambda args: sql(template, [mapped(args) if isinstance(args[0], exp.Lambda) else args[0]])


def _first(last: bool = False, nullable: bool = False) -> Made:
    """ARRAYFIRST(x -> x > 9, [1, 2]) is 0, the default of the type."""

    def made(args: Args) -> exp.Expression:
        found = filtered(args)
        place = sql("-1", []) if last else exp.Literal.number(1)
        if nullable:
            return sql("list_extract({0}, {1})", [found, place])
        return _member(found, place)

    return made


def _first_place(args: Args) -> exp.Expression:
    return sql("coalesce(list_position({0}, true), 0)", [_truths(args)])


def _last_place(args: Args) -> exp.Expression:
    return sql(
        "coalesce(list_max(list_filter(list_transform({0},"
        " lambda each, place: CASE WHEN each THEN place END),"
        " lambda each: each IS NOT NULL)), 0)",
        [_truths(args)],
    )


def _truths(args: Args) -> exp.Expression:
    return sql("list_transform({0}, lambda each: CAST(each AS BOOLEAN))", [mapped(args)])


def _sorted(order: str) -> Made:
    """ARRAYSORT(x -> -x, [1, 2, 3]) is [3, 2, 1]."""

    def made(args: Args) -> exp.Expression:
        if not isinstance(args[0], exp.Lambda):
            return sql(f"list_sort({{0}}, '{order}', 'NULLS LAST')", args)
        pairs = "list_zip({1}, range(len({0})), {0})"
        ranks = f"list_sort({pairs}, '{order}', 'NULLS LAST')"
        return sql(f"list_transform({ranks}, lambda pair: pair[3])", [args[1], mapped(args)])

    return made


def _folded(args: Args) -> exp.Expression:
    """ARRAYFOLD((acc, x) -> acc + x * 2, [1, 2, 3, 4], 3) is 23."""
    function, array, start = args
    return exp.Reduce(this=array.copy(), initial=start.copy(), merge=function.copy())


def _reduced(args: Args) -> exp.Expression:
    """ARRAYREDUCE('max', [1, 2, 3]) is 3."""
    name = args[0].name if isinstance(args[0], exp.Literal) else ""
    if name not in _AGGREGATES or len(args) != 2:
        known = ", ".join(_AGGREGATES)
        refuse(args[0], f"arrayReduce of {name or 'a computed name'} is not supported", f"it takes {known}")
    return sql(f"list_aggregate({{0}}, '{_AGGREGATES[name]}')", args[1:])


def _slice(args: Args) -> exp.Expression:
    """ARRAYSLICE([1, 2, NULL, 4, 5], 2, 3) is [2, NULL, 4]."""
    if len(args) == 2:
        return sql("{0}[{1}:]", args)
    return sql(f"CASE WHEN {{1}} > 0 THEN {_IN_PLACES} ELSE {_FROM_END} END", args)


def _joined(args: Args) -> exp.Expression:
    """ARRAYSTRINGCONCAT([12, 23, 34], ',') is 12,23,34."""
    separator = args[1] if len(args) > 1 else exp.Literal.string("")
    return sql(
        "array_to_string(list_transform({0}, lambda each: CAST(each AS VARCHAR)), {1})", [args[0], separator]
    )


def _beyond(array: exp.Expression) -> exp.Expression:
    """The default of an array's elements."""
    return _member(array.copy(), sql("len({0}) + 1", [array]))


def _member(array: exp.Expression, place: exp.Expression) -> exp.Expression:
    return as_written_in(exp.Bracket(this=array, expressions=[place], offset=1), "clickhouse")


def _split(args: Args) -> exp.Expression:
    """ARRAYSPLIT((x, y) -> y, [1, 2, 3], [1, 0, 1]) is [[1, 2], [3]]."""
    starts = "list_filter(range(1, len({0}) + 1), lambda at: at = 1 OR list_extract({1}, at))"
    return sql(
        "list_transform({1}, lambda at, place:"
        " list_slice({0}, at, coalesce(list_extract({1}, place + 1) - 1, len({0}))))",
        [args[1], sql(starts, [args[1], _truths(args)])],
    )


def _element_of_tuple(args: Args) -> exp.Expression:
    """TUPLEELEMENT((1, 'x'), 2) is x."""
    row, place = args
    if isinstance(place, exp.Literal) and place.is_string:
        return exp.Dot(
            this=exp.paren(row.copy(), copy=False), expression=exp.to_identifier(place.name, quoted=True)
        )
    return exp.Bracket(this=row.copy(), expressions=[place.copy()], offset=1)


def _pairs(args: Args) -> exp.Expression:
    """ARRAYZIP(['a', 'b'], [5, 2]) is [('a', 5), ('b', 2)]."""
    each = ", ".join(f"list_extract({{{place}}}, place)" for place in range(len(args)))
    return sql(f"list_transform({_PLACES}, lambda place: row({each}))", args)


_ROTATED = (
    "list_transform({0}, lambda each, place:"
    " list_extract({0}, CAST(((place - 1 BY) % len({0}) + len({0})) % len({0}) + 1 AS BIGINT)))"
)
_FILLED = (
    "list_transform({0}, lambda each, place: list_extract({0},"
    " coalesce(list_max(list_filter(range(1, place + 1),"
    " lambda at: at = 1 OR list_extract({1}, at))), 1)))"
)
_SHIFTED = "list_resize(list_slice({0}, 1 + {1}, len({0})), len({0}), {2})"

ARRAYS: Meanings = {
    "ARRAYMAP(function, array, ...)": mapped,
    "ARRAYFILTER(function, array, ...)": filtered,
    "ARRAYCOUNT(function, array, ...)": lambda args: sql(
        "len(list_filter({0}, lambda each: each))", [_truths(args)]
    ),
    "ARRAYCOUNT(array)": "len(list_filter({0}, lambda each: CAST(each AS BOOLEAN)))",
    "ARRAYEXISTS(function, array, ...)": lambda args: sql(
        "coalesce(list_contains({0}, true), false)", [_truths(args)]
    ),
    "ARRAYALL(function, array, ...)": lambda args: sql(
        "len(list_filter({0}, lambda each: each IS NOT TRUE)) = 0", [_truths(args)]
    ),
    "ARRAYFIRST(function, array, ...)": _first(),
    "ARRAYFIRSTORNULL(function, array, ...)": _first(nullable=True),
    "ARRAYLAST(function, array, ...)": _first(last=True),
    "ARRAYLASTORNULL(function, array, ...)": _first(last=True, nullable=True),
    "ARRAYFIRSTINDEX(function, array, ...)": _first_place,
    "ARRAYLASTINDEX(function, array, ...)": _last_place,
    "ARRAYSORT(array)": _sorted("ASC"),
    "ARRAYSORT(function, array)": _sorted("ASC"),
    "ARRAYREVERSESORT(array)": _sorted("DESC"),
    "ARRAYREVERSESORT(function, array)": _sorted("DESC"),
    "ARRAYSUM(array, ...)": _of_values(_SUM),
    "ARRAYAVG(array, ...)": _of_values("list_avg({0})"),
    "ARRAYMIN(array, ...)": _of_values("list_min({0})"),
    "ARRAYMAX(array, ...)": _of_values("list_max({0})"),
    "ARRAYPRODUCT(array, ...)": _of_values("coalesce(list_product({0}), 1)"),
    "ARRAYFOLD(function, array, start)": _folded,
    "ARRAYREDUCE(name, array)": _reduced,
    "ARRAYCUMSUM(array)": "list_transform({0}, lambda each, place: list_sum(list_slice({0}, 1, place)))",
    "ARRAYDIFFERENCE(array)": (
        "list_transform({0}, lambda each, place: CASE WHEN place = 1 THEN 0"
        " ELSE each - list_extract({0}, place - 1) END)"
    ),
    "ARRAYCOMPACT(array)": (
        "list_filter({0}, lambda each, place:"
        " place = 1 OR each IS DISTINCT FROM list_extract({0}, place - 1))"
    ),
    "ARRAYDISTINCT(array)": (
        "list_filter({0}, lambda each, place: list_position({0}, each) = place AND each IS NOT NULL)"
    ),
    "ARRAYUNIQ(array)": "len(list_filter({0}, lambda each, place: list_position({0}, each) = place))",
    "ARRAYDOTPRODUCT(a, b)": (
        "list_sum(list_transform({0}, lambda each, place: each * list_extract({1}, place)))"
    ),
    "ARRAYENUMERATE(array)": _PLACES,
    "ARRAYENUMERATEUNIQ(array)": (
        "list_transform({0}, lambda each, place: len(list_filter(list_slice({0}, 1, place),"
        " lambda other: other IS NOT DISTINCT FROM each)))"
    ),
    "ARRAYFLATTEN | FLATTEN(array)": lambda args: exp.Flatten(this=args[0].copy()),
    "ARRAYINTERSECT(a, b)": array_calls.ARRAYS["ARRAY_INTERSECT(a, b)"],
    "ARRAYCONCAT(a, ...)": lambda args: exp.ArrayConcat(
        this=args[0].copy(), expressions=[a.copy() for a in args[1:]]
    ),
    "ARRAYELEMENT(array, place)": lambda args: exp.Bracket(
        this=args[0].copy(), expressions=[args[1].copy()], offset=1
    ),
    "ARRAYELEMENTORNULL(array, place)": "list_extract({0}, {1})",
    "ARRAYPOPBACK(array)": "list_slice({0}, 1, len({0}) - 1)",
    "ARRAYPOPFRONT(array)": "list_slice({0}, 2, len({0}))",
    "ARRAYPUSHBACK(array, value)": "list_append({0}, {1})",
    "ARRAYPUSHFRONT(array, value)": "list_prepend({1}, {0})",
    "ARRAYRESIZE(array, size, value)": (
        "CASE WHEN {1} >= 0 THEN list_resize({0}, {1}, {2}) ELSE"
        " list_concat(list_transform(range(greatest(-{1} - len({0}), 0)), lambda place: {2}),"
        " list_slice({0}, greatest(len({0}) + {1} + 1, 1), len({0}))) END"
    ),
    "ARRAYRESIZE(array, size)": lambda args: sql("list_resize({0}, {1}, {2})", [*args, _beyond(args[0])]),
    "ARRAYSHIFTLEFT(array, count)": lambda args: sql(_SHIFTED, [*args, _beyond(args[0])]),
    "ARRAYFILL(test, array)": lambda args: sql(_FILLED, [args[1], _truths(args)]),
    "ARRAYPARTIALSORT(limit, array)": "list_sort({1}, 'ASC', 'NULLS LAST')",
    "ARRAYSPLIT(test, array, ...)": _split,
    "ARRAYREVERSE(array)": "list_reverse({0})",
    "ARRAYROTATELEFT(array, count)": _ROTATED.replace("BY", "+ {1}"),
    "ARRAYROTATERIGHT(array, count)": _ROTATED.replace("BY", "- {1}"),
    "ARRAYSLICE(array, start, length?)": _slice,
    "ARRAYSTRINGCONCAT(array, separator?)": _joined,
    "ARRAYWITHCONSTANT(count, value)": "list_transform(range({0}), lambda place: {1})",
    "ARRAYZIP(a, ...)": _pairs,
    **{
        f"EMPTYARRAY{name}()": f"CAST([] AS {type}[])"
        for name, type in (
            ("INT32", "INTEGER"),
            ("INT64", "BIGINT"),
            ("FLOAT64", "DOUBLE"),
            ("STRING", "VARCHAR"),
        )
    },
    # HAS([1, 2, NULL], NULL) is 1
    "HAS(array, value)": "len(list_filter({0}, lambda each: each IS NOT DISTINCT FROM {1})) > 0",
    "HASALL(array, part)": ("len(list_filter({1}, lambda each: list_position({0}, each) IS NULL)) = 0"),
    "HASANY(a, b)": "len(list_filter({1}, lambda each: list_position({0}, each) IS NOT NULL)) > 0",
    "HASSUBSTR(array, part)": (
        "len({1}) = 0 OR len(list_filter(range(len({0}) - len({1}) + 1),"
        " lambda at: list_slice({0}, at + 1, at + len({1})) = {1})) > 0"
    ),
    "INDEXOF(array, value)": "coalesce(list_position({0}, {1}), 0)",
    "COUNTEQUAL(array, value)": "len(list_filter({0}, lambda each: each IS NOT DISTINCT FROM {1}))",
    "RANGE(stop)": "range({0})",
    "RANGE(start, stop)": "range({0}, {1})",
    "RANGE(start, stop, step)": "range({0}, {1}, {2})",
    "TUPLEELEMENT(row, place)": _element_of_tuple,
    "TUPLE(...)": lambda args: exp.Tuple(expressions=[arg.copy() for arg in args]),
}
