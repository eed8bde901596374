"""MySQL's FORMAT of numbers: commas between thousands, a given number of decimals, halves rounded away from
zero."""

from __future__ import annotations

from sqlglot import exp

from engine.schema import Kind
from planner.native.templates import whole
from planner.positions import refuse

_EXACT = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC})
_MOST = 18
"""The most decimals that fit into a NUMERIC beside as many digits before the point."""
_LOCALES = {"en_US": False, "de_DE": True}
"""Whether points stand between thousands, and a comma before the decimals."""


def grouped(node: exp.NumberToStr) -> exp.Expression:
    """The text of an exact number; floats are refused, because binary floats have no exact decimal halves."""
    form, culture = node.args.get("format"), node.args.get("culture")
    if culture is not None and culture.name not in _LOCALES:
        hint = f"known are {' and '.join(_LOCALES)}"
        refuse(node, f"format with this locale is not supported: {culture.sql()}", hint)
    if not isinstance(form, exp.Literal) or not form.name.isdecimal() or int(form.name) > _MOST:
        refuse(node, "the decimals of format must be a constant", f"write a number from 0 to {_MOST}")
    text = _template(int(form.name))
    is_turned = culture is not None and _LOCALES[culture.name]
    return whole(f"translate({text}, ',.', '.,')" if is_turned else text, node.this, kinds=_EXACT)


def _template(decimals: int) -> str:
    rounded = f"round(CAST({{0}} AS DECIMAL(38, {_MOST + 1})), {decimals})"
    digits = f"split_part(CAST(abs(x) AS VARCHAR), '.', 2)[1:{decimals}]"
    fraction = f" || '.' || {digits}" if decimals else ""
    whole_part = "format('{:,d}', CAST(trunc(abs(x)) AS BIGINT))"
    sign = "CASE WHEN x < 0 THEN '-' ELSE '' END"
    return f"list_transform([{rounded}], lambda x: {sign} || {whole_part}{fraction})[1]"
