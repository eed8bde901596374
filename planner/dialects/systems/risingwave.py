"""RisingWave's functions that PostgreSQL does not have, or has with another meaning.

Examples are the manual's, https://docs.risingwave.com/sql/functions/.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.array_calls import ARRAYS
from planner.dialects.systems.postgresql import POSTGRES, postgres_node
from planner.native.templates import Args, Meanings
from planner.positions import refuse

_FRAMED = (exp.AggFunc, exp.FirstValue, exp.LastValue, exp.NthValue)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead)
_ENTRIES = "list_filter(map_entries({0}), lambda entry: TEST)"
_OTHERS = f"map_from_entries({_ENTRIES})".replace("TEST", "entry['key'] IS DISTINCT FROM {1}")


def _transformed(args: Args) -> exp.Expression:
    """array_transform('{1,2,3}'::int[], |x| x + 0.5) is {1.5,2.5,3.5}."""
    return exp.Transform(this=args[0].copy(), expression=args[1].copy())


def _part(args: Args) -> exp.Expression:
    """date_part('day', '2023-06-01 00:00:00Z'::timestamptz, 'Australia/Sydney') is 1."""
    part, at, *zone = args
    if not isinstance(part, exp.Literal):
        refuse(part, "a part that is not constant is not supported", "write date_part('day', ...)")
    there = exp.AtTimeZone(this=exp.paren(at.copy()), zone=zone[0].copy()) if zone else at.copy()
    return exp.Extract(this=exp.var(part.name), expression=there)


RISINGWAVE: Meanings = {
    **POSTGRES,
    # ascii('') is NULL
    "ASCII(text)": "CASE WHEN {0} <> '' THEN ascii({0}) END",
    "ARRAY_DISTINCT(array)": ARRAYS["ARRAY_DISTINCT(array)"],
    # array_flatten(array[array[1,2], array[3,4]]) is {1,2,3,4}
    "ARRAY_FLATTEN(array)": "flatten({0})",
    "ARRAY_JOIN(array, delimiter)": "array_to_string({0}, {1})",
    "ARRAY_JOIN(array, delimiter, null)": lambda args: exp.ArrayToString(
        this=args[0].copy(), expression=args[1].copy(), null=args[2].copy()
    ),
    "ARRAY_TRANSFORM(array, lambda)": _transformed,
    "BOOLEQ(a, b)": "{0} = {1}",
    "BOOLNE(a, b)": "{0} <> {1}",
    "COTH(x)": "1 / tanh({0})",
    "DATE_PART(part, at, zone?)": _part,
    "JSONB_TO_ARRAY(json)": "json_extract(CAST({0} AS JSON), '$[*]')",
    "MAP_ACCESS(map, key)": "{0}[{1}]",
    # map_cat(MAP{1:100,2:200}, MAP{2:201,3:300}) is {1:100,2:201,3:300}
    "MAP_CAT(a, b)": "map_concat({0}, {1})",
    "MAP_DELETE(map, key)": _OTHERS,
    "MAP_FROM_KEY_VALUES(keys, values)": "map({0}, {1})",
    "MAP_INSERT(map, key, value)": f"map_concat({_OTHERS}, map([{{1}}], [{{2}}]))",
    "MAP_LENGTH(map)": "CAST(cardinality({0}) AS BIGINT)",
    "SHA1(bytes)": "unhex(sha1({0}))",
}


def risingwave_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.HexString(this=digits):
            return exp.Literal.number(int(digits, 16))
        case exp.BitString(this=digits):
            return exp.Literal.number(int(digits, 2))
        case exp.Window(this=inner, args={"order": exp.Order()}) if node.args.get("spec") is None:
            return _framed(node) if isinstance(_called(inner), _FRAMED) else postgres_node(node)
    return postgres_node(node)


def _called(node: exp.Expr) -> exp.Expr:
    """The function of a window, without FILTER."""
    while isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    return exp.Null() if isinstance(node, _RANKS) else node


def _framed(node: exp.Window) -> exp.Expression:
    """A window with an order, whose frame ends with the row itself, and not with the last of its peers."""
    found = node.copy()
    frame = exp.WindowSpec(
        kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW", end_side=None
    )
    found.set("spec", frame)
    return found
