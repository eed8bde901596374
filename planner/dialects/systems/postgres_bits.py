"""PostgreSQL's strings of bits: what its literals, casts, operators and functions mean for them.

    B'101', X'1F'                   →  CAST('101' AS BIT), CAST('00011111' AS BIT)
    b::bit(3)                       →  the first three bits, with zeros behind them if there are fewer
    5::bit(4)                       →  0101, the last four bits of the number
    B'10' || B'1'                   →  101
    substring(B'110010' from 2 for 3), overlay, position, get_bit, set_bit, and shifts by any number

DuckDB's BIT has the same values, but for the string without any bits, which fails. Its other operators and
functions mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.errors import InvalidQuery, TypeMismatch
from planner.native.templates import call_of, is_native, sql
from planner.positions import fail, refuse

HasBits = Callable[[exp.Column], bool]
"""Whether a column has bits."""

_VARYING = re.compile(r"BIT VARYING(?:[(](.*)[)])?")
_TEXT = "CAST({0} AS VARCHAR)"
_MARK = 2
"""Characters of 0x, which has no quotes behind it."""
_OPERATORS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift)
_OF_FIRST = (exp.Paren, exp.BitwiseNot, exp.Substring, exp.Overlay, exp.Coalesce, exp.Min, exp.Max)
_AGGREGATES = (exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg)
_SHIFTED = "CASE WHEN {1} < 0 THEN {0} {BACK} CAST(-{1} AS INTEGER) ELSE {0} {OP} CAST({1} AS INTEGER) END"
_CALLED = {
    "GET_BIT": "get_bit({0}, CAST({1} AS INTEGER))",
    "OCTET_LENGTH": "octet_length({0})",
    "SET_BIT": "set_bit({0}, CAST({1} AS INTEGER), CAST({2} AS INTEGER))",
}
_SOME = "CAST(regexp_replace({TEXT}, '^$', 'no bits') AS BIT)"
"""Bits from their text. DuckDB would read the empty one as 0."""
_TAIL = _SOME.replace("{TEXT}", f"substring({_TEXT}, greatest({{1}}, 1))")
_PART = _SOME.replace(
    "{TEXT}", f"substring({_TEXT}, greatest({{1}}, 1), greatest({{2}} + least({{1}}, 1) - 1, 0))"
)
_LAID_OVER = (
    "CAST(CASE WHEN {2} < 1 THEN 'a part of bits begins before the first: ' || CAST({2} AS VARCHAR)"
    f" ELSE substring({_TEXT}, 1, {{2}} - 1) || CAST({{1}} AS VARCHAR)"
    f" || substring({_TEXT}, {{2}} + {{LENGTH}}) END AS BIT)"
)
_FROM_BITS = (*exp.DataType.TEXT_TYPES, exp.DType.INT, exp.DType.BIGINT)
"""The types besides those of bits that bits are cast to."""


def bit_meaning(node: exp.Expression, has_bits: HasBits) -> exp.Expression:
    """The meaning of a node of bits; the node itself for any other node."""
    if is_native(node):
        return node
    match node:
        case exp.BitString() | exp.HexString():
            return _constant(node) or node
        case exp.Cast(to=exp.DataType() as type) if (length := length_of(type)) is not None:
            return _cast(node, *length)
        case exp.Cast(this=value, to=exp.DataType(this=type)) if type not in _FROM_BITS:
            if _is_bits(value, has_bits):
                hint = "cast the bits to TEXT, INTEGER or BIGINT"
                fail(TypeMismatch(f"there is no cast of BIT to {node.to.sql('postgres')}", hint), node)
            return node
        case exp.DPipe(this=one, expression=other) if _joins(one, other, has_bits):
            return sql("CAST(CAST({0} AS VARCHAR) || CAST({1} AS VARCHAR) AS BIT)", [one, other])
    return _of_bits(node, has_bits) if _is_bits(_given(node), has_bits) else node


def length_of(type: exp.DataType) -> tuple[bool, int | None] | None:
    """Whether a type of bits is one of varying length, and its length, None for any; None for other types.
    Raises TypeMismatch for what is no length."""
    if type.this is exp.DType.BIT:
        if not type.expressions:
            return True, None
        length = ", ".join(part.name for part in type.expressions)
    elif type.this is exp.DType.USERDEFINED and (varying := _VARYING.fullmatch(type.text("kind"))):
        if varying[1] is None:
            return True, None
        length = varying[1]
    else:
        return None
    if not re.fullmatch("[1-9][0-9]{0,7}", length):
        fail(TypeMismatch(f"{length} is not a length of bits", "write a whole number from 1 on"), type)
    return type.this is not exp.DType.BIT, int(length)


def length_condition(column: str, type: exp.DataType | None) -> exp.Expression | None:
    """What the values of a column of the type satisfy; None if they may have any length."""
    is_varying, length = (True, None) if type is None else length_of(type) or (True, None)
    if length is None:
        return None
    compare = exp.LTE if is_varying else exp.EQ
    bits = exp.Length(this=exp.column(exp.to_identifier(column, quoted=True)))
    return compare(this=bits, expression=exp.Literal.number(length))


def limits_length(condition: exp.Expression, column: str) -> bool:
    """Whether a condition is one that `length_condition` makes for a column."""
    match condition:
        case (
            exp.EQ(this=exp.Length(this=exp.Column() as of))
            | exp.LTE(this=exp.Length(this=exp.Column() as of))
        ):
            return not of.table and of.name == column and condition.expression.is_int
    return False


def _literal(bits: str, node: exp.Expression) -> exp.Expression:
    if len(node.name) + _MARK == node.meta.get("end", 0) - node.meta.get("start", 0) + 1:
        fail(InvalidQuery("a number is written in tens", "write 16, or X'10' for bits"), node)
    if not re.fullmatch("[01]+", bits):
        refuse(node, "a string of bits has at least one bit here", "write B'0', or NULL")
    return sql(f"CAST('{bits}' AS BIT)", [])


def _cast(node: exp.Cast, is_varying: bool, length: int | None) -> exp.Expression:
    name = "bits_of_length" if not is_varying else "bits" if length is None else "bits_up_to"
    lengths = [] if length is None else [exp.Literal.number(length)]
    value = node.this
    if isinstance(value, exp.Null):
        return sql("CAST(NULL AS BIT)", [])
    if isinstance(value, exp.Literal) and value.is_string:
        value = _spelled(value)
        if not value.name:
            return _literal("", value)
    return call_of(f"{PREFIX}{name}", [value, *lengths], "a cast to bits")


def _spelled(text: exp.Literal) -> exp.Expression:
    """A text with its digits alone: b101, x1F and 101 are spellings of bits."""
    form, digits = text.name[:1].lower(), text.name[1:]
    if form == "x" and re.fullmatch("[0-9a-fA-F]+", digits):
        return exp.Literal.string("".join(f"{int(digit, 16):04b}" for digit in digits))
    return exp.Literal.string(digits) if form == "b" else text


def _joins(one: exp.Expression, other: exp.Expression, has_bits: HasBits) -> bool:
    """Whether bits are joined with bits; a constant text beside them is bits, too."""
    sides = [_is_bits(side, has_bits) for side in (one, other)]
    return any(sides) and all(
        is_bits or isinstance(side, exp.Literal) for side, is_bits in zip((one, other), sides, strict=True)
    )


def _given(node: exp.Expression) -> exp.Expr | None:
    """The argument that decides what the node means."""
    match node:
        case exp.BitwiseLeftShift() | exp.BitwiseRightShift() | exp.Substring() | exp.Overlay():
            return node.this
        case exp.StrPosition() | exp.Getbit():
            return node.this
        case exp.Anonymous(expressions=[given, *_]) if node.name.upper() in _CALLED:
            return given
    return None


def _is_bits(node: exp.Expr | None, has_bits: HasBits) -> bool:
    match node:
        case exp.Column():
            return has_bits(node)
        case exp.Cast(to=exp.DataType() as type):
            return length_of(type) is not None
        case exp.BitString() | exp.HexString():
            return True
        case exp.DPipe():
            return _is_bits(node.this, has_bits) and _is_bits(node.expression, has_bits)
        case exp.Anonymous(expressions=[given, *_]):
            return node.name.upper() == "SET_BIT" and _is_bits(given, has_bits)
        case exp.Case():
            return any(_is_bits(each.args["true"], has_bits) for each in node.args["ifs"])
    is_one = isinstance(node, _OPERATORS + _OF_FIRST + _AGGREGATES)
    return is_one and _is_bits(node.this, has_bits)  # type: ignore[union-attr]


def _made(form: str, args: Sequence[exp.Expression]) -> exp.Expression:
    """DuckDB's form of arguments, in which literals of bits are spelled out."""
    return sql(form, [_constant(arg) or arg for arg in args])


