"""MySQL's functions of numbers in other bases, of checksums and of sounds.

Examples are the manual's, https://dev.mysql.com/doc/refman/8.4/en/mathematical-functions.html.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.sounds import once
from planner.native.templates import Args, Meanings, sql
from planner.positions import refuse

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VALUE = (
    "list_reduce(list_prepend(CAST(0 AS HUGEINT), list_transform(string_split(digits, ''), lambda digit:"
    f" CAST(strpos('{_DIGITS}', digit) - 1 AS HUGEINT))), lambda total, digit: total * {{BASE}} + digit)"
)
_WRITTEN = "to_base(CAST(CASE WHEN digits = '' THEN 0 ELSE {VALUE} END AS BIGINT), {BASE})"
_NEGATIVE = "CAST(CAST('conv of a negative number: ' || digits AS INTEGER) AS VARCHAR)"


def _conv(args: Args) -> exp.Expression:
    """CONV('6E', 18, 8) is 172, and CONV(-17, 10, -18) is -H: a negative base is that of signed numbers."""
    source, target = (_base(each) for each in args[1:])
    allowed = _DIGITS[: abs(source)].replace("0123456789", "0-9")
    value = _VALUE.replace("{BASE}", str(abs(source)))
    written = _WRITTEN.replace("{VALUE}", value).replace("{BASE}", str(abs(target)))
    minus = (
        f"'-' || {written}"
        if target < 0
        else f"CASE WHEN ltrim(digits, '0') = '' THEN '0' ELSE {_NEGATIVE} END"
    )
    text = "upper(trim(CAST({0} AS VARCHAR)))"
    found = f"regexp_extract({text}, '^[-+]?([{allowed}]*)', 1)"
    body = f"CASE WHEN starts_with({text}, '-') THEN {minus} WHEN {{0}} IS NOT NULL THEN {written} END"
    return sql(f"list_transform([{found}], lambda digits: {body})[1]", args[:1])


def _base(node: exp.Expression) -> int:
    inner = node.this if isinstance(node, exp.Neg) else node
    number = int(inner.name) if isinstance(inner, exp.Literal) and inner.is_int else 0
    if not 2 <= number <= 36:
        refuse(node, "this base of conv is not supported", "a base is a number from 2 to 36")
    return -number if isinstance(node, exp.Neg) else number


def _table() -> str:
    """What each byte makes of the checksum."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
        table.append(byte)
    return ", ".join(
        f"CAST({each} AS BIGINT)" if place == 0 else str(each) for place, each in enumerate(table)
    )


_HEX = "CASE WHEN typeof({0}) = 'BLOB' THEN hex({0}) ELSE hex(encode(CAST({0} AS VARCHAR))) END"
_BYTES = (
    "list_transform(range(CAST(length(bytes) // 2 AS BIGINT)), lambda place:"
    " CAST('0x' || substring(bytes, 2 * place + 1, 2) AS BIGINT))"
)
_CHECKSUM = (
    f"list_reduce(list_prepend(CAST(4294967295 AS BIGINT), {_BYTES}), lambda sum, byte:"
    f" xor(sum >> 8, [{_table()}][CAST(xor(sum & 255, byte) AS BIGINT) + 1]))"
)
_WORD = "regexp_replace(upper(CAST({0} AS VARCHAR)), '[^A-Z]', '', 'g')"
_CODES = f"translate({_WORD}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '01230120022455012623010202')"
_HEARD = f"left({_CODES}, 1) || replace(substring({_CODES}, 2), '0', '')"


MYSQL_NUMBERS: Meanings = {
    # CONV('a', 16, 2) is 1010
    "CONV(number, source, target)": _conv,
    # CRC32('MySQL') is 3259397556
    "CRC32(text)": (
        f"list_transform([{_HEX}], lambda bytes: CASE WHEN bytes IS NOT NULL"
        f" THEN xor({_CHECKSUM}, CAST(4294967295 AS BIGINT)) END)[1]"
    ),
    # SOUNDEX('Quadratically') is Q36324
    "SOUNDEX(text)": (
        f"CASE WHEN {_WORD} = '' THEN '' ELSE left({_WORD}, 1) || list_transform([{once(_HEARD)}], lambda"
        " code: rpad(substring(code, 2), CAST(greatest(length(code) - 1, 3) AS INTEGER), '0'))[1] END"
    ),
}
