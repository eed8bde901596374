"""Oracle's formats of numbers: TO_CHAR(1234.5, '9,999.99') and TO_NUMBER('1,234.5', '9,999.9').

A format has places of digits, 9 and 0; a point, commas, a dollar sign; S, MI and PR for the sign; FM omits
blanks. X writes base 16, and RN Roman numerals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from planner.formats.number_parts import NUMBERS, fraction, grouped, roman
from planner.native.templates import sql, whole
from planner.positions import refuse

_SHAPE = re.compile(r"(FM)?(S)?([$L])?([90,G]*)(?:([.D])([90]*))?(S|MI|PR)?", re.IGNORECASE)
_BASE_16 = re.compile(r"(FM)?(X+)", re.IGNORECASE)
_ROMAN = re.compile(r"(FM)?RN", re.IGNORECASE)
_MOST = 10


@dataclass(frozen=True)
class _Format:
    """`before` has the places in front of the point, with commas; `behind` those after it, None without a
    point. `sign` is empty, or S, MI or PR; `leads` says that S stands in front."""

    fills: bool
    sign: str
    leads: bool
    currency: str
    before: str
    behind: str | None

    @property
    def width(self) -> int:
        return (
            1 + len(self.currency) + len(self.before) + (0 if self.behind is None else 1 + len(self.behind))
        )


def is_number_format(form: exp.Expression) -> bool:
    """Whether a format is one of numbers: only these have 9, 0, X or RN outside of quotes."""
    if not isinstance(form, exp.Literal):
        return False
    plain = re.sub(r'"[^"]*"|FF\d', "", form.name.upper())
    return bool(re.search("[90]", plain) or _BASE_16.fullmatch(plain) or _ROMAN.fullmatch(plain))


def number_text(value: exp.Expression, form: exp.Expression) -> exp.Expression:
    """TO_CHAR of a number. Raises Unsupported for an element that is not known."""
    if base := _BASE_16.fullmatch(form.name):
        written = "to_hex(CAST(round({0}) AS BIGINT))"
        written = written if base[2].isupper() else f"lower({written})"
        padded = written if base[1] else f"lpad({written}, {len(base[2]) + 1}, ' ')"
        return whole(padded, value, kinds=NUMBERS)
    if numeral := _ROMAN.fullmatch(form.name):
        return whole(roman(fills=not numeral[1]), value, kinds=NUMBERS)
    return whole(_template(_read(form)), value, kinds=NUMBERS)


def number_of(value: exp.Expression, form: exp.Expression) -> exp.Expression:
    """TO_NUMBER of a text by a format."""
    if _BASE_16.fullmatch(form.name):
        return sql("CAST('0x' || {0} AS BIGINT)", [value])
    read = _read(form)
    digits = len(read.behind or "")
    if digits > _MOST:
        refuse(form, f"a format with more than {_MOST} decimals is not supported")
    shape = rf"\s*[-+]?[$]?[0-9,]{{{{0,{len(read.before)}}}}}([.][0-9]{{{{0,{digits}}}}})?\s*"
    shape = shape.replace("{{", "{").replace("}}", "}")
    plain = "replace(replace(trim({0}), ',', ''), '$', '')"
    is_number = "{0} IS NULL OR regexp_full_match({0}, {1})"
    checked = f"CASE WHEN {is_number} THEN {plain} ELSE 'not a number: ' || {{0}} END"
    return sql(f"CAST({checked} AS DECIMAL(38, {digits}))", [value, exp.Literal.string(shape)])


def _read(form: exp.Expression) -> _Format:
    shape = _SHAPE.fullmatch(form.name.strip())
    if shape is None or not (shape[4] or shape[6]) or (shape[2] and shape[7]) or len(shape[6] or "") > _MOST:
        refuse(
            form,
            f"the format {form.name!r} of a number is not supported",
            "known are 9, 0, and . , D G $ S MI PR FM",
        )
    return _Format(
        not shape[1],
        (shape[2] or shape[7] or "").upper(),
        bool(shape[2]),
        "$" if shape[3] else "",
        shape[4].upper().replace("G", ","),
        shape[6] if shape[5] else None,
    )


def _template(form: _Format) -> str:
    """The text by `x`, the digits of the rounded number without its sign."""
    places = form.before.replace(",", "")
    least = len(places) - places.index("0") if "0" in places else 0
    digits = len(form.behind or "")
    number = "split_part(x, '.', 1)"
    zero = "" if digits or not places else "0"
    shown = f"CASE WHEN {number} = '0' THEN '{zero}' ELSE {number} END"
    filled = f"lpad({shown}, CAST(greatest({least}, length({shown})) AS INTEGER), '0')"
    body = f"'{form.currency}' || {grouped(filled, form.before)}{fraction(form.behind, form.fills)}"
    is_long = f"length({shown}) > {len(places)}"
    text = f"CASE WHEN {is_long} THEN repeat('#', {form.width}) ELSE {_signed(body, form)} END"
    rounded = f"round(CAST({{0}} AS DECIMAL(38, {_MOST + 1})), {digits})"
    plain = f"CAST(CAST(abs({rounded}) AS DECIMAL(38, {max(digits, 1)})) AS VARCHAR)"
    plain = plain if digits else f"split_part({plain}, '.', 1)"
    return f"list_transform([{plain}], lambda x: {text})[1]"


def _signed(body: str, form: _Format) -> str:
    """The body with its sign, as wide as the format."""
    width = form.width
    minus, plus = "{0} < 0", "'+'"
    match form.sign:
        case "S":
            sign = f"CASE WHEN {minus} THEN '-' ELSE {plus} END"
            inner = f"{sign} || {body}" if form.leads else body
            text = f"lpad({inner}, {width if form.leads else width - 1}, ' ')" if form.fills else inner
            return f"({text})" if form.leads else f"({text} || {sign})"
        case "MI":
            text = f"lpad({body}, {width - 1}, ' ')" if form.fills else f"({body})"
            return f"({text} || CASE WHEN {minus} THEN '-' ELSE '{' ' if form.fills else ''}' END)"
        case "PR":
            blank = " " if form.fills else ""
            text = f"CASE WHEN {minus} THEN '<' || {body} || '>' ELSE '{blank}' || {body} || '{blank}' END"
            return f"lpad({text}, {width + 1}, ' ')" if form.fills else f"({text})"
    text = f"CASE WHEN {minus} THEN '-' ELSE '' END || {body}"
    return f"lpad({text}, {width}, ' ')" if form.fills else f"({text})"
