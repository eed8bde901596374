"""Oracle's functions that sqlglot and DuckDB do not have, or have with another meaning.

The empty text is NULL. Examples are the manual's,
https://docs.oracle.com/en/database/oracle/oracle-database/23/sqlrf/.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.made_documents import made_document
from planner.dialects.overloads import PREFIX
from planner.dialects.sounds import SOUNDEX
from planner.dialects.systems.oracle_dates import ORACLE_DATES
from planner.dialects.systems.oracle_patterns import ORACLE_PATTERNS
from planner.formats.oracle_numbers import number_of
from planner.native.templates import Args, Made, Meanings, call_of, sql, with_parts
from planner.positions import refuse

_PLACES = (
    "list_filter(range(1, length({0}) - length({1}) + 2),"
    " lambda i: substring({0}, i, length({1})) = {1} AND i {TEST})"
)
_INITIAL = (
    "list_aggr(list_transform(regexp_extract_all({0}, '[[:alnum:]]+|[^[:alnum:]]+'),"
    " lambda word: upper(left(word, 1)) || lower(substring(word, 2))), 'string_agg', '')"
)
_HASHES = {"SHA1": "sha1({0})", "SHA256": "sha256({0})", "MD5": "md5({0})"}
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{4}|\\)")
_NUMERAL = re.compile(r"\d+(\.\d+)?")
_DONE = "has_its_meaning"


def as_text(node: exp.Expression) -> exp.Expression:
    """A value as Oracle writes it in a text: 0.50 is .5, and a date 05-MAR-24."""
    if isinstance(node, exp.Literal) and node.is_string:
        return node
    return call_of(f"{PREFIX}text_of_oracle", [node], "the text")


def _place(args: Args) -> exp.Expression:
    """INSTR('CORPORATE FLOOR', 'OR', 3, 2) is 14; a negative start looks backwards."""
    text, part, *rest = args
    start = rest[0] if rest else exp.Literal.number(1)
    occurrence = rest[1] if len(rest) > 1 else exp.Literal.number(1)
    is_first = isinstance(start, exp.Literal) and start.name == "1" and len(rest) < 2
    texts = [as_text(text), as_text(part)]
    if is_first:
        return sql("instr({0}, {1})", texts)
    forward = f"list_extract({_PLACES.replace('{TEST}', '>= {2}')}, {{3}})"
    back = f"list_extract({_PLACES.replace('{TEST}', '<= length({0}) + {2} + 1')}, -{{3}})"
    test = "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN coalesce("
    return sql(
        f"{test}CASE WHEN {{2}} < 0 THEN {back} ELSE {forward} END, 0) END", [*texts, start, occurrence]
    )


def _part(args: Args) -> exp.Expression:
    """SUBSTR('ABCDEFG', 0, 2) is AB, and SUBSTR('ABC', -5) NULL."""
    text = as_text(args[0])
    start = "CASE WHEN {1} = 0 THEN 1 ELSE {1} END"
    test, rest = ("", "") if len(args) == 2 else (" AND {2} >= 1", ", {2}")
    part = f"nullif(substring({{0}}, {start}{rest}), '')"
    return sql(f"CASE WHEN {{1}} >= -length({{0}}){test} THEN {part} END", [text, *args[1:]])


def _hash(args: Args) -> exp.Expression:
    """STANDARD_HASH('abc', 'MD5'), whose result is bytes."""
    kind = args[1].name.upper() if len(args) > 1 else "SHA1"
    if kind not in _HASHES:
        refuse(args[1], "standard_hash of this kind is not supported", ", ".join(_HASHES))
    return exp.cast(sql(f"unhex({_HASHES[kind]})", args[:1]), exp.DType.VARBINARY)


def _unescaped(args: Args) -> exp.Expression:
    r"""UNISTR('abc\00e5') is abcå."""
    if not isinstance(args[0], exp.Literal):
        refuse(args[0], "unistr of a computed text is not supported")
    text = _ESCAPE.sub(lambda sign: "\\" if sign[1] == "\\" else chr(int(sign[1], 16)), args[0].name)
    return exp.Literal.string(text)


def _of_bits(aggregate: type[exp.Expression]) -> Made:
    """An aggregate of bits, of numbers that may be decimals."""
    return lambda args: aggregate(this=exp.cast(args[0].copy(), "bigint"))


def _number(args: Args) -> exp.Expression:
    """TO_NUMBER('12.5') is 12.5."""
    text = args[0]
    if isinstance(text, exp.Literal) and _NUMERAL.fullmatch(text.name):
        return exp.Literal.number(text.name)
    return sql("CAST({0} AS DECIMAL(38, 10))", args)


def _bits(args: Args) -> exp.Expression:
    """BIN_TO_NUM(1, 0, 1, 0) is 10."""
    weights = (f"{{{place}}} * {1 << (len(args) - 1 - place)}" for place in range(len(args)))
    return sql(" + ".join(weights), args)


ORACLE: Meanings = {
    **ORACLE_DATES,
    **ORACLE_PATTERNS,
    "BIN_TO_NUM(bit, ...)": _bits,
    # BITAND(6, 3) is 2
    "BITAND(a, b)": "CAST({0} AS BIGINT) & CAST({1} AS BIGINT)",
    "BIT_AND_AGG(value)": _of_bits(exp.BitwiseAndAgg),
    "BIT_OR_AGG(value)": _of_bits(exp.BitwiseOrAgg),
    "BIT_XOR_AGG(value)": _of_bits(exp.BitwiseXorAgg),
    "COMPOSE(text)": "nfc_normalize({0})",
    "COSH(value)": "cosh({0})",
    "SINH(value)": "sinh({0})",
    "TANH(value)": "tanh({0})",
    "HEXTORAW(text)": "unhex({0})",
    "RAWTOHEX(bytes)": "hex({0})",
    "INITCAP | NLS_INITCAP(text)": f"nullif({_INITIAL}, '')",
    "INSTR(text, part, start?, occurrence?)": _place,
    "JSON_MERGEPATCH(json, patch)": "json_merge_patch(CAST({0} AS JSON), CAST({1} AS JSON))",
    "JSON_SERIALIZE(json)": "CAST(json({0}) AS VARCHAR)",
    "LENGTHB(text)": "strlen({0})",
    # LNNVL(1 = NULL) is true
    "LNNVL(test)": "({0}) IS NOT TRUE",
    # MOD(11, 0) is 11
    "MOD(a, b)": "CASE WHEN {1} = 0 THEN {0} ELSE {0} % {1} END",
    "NANVL(value, other)": "CASE WHEN isnan(CAST({0} AS DOUBLE)) THEN {1} ELSE {0} END",
    "NCHR(code)": "chr(CAST({0} AS INTEGER))",
    "NLS_LOWER(text)": "lower({0})",
    "NLS_UPPER(text)": "upper({0})",
    # REMAINDER(11, 4) is -1
    "REMAINDER(a, b)": "{0} - {1} * CAST(round_even({0} / {1}, 0) AS BIGINT)",
    # REPLACE('JACK and JUE', 'J', 'BL') is BLACK and BLUE
    "REPLACE(text, part)": "CASE WHEN {1} IS NULL THEN {0} ELSE nullif(replace({0}, {1}, ''), '') END",
    "REPLACE(text, part, new)": (
        "CASE WHEN {1} IS NULL THEN {0} ELSE nullif(replace({0}, {1}, coalesce({2}, '')), '') END"
    ),
    "ROUND_TIES_TO_EVEN(value)": "round_even({0}, 0)",
    "ROUND_TIES_TO_EVEN(value, digits)": "round_even({0}, {1})",
    "SOUNDEX(text)": SOUNDEX,
    "STANDARD_HASH(text, kind?)": _hash,
    "SUBSTR(text, start, length?)": _part,
    "TO_BINARY_DOUBLE(value)": "CAST({0} AS DOUBLE)",
    "TO_BINARY_FLOAT(value)": "CAST({0} AS FLOAT)",
    "TO_BOOLEAN(value)": "CAST({0} AS BOOLEAN)",
    "TO_CHAR(value)": lambda args: as_text(args[0]),
    "TO_NUMBER(text)": _number,
    "TO_NUMBER(text, format)": lambda args: number_of(*args),
    "UNISTR(text)": _unescaped,
    "VSIZE(text)": "strlen(CAST({0} AS VARCHAR))",
}


def oracle_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.JSONObject() | exp.JSONArray():
            return made_document(node)
        case exp.Greatest() | exp.Least():
            return _among_numbers(node)
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() if _listed(node):
            return _compared_each(node)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            return _of_numbers(node)
        case exp.Cast(this=value, to=to) if to.is_type(*exp.DataType.TEXT_TYPES) and not _is_text(value):
            return with_parts(node, this=as_text(value))
        case exp.Upper(this=value) | exp.Lower(this=value) | exp.Length(this=value) if not _is_text(value):
            if _DONE in node.meta or not isinstance(value, exp.Literal):
                return node
            return with_parts(node, _DONE, this=as_text(value))
    return node


def _is_text(node: exp.Expression) -> bool:
    """Whether the node is a text already, or made into one."""
    is_made = isinstance(node, exp.Paren) and isinstance(node.this, exp.Anonymous)
    return (isinstance(node, exp.Literal) and node.is_string) or (
        is_made and node.this.name == f"{PREFIX}text_of_oracle"
    )


def _listed(node: exp.Expression) -> list[exp.Expression]:
    """The values of a comparison with ANY or ALL of a list: salary = ANY (3100, 2900)."""
    inner = node.expression.this if isinstance(node.expression, exp.Any | exp.All) else None
    if isinstance(inner, exp.Paren) and not isinstance(inner.this, exp.Query):
        return [inner.this]
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else []


def _compared_each(node: exp.Expression) -> exp.Expression:
    each = [type(node)(this=node.this.copy(), expression=value.copy()) for value in _listed(node)]
    joined = exp.or_ if isinstance(node.expression, exp.Any) else exp.and_
    return exp.paren(joined(*each, copy=False), copy=False)


def _of_numbers(node: exp.Expression) -> exp.Expression:
    """'10' * '2' is 20: texts of an operation are numbers."""
    sides = (node.this, node.expression)
    if not any(
        isinstance(side, exp.Literal) and side.is_string and _NUMERAL.fullmatch(side.name) for side in sides
    ):
        return node
    found = node.copy()
    for side in (found.this, found.expression):
        if isinstance(side, exp.Literal) and _NUMERAL.fullmatch(side.name):
            side.replace(exp.Literal.number(side.name))
    return found


def _among_numbers(node: exp.Greatest | exp.Least) -> exp.Expression:
    """GREATEST(1, '3.925', '2.4') is 3.925: the first value says what the others are."""
    first = node.this
    if not isinstance(first, exp.Literal) or first.is_string:
        return node
    found = node.copy()
    for arg in found.expressions:
        if isinstance(arg, exp.Literal) and _NUMERAL.fullmatch(arg.name):
            arg.replace(exp.Literal.number(arg.name))
    return node if found == node else found
