"""MySQL's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://dev.mysql.com/doc/refman/8.4/en/.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.numbered_matches import in_any_case, replaced_match
from planner.dialects.overloads import PREFIX
from planner.dialects.systems.mysql_documents import MYSQL_DOCUMENTS, extracted
from planner.dialects.systems.mysql_json import MYSQL_JSON, member
from planner.dialects.systems.mysql_numbers import MYSQL_NUMBERS
from planner.dialects.undefined_values import NULL_WHERE_UNDEFINED
from planner.native.templates import Args, Made, Meanings, call_of, is_native, sql
from planner.positions import refuse

_SECONDS_OF_DAY = "hour({0}) * 3600 + minute({0}) * 60 + second({0})".replace("{0}", "CAST({0} AS TIME)")
_QUOTED = r"replace(replace({0}, '\', '\\'), '''', '\''')"
_OCTETS = " || '.' || ".join(f"CAST({{0}} // {1 << shift} % 256 AS VARCHAR)" for shift in (24, 16, 8, 0))
_SIGN = (
    "CASE WHEN {0} BETWEEN 0 AND 127 THEN chr(CAST({0} AS INTEGER))"
    " WHEN {0} IS NULL THEN '' ELSE CAST(CAST('char of ' || {0} AS INTEGER) AS VARCHAR) END"
)
_OFFSET = re.compile(r"([-+])(\d\d?):(\d\d)")
_CLOCK = re.compile(r"(-)?(?:(\d+) )?(\d+):(\d+):(\d+)(?:\.(\d{1,6}))?")
_FITTING = "list_filter(range(256, 1025), lambda count: strlen(left(whole, count)) <= 1024)"
_FIRST_BYTES = (
    "list_transform([{0}], lambda whole: CASE WHEN strlen(whole) <= 1024 THEN whole"
    " WHEN strlen(left(whole, 1024)) = 1024 THEN left(whole, 1024)"
    f" ELSE left(whole, CAST(list_max({_FITTING}) AS BIGINT)) END)[1]"
)
_DONE = "has_its_meaning"


def _signs(args: Args) -> exp.Expression:
    """CHAR(77, 121, 83, 81, '76') is MySQL."""
    numbers = [exp.Literal.number(each.name) if each.is_string else each for each in args]
    each = [_SIGN.replace("{0}", f"{{{place}}}") for place in range(len(numbers))]
    return sql(f"concat({', '.join(each)})", numbers)


def _set(args: Args) -> exp.Expression:
    """MAKE_SET(1 | 4, 'hello', 'nice', 'world') is hello,world."""
    each = (
        f"CASE WHEN ({{0}} >> {place}) & 1 = 1 THEN {{{place + 1}}} END" for place in range(len(args) - 1)
    )
    return sql(f"CASE WHEN {{0}} IS NOT NULL THEN concat_ws(',', {', '.join(each)}) END", args)


def _options(args: Args) -> exp.Expression:
    """EXPORT_SET(5, 'Y', 'N', ',', 4) is Y,N,Y,N."""
    width = int(args[4].name) if isinstance(args[4], exp.Literal) and args[4].name.isdigit() else 0
    if not 0 < width <= 64:
        refuse(args[4], "the last argument of export_set is a number from 1 to 64")
    each = (f"CASE WHEN ({{0}} >> {place}) & 1 = 1 THEN {{1}} ELSE {{2}} END" for place in range(width))
    return sql(" || {3} || ".join(each), args[:4])


def _middle(args: Args) -> exp.Expression:
    text, start, length = args
    return exp.Substring(this=exp.cast(text.copy(), "text"), start=start.copy(), length=length.copy())


def _between_zones(args: Args) -> exp.Expression:
    """CONVERT_TZ('2004-01-01 12:00:00', 'GMT', 'MET') is 2004-01-01 13:00:00."""
    at = sql("CAST({0} AS TIMESTAMP)", [args[0]])
    for zone, sign in ((args[1], -1), (args[2], 1)):
        offset = _OFFSET.fullmatch(zone.name) if isinstance(zone, exp.Literal) else None
        if offset is not None:
            minutes = sign * int(f"{offset[1]}1") * (int(offset[2]) * 60 + int(offset[3]))
            at = sql(f"{{0}} + INTERVAL '{minutes}' MINUTE", [at])
        elif sign < 0:
            at = sql("timezone('UTC', timezone({1}, {0}))", [at, zone])
        else:
            at = sql("timezone({1}, timezone('UTC', {0}))", [at, zone])
    return at


def _sum_of_times(sign: int) -> Made:
    """ADDTIME('2007-12-31 23:59:59.999999', '1 1:1:1.000002') is 2008-01-02 01:01:01.000001."""

    def add(args: Args) -> exp.Expression:
        return call_of(f"{PREFIX}shifted_clock_mysql", [args[0], _span(args[1], sign)], "addtime")

    return add


def _span(time: exp.Expression, sign: int) -> exp.Expression:
    """A constant time as an interval."""
    clock = _CLOCK.fullmatch(time.name) if isinstance(time, exp.Literal) else None
    if clock is None:
        refuse(time, "a sum with a computed time is not supported in mysql", "add an interval")
    minus, days, hours, minutes, seconds, fraction = clock.groups("0")
    whole = ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    total = sign * (-1 if minus == "-" else 1) * (whole * 1_000_000 + int(fraction.ljust(6, "0")))
    return sql(f"INTERVAL '{total}' MICROSECOND", [])


def _cut(node: exp.GroupConcat) -> exp.Expression:
    """GROUP_CONCAT gives at most 1,024 bytes: group_concat_max_len, as it is unless somebody sets it."""
    whole = node.copy()
    whole.meta[_DONE] = True
    return sql(_FIRST_BYTES, [whole])


MYSQL: Meanings = {
    **MYSQL_JSON,
    **MYSQL_DOCUMENTS,
    **MYSQL_NUMBERS,
    **NULL_WHERE_UNDEFINED,
    "ATAN(y, x)": "atan2({0}, {1})",
    "COT(value)": "CASE WHEN {0} = 0 THEN CAST('cot of zero' AS DOUBLE) ELSE cot({0}) END",
    "LOG(value)": "CASE WHEN {0} > 0 THEN ln({0}) END",
    "ADDTIME(at, time)": _sum_of_times(1),
    "SUBTIME(at, time)": _sum_of_times(-1),
    # ASCII(2) is 50, and ASCII('é') the first of two bytes
    "ASCII(text)": (
        "CASE WHEN CAST({0} AS VARCHAR) = '' THEN 0"
        " ELSE CAST('0x' || left(hex(CAST({0} AS VARCHAR)), 2) AS BIGINT) END"
    ),
    # BIT_COUNT(BINARY 64) is 7: the bits of two digits
    "BIT_COUNT(value)": "@bits_of_mysql",
    "CHAR(code, ...)": _signs,
    "CONVERT_TZ(at, source, target)": _between_zones,
    # LAST_DAY('2003-03-32') is NULL
    "LAST_DAY(at)": "@last_day_of_mysql",
    # a part of a moment or a time of day, either of which may be a text: HOUR('10:05:03') is 10
    "HOUR(at)": "@hour_of_mysql",
    "MINUTE(at)": "@minute_of_mysql",
    "SECOND(at)": "@second_of_mysql",
    "MICROSECOND(at)": "@microsecond_of_mysql",
    "TIME(at)": "@time_of_mysql",
    "EXPORT_SET(bits, on, off, separator, width)": _options,
    "INET_ATON(text)": (
        "CASE WHEN regexp_full_match({0}, '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+') THEN"
        " CAST(split_part({0}, '.', 1) AS BIGINT) * 16777216"
        " + CAST(split_part({0}, '.', 2) AS BIGINT) * 65536"
        " + CAST(split_part({0}, '.', 3) AS BIGINT) * 256 + CAST(split_part({0}, '.', 4) AS BIGINT) END"
    ),
    "INET_NTOA(number)": f"CASE WHEN {{0}} BETWEEN 0 AND 4294967295 THEN {_OCTETS} END",
    # INSERT('Quadratic', 3, 100, 'What') is QuWhat, INSERT('Quadratic', -1, 4, 'What') Quadratic
    "INSERT(text, place, length, part)": (
        "CASE WHEN {1} < 1 OR {1} > length({0}) THEN {0} WHEN {2} < 0 OR {1} + {2} > length({0})"
        " THEN left({0}, {1} - 1) || {3}"
        " ELSE left({0}, {1} - 1) || {3} || substring({0}, {1} + {2}) END"
    ),
    "MID(text, start, length)": _middle,
    "OCT(number)": (
        "CASE WHEN {0} < 0 THEN CAST(CAST('oct of ' || {0} AS INTEGER) AS VARCHAR) ELSE to_base({0}, 8) END"
    ),
    # STRCMP('MOHD', 'mohd') is 0
    "STRCMP(a, b)": (
        "CASE WHEN lower({0}) < lower({1}) THEN -1 WHEN lower({0}) = lower({1}) THEN 0"
        " WHEN lower({0}) > lower({1}) THEN 1 END"
    ),
    "MAKE_SET(bits, text, ...)": _set,
    # PERIOD_ADD(200801, 2) is 200803
    "PERIOD_ADD(period, months)": (
        "({0} // 100 * 12 + {0} % 100 - 1 + {1}) // 12 * 100"
        " + ({0} // 100 * 12 + {0} % 100 - 1 + {1}) % 12 + 1"
    ),
    # QUOTE('Don\'t!') is 'Don\'t!'
    "QUOTE(text)": f"CASE WHEN {{0}} IS NULL THEN 'NULL' ELSE '''' || {_QUOTED} || '''' END",
    # SEC_TO_TIME(2378) is 00:39:38
    "SEC_TO_TIME(n)": "make_time({0} // 3600, {0} // 60 % 60, CAST({0} % 60 AS DOUBLE))",
    # SUBSTRING_INDEX('www.mysql.com', '.', 0) is the empty text
    "SUBSTRING_INDEX(text, separator, count)": (
        "CASE WHEN {2} = 0 THEN '' WHEN {2} > 0"
        " THEN array_to_string(list_slice(string_split({0}, {1}), 1, {2}), {1})"
        " ELSE array_to_string(list_slice(string_split({0}, {1}), {2}, -1), {1}) END"
    ),
    "TIME_TO_SEC(time)": _SECONDS_OF_DAY,
    # TO_SECONDS('2009-11-29') is 63426672000
    "TO_SECONDS(at)": "epoch_us(CAST({0} AS TIMESTAMP)) // 1000000 + 62167219200",
}


def mysql_node(node: exp.Expression) -> exp.Expression:
    if _DONE in node.meta:
        return node
    match node:
        case exp.Cast(this=text, to=to) if to.is_type(exp.DType.CHARACTER_SET):
            return sql("CAST({0} AS VARCHAR)", [text])
        case exp.Introducer(expression=text):
            return text.copy()
        case exp.Concat(expressions=[only]):
            return sql("CAST({0} AS VARCHAR)", [only])
        case exp.Interval(this=exp.Tuple(expressions=[number, *limits])):
            # INTERVAL(23, 1, 15, 17, 30, 44, 200) is 3
            each = [f"CAST({{0}} >= {{{place}}} AS INTEGER)" for place in range(1, len(limits) + 1)]
            test = f"CASE WHEN {{0}} IS NULL THEN -1 ELSE {' + '.join(each)} END"
            return sql(test, [number, *limits])
        case exp.Collate(expression=order) if order.name.lower().endswith("_bin"):
            return exp.paren(node.this.copy(), copy=False)
        case exp.Round() if node.args.get("decimals") is None and _is_float(node.this):
            # ROUND(25E-1) is 2
            return call_of(f"{PREFIX}rounded", [node.this], "round")
        case exp.Add(this=exp.Interval() as span, expression=exp.Interval(this=at, args={"unit": None})):
            # INTERVAL 1 DAY + '2018-12-31' is 2019-01-01
            return exp.Add(this=at.copy(), expression=span.copy())
        case exp.Timestamp(this=at, args={"zone": exp.Literal() as clock}):
            # TIMESTAMP('2003-12-31 12:00:00', '12:00:00') is 2004-01-01 00:00:00
            return sql("CAST({0} AS TIMESTAMP) + {1}", [at, _span(clock, 1)])
        case exp.JSONExtract() if (document := extracted(node)) is not None:
            return document
        case exp.GroupConcat() if not is_native(node):
            return _cut(node)
        case exp.Cast(this=exp.Literal(is_string=False) as number, to=to) if to.is_type(exp.DType.BINARY):
            return sql("encode({0})", [exp.Literal.string(number.name)])
        case exp.RegexpReplace() | exp.RegexpSubstr() if (found := _numbered_match(node)) is not None:
            return found
        case exp.RegexpLike() | exp.RegexpReplace() | exp.RegexpSubstr() | exp.RegexpInstr():
            return _in_any_case(node)
        case exp.JSONArrayContains():
            return member([node.this, node.expression])
        case exp.Substring(args={"start": start}) if not _is_inside(start):
            # SUBSTR('Sakila', 0) is the empty text
            found = node.copy()
            found.meta[_DONE] = True
            test = "{1} = 0 OR {1} < -length({0})"
            return sql(f"CASE WHEN {test} THEN '' ELSE {{2}} END", [node.this, start, found])
        case exp.Trim(expression=exp.Literal() as part) if len(part.name) > 1:
            return _trimmed(node, part.name)
    return node


def _is_float(node: exp.Expr) -> bool:
    is_literal = isinstance(node, exp.Literal) and not node.is_string
    return not is_literal or "e" in node.name.lower()


def _numbered_match(node: exp.Expression) -> exp.Expression | None:
    """REGEXP_REPLACE('abc def ghi', '[a-z]+', 'X', 1, 3) is abc def X: a match with a number, from the first
    character on."""
    number, start = node.args.get("occurrence"), node.args.get("position")
    is_first = start is None or start.name == "1"
    is_known = isinstance(number, exp.Literal) and number.is_int and int(number.name) > 0
    if not is_known or not is_first or node.args.get("modifiers") or node.args.get("parameters"):
        return None
    pattern, place = in_any_case(node.expression), int(number.name)  # type: ignore[union-attr]
    if isinstance(node, exp.RegexpSubstr):
        return sql(f"list_extract(regexp_extract_all({{0}}, {{1}}), {place})", [node.this, pattern])
    new = node.args["replacement"]
    if not isinstance(new, exp.Literal) or "\\" in new.name or "$" in new.name:
        refuse(new, "a replacement with groups is not supported", "replace every match")
    return replaced_match(node.this, pattern, new, place)


def _in_any_case(node: exp.Expression) -> exp.Expression:
    """A pattern without flags, which finds letters of both cases."""
    found = node.copy()
    found.meta[_DONE] = True
    pattern = node.expression
    if node.args.get("flag") or node.args.get("modifiers") or node.args.get("parameters"):
        return found
    is_text = isinstance(pattern, exp.Literal)
    found.set(
        "expression",
        exp.Literal.string(f"(?i){pattern.name}") if is_text else sql("'(?i)' || {0}", [pattern]),
    )
    return found


def _is_inside(start: exp.Expression | None) -> bool:
    return isinstance(start, exp.Literal) and not start.is_string and start.name.strip("0") != ""


def _trimmed(node: exp.Trim, part: str) -> exp.Expression:
    """TRIM(TRAILING 'xyz' FROM 'barxxyz') is barx: the whole part is removed, not its letters."""
    each = f"(?:{re.escape(part)})+"
    shape = {"LEADING": f"^{each}", "TRAILING": f"{each}$"}.get(node.text("position"), f"^{each}|{each}$")
    return sql("regexp_replace({0}, {1}, '', 'g')", [node.this, exp.Literal.string(shape)])
