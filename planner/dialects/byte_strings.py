"""PostgreSQL's bytes: how a text spells them, and functions that take texts elsewhere.

'\\x6162'::bytea, 'a\\142'::bytea                    →  the bytes of ab
substring('\\x1234567890'::bytea from 3 for 2)      →  \\x5678
position('\\x5678'::bytea in '\\x1234567890'::bytea)  →  3
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.errors import TypeMismatch
from planner.native.templates import is_native, sql
from planner.positions import fail

_BYTES = (exp.DType.BINARY, exp.DType.VARBINARY, exp.DType.BLOB)
_ESCAPED = re.compile(r"\\(?:(\\)|([0-3][0-7]{2}))|([^\\]+)")
_MAKE_BYTES = frozenset({"CONVERT_TO", "SET_BIT", "SET_BYTE", "SHA224", "SHA256", "SHA384", "SHA512"})
_OF_FIRST = (exp.Paren, exp.Substring, exp.Overlay, exp.Coalesce, exp.Max, exp.Min, exp.Nullif, exp.Filter)
"""Nodes whose value has the type of their first part."""
_DIGITS = "hex({0})"
_FROM = "greatest({1}, 1)"
_TOO_SHORT = "CAST('a length is negative: ' || CAST({2} AS VARCHAR) AS BIGINT)"
_LENGTH = f"CASE WHEN {{2}} < 0 THEN {_TOO_SHORT} ELSE greatest({{1}} + {{2}} - {_FROM}, 0) END"
_TAIL = f"unhex(substring({_DIGITS}, 2 * {_FROM} - 1))"
_PART = f"unhex(substring({_DIGITS}, 2 * {_FROM} - 1, 2 * ({_LENGTH})))"
_POSITION = (
    "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN coalesce(list_position(list_transform("
    "range(1, CAST(octet_length({0}) AS BIGINT) + 2),"
    " lambda place: substring(hex({0}), 2 * place - 1, length(hex({1})))), hex({1})), 0) END"
)
_LAID_OVER = (
    f"unhex(substring({_DIGITS}, 1, 2 * ({{2}} - 1)) || hex({{1}})"
    f" || substring({_DIGITS}, 2 * greatest({{2}} + {{3}}, 1) - 1))"
)
_BYTE = "CAST('0x' || substring(hex({0}), 2 * {1} + 1, 2) AS INTEGER)"
_BIT_COUNT = (
    "CASE WHEN {0} IS NOT NULL THEN CAST(coalesce(list_sum(list_transform("
    "range(CAST(octet_length({0}) AS BIGINT)), lambda place: bit_count(CAST('0x' ||"
    " substring(hex({0}), 2 * place + 1, 2) AS INTEGER)))), 0) AS BIGINT) END"
)
_OUTSIDE = "CAST('outside of the bytes: ' || CAST({1} AS VARCHAR) AS {TYPE})"
_CHANGED = (
    "CASE WHEN {1} BETWEEN 0 AND {LAST} THEN unhex(substring(hex({0}), 1, 2 * {PLACE})"
    " || printf('%02X', {NEW}) || substring(hex({0}), 2 * {PLACE} + 3))"
    " WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN"
    f" unhex({_OUTSIDE.replace('{TYPE}', 'INTEGER')} || '') END"
)
_WITH_BIT = "(BYTE & (255 - (1 << ({1} % 8)))) | ({2} << ({1} % 8))".replace(
    "BYTE", _BYTE.replace("{1}", "({1} // 8)")
)
_LAST_BYTE, _LAST_BIT = "octet_length({0}) - 1", "8 * octet_length({0}) - 1"
BYTES = {
    # get_bit('\x1234567890'::bytea, 30) is 1
    "GET_BIT(bytes, place)": (
        f"CASE WHEN {{1}} BETWEEN 0 AND {_LAST_BIT}"
        f" THEN ({_BYTE.replace('{1}', '({1} // 8)')} >> ({{1}} % 8)) & 1"
        f" WHEN {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN {_OUTSIDE.replace('{TYPE}', 'INTEGER')} END"
    ),
    # get_byte('\x1234567890'::bytea, 4) is 144
    "GET_BYTE(bytes, place)": _BYTE,
    # set_bit('\x1234567890'::bytea, 30, 0) is \x1234563890
    "SET_BIT(bytes, place, bit)": (
        _CHANGED.replace("{LAST}", _LAST_BIT).replace("{PLACE}", "({1} // 8)").replace("{NEW}", _WITH_BIT)
    ),
    # set_byte('\x1234567890'::bytea, 4, 64) is \x1234567840
    "SET_BYTE(bytes, place, byte)": (
        _CHANGED.replace("{LAST}", _LAST_BYTE).replace("{PLACE}", "{1}").replace("{NEW}", "{2} & 255")
    ),
}


def byte_meaning(
    node: exp.Expression, dialect: str, has_bytes: Callable[[exp.Column], bool]
) -> exp.Expression:
    """The meaning of a function whose first argument is bytes; the node itself for any other node.
    `has_bytes` says whether a column has them."""
    if is_native(node) or not has(dialect, Trait.READS_BYTES_AS_POSTGRESQL):
        return node
    match node:
        case exp.Cast(this=exp.Literal(is_string=True) as text, to=exp.DataType(this=type)) if type in _BYTES:
            return written_bytes(text)
        case exp.Encode(this=exp.Literal(is_string=True) as text):
            return _with_bytes(node, text, [])
        case exp.Length() | exp.BitLength() | exp.Substring() | exp.Overlay() | exp.StrPosition():
            given = node.this
        case exp.Anonymous(expressions=[given]) if node.name.upper() == "BIT_COUNT":
            pass
        case exp.Anonymous(expressions=[exp.Literal(is_string=True) as text, *_]) if (
            node.name.upper() == "CONVERT_FROM"
        ):
            return _with_bytes(node, text, node.expressions[1:])
        case _:
            return node
    return _of_bytes(node) if _is_bytes(given, dialect, has_bytes) else node


def _with_bytes(
    node: exp.Expression, text: exp.Expression, others: Sequence[exp.Expression]
) -> exp.Expression:
    """A function that takes bytes, with those that its first argument spells."""
    found = node.copy()
    if isinstance(node, exp.Anonymous):
        found.set("expressions", [written_bytes(text), *others])
    else:
        found.set("this", written_bytes(text))
    return found


def written_bytes(text: exp.Expression) -> exp.Expression:
    """The bytes that a text spells. Raises TypeMismatch if it spells none."""
    found = _read(text.name)
    if found is None:
        hint = r"write hexadecimal digits behind \x, or \ooo with octal digits for a byte"
        fail(TypeMismatch(f"'{text.name}' is not a value of type BYTEA", hint), text)
    return sql(f"unhex('{found.hex()}')", [])


def _read(text: str) -> bytes | None:
    if text.startswith("\\x"):
        digits = re.sub(r"\s", "", text[2:])
        return bytes.fromhex(digits) if re.fullmatch(r"(?:[0-9A-Fa-f]{2})*", digits) else None
    found, place = b"", 0
    while place < len(text):
        part = _ESCAPED.match(text, place)
        if part is None:
            return None
        found += b"\\" if part[1] else bytes([int(part[2], 8)]) if part[2] else part[3].encode()
        place = part.end()
    return found


def _is_bytes(node: exp.Expr, dialect: str, has_bytes: Callable[[exp.Column], bool]) -> bool:
    match node:
        case exp.Column():
            return has_bytes(node)
        case exp.Cast(to=exp.DataType(this=type)):
            return type in _BYTES
        case exp.Anonymous():
            return node.name.upper() in _MAKE_BYTES
        case exp.SHA2() | exp.Unhex():
            return True
        case exp.HexString():
            return dialect != "postgres"  # where X'1F' has bits
        case exp.Decode():
            return node.text("charset").lower() in ("hex", "base64", "escape")
        case exp.DPipe():
            return _is_bytes(node.this, dialect, has_bytes) or _is_bytes(node.expression, dialect, has_bytes)
        case exp.Case():
            return any(_is_bytes(each.args["true"], dialect, has_bytes) for each in node.args["ifs"])
    return isinstance(node, _OF_FIRST) and _is_bytes(node.this, dialect, has_bytes)


def _of_bytes(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Length():
            return sql("octet_length({0})", [node.this])
        case exp.BitLength():
            return sql("8 * octet_length({0})", [node.this])
        case exp.Anonymous():
            return sql(_BIT_COUNT, node.expressions)
        case exp.StrPosition(this=whole, args={"substr": part}):
            return sql(_POSITION, [whole, part])
        case exp.Overlay(this=whole, expression=new, args={"from_": start}):
            length = node.args.get("for_") or sql("octet_length({0})", [new])
            return sql(_LAID_OVER, [whole, new, start, length])
    start, length = node.args["start"], node.args.get("length")
    given = [node.this, start, *([length] if length is not None else [])]
    return sql(_TAIL if length is None else _PART, given)