def _constant(node: exp.Expression) -> exp.Expression | None:
    """The meaning of a literal of bits; None for any other node."""
    match node:
        case exp.BitString(this=digits):
            return _literal(str(digits), node)
        case exp.HexString(this=digits):
            return _literal("".join(f"{int(digit, 16):04b}" for digit in str(digits)), node)
    return None


def _of_bits(node: exp.Expression, has_bits: HasBits) -> exp.Expression:
    match node:
        case exp.BitwiseLeftShift():
            shift = _SHIFTED.replace("{BACK}", ">>").replace("{OP}", "<<")
            return _made(shift, [node.this, node.expression])
        case exp.BitwiseRightShift():
            shift = _SHIFTED.replace("{BACK}", "<<").replace("{OP}", ">>")
            return _made(shift, [node.this, node.expression])
        case exp.StrPosition(this=whole, args={"substr": part}):
            return _made(f"strpos({_TEXT}, CAST({{1}} AS VARCHAR))", [whole, part])
        case exp.Getbit():
            return _made("get_bit({0}, CAST({1} AS INTEGER))", [node.this, node.expression])
        case exp.Anonymous():
            return _made(_CALLED[node.name.upper()], node.expressions)
        case exp.Overlay(this=whole, expression=new, args={"from_": start}):
            length = node.args.get("for_")
            if length is None:
                form = _LAID_OVER.replace("{LENGTH}", "length(CAST({1} AS VARCHAR))")
                return _made(form, [whole, new, start])
            return _made(_LAID_OVER.replace("{LENGTH}", "{3}"), [whole, new, start, length])
    start, length = node.args["start"], node.args.get("length")
    given = [node.this, start, *([length] if length is not None else [])]
    return _made(_TAIL if length is None else _PART, given)
