"""T-SQL's CONVERT and TRY_CONVERT with a style: dates and times to text, and text to dates and times."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from engine.schema import Kind
from planner.formats.format_scanner import UnknownToken
from planner.formats.percents import bigquery_datetime
from planner.formats.read_formats import read_expression
from planner.formats.styles import OF_DATES, OF_MILLISECONDS, READS, STYLES
from planner.formats.write_formats import CENTURIES, written
from planner.formats.write_functions import MOMENT, MOMENTS
from planner.native.templates import whole
from planner.positions import refuse

_TIMES = {
    exp.DType.DATE: "DATE",
    exp.DType.DATETIME: "TIMESTAMP",
    exp.DType.DATETIME2: "TIMESTAMP",
    exp.DType.SMALLDATETIME: "TIMESTAMP",
}
_FIXED = frozenset({exp.DType.CHAR, exp.DType.NCHAR})
_WITHOUT_ZERO = 126
_LONGEST = 30
"""The length of a text type without a length."""


def converted(node: exp.Convert) -> exp.Expression:
    """The meaning of a CONVERT with a style; the node itself if its type has no date styles."""
    target: exp.DataType = node.this
    is_text = target.is_type(*exp.DataType.TEXT_TYPES)
    if (not is_text and target.this not in _TIMES) or is_binary(node.expression):
        return node
    style = node.args["style"]
    number = int(style.name) if isinstance(style, exp.Literal) and style.name.isdecimal() else -1
    if is_text and number in OF_MILLISECONDS and _is_datetime(node.expression):
        return whole(_with_milliseconds(number, target), node.expression, kinds=MOMENTS)
    if number not in STYLES:
        known = ", ".join(map(str, sorted(STYLES)))
        refuse(node, f"style {style.sql()} of CONVERT is not supported", f"known are {known}")
    if is_text:
        return whole(_text(number, target), node.expression, kinds=MOMENTS)
    rules = replace(READS, nulls=bool(node.args.get("safe")))
    try:
        template = read_expression(list(bigquery_datetime(STYLES[number])), rules, _TIMES[target.this])
    except UnknownToken:
        what = f"style {number} of CONVERT is not supported for reading a text"
        refuse(node, what, "use a style of digits alone, such as 101, 112 or 120")
    return whole(template, node.expression, kinds=frozenset({Kind.TEXT}))


def _is_datetime(node: exp.Expression) -> bool:
    """Whether the node is written as a DATETIME, whose fraction has three digits."""
    return isinstance(node, exp.Cast) and node.to.this is exp.DType.DATETIME


def _with_milliseconds(style: int, target: exp.DataType) -> str:
    text = written(bigquery_datetime(OF_MILLISECONDS[style]), MOMENT, CENTURIES)
    if style == _WITHOUT_ZERO:
        text = f"regexp_replace({text}, '[.]000$', '')"
    return _in_length(text, target)


def is_binary(node: exp.Expression) -> bool:
    """Whether the node is written as bytes."""
    type = node.args.get("to") if isinstance(node, exp.Cast) else node.this
    is_hash = isinstance(node, exp.HexString) or node.name.upper() == "HASHBYTES"
    return is_hash or (isinstance(type, exp.DataType) and type.is_type("binary", "varbinary"))


def _text(style: int, target: exp.DataType) -> str:
    """The text of a moment, cut or padded to the length of its type."""
    text = written(bigquery_datetime(STYLES[style]), MOMENT, CENTURIES)
    if style in OF_DATES:
        of_dates = written(bigquery_datetime(OF_DATES[style]), MOMENT, CENTURIES)
        text = f"CASE typeof({{0}}) WHEN 'DATE' THEN {of_dates} ELSE {text} END"
    return _in_length(text, target)


def _in_length(text: str, target: exp.DataType) -> str:
    said = target.expressions[0].name if target.expressions else ""
    length = int(said) if said.isdecimal() else _LONGEST
    return f"rpad({text}, {length}, ' ')" if target.this in _FIXED else f"left({text}, {length})"
