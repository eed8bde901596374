"""T-SQL's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://learn.microsoft.com/en-us/sql/t-sql/functions/.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.made_documents import made_document
from planner.dialects.sounds import SOUNDEX
from planner.dialects.systems.bracket_patterns import like_with_brackets, place_of_pattern
from planner.dialects.systems.tsql_dates import TSQL_DATES, with_literal_dates
from planner.dialects.systems.tsql_json import DOCUMENTS
from planner.dialects.zero_divisors import guarded_division
from planner.formats.converting import is_binary
from planner.native.templates import Args, Meanings, sql
from planner.positions import refuse

_INSIDE = (
    "CASE WHEN abs({0}) > 1 THEN CAST('{NAME} of ' || CAST({0} AS VARCHAR) AS DOUBLE) ELSE {NAME}({0}) END"
)
_POSITIVE = "CASE WHEN {0} <= 0 THEN CAST('log of ' || CAST({0} AS VARCHAR) AS DOUBLE) ELSE {VALUE} END"
_QUOTES = {"[": "[]", "]": "[]", "(": "()", ")": "()", "<": "<>", ">": "<>", "{": "{}", "}": "{}"}
_QUOTES |= {sign: sign * 2 for sign in "'\"`"}
_NUMERAL = r"\s*[-+]?[$]?[0-9,]*[.]?[0-9]*([eEdD][-+]?[0-9]+)?\s*"
_BYTES = (
    "CASE typeof({0}) WHEN 'VARCHAR' THEN strlen(CAST({0} AS VARCHAR)) WHEN 'BLOB' THEN strlen(hex({0})) // 2"
    " WHEN 'TINYINT' THEN 1 WHEN 'SMALLINT' THEN 2 WHEN 'INTEGER' THEN 4 WHEN 'BIGINT' THEN 8"
    " ELSE CAST('datalength of ' || typeof({0}) AS INTEGER) END"
)
_SOUND = f"coalesce({SOUNDEX}, CASE WHEN {{0}} IS NOT NULL THEN '0000' END)"
_BITS = "bit_count(CAST({0} AS BIGINT) & {MASK})"
_HEX_STYLES = {"1": "'0x' || hex({0})", "2": "hex({0})"}
_BINARY = (exp.DType.BINARY, exp.DType.VARBINARY)
_HASHES = {"MD5": "md5({0})", "SHA1": "sha1({0})", "SHA": "sha1({0})", "SHA2_256": "sha256({0})"}
_OWN_LETTERS = re.compile("[A-Za-z]")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _byte_count(args: Args) -> exp.Expression:
    """DATALENGTH('abc  ') is 5, and DATALENGTH(N'abc') 6."""
    if isinstance(args[0], exp.National):
        return sql("2 * length({0})", [exp.Literal.string(args[0].name)])
    return sql(f"CASE WHEN {{0}} IS NOT NULL THEN {_BYTES} END", args)


def _bit_count(args: Args) -> exp.Expression:
    """BIT_COUNT(CAST(-1 AS SMALLINT)) is 16, and BIT_COUNT(-1) 32."""
    if isinstance(args[0], exp.Cast) and args[0].to.this is exp.DType.SMALLINT:
        return sql(_BITS.replace("{MASK}", "65535"), args)
    return sql(
        f"CASE typeof({{0}}) WHEN 'SMALLINT' THEN {_BITS.replace('{MASK}', '65535')}"
        f" WHEN 'INTEGER' THEN {_BITS.replace('{MASK}', '4294967295')} ELSE bit_count({{0}}) END",
        args,
    )


def _rounded(args: Args) -> exp.Expression:
    """ROUND(150.75, 0, 1) is 150.00: a third argument that is not 0 cuts."""
    how = args[2]
    if not isinstance(how, exp.Literal):
        refuse(how, "round with a computed third argument is not supported", "write 0 or 1")
    return sql("round({0}, {1})" if how.name == "0" else "trunc({0}, {1})", args[:2])


def _quoted(args: Args) -> exp.Expression:
    """QUOTENAME('abc[]def') is [abc[]]def]."""
    sign = args[1].name if len(args) > 1 else "["
    if sign not in _QUOTES:
        refuse(args[1], f"quotename with {sign or 'computed'} quotes is not supported")
    first, last = (exp.Literal.string(each) for each in _QUOTES[sign])
    quoted = "{1} || replace({0}, {2}, {2} || {2}) || {2}"
    return sql(f"CASE WHEN length({{0}}) <= 128 THEN {quoted} END", [args[0], first, last])


def _written(args: Args) -> exp.Expression:
    """STR(123.45, 6, 1) is ' 123.5': as wide as 6 characters, and ** if it has no room."""
    sizes = [int(arg.name) if isinstance(arg, exp.Literal) and arg.is_int else -1 for arg in args[1:]]
    width, digits = [*sizes, *(10, 0)[len(sizes) :]]
    if not (0 < width <= 8000 and digits >= 0):
        refuse(args[0], "str takes a constant length and a constant number of decimals")
    text = f"CAST(CAST({{0}} AS DECIMAL(38, {min(digits, 16)})) AS VARCHAR)"
    cut = f"rtrim(left({text}, {width}), '.')"
    return sql(
        f"CASE WHEN length(split_part({text}, '.', 1)) > {width} THEN repeat('*', {width})"
        f" ELSE lpad({cut}, {width}, ' ') END",
        args[:1],
    )


def _alike(args: Args) -> exp.Expression:
    """DIFFERENCE('Green', 'Greene') is 4: the places of their codes that are equal."""
    codes = [sql(_SOUND, [arg]) for arg in args]
    same = (
        f"CAST(substring({{0}}, {place}, 1) = substring({{1}}, {place}, 1) AS INTEGER)"
        for place in range(1, 5)
    )
    return sql(" + ".join(same), codes)


def _replaced(args: Args) -> exp.Expression:
    """REPLACE('aBc', 'b', 'x') is axc: cases are not told apart."""
    text, part, new = args
    if isinstance(part, exp.Literal) and not _OWN_LETTERS.search(part.name):
        return sql("replace({0}, {1}, {2})", args)
    pattern = r"'(?i)' || regexp_escape({1}), replace({2}, '\', '\\'), 'g'"
    return sql(
        f"CASE WHEN {{1}} = '' THEN {{0}} ELSE regexp_replace({{0}}, {pattern}) END", [text, part, new]
    )


def _hash(args: Args) -> exp.Expression:
    """HASHBYTES('SHA2_256', 'abc'), whose result is bytes."""
    kind, data = args
    form = _HASHES.get(kind.name.upper()) if isinstance(kind, exp.Literal) else None
    if form is None or isinstance(data, exp.National):
        refuse(kind, "hashbytes of this kind is not supported", f"kinds are {', '.join(_HASHES)}")
    return exp.cast(sql(f"unhex({form})", [data]), exp.DType.VARBINARY)


TSQL: Meanings = {
    **DOCUMENTS,
    **TSQL_DATES,
    "ACOS(value)": _INSIDE.replace("{NAME}", "acos"),
    "ASIN(value)": _INSIDE.replace("{NAME}", "asin"),
    "BIT_COUNT(value)": _bit_count,
    "CHAR(code)": "CASE WHEN {0} BETWEEN 0 AND 255 THEN chr(CAST({0} AS INTEGER)) END",
    "NCHAR(code)": "CASE WHEN {0} BETWEEN 0 AND 65535 THEN chr(CAST({0} AS INTEGER)) END",
    # CHARINDEX('TEST', 'this is a Test') is 11
    "CHARINDEX(part, text)": "CASE WHEN {0} = '' THEN 0 ELSE instr(lower({1}), lower({0})) END",
    "CHARINDEX(part, text, start)": (
        "CASE WHEN {0} <> '' AND instr(substring(lower({1}), greatest({2}, 1)), lower({0})) > 0"
        " THEN instr(substring(lower({1}), greatest({2}, 1)), lower({0})) + greatest({2}, 1) - 1"
        " WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN 0 END"
    ),
    # CONCAT_WS(NULL, 'a', 'b') is ab
    "CONCAT_WS(separator, value, ...)": lambda args: sql(
        f"concat_ws(coalesce({{0}}, ''), {', '.join(f'{{{place}}}' for place in range(1, len(args)))})", args
    ),
    "DATALENGTH(value)": _byte_count,
    "DEGREES(value)": "@degrees_of_tsql",
    "DIFFERENCE(a, b)": _alike,
    "GET_BIT(value, place)": "CAST(({0} >> {1}) & 1 AS BOOLEAN)",
    "HASHBYTES(kind, data)": _hash,
    # ISNUMERIC('12.5') is 1
    "ISNUMERIC(value)": (
        f"CASE WHEN regexp_full_match(CAST({{0}} AS VARCHAR), '{_NUMERAL}')"
        " AND regexp_matches(CAST({0} AS VARCHAR), '[0-9]') THEN 1 ELSE 0 END"
    ),
    "LEFT_SHIFT(value, count)": "{0} << {1}",
    "LOG(value)": _POSITIVE.replace("{VALUE}", "ln({0})"),
    "LOG(value, base)": _POSITIVE.replace("{VALUE}", "log({1}, {0})"),
    "LOG10(value)": _POSITIVE.replace("{VALUE}", "log10({0})"),
    # PARSENAME('AdventureWorks.dbo.Employee', 1) is Employee
    "PARSENAME(name, place)": (
        "CASE WHEN {1} BETWEEN 1 AND 4 AND len(string_split({0}, '.')) <= 4"
        " THEN list_extract(string_split({0}, '.'), -{1}) END"
    ),
    "PATINDEX(pattern, text)": lambda args: place_of_pattern(list(args)),
    "POWER(value, exponent)": "@power_of_tsql",
    "QUOTENAME(name, sign?)": _quoted,
    "RADIANS(value)": "@radians_of_tsql",
    "REPLACE(text, part, new)": _replaced,
    "REPLICATE(text, count)": "CASE WHEN {1} >= 0 THEN repeat({0}, {1}) END",
    "REVERSE(text)": "reverse(CAST({0} AS VARCHAR))",
    "RIGHT_SHIFT(value, count)": (
        "CASE WHEN {0} < 0 AND typeof({0}) = 'INTEGER' THEN (CAST({0} AS BIGINT) & 4294967295) >> {1}"
        " WHEN {0} < 0 THEN CAST(CAST('right_shift of ' || {0} AS INTEGER) AS BIGINT) ELSE {0} >> {1} END"
    ),
    "ROUND(value, digits, cuts)": _rounded,
    "SET_BIT(value, place)": "{0} | (CAST(1 AS BIGINT) << {1})",
    "SET_BIT(value, place, bit)": (
        "CASE WHEN {2} = 0 THEN {0} & ~(CAST(1 AS BIGINT) << {1}) ELSE {0} | (CAST(1 AS BIGINT) << {1}) END"
    ),
    # SOUNDEX('123') is 0000
    "SOUNDEX(text)": _SOUND,
    "STR(value, width?, digits?)": _written,
    # STUFF('abcdef', 2, 3, 'ijklmn') is aijklmnef
    "STUFF(text, start, length, new)": (
        "CASE WHEN {1} BETWEEN 1 AND length({0}) AND {2} >= 0"
        " THEN left({0}, {1} - 1) || coalesce({3}, '') || substring({0}, {1} + {2}) END"
    ),
}


def tsql_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Escape() | exp.Like():
            return like_with_brackets(node) or node
        case exp.Div():
            return guarded_division(node)
        case exp.JSONObject() | exp.JSONArray():
            return made_document(node)
        case exp.Convert():
            return _converted(node)
        case exp.Greatest() | exp.Least():
            return _among_numbers(node)
        case exp.Cast(this=text, to=to) if to.this in _BINARY and to.expressions:
            return _bytes(exp.cast(text.copy(), "VARBINARY"), to)
    return with_literal_dates(node)


def _converted(node: exp.Convert) -> exp.Expression:
    """CONVERT as a cast; with a style, between texts and bytes: CONVERT(VARCHAR(8), 0x4E616D65, 2)."""
    target, value, style = node.this, node.expression, node.text("style")
    form = _HEX_STYLES.get(style)
    if form is not None and target.is_type(*exp.DataType.TEXT_TYPES) and is_binary(value):
        return exp.cast(sql(form, [value]), target.copy())
    if form is not None and target.this in _BINARY:
        digits = "{0}" if style == "2" else "substring({0}, 3)"
        return _bytes(sql(f"unhex({digits})", [value]), target)
    cast = exp.TryCast if node.args.get("safe") else exp.Cast
    return cast(this=value.copy(), to=target.copy())


def _bytes(value: exp.Expression, type: exp.DataType) -> exp.Expression:
    """The bytes in the length of their type, which BINARY fills with zeros."""
    written = type.expressions[0].name if type.expressions else ""
    if not written.isdigit():
        return value
    digits = 2 * int(written)
    filled = (
        f"rpad(hex({{0}}), {digits}, '0')" if type.this is exp.DType.BINARY else f"left(hex({{0}}), {digits})"
    )
    return sql(f"unhex({filled})", [value])


def _among_numbers(node: exp.Greatest | exp.Least) -> exp.Expression:
    """GREATEST('6.62', 3.1415, N'7') is 7.0000: texts beside a number are numbers."""
    args = [node.this, *node.expressions]
    if not any(isinstance(arg, exp.Literal) and not arg.is_string for arg in args):
        return node
    found = node.copy()
    for arg in (found.this, *found.expressions):
        is_text = isinstance(arg, exp.National) or (isinstance(arg, exp.Literal) and arg.is_string)
        if is_text and _NUMBER.fullmatch(arg.name):
            arg.replace(exp.Literal.number(arg.name))
    return node if found == node else found
