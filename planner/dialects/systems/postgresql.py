"""PostgreSQL's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://www.postgresql.org/docs/15/. Its relatives have the same functions.
"""

from __future__ import annotations

from sqlglot import exp

from engine.scalar.written import readable
from engine.schema import TEXT, Kind, array_of
from planner.dialects.byte_strings import BYTES
from planner.dialects.moment_digits import check_uncut, digits_of, rounded_around_2000
from planner.dialects.numbered_matches import in_any_case, replaced_match
from planner.dialects.overloads import PREFIX
from planner.dialects.systems.postgres_degrees import DEGREES
from planner.dialects.systems.postgres_intervals import JUSTIFIED
from planner.dialects.systems.postgres_names import NAMES
from planner.dialects.systems.postgres_texts import cast_of_text
from planner.errors import InvalidQuery
from planner.formats.postgres_numbers import number_of
from planner.native.changed_documents import without_path
from planner.native.jsonb import JSONB, exists, matches
from planner.native.templates import Args, Made, Meanings, call_of, is_native, sql, whole, with_parts
from planner.positions import fail, refuse

RELATIVES = ("materialize", "postgres", "risingwave")
_EXACT = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC})
_DECIMALS = "split_part(CAST({0} AS VARCHAR), '.', 2)"
_UTF8 = frozenset({"utf8", "utf-8", "unicode"})
_BYTE_ORDER = frozenset({"c", "posix", "ucs_basic", "c.utf-8", "c.utf8"})
_LENGTHS = {"1": "nullif(len({0}), 0)", "2": "nullif(len({0}[1]), 0)"}
SPLIT = (
    "CASE WHEN {0} = '' THEN CAST([] AS VARCHAR[]) WHEN {1} = '' AND {0} IS NOT NULL THEN [{0}]"
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


def _exact(template: str) -> Made:
    return lambda args: whole(template, *args, kinds=_EXACT)


def _in_utf8(template: str) -> Made:
    """A conversion to or from the encoding that is the second argument."""

    def converted(args: Args) -> exp.Expression:
        if not args[1].is_string or args[1].name.lower() not in _UTF8:
            refuse(args[1], "this encoding is not supported", "write 'UTF8'")
        return sql(template, args[:1])

    return converted


def _length(args: Args) -> exp.Expression:
    """array_length(ARRAY[1,2,3], 1) is 3; the length of an empty array is NULL."""
    template = _LENGTHS.get(args[1].name) if isinstance(args[1], exp.Literal) else None
    if template is None:
        refuse(args[1], "this dimension of an array is not supported", "a dimension is 1 or 2")
    return sql(template, args[:1])


def _counted(args: Args) -> exp.Expression:
    """regexp_count('ABCABCAXYaxy', 'A.', 1, 'i') is 4."""
    if len(args) == 4 and not args[3].is_string:
        refuse(args[3], "flags that are not constant are not supported", "flags are c and i")
    flags = _flags(args[3]) if len(args) == 4 else ""
    rest = "{0}" if len(args) < 3 or args[2].name == "1" else "substring({0}, {2})"
    return sql(f"len(regexp_extract_all({rest}, {{1}}, 0, '{flags}'))", args[:3])


def _replaced(args: Args) -> exp.Expression:
    """regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 0, 'i') is X PXstgrXSQL fXnctXXn."""
    text, pattern, new, *rest = args
    if len(rest) == 1 and not rest[0].is_int:
        return exp.RegexpReplace(this=text, expression=pattern, replacement=new, modifiers=rest[0])
    start, count, flags = _with_defaults(rest, 3)
    if start.name != "1" or not count.is_int or not flags.is_string:
        hint = "replace from the first character, all matches with 0 or the one of a constant number"
        refuse(start, "this start or this number of a match is not supported", hint)
    if int(count.name) > 1:
        pattern = in_any_case(pattern) if _flags(flags)[-1:] == "i" else pattern
        return replaced_match(text, pattern, new, int(count.name))
    every = "g" if count.name == "0" else ""
    return sql(f"regexp_replace({{0}}, {{1}}, {{2}}, '{every}{_flags(flags)}')", [text, pattern, new])


def _match(args: Args) -> exp.Expression:
    """regexp_substr('number of your street, town zip, FR', '[^,]+', 1, 2) is the second match."""
    text, pattern, *rest = args
    start, count, flags, group = _with_defaults(rest, 4)
    if start.name != "1" or not count.is_int or not group.is_int or not flags.is_string:
        hint = "search from the first character, for the match and the group of a constant number"
        refuse(start, "this start, match or group is not supported", hint)
    every = f"regexp_extract_all({{0}}, {{1}}, {group.name}, '{_flags(flags)}')"
    return sql(f"list_extract({every}, {count.name})", [text, pattern])


def _flags(flags: exp.Expression) -> str:
    if set(flags.name) - set("ci"):
        refuse(flags, "these flags of a pattern are not supported", "flags are c and i")
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

# cbrt(27.0) is 3, which DuckDB misses by a digit
_CUBE_ROOT = "CASE WHEN round(cbrt({0})) ** 3 = {0} THEN round(cbrt(CAST({0} AS DOUBLE))) ELSE cbrt({0}) END"
# div(17.5, 5) is 3
_WHOLE_QUOTIENT = (
    "CASE WHEN {1} = 0 THEN CAST('division by zero: ' || CAST({0} AS VARCHAR) AS DECIMAL(38, 0))"
    " ELSE CAST(trunc({0} // {1}) AS DECIMAL(38, 0)) END"
)
_POWER = (
    "CASE WHEN {0} = 0 AND {1} < 0 THEN CAST('zero to the power of ' || CAST({1} AS VARCHAR) AS DOUBLE)"
    " WHEN {0} < 0 AND {1} <> trunc({1}) THEN CAST('a negative number to the power of '"
    " || CAST({1} AS VARCHAR) AS DOUBLE) ELSE pow({0}, {1}) END"
)
_LOGARITHM = "CASE WHEN {0} <= 0 THEN CAST('log of ' || CAST({0} AS VARCHAR) AS DOUBLE) ELSE log10({0}) END"
_KINDS_OF_JSON = {
    "VALUE": "true",
    "SCALAR": "json_type({0}) NOT IN ('ARRAY', 'OBJECT')",
    "ARRAY": "json_type({0}) = 'ARRAY'",
    "OBJECT": "json_type({0}) = 'OBJECT'",
}
_JSON_TEST = "CASE WHEN json_valid({0}) THEN {TEST} WHEN {0} IS NOT NULL THEN false END"
_SPLIT_PART = (
    "CASE WHEN {1} = '' THEN CASE WHEN {2} IN (1, -1) THEN {0}"
    " WHEN {0} IS NOT NULL AND {2} IS NOT NULL THEN '' END ELSE split_part({0}, {1}, {2}) END"
)
_PAD = "CASE WHEN {2} = '' THEN substring({0}, 1, greatest({1}, 0)) ELSE {PAD}({0}, {1}, {2}) END"
_HAS_KEY = (
    "CASE json_type({0}) WHEN 'OBJECT'"
    " THEN json_exists({0}, '/' || replace(replace({1}, '~', '~0'), '/', '~1')) "
    "WHEN 'ARRAY' THEN list_contains(CAST(json_extract({0}, '$[*]') AS VARCHAR[]), "
    "CAST(to_json({1}) AS VARCHAR)) ELSE CAST({0} AS VARCHAR) = CAST(to_json({1}) AS VARCHAR) END"
)
_KEYS = (
    f"list_transform(list_filter({{1}}, lambda x: x IS NOT NULL), lambda x: {_HAS_KEY.replace('{1}', 'x')})"
)
_HAS_SOME_KEY = f"CASE WHEN {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN list_contains({_KEYS}, true) END"
_HAS_EACH_KEY = (
    f"CASE WHEN {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN NOT list_contains({_KEYS}, false) END"
)
POSTGRES: Meanings = {
    **BYTES,
    **JSONB,
    **DEGREES,
    **NAMES,
    **JUSTIFIED,
    # array_dims(ARRAY[[1,2,3], [4,5,6]]) is [1:2][1:3], and array_ndims is 2
    "ARRAY_DIMS(array)": (
        "CASE WHEN len({0}) > 0 THEN '[1:' || CAST(len({0}) AS VARCHAR) || ']' || CASE WHEN typeof({0}) LIKE"
        " '%[][]' THEN '[1:' || CAST(json_array_length(to_json({0}[1])) AS VARCHAR) || ']' ELSE '' END END"
    ),
    "ARRAY_NDIMS(array)": (
        "CASE WHEN len({0}) > 0 THEN"
        " CAST((length(typeof({0})) - length(rtrim(typeof({0}), '[]'))) // 2 AS INTEGER) END"
    ),
    # array_fill(11, ARRAY[2]) is {11,11}
    "ARRAY_FILL(value, dimensions)": (
        "CASE WHEN len({1}) = 1 THEN list_transform(range(CAST({1}[1] AS BIGINT)), lambda each: {0}) END"
    ),
    "ARRAY_LENGTH | ARRAY_UPPER(array, dimension)": _length,
    "ARRAY_LOWER(array, dimension)": lambda args: sql(
        "CASE WHEN {0} IS NOT NULL THEN CAST(1 AS BIGINT) END", [_length(args)]
    ),
    # array_remove(ARRAY[1,NULL,2], NULL) is {1,2}
    "ARRAY_REMOVE(array, element)": "list_filter({0}, lambda each: each IS DISTINCT FROM {1})",
    # array_position(ARRAY[1,2,3,2], 2, 3) is 4
    "ARRAY_POSITION(array, element, start)": (
        "CAST(list_filter(range(CAST(greatest({2}, 1) AS BIGINT), CAST(len({0}) AS BIGINT) + 1),"
        " lambda place: list_extract({0}, place) IS NOT DISTINCT FROM {1})[1] AS INTEGER)"
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
    # array_cat(NULL, ARRAY[1]) is {1}
    "ARRAY_CAT(a, b)": "CASE WHEN {0} IS NOT NULL OR {1} IS NOT NULL THEN list_concat({0}, {1}) END",
    # width_bucket(now(), ARRAY['yesterday', 'today', 'tomorrow']::timestamptz[]) is 2
    "WIDTH_BUCKET(value, bounds)": (
        "CASE WHEN {0} IS NOT NULL"
        " THEN CAST(len(list_filter({1}, lambda bound: bound <= {0})) AS INTEGER) END"
    ),
    "CONVERT_FROM(bytes, form)": _in_utf8("decode({0})"),
    "CONVERT_TO(text, form)": _in_utf8("encode({0})"),
    # scale(8.4100) is 4, and min_scale(8.4100) is 2
    "SCALE(number)": _exact(f"CAST(length({_DECIMALS}) AS INTEGER)"),
    "TRIM_SCALE(number)": _exact("{0}"),  # the zeros at its end are not written
    "MIN_SCALE(number)": _exact(f"CAST(length(rtrim({_DECIMALS}, '0')) AS INTEGER)"),
    "REGEXP_COUNT(text, pattern, start, flags?)": _counted,
    "REGEXP_REPLACE(text, pattern, new, start, count?, flags?)": _replaced,
    "REGEXP_SUBSTR(text, pattern, start?, count?, flags?, group?)": _match,
}
POSTGRES_ALONE: Meanings = {
    **POSTGRES,
    "TO_NUMBER(text, format)": lambda args: number_of(*args),
}
"""What its relatives have not."""


def postgres_node(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Cast):
        check_uncut(node)
    match node:
        case exp.Collate(expression=order) if order.name.lower() in _BYTE_ORDER:
            return exp.paren(node.this.copy(), copy=False)
        case exp.JSONBContainsTopKey():
            return whole(_HAS_KEY, node.this, node.expression)
        case exp.JSONBContainsAnyTopKeys():
            return whole(_HAS_SOME_KEY, node.this, _texts(node.expression))
        case exp.JSONBContainsAllTopKeys():
            return whole(_HAS_EACH_KEY, node.this, _texts(node.expression))
        case exp.Round() if node.args.get("decimals") is None and not isinstance(node.this, exp.Literal):
            return call_of(f"{PREFIX}rounded", [node.this], "round")
        case exp.Extract(this=exp.Var(this="EPOCH"), expression=value) if not _mentions_clock(value):
            return call_of(f"{PREFIX}seconds_since", [value], "extract")
        case exp.Cast(this=exp.IntDiv() as quotient, to=to) if to.is_type("decimal") and not to.expressions:
            return sql(_WHOLE_QUOTIENT, [quotient.this, quotient.expression])
        case exp.Cast() if (digits := digits_of(node)) is not None:
            return rounded_around_2000(node, digits)
        case exp.Cast(this=exp.Literal(is_string=True) as text) if not is_native(node):
            return cast_of_text(node, text.name)
        case exp.Concat() | exp.ConcatWs() if not is_native(node) and not all(
            map(_is_written, node.expressions)
        ):
            return with_parts(node, expressions=[_written(part) for part in node.expressions])
        case exp.Dot(this=exp.Expr() as schema, expression=exp.Expression() as call) if (
            schema.name == "pg_catalog" and isinstance(call, exp.Func)
        ):
            return call.copy()
        case exp.SplitPart() if not is_native(node):
            return _part(node)
        case exp.Pad() if not is_native(node) and not _is_some(node.args.get("fill_pattern")):
            pad = "lpad" if node.args["is_left"] else "rpad"
            return sql(_PAD.replace("{PAD}", pad), [node.this, node.expression, node.args["fill_pattern"]])
        case exp.Cbrt():
            return sql(_CUBE_ROOT, [node.this])
        case exp.Is(expression=exp.JSON() as kind):
            return _is_json(node, kind)
        case exp.Pow() if not is_native(node) and not _is_harmless(node.expression):
            return sql(_POWER, [node.this, node.expression])
        case exp.Log(this=exp.Literal(this="10"), expression=exp.Expression() as value):
            return sql(_LOGARITHM, [value])
        case exp.Log(this=value) if node.args.get("expression") is None:
            return sql(_LOGARITHM, [value])
        case exp.JSONBDeleteAtPath():
            return without_path(node.this, node.expression)
        case exp.JSONBPathExists():
            return exists([node.this, node.expression])
        case exp.MatchAgainst(this=path, expressions=[document]):
            return matches([document, path])
        case exp.Overlaps(this=exp.Tuple() as one, expression=exp.Tuple() as other):
            return _overlapping(one, other)
        case exp.Normalize() if not isinstance(node.args.get("form"), exp.Var):
            return sql("nfc_normalize({0})", [node.this])
        case exp.Normalize(args={"form": exp.Var(this="NFC")}):
            return sql("nfc_normalize({0})", [node.this])
        case exp.RegexpInstr() if node.args.get("group") is not None and node.text("group") != "0":
            refuse(node, "the place of a group is not supported", "take the place of the match")
    return node


def _mentions_clock(value: exp.Expr) -> bool:
    """Whether a value depends on the time: conditions on that are read as they are written."""
    return any(isinstance(node, exp.Func) and not list(node.iter_expressions()) for node in value.walk())


def _is_written(node: exp.Expr) -> bool:
    """Whether CONCAT writes a value as everyone does, or is told to."""
    return is_native(node) or isinstance(node, exp.Literal | exp.Null)


def _written(node: exp.Expression) -> exp.Expression:
    """concat('abc', true) is abct."""
    return node.copy() if _is_written(node) else call_of(f"{PREFIX}written", [node], "concat")


def _is_some(text: exp.Expression | None) -> bool:
    """Whether a text is left out, or is known not to be empty."""
    return text is None or (text.is_string and text.name != "")


def _part(node: exp.SplitPart) -> exp.Expression:
    """split_part('abc~@~def', '', 1) is abc~@~def, and there is no field 0."""
    delimiter, place = node.args["delimiter"], node.args["part_index"]
    if isinstance(place, exp.Literal) and place.name == "0":
        fail(InvalidQuery("split_part has no field 0", "the first field is 1"), place)
    return node if _is_some(delimiter) else sql(_SPLIT_PART, [node.this, delimiter, place])


def _is_harmless(exponent: exp.Expr) -> bool:
    """Whether every number has a power to this exponent."""
    return isinstance(exponent, exp.Literal) and exponent.is_int


def _is_json(node: exp.Is, kind: exp.JSON) -> exp.Expression:
    """`text IS JSON OBJECT`: whether a text spells JSON of this kind."""
    test = _KINDS_OF_JSON.get(str(kind.this or "VALUE").upper())
    if test is None or kind.args.get("unique"):
        refuse(node, "this test of JSON is not supported", "write IS JSON, or IS JSON OBJECT")
    found = sql(_JSON_TEST.replace("{TEST}", test), [node.this])
    return exp.Not(this=found) if node.args.get("negate") else found


def _texts(keys: exp.Expression) -> exp.Expression:
    """Keys as an array of texts, of which a constant may be written as '{a,b}'."""
    if isinstance(keys, exp.Array) and not keys.expressions:
        return sql("CAST([] AS VARCHAR[])", [])
    if isinstance(keys, exp.Literal):
        return sql("CAST({0} AS VARCHAR[])", [exp.Literal.string(readable(keys.name, array_of(TEXT)))])
    return keys


def _overlapping(one: exp.Tuple, other: exp.Tuple) -> exp.Expression:
    """(a, b) OVERLAPS (c, d), where a length may stand for an end; the ends do not belong to the times."""
    template = _OVERLAPS
    for name, end in _ENDS.items():
        template = template.replace(name, end)
    return sql(template, [*_ends(one), *_ends(other)])


def _ends(times: exp.Tuple) -> list[exp.Expression]:
    start, end = times.expressions
    return [start, exp.Add(this=start.copy(), expression=end) if isinstance(end, exp.Interval) else end]
