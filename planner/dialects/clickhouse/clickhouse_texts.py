"""ClickHouse's functions of texts. A text is its bytes in UTF-8; functions named UTF8 count characters.

substring('Täglich', 1, 3)      →  'Tä', three bytes
substringUTF8('Täglich', 1, 3)  →  'Täg'

Bytes that are no text in UTF-8 are an error here.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.dialects.printf import printed
from planner.native.templates import Args, Made, Meanings, call_of, sql
from planner.positions import refuse

_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_AS_LOWER, _AS_UPPER = (
    f"translate({{0}}, '{_UPPER}', '{_LOWER}')",
    f"translate({{0}}, '{_LOWER}', '{_UPPER}')",
)


def _part(first: str, last: str) -> str:
    """The bytes between two places."""
    return f"decode(array_slice(encode({{0}}), {first}, {last}))"


_START = "CASE WHEN {1} < 0 THEN greatest(strlen({0}) + {1} + 1, 1) ELSE {1} END"
_TO_END = f"CASE WHEN {{1}} = 0 THEN '' ELSE {_part(_START, 'strlen({0})')} END"
_LAST = f"CASE WHEN {{2}} < 0 THEN strlen({{0}}) + {{2}} ELSE ({_START}) + {{2}} - 1 END"
_BETWEEN = (
    f"CASE WHEN {{1}} = 0 OR {{2}} = 0 OR ({_LAST}) < ({_START}) THEN '' ELSE {_part(_START, _LAST)} END"
)
_LEFT = _part("1", "CASE WHEN {1} < 0 THEN strlen({0}) + {1} ELSE {1} END")
_RIGHT = _part("CASE WHEN {1} < 0 THEN 1 - {1} ELSE greatest(strlen({0}) - {1} + 1, 1) END", "strlen({0})")
_AT = "CASE WHEN strpos({0}, {1}) = 0 THEN 0 ELSE strlen(left({0}, strpos({0}, {1}) - 1)) + 1 END"
_REST = "decode(array_slice(encode({0}), {2}, strlen({0})))"
_AT_FROM = (
    f"CASE WHEN {{2}} > strlen({{0}}) + 1 OR strpos({_REST}, {{1}}) = 0 THEN 0"
    f" ELSE strlen(left({_REST}, strpos({_REST}, {{1}}) - 1)) + {{2}} END"
)
_PADDED = "left(repeat({2}, greatest({1} - LENGTH({0}), 0)), CAST(greatest({1} - LENGTH({0}), 0) AS BIGINT))"


def _padded(side: str, length: str, cut: str) -> str:
    """LEFTPAD('abc', 7, '*') is ****abc; a text that is longer is cut."""
    filled = _PADDED.replace("LENGTH", length)
    text = f"{filled} || {{0}}" if side == "left" else f"{{0}} || {filled}"
    return f"CASE WHEN {length}({{0}}) >= {{1}} THEN {cut} ELSE {text} END"


_BY_SEPARATOR = (
    "CASE WHEN {2} = 0 THEN '' WHEN {2} > 0"
    " THEN array_to_string(list_slice(string_split({0}, {1}), 1, {2}), {1})"
    " ELSE array_to_string(list_slice(string_split({0}, {1}), {2}, -1), {1}) END"
)
_CUT, _CUT_BYTES = "left({0}, {1})", _part("1", "{1}")


def _with_space(form: str) -> Made:
    return lambda args: sql(form, [*args, exp.Literal.string(" ")])


def _each(form: str, combined: str) -> str:
    """A search for each of several texts."""
    found = form.replace("{1}", "each")
    return combined.replace("EACH", f"list_transform({{1}}, lambda each: {found})")


def _position_in(args: Args) -> exp.Expression:
    """POSITION('!' IN 'Hello, world!') is 13."""
    (test,) = args
    text = test.args.get("field") if isinstance(test, exp.In) else None
    if text is None:
        refuse(test, "position takes a text and a part", "write position(text, part)")
    return sql(_AT, [text, test.this])


def _length(args: Args) -> exp.Expression:
    """LENGTH: the bytes of a text, the elements of an array, the entries of a map."""
    return call_of(f"{PREFIX}length_of_clickhouse", args, "length")


def _joined(args: Args) -> exp.Expression:
    """CONCAT(1, 'a'): the texts of all values; NULL if one is."""
    places = " || ".join(f"CAST({{{place}}} AS VARCHAR)" for place in range(len(args)))
    return sql(places, args)


def _joined_by(args: Args) -> exp.Expression:
    """CONCATWITHSEPARATOR('-', 'a', 'b') is a-b."""
    separator, *values = args
    places = " || {0} || ".join(f"CAST({{{place}}} AS VARCHAR)" for place in range(1, len(args)))
    return sql(places, [separator, *values])


def _formatted(args: Args) -> exp.Expression:
    """FORMAT('{1} {0}', 'a', 'b') is b a."""
    places = ", ".join(["{0}", *(f"CAST({{{place}}} AS VARCHAR)" for place in range(1, len(args)))])
    return sql(f"format({places})", args)


def _group(pattern: exp.Expression) -> int:
    """The group that extract gives: the first one, or the whole match."""
    try:
        return int(re.compile(_text(pattern)).groups > 0)
    except re.error:
        refuse(pattern, "this pattern is not supported in extract", "use regexpExtract")


def _text(pattern: exp.Expression) -> str:
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        refuse(pattern, "a computed pattern is not supported in extract", "use regexpExtract")
    return pattern.name


def extracted(args: Args) -> exp.Expression:
    """EXTRACT('hello: 5', 'hello: ([0-9]+)') is 5."""
    return sql(f"regexp_extract({{0}}, {{1}}, {_group(args[1])})", args)


def _all_extracted(args: Args) -> exp.Expression:
    return sql(f"regexp_extract_all({{0}}, {{1}}, {_group(args[1])})", args)


def _groups(args: Args) -> exp.Expression:
    """EXTRACTGROUPS('a=1', '(\\w+)=(\\w+)') is ['a', '1']."""
    count = re.compile(_text(args[1])).groups if _group(args[1]) else 0
    if not count:
        refuse(args[1], "extractGroups takes a pattern with groups", "use extract")
    each = ", ".join(f"regexp_extract({{0}}, {{1}}, {group})" for group in range(1, count + 1))
    return sql(f"CASE WHEN regexp_matches({{0}}, {{1}}) THEN [{each}] ELSE CAST([] AS VARCHAR[]) END", args)


_QUOTED = "regexp_replace({0}, '([\\\\(){}|\\[\\].*?+^$:-])', '\\\\\\1', 'g')"
_URL = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)(?:[^/?#@]*@)?"


def _function_of_url(pattern: str) -> str:
    return f"regexp_extract({{0}}, '{pattern}', 1)"


_DOMAIN = _function_of_url(_URL + r"([^/?#:]*)")

TEXTS: Meanings = {
    "LENGTH(value)": "@length_of_clickhouse",
    "VISIBLEWIDTH(value)": "length(CAST({0} AS VARCHAR))",
    "LENGTHUTF8 | CHAR_LENGTH | CHARACTER_LENGTH(text)": "length({0})",
    "OCTET_LENGTH(text)": _length,
    "EMPTY(value)": lambda args: sql("{0} = 0", [_length(args)]),
    "NOTEMPTY(value)": lambda args: sql("{0} > 0", [_length(args)]),
    "CONCAT | CONCATASSUMEINJECTIVE(value, ...)": _joined,
    "CONCATWITHSEPARATOR | CONCAT_WS(separator, value, ...)": _joined_by,
    # LOWER('ÄB') is Äb: letters beyond ASCII stay
    "LOWER | LCASE(text)": _AS_LOWER,
    "UPPER | UCASE(text)": _AS_UPPER,
    "LOWERUTF8(text)": "lower({0})",
    "UPPERUTF8(text)": "upper({0})",
    "INITCAPUTF8(text)": lambda args: exp.Initcap(this=args[0].copy()),
    "ISVALIDUTF8(text)": "{0} IS NOT NULL",
    "TOVALIDUTF8(text)": "{0}",
    "REVERSE(value)": "@reversed_of_any",
    "REVERSEUTF8(text)": "reverse({0})",
    "SUBSTRING | SUBSTR(text, start)": _TO_END,
    "SUBSTRING | SUBSTR | MID(text, start, length)": _BETWEEN,
    "SUBSTRINGUTF8(text, start)": "substring({0}, {1})",
    "SUBSTRINGUTF8(text, start, length)": "substring({0}, {1}, {2})",
    "SUBSTRINGINDEX | SUBSTRING_INDEX(text, separator, count)": _BY_SEPARATOR,
    "LEFT(text, length)": _LEFT,
    "RIGHT(text, length)": _RIGHT,
    "LEFTUTF8(text, length)": "left({0}, {1})",
    "RIGHTUTF8(text, length)": "right({0}, {1})",
    **{
        f"{name}(text, length{rest})": form if rest else _with_space(form)
        for name, form in (
            ("LEFTPAD", _padded("left", "strlen", _CUT_BYTES)),
            ("LPAD", _padded("left", "strlen", _CUT_BYTES)),
            ("RIGHTPAD", _padded("right", "strlen", _CUT_BYTES)),
            ("RPAD", _padded("right", "strlen", _CUT_BYTES)),
            ("LEFTPADUTF8", _padded("left", "length", _CUT)),
            ("RIGHTPADUTF8", _padded("right", "length", _CUT)),
        )
        for rest in ("", ", part")
    },
    "POSITION(text, part)": _AT,
    "POSITION(text, part, start)": _AT_FROM,
    "POSITION(test)": _position_in,
    "LOCATE(part, text)": lambda args: sql(_AT, [args[1], args[0]]),
    "POSITIONUTF8(text, part)": "strpos({0}, {1})",
    "POSITIONCASEINSENSITIVE(text, part)": _AT.replace("strpos({0}, {1})", "strpos(lower({0}), lower({1}))"),
    "POSITIONCASEINSENSITIVEUTF8(text, part)": "strpos(lower({0}), lower({1}))",
    "MULTISEARCHANY(text, parts)": _each("contains({0}, {1})", "coalesce(list_contains(EACH, true), false)"),
    "MULTISEARCHFIRSTINDEX(text, parts)": _each(
        "contains({0}, {1})", "coalesce(list_position(EACH, true), 0)"
    ),
    "MULTISEARCHALLPOSITIONS(text, parts)": _each(f"CAST({_AT} AS BIGINT)", "EACH"),
    "MULTIMATCHANY(text, patterns)": _each(
        "regexp_matches({0}, {1})", "coalesce(list_contains(EACH, true), false)"
    ),
    "COUNTSUBSTRINGS(text, part)": "CASE WHEN {1} = '' THEN 0 ELSE len(string_split({0}, {1})) - 1 END",
    "COUNTMATCHES(text, pattern)": "len(list_filter(regexp_extract_all({0}, {1}), lambda each: each <> ''))",
    "COUNTMATCHESCASEINSENSITIVE(text, pattern)": (
        "len(list_filter(regexp_extract_all({0}, '(?i)' || {1}), lambda each: each <> ''))"
    ),
    "HASTOKEN(text, token)": "list_contains(string_split_regex({0}, '[^0-9A-Za-z\\x80-\\x{10FFFF}]+'), {1})",
    "HASSUBSEQUENCE(text, part)": (
        "regexp_matches({0}, '(?s)' || array_to_string(list_transform(string_split({1}, ''),"
        " lambda each: '\\x{' || to_base(unicode(each), 16) || '}'), '.*'))"
    ),
    "STARTSWITH(text, part)": "starts_with({0}, {1})",
    "ENDSWITH(text, part)": "ends_with({0}, {1})",
    "LIKE(text, pattern)": lambda args: exp.Like(this=args[0].copy(), expression=args[1].copy()),
    "ILIKE(text, pattern)": lambda args: exp.ILike(this=args[0].copy(), expression=args[1].copy()),
    "NOTLIKE(text, pattern)": lambda args: exp.Not(
        this=exp.Like(this=args[0].copy(), expression=args[1].copy())
    ),
    "NOTILIKE(text, pattern)": lambda args: exp.Not(
        this=exp.ILike(this=args[0].copy(), expression=args[1].copy())
    ),
    "MATCH(text, pattern)": "regexp_matches({0}, '(?s)' || {1})",
    "EXTRACTALL(text, pattern)": _all_extracted,
    "EXTRACTGROUPS(text, pattern)": _groups,
    "REGEXPEXTRACT(text, pattern)": "regexp_extract({0}, {1}, 1)",
    "REGEXPEXTRACT(text, pattern, group)": "regexp_extract({0}, {1}, {2})",
    "REPLACEREGEXPONE(text, pattern, replacement)": "regexp_replace({0}, {1}, {2})",
    "REPLACEREGEXPALL(text, pattern, replacement)": "regexp_replace({0}, {1}, {2}, 'g')",
    "REPLACEALL | REPLACE(text, part, replacement)": "replace({0}, {1}, {2})",
    "REPLACEONE(text, part, replacement)": (
        "CASE WHEN {1} = '' OR strpos({0}, {1}) = 0 THEN {0}"
        " ELSE left({0}, strpos({0}, {1}) - 1) || {2} || substring({0}, strpos({0}, {1}) + length({1})) END"
    ),
    "REGEXPQUOTEMETA(text)": _QUOTED,
    "SPLITBYWHITESPACE(text)": "list_filter(string_split_regex({0}, '\\s+'), lambda each: each <> '')",
    "SPLITBYNONALPHA(text)": (
        "list_filter(string_split_regex({0}, '[\\s[:punct:]]+'), lambda each: each <> '')"
    ),
    "ALPHATOKENS(text)": "list_filter(string_split_regex({0}, '[^A-Za-z]+'), lambda each: each <> '')",
    "SPLITBYCHAR | SPLITBYSTRING(separator, text)": "string_split({1}, {0})",
    "SPLITBYREGEXP(pattern, text)": "string_split_regex({1}, {0})",
    "APPENDTRAILINGCHARIFABSENT(text, sign)": (
        "CASE WHEN {0} = '' OR ends_with({0}, {1}) THEN {0} ELSE {0} || {1} END"
    ),
    "BYTEHAMMINGDISTANCE(a, b)": "hamming({0}, {1})",
    "DAMERAULEVENSHTEINDISTANCE(a, b)": "damerau_levenshtein({0}, {1})",
    "STRINGJACCARDINDEX(a, b)": "jaccard({0}, {1})",
    "NORMALIZEUTF8NFC(text)": "nfc_normalize({0})",
    "FIRSTLINE(text)": "regexp_extract({0}, '^[^\\n]*')",
    "ENCODEXMLCOMPONENT(text)": (
        "replace(replace(replace(replace(replace({0}, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'),"
        " '\"', '&quot;'), '''', '&apos;')"
    ),
    "FORMAT(pattern, ...)": _formatted,
    "PRINTF(pattern, ...)": printed,
    "DOMAIN(url)": _DOMAIN,
    "DOMAINWITHOUTWWW(url)": f"regexp_replace({_DOMAIN}, '^www[.]', '')",
    "TOPLEVELDOMAIN(url)": f"regexp_extract({_DOMAIN}, '[.]([^.]*[^.0-9][^.]*)$', 1)",
    "PROTOCOL(url)": _function_of_url(r"^([A-Za-z][A-Za-z0-9+.-]*)://"),
    "PATH(url)": _function_of_url(_URL + r"[^/?#]*(/[^?#]*)"),
    "QUERYSTRING(url)": _function_of_url(r"^[^?#]*[?]([^#]*)"),
    "FRAGMENT(url)": _function_of_url(r"#(.*)$"),
    "EXTRACTURLPARAMETER(url, name)": ("regexp_extract({0}, '[?&]' || regexp_escape({1}) || '=([^&#]*)', 1)"),
    "CUTQUERYSTRING(url)": "regexp_replace({0}, '[?][^#]*', '')",
    "DECODEURLCOMPONENT(text)": "url_decode({0})",
    "ENCODEURLCOMPONENT(text)": "url_encode({0})",
    "BASENAME(path)": "regexp_extract({0}, '[^/\\\\]*$')",
}
