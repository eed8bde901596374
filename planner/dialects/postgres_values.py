"""PostgreSQL's values: floats as it writes them, 16, not 16.0, and 1e+15; intervals with mons and signs;
bytes in hexadecimal digits; arrays in braces; nothing before the first element.

    INTERVAL '1 month'::text  →  1 mon
    '\\x6162'::bytea::text    →  \\x6162
    ARRAY['a', 'b c']::text   →  {a,"b c"}
    (ARRAY['a', 'b'])[-1]     →  NULL

A float has an exponent from 1e15 on, and a REAL from 1e6 on; below, DuckDB's digits are PostgreSQL's. In
ad-hoc queries the types are DuckDB's to know.
"""

from __future__ import annotations

from sqlglot import exp

from engine.schema import BYTEA, DOUBLE, INTERVAL, REAL, TEXT, TIME, Kind, Type, array_of
from planner.dialects.traits import Trait, has
from planner.native.templates import call_of, is_native, sql

_ELEMENT = (
    "CASE WHEN typeof({0}) LIKE '%]' AND TRY_CAST(CAST({1} AS VARCHAR) AS BIGINT) < 1 THEN NULL"
    " ELSE {0}[{1}] END"
)
TEXT_MACRO = "dialect_text_of_postgres"
_TEXT = "CAST({0} AS VARCHAR)"
_SCIENTIFIC = (
    "list_transform([CAST(abs({0}) AS VARCHAR)], lambda digits: CASE WHEN {0} < 0 THEN '-' ELSE '' END"
    " || substring(digits, 1, 1) || rtrim('.' || rtrim(replace(substring(digits, 2), '.', ''), '0'), '.')"
    " || 'e+' || lpad(CAST(strpos(digits, '.') - 2 AS VARCHAR), 2, '0'))[1]"
)
_WRITTEN = (
    "CASE WHEN isnan({0}) THEN 'NaN'"
    " WHEN isinf({0}) THEN CASE WHEN {0} > 0 THEN 'Infinity' ELSE '-Infinity' END"
    f" WHEN abs({{0}}) >= LEAST AND NOT contains({_TEXT}, 'e') THEN {_SCIENTIFIC}"
    f" ELSE regexp_replace({_TEXT}, '\\.0$', '') END"
)
_OF_DOUBLE, _OF_REAL = (
    f"list_transform([{{0}}], lambda number: {_WRITTEN.replace('LEAST', least).replace('{0}', 'number')})[1]"
    for least in ("1e15", "1e6")
)
_PART_OF_INTERVAL = (
    "CASE WHEN {PART} <> 0 THEN CASE WHEN {BEFORE} < 0 AND {PART} > 0 THEN '+' ELSE '' END"
    " || CAST({PART} AS VARCHAR) || CASE WHEN {PART} = 1 THEN ' {UNIT}' ELSE ' {UNIT}s' END END"
)
_CLOCK_OF_INTERVAL = (
    "CASE WHEN clock <> 0 OR {0} = INTERVAL '0' DAY THEN CASE WHEN clock < 0 THEN '-'"
    " WHEN CASE WHEN {DAYS} <> 0 THEN {DAYS} ELSE {MONTHS} END < 0 THEN '+' ELSE '' END"
    " || printf('%02d:%02d:%02d', abs(clock) // 3600000000, abs(clock) // 60000000 % 60,"
    " abs(clock) // 1000000 % 60) || rtrim(rtrim(printf('.%06d', abs(clock) % 1000000), '0'), '.') END"
)
_YEARS, _MONTHS, _DAYS = (f"date_part('{part}', {{0}})" for part in ("year", "month", "day"))
_ALL_MONTHS = f"({_YEARS} + {_MONTHS})"
"""Of the sign of all months."""
_CLOCK = (
    "date_part('hour', {0}) * 3600000000 + date_part('minute', {0}) * 60000000"
    " + date_part('microsecond', {0})"
)


def _part_of_interval(part: str, unit: str, before: str = "0") -> str:
    """A number with its unit; behind a negative one, a positive one has a sign."""
    return _PART_OF_INTERVAL.replace("{PART}", part).replace("{UNIT}", unit).replace("{BEFORE}", before)


_WORDS_OF_INTERVAL = (
    f"CASE WHEN clock IS NOT NULL THEN concat_ws(' ', {_part_of_interval(_YEARS, 'year')},"
    f" {_part_of_interval(_MONTHS, 'mon')}, {_part_of_interval(_DAYS, 'day', _ALL_MONTHS)},"
    f" {_CLOCK_OF_INTERVAL.replace('{DAYS}', _DAYS).replace('{MONTHS}', _ALL_MONTHS)}) END"
)
OF_INTERVAL = (
    "list_transform([{0}], lambda span: "
    + f"list_transform([{_CLOCK}], lambda clock: {_WORDS_OF_INTERVAL})[1]".replace("{0}", "span")
    + ")[1]"
)
OF_BYTES = "'\\x' || lower(hex({0}))"
_MARKED = (
    "CASE WHEN x = '' OR upper(x) = 'NULL' OR regexp_matches(x, '[{},\"\\\\\\s]')"
    " THEN '\"' || regexp_replace(x, '([\"\\\\])', '\\\\\\1', 'g') || '\"' ELSE x END"
)
"""An element of an array as a part of its text: in quotes, if it is empty, the word NULL, or has signs."""
_BARE = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.DATE, Kind.TIME, Kind.UUID})
"""Elements whose texts have none of the signs."""


