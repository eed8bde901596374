"""T-SQL's FORMAT of numbers, by .NET's formats in its culture en-US: 'N2', 'D5', '#,##0.00', '###-##-####'.

Places of digits that have no digit are empty for # and zeros for 0, also between other signs.
"""

from __future__ import annotations

import re

from sqlglot import exp

from engine.schema import Kind
from planner.native.templates import whole, with_parts
from planner.positions import refuse

_EXACT = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC})
_STANDARD = re.compile(r"([NnCc])(\d?)|([DdFf])(\d{1,2})")
_DECIMAL = re.compile(r"([$]?)([#0,]*[#0])(?:\.([#0]*))?")
_PLACES = re.compile(r"[#0]+(?:[-/ ()]+[#0]+)*")
_MOST = 18
_CULTURE = "en-us"


def in_english(node: exp.Anonymous) -> exp.Anonymous:
    """The call without the culture en-US. Raises Unsupported for another culture."""
    if len(node.expressions) != 3:
        return node
    culture = node.expressions[2]
    if culture.name.lower() != _CULTURE:
        refuse(culture, f"format in the culture {culture.sql()} is not supported", "en-US is")
    return with_parts(node, expressions=[arg.copy() for arg in node.expressions[:2]])


def number_format(node: exp.Anonymous) -> exp.Expression | None:
    """The text of a number by a format of numbers; None for a format of dates."""
    value, form = node.expressions
    if not isinstance(form, exp.Literal | exp.National):
        return None
    template = _template(form.name)
    return whole(template, value, kinds=_EXACT) if template else None


def _template(form: str) -> str:
    """DuckDB's SQL; empty for a format of dates."""
    if standard := _STANDARD.fullmatch(form):
        letter, digits = (standard[1] or standard[3]).upper(), standard[2] or standard[4] or "2"
        if letter == "D":
            return _signed(f"lpad(x, {_at_least(digits, 'x')}, '0')", 0)
        prefix = "'$' || " if letter == "C" else ""
        body = prefix + _grouped(letter != "F") + _fraction(int(digits), int(digits))
        return _signed(body, int(digits), "in brackets" if letter == "C" else "")
    if decimal := _DECIMAL.fullmatch(form):
        prefix, before, behind = decimal[1], decimal[2], decimal[3] or ""
        least, most = behind.rfind("0") + 1, len(behind)
        if most > _MOST:
            return ""
        filled = before.replace(",", "").count("0")
        body = _grouped("," in before) if filled < 2 else f"lpad({_WHOLE}, {_at_least(filled, _WHOLE)}, '0')"
        if not filled:
            body = f"CASE WHEN {_WHOLE} = '0' THEN '' ELSE {body} END"
        return (
            ""
            if filled > 1 and "," in before
            else _signed((f"'{prefix}' || " if prefix else "") + body + _fraction(least, most), most)
        )
    if _PLACES.fullmatch(form):
        return _signed(_in_places(form), 0)
    return ""


_WHOLE = "split_part(x, '.', 1)"


def _at_least(length: int | str, text: str) -> str:
    """The length of a text, or this one if it is shorter."""
    return f"CAST(greatest({length}, length({text})) AS INTEGER)"


def _grouped(with_commas: bool) -> str:
    return f"format('{{:,d}}', CAST({_WHOLE} AS BIGINT))" if with_commas else _WHOLE


def _fraction(least: int, most: int) -> str:
    """The digits behind the point; those after the `least` ones only up to the last that is not 0."""
    if not most:
        return ""
    digits = f"split_part(x, '.', 2)[1:{most}]"
    if least == most:
        return f" || '.' || {digits}"
    trimmed = f"rtrim({digits}, '0')"
    kept = f"rpad({trimmed}, {_at_least(least, trimmed)}, '0')"
    return f" || CASE WHEN {kept} = '' THEN '' ELSE '.' || {kept} END"


def _in_places(form: str) -> str:
    """Digits in their places from the right; those that have none stand before the first."""
    count = sum(form.count(sign) for sign in "#0")
    least = count - form.index("0") + len(re.findall(r"[^#0]", form[: form.index("0")])) if "0" in form else 0
    shown = f"lpad(CASE WHEN x = '0' THEN '' ELSE x END, {_at_least(least, 'x')}, '0')"
    digits = f"lpad({shown}, {_at_least(count, 'x')}, ' ')"
    parts, place = [f"left({digits}, greatest(length({digits}) - {count}, 0))"], count
    for piece in re.findall(r"[#0]+|[^#0]+", form):
        if piece[0] in "#0":
            parts.append(f"trim(substring(right({digits}, {count}), {count - place + 1}, {len(piece)}))")
            place -= len(piece)
        else:
            parts.append(f"'{piece}'")
    return " || ".join(parts)


def _signed(body: str, digits: int, negative: str = "") -> str:
    """The text by the rounded number without its sign, `x`, and a sign."""
    rounded = f"round(CAST({{0}} AS DECIMAL(38, {_MOST + 1})), {digits})"
    text = f"CAST(CAST(abs(y) AS DECIMAL(38, {max(digits, 1)})) AS VARCHAR)"
    text = text if digits else f"split_part({text}, '.', 1)"
    written = f"list_transform([{text}], lambda x: {body})[1]"
    signed = f"'(' || {written} || ')'" if negative else f"'-' || {written}"
    return f"list_transform([{rounded}], lambda y: CASE WHEN y < 0 THEN {signed} ELSE {written} END)[1]"
