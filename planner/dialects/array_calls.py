"""Functions of arrays that Spark and Trino share: elements keep their order, and NULL is unknown.

Examples are the manuals', https://spark.apache.org/docs/latest/api/sql/ and
https://trino.io/docs/current/functions/array.html.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.native.templates import Args, Meanings, call_of, sql

_FIRSTS = "list_filter(ARRAY, lambda each, place: list_position(ARRAY, each) = place)"
"""The first of equal elements, in their order."""
_HAS_NULL = "list_count({0}) < len({0})"
_UNKNOWN = f"WHEN {{0}} IS NULL OR {_HAS_NULL} THEN NULL"
ANY = f"CASE WHEN list_contains({{0}}, true) THEN true {_UNKNOWN} ELSE false END"
EVERY = f"CASE WHEN list_contains({{0}}, false) THEN false {_UNKNOWN} ELSE true END"
# ARRAY_CONTAINS(ARRAY(1, NULL, 3), 2) is NULL
HAS = (
    f"CASE WHEN list_contains({{0}}, {{1}}) THEN true WHEN {{0}} IS NULL OR {{1}} IS NULL OR {_HAS_NULL}"
    " THEN NULL ELSE false END"
)
REPEATED = "list_transform(range({1}), lambda place: {0})"


def of_each(template: str, array: exp.Expression, test: exp.Expression) -> exp.Expression:
    """Whether a test holds for some element, or for every one; NULL if only a NULL could decide."""
    return sql(template, [exp.Transform(this=array.copy(), expression=test.copy())])


def at_places(function: exp.Lambda, names: list[str], arrays: Args) -> exp.Lambda:
    """The lambda over the places of arrays: its arguments are elements."""
    by_name = dict(zip(names, arrays, strict=True))

    def element(node: exp.Expr) -> exp.Expr:
        name = node.name if isinstance(node, exp.Identifier | exp.Column) else ""
        is_part = isinstance(node, exp.Identifier) and isinstance(node.parent, exp.Column | exp.Dot)
        if name not in by_name or is_part or (isinstance(node, exp.Column) and node.table):
            return node
        return sql("list_extract({0}, {1})", [by_name[name], exp.column("place")])

    return exp.Lambda(this=function.this.copy().transform(element), expressions=[exp.to_identifier("place")])


def series(args: Args) -> exp.Expression:
    """SEQUENCE(5, 1): the numbers from one to the other, up or down."""
    step = sql("CASE WHEN {0} <= {1} THEN 1 ELSE -1 END", args)
    return exp.GenerateSeries(start=args[0].copy(), end=args[1].copy(), step=step)


def stepped(args: Args) -> exp.Expression:
    """SEQUENCE(DATE '2024-01-31', DATE '2024-03-31', INTERVAL 1 MONTH): an array of days, or of moments."""
    if isinstance(args[2], exp.Interval):
        return call_of(f"{PREFIX}stepped", args, "sequence")
    return exp.GenerateSeries(start=args[0].copy(), end=args[1].copy(), step=args[2].copy())


ARRAYS: Meanings = {
    "ARRAY_DISTINCT(array)": _FIRSTS.replace("ARRAY", "{0}"),
    "ARRAY_EXCEPT(a, b)": (
        "list_filter({0}, lambda each, place: list_position({0}, each) = place"
        " AND list_position({1}, each) IS NULL)"
    ),
    "ARRAY_INTERSECT(a, b)": (
        "list_filter({0}, lambda each, place: list_position({0}, each) = place"
        " AND list_position({1}, each) IS NOT NULL)"
    ),
    # ARRAY_POSITION(ARRAY(3, 1), 9) is 0
    "ARRAY_POSITION(array, value)": (
        "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN coalesce(list_position({0}, {1}), 0) END"
    ),
    # ARRAY_REMOVE keeps NULL
    "ARRAY_REMOVE(array, value)": (
        "CASE WHEN {1} IS NOT NULL THEN list_filter({0}, lambda each: each IS DISTINCT FROM {1}) END"
    ),
    "ARRAY_UNION(a, b)": _FIRSTS.replace("ARRAY", "list_concat({0}, {1})"),
    "ARRAYS_OVERLAP(a, b)": (
        "CASE WHEN list_has_any({0}, {1}) THEN true WHEN {0} IS NULL OR {1} IS NULL THEN NULL"
        " WHEN len({0}) > 0 AND len({1}) > 0 AND (list_count({0}) < len({0}) OR list_count({1}) < len({1}))"
        " THEN NULL ELSE false END"
    ),
    "REVERSE(value)": "@reversed_of_any",
    "SEQUENCE(start, stop)": series,
    "SEQUENCE(start, stop, step)": stepped,
}