def written_float(type: Type, dialect: str) -> str | None:
    """The text of a value of the type, as DuckDB's SQL; None if the value is no float, or the dialect writes
    floats as DuckDB does."""
    if not type.is_float or not has(dialect, Trait.WRITES_FLOATS_BRIEFLY):
        return None
    return _OF_REAL if type.kind is Kind.REAL else _OF_DOUBLE


def written_value(type: Type, dialect: str) -> str | None:
    """The same of a value of any type."""
    if not has(dialect, Trait.WRITES_FLOATS_BRIEFLY):
        return None
    match type.kind:
        case Kind.ARRAY:
            return _list_text(type, "{0}", dialect, 0)
        case Kind.INTERVAL:
            return OF_INTERVAL
        case Kind.BYTEA:
            return OF_BYTES
    return written_float(type, dialect)


def _list_text(type: Type, list: str, dialect: str, depth: int) -> str:
    element, each = type.element, f"each{depth}"
    if element is None:
        return f"CAST({list} AS VARCHAR)"
    if element.kind is Kind.ARRAY:
        text = _list_text(element, each, dialect, depth + 1)
    elif element.kind is Kind.BOOLEAN:
        text = f"CASE WHEN {each} THEN 't' ELSE 'f' END"
    else:
        text = (written_value(element, dialect) or "CAST({0} AS VARCHAR)").replace("{0}", each)
        if element.kind not in _BARE and not element.is_float:
            text = f"list_transform([{text}], lambda x: {_MARKED})[1]"
    text = f"CASE WHEN {each} IS NULL THEN 'NULL' ELSE {text} END"
    return f"'{{' || array_to_string(list_transform({list}, lambda {each}: {text}), ',') || '}}'"


def _in_query() -> str:
    """The text of `{0}`, by the name of its type."""
    texts = {
        "'INTERVAL'": OF_INTERVAL.replace("{0}", "TRY_CAST(CAST({0} AS VARCHAR) AS INTERVAL)"),
        "'BLOB'": OF_BYTES.replace("{0}", "TRY_CAST(CAST({0} AS VARCHAR) AS BLOB)"),
        "'DOUBLE'": _OF_DOUBLE.replace("{0}", "TRY_CAST(CAST({0} AS VARCHAR) AS DOUBLE)"),
        "'FLOAT'": _OF_REAL.replace("{0}", "TRY_CAST(CAST({0} AS VARCHAR) AS FLOAT)"),
        "'VARCHAR[]', 'TIMESTAMP[]', 'TIMESTAMP WITH TIME ZONE[]'": _list_in_query("VARCHAR", TEXT),
        "'VARCHAR[][]'": _list_in_query("VARCHAR[]", array_of(TEXT)),
        "'INTERVAL[]'": _list_in_query("INTERVAL", INTERVAL),
        "'BLOB[]'": _list_in_query("BLOB", BYTEA),
        "'TIME[]'": _list_in_query("TIME", TIME),
        "'DOUBLE[]'": _list_in_query("DOUBLE", DOUBLE),
        "'FLOAT[]'": _list_in_query("FLOAT", REAL),
        "'BOOLEAN[]'": f"regexp_replace({_BRACED}, '(t|f)[a-z]+', '\\1', 'g')",
    }
    cases = " ".join(f"WHEN typeof({{0}}) IN ({names}) THEN {text}" for names, text in texts.items())
    is_bare = f"regexp_full_match(typeof({{0}}), '({_BARE_NAMES})(\\[\\])+')"
    return f"CASE {cases} WHEN {is_bare} THEN {_BRACED} ELSE {_TEXT} END"


def _list_in_query(name: str, element: Type) -> str:
    return _list_text(array_of(element), f"TRY_CAST({_TEXT} AS {name}[])", "postgres", 0)


_BRACED = f"replace(translate({_TEXT}, '[]', '{{}}'), ', ', ',')"
"""The text of an array whose elements have no signs."""
_BARE_NAMES = "U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL[(].*[)]|DATE|UUID"
TEXT_IN_QUERY = _in_query()
"""The text of a value of any type in an ad-hoc query, which calls it as a macro."""


def float_text_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A cast to a text in an ad-hoc query, where the types are DuckDB's to know; any other node itself."""
    if dialect is None or not has(dialect, Trait.WRITES_FLOATS_BRIEFLY) or is_native(node):
        return node
    match node:
        case exp.TryCast():
            return node
        case exp.Cast(this=value, to=type) if type.is_type(*exp.DataType.TEXT_TYPES) and not type.expressions:
            return node if isinstance(value, exp.Literal) else call_of(TEXT_MACRO, [value], "a cast to text")
    return node


def subscript_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A subscript that may be less than 1; any other node itself."""
    if dialect is None or not has(dialect, Trait.NOTHING_BEFORE_ARRAYS) or is_native(node):
        return node
    if not isinstance(node, exp.Bracket) or len(node.expressions) != 1:
        return node
    place = node.expressions[0]
    if isinstance(place, exp.Slice) or (isinstance(place, exp.Literal) and place.name != "0"):
        return node
    return sql(_ELEMENT, [node.this, place])
