"""PostgreSQL's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://www.postgresql.org/docs/15/. Its relatives have the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from engine.schema import Kind
from planner.errors import Unsupported
from planner.native.templates import sql, whole
from planner.positions import fail

Args = Sequence[exp.Expression]

RELATIVES = ("materialize", "postgres", "risingwave")
_EXACT = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC})
_DECIMALS = "split_part(CAST({0} AS VARCHAR), '.', 2)"
_LITERAL = "'''' || replace(replace({0}, '''', ''''''), '\\', '\\\\') || ''''"
_QUOTED = f"CASE WHEN contains({{0}}, '\\') THEN 'E' ELSE '' END || {_LITERAL}"
_UTF8 = frozenset({"utf8", "utf-8", "unicode"})
_BYTE_ORDER = frozenset({"c", "posix", "ucs_basic", "c.utf-8", "c.utf8"})
_LENGTHS = {"1": "nullif(len({0}), 0)", "2": "nullif(len({0}[1]), 0)"}
SPLIT = (
    "CASE WHEN {0} = '' THEN CAST([] AS VARCHAR[]) WHEN {1} = '' THEN [{0}]"
    " WHEN {1} IS NULL THEN string_split({0}, '') ELSE string_split({0}, {1}) END"
)
"""string_to_array('', ',') is {}, and string_to_array('abc', NULL) is {a,b,c}."""
SPLIT_WITH_NULLS = f"list_transform({SPLIT}, lambda each: nullif(each, {{2}}))"
_OVERLAPS = (
    "CASE WHEN S1 = S2 THEN CASE WHEN E1 IS NOT NULL AND E2 IS NOT NULL THEN true END"
    " WHEN S1 > S2 THEN CASE WHEN S1 < E2 THEN true WHEN E1 IS NOT NULL AND E2 IS NOT NULL THEN false END"
    " WHEN S1 < S2 THEN CASE WHEN S2 < E1 THEN true WHEN E1 IS NOT NULL AND E2 IS NOT NULL THEN false END END"
)
_ENDS = {
    "S1": "least({0}, {1})",
    "E1": "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN greatest({0}, {1}) END",
    "S2": "least({2}, {3})",
    "E2": "CASE WHEN {2} IS NOT NULL AND {3} IS NOT NULL THEN greatest({2}, {3}) END",
}
_TOO_MANY = "CAST('elements to trim: ' || CAST({1} AS VARCHAR) AS BIGINT)"


def _exact(template: str) -> Callable[[Args], exp.Expression]:
    return lambda args: whole(template, *args, kinds=_EXACT)


def _in_utf8(template: str) -> Callable[[Args], exp.Expression]:
    """A conversion to or from the encoding that is the second argument."""

    def converted(args: Args) -> exp.Expression:
        if not _is_text(args[1]) or args[1].name.lower() not in _UTF8:
            fail(Unsupported("this encoding is not supported", "write 'UTF8'"), args[1])
        return sql(template, args[:1])

    return converted


def _length(args: Args) -> exp.Expression:
    """array_length(ARRAY[1,2,3], 1) is 3; the length of an empty array is NULL."""
    template = _LENGTHS.get(args[1].name) if isinstance(args[1], exp.Literal) else None
    if template is None:
        fail(Unsupported("this dimension of an array is not supported", "a dimension is 1 or 2"), args[1])
    return sql(template, args[:1])


def _replaced(args: Args) -> exp.Expression:
    """regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 0, 'i') is X PXstgrXSQL fXnctXXn."""
    text, pattern, new, *rest = args
    if len(rest) == 1 and not rest[0].is_int:
        return exp.RegexpReplace(this=text, expression=pattern, replacement=new, modifiers=rest[0])
    start, count, flags = _with_defaults(rest, 3)
    if start.name != "1" or count.name not in ("0", "1") or not _is_text(flags):
        hint = "replace from the first character, all matches with 0 or the first one with 1"
        fail(Unsupported("this start or this number of a match is not supported", hint), start)
    every = "g" if count.name == "0" else ""
    return sql(f"regexp_replace({{0}}, {{1}}, {{2}}, '{every}{_flags(flags)}')", [text, pattern, new])


def _match(args: Args) -> exp.Expression:
    """regexp_substr('number of your street, town zip, FR', '[^,]+', 1, 2) is the second match."""
    text, pattern, *rest = args
    start, count, flags, group = _with_defaults(rest, 4)
    if start.name != "1" or not count.is_int or not group.is_int or not _is_text(flags):
        hint = "search from the first character, for the match and the group of a constant number"
        fail(Unsupported("this start, match or group is not supported", hint), start)
    every = f"regexp_extract_all({{0}}, {{1}}, {group.name}, '{_flags(flags)}')"
    return sql(f"list_extract({every}, {count.name})", [text, pattern])


def _flags(flags: exp.Expression) -> str:
    if set(flags.name) - set("ci"):
        fail(Unsupported("these flags of a pattern are not supported", "flags are c and i"), flags)
    return flags.name


def _with_defaults(given: Args, count: int) -> list[exp.Expression]:
    """The start, the number of the match, the flags and the group, as far as they are asked for."""
    return [*given, *_DEFAULTS[len(given) : count]]


_DEFAULTS = (
    exp.Literal.number(1),
    exp.Literal.number(1),
    exp.Literal.string(""),
    exp.Literal.number(0),
)

POSTGRES: Mapping[str, str | Callable[[Args], exp.Expression]] = {
    "ACOSD(x)": "degrees(acos({0}))",
    "ASIND(x)": "degrees(asin({0}))",
    "ATAND(x)": "degrees(atan({0}))",
    "ATAN2D(y, x)": "degrees(atan2({0}, {1}))",
    "COSD(x)": "cos(radians({0}))",
    "COTD(x)": "cot(radians({0}))",
    "SIND(x)": "sin(radians({0}))",
    "TAND(x)": "tan(radians({0}))",
    "ARRAY_LENGTH(array, dimension)": _length,
    "ARRAY_UPPER(array, dimension)": _length,
    "ARRAY_LOWER(array, dimension)": lambda args: sql(
        "CASE WHEN {0} IS NOT NULL THEN CAST(1 AS BIGINT) END", [_length(args)]
    ),
    # array_positions(ARRAY['A','A','B','A'], 'A') is {1,2,4}
    "ARRAY_POSITIONS(array, element)": (
        "list_filter(range(1, CAST(len({0}) AS BIGINT) + 1),"
        " lambda place: list_extract({0}, place) IS NOT DISTINCT FROM {1})"
    ),
    # array_replace(ARRAY[1,2,5,4], 5, 3) is {1,2,3,4}
    "ARRAY_REPLACE(array, old, new)": (
        "list_transform({0}, lambda each: CASE WHEN each IS NOT DISTINCT FROM {1} THEN {2} ELSE each END)"
    ),
    # trim_array(ARRAY[1,2,3,4,5,6], 2) is {1,2,3,4}
    "TRIM_ARRAY(array, count)": (
        "list_slice({0}, 1, CASE WHEN {1} BETWEEN 0 AND len({0}) THEN len({0}) - {1}"
        f" WHEN {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN {_TOO_MANY} END)"
    ),
    "STRING_TO_ARRAY(text, delimiter)": SPLIT,
    "STRING_TO_ARRAY(text, delimiter, null)": SPLIT_WITH_NULLS,
    "ARRAY_CAT(a, b)": lambda args: exp.DPipe(this=args[0].copy(), expression=args[1].copy()),
    "CONVERT_FROM(bytes, form)": _in_utf8("decode({0})"),
    "CONVERT_TO(text, form)": _in_utf8("encode({0})"),
    # get_byte('\x1234567890'::bytea, 4) is 144
    "GET_BYTE(bytes, place)": "CAST('0x' || substring(hex({0}), 2 * {1} + 1, 2) AS INTEGER)",
    # quote_literal(E'O\'Reilly') is 'O''Reilly'
    "QUOTE_LITERAL(text)": _QUOTED,
    "QUOTE_NULLABLE(text)": f"coalesce({_QUOTED}, 'NULL')",
    # scale(8.4100) is 4, and min_scale(8.4100) is 2
    "SCALE(number)": _exact(f"CAST(length({_DECIMALS}) AS INTEGER)"),
    "MIN_SCALE(number)": _exact(f"CAST(length(rtrim({_DECIMALS}, '0')) AS INTEGER)"),
    "REGEXP_REPLACE(text, pattern, new, start)": _replaced,
    "REGEXP_REPLACE(text, pattern, new, start, count)": _replaced,
    "REGEXP_REPLACE(text, pattern, new, start, count, flags)": _replaced,
    "REGEXP_SUBSTR(text, pattern)": _match,
    "REGEXP_SUBSTR(text, pattern, start)": _match,
    "REGEXP_SUBSTR(text, pattern, start, count)": _match,
    "REGEXP_SUBSTR(text, pattern, start, count, flags)": _match,
    "REGEXP_SUBSTR(text, pattern, start, count, flags, group)": _match,
}


def postgres_node(node: exp.Expression) -> exp.Expression:
    """A node's meaning, or the node itself."""
    match node:
        case exp.Collate(expression=order) if order.name.lower() in _BYTE_ORDER:
            return exp.paren(node.this.copy(), copy=False)
        case exp.JSONBContainsAnyTopKeys() | exp.JSONBContainsAllTopKeys() if isinstance(
            node.expression, exp.Array
        ):
            return _with_keys(node)
        case exp.Overlaps(this=exp.Tuple() as one, expression=exp.Tuple() as other):
            return _overlapping(one, other)
        case exp.Normalize() if not isinstance(node.args.get("form"), exp.Var):
            return sql("nfc_normalize({0})", [node.this])
        case exp.Normalize(args={"form": exp.Var(this="NFC")}):
            return sql("nfc_normalize({0})", [node.this])
        case exp.JSONObject(expressions=[exp.JSONKeyValue(this=key)]) if key.name.startswith("{"):
            hint = "write json_build_object"
            fail(Unsupported("json_object of the texts of arrays is not supported", hint), node)
        case exp.RegexpInstr() if node.args.get("group") is not None and node.text("group") != "0":
            fail(Unsupported("the place of a group is not supported", "take the place of the match"), node)
    return node


def _with_keys(node: exp.Expression) -> exp.Expression:
    """doc ?| ARRAY['b', 'd'] is doc ? 'b' OR doc ? 'd', and ?& the same with AND."""
    keys = node.expression.expressions
    tests = [exp.JSONBContainsTopKey(this=node.this.copy(), expression=key.copy()) for key in keys]
    joined = exp.or_ if isinstance(node, exp.JSONBContainsAnyTopKeys) else exp.and_
    return exp.paren(joined(*tests, copy=False), copy=False) if tests else node


def _overlapping(one: exp.Tuple, other: exp.Tuple) -> exp.Expression:
    """(a, b) OVERLAPS (c, d), where a length may stand for an end; the ends do not belong to the times."""
    template = _OVERLAPS
    for name, end in _ENDS.items():
        template = template.replace(name, end)
    return sql(template, [*_ends(one), *_ends(other)])


def _ends(times: exp.Tuple) -> list[exp.Expression]:
    start, end = times.expressions
    return [start, exp.Add(this=start.copy(), expression=end) if isinstance(end, exp.Interval) else end]


def _is_text(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)
