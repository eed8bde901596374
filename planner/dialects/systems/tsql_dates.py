"""T-SQL's functions that make dates and times, and dates that are written without their usual form.

Examples are the manual's, https://learn.microsoft.com/en-us/sql/t-sql/functions/. The number 0 is the day
1900-01-01, and texts are read with the month first, as in us_english.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from sqlglot import exp

from planner.native.templates import Args, Made, Meanings, sql, with_parts
from planner.positions import refuse

_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)((?:[ T].*)?)")
_MONTH_FIRST = re.compile(r"(\d\d?)[-/.](\d\d?)[-/.](\d{4})((?:[ T].*)?)")
_FIRST_DAY = date(1900, 1, 1)
_DAYS_LATER = 2_900_000
_DATES = (exp.DType.DATE, exp.DType.DATETIME, exp.DType.DATETIME2, exp.DType.SMALLDATETIME)
_MOMENTS = {
    **dict.fromkeys(("DAY", "EOMONTH", "MONTH", "YEAR"), (0,)),
    **dict.fromkeys(("DATENAME", "DATEPART", "DATETRUNC"), (1,)),
    "DATEADD": (2,),
    **dict.fromkeys(("DATEDIFF", "DATEDIFF_BIG"), (1, 2)),
}
"""The places of the moments among the arguments of date functions."""
_OFFSET = re.compile(r"([-+])(\d\d):(\d\d)")
_DATE_FORMS = "['%m/%d/%Y', '%m-%d-%Y', '%Y%m%d', '%m/%d/%Y %H:%M:%S', '%Y%m%d %H:%M:%S']"
_MOMENT = "make_timestamp({0}, {1}, {2}, {3}, {4}, {SECONDS})"


def _with_fraction(template: str, seconds: int) -> Made:
    """Parts whose last two are a fraction and the number of its digits, behind the seconds."""

    def made(args: Args) -> exp.Expression:
        digits = args[-1].name if isinstance(args[-1], exp.Literal) else ""
        if digits not in ("0", "1", "2", "3", "4", "5", "6", "7"):
            refuse(args[-1], "the number of a fraction's digits is a constant from 0 to 7")
        fraction = f"{{{seconds}}} + CAST({{{seconds + 1}}} AS DOUBLE) / {10 ** int(digits)}"
        return sql(template.replace("{SECONDS}", fraction), args[:-1])

    return made


def _at_offset(args: Args) -> exp.Expression:
    """TODATETIMEOFFSET(at, '-07:00')."""
    written = _OFFSET.fullmatch(args[1].name) if isinstance(args[1], exp.Literal) else None
    if written is None:
        refuse(args[1], "todatetimeoffset takes a constant offset such as '-07:00'")
    minutes = (-1 if written[1] == "+" else 1) * (int(written[2]) * 60 + int(written[3]))
    return sql(f"timezone('UTC', CAST({{0}} AS TIMESTAMP) + INTERVAL '{minutes}' MINUTE)", args[:1])


TSQL_DATES: Meanings = {
    "DATETIME2FROMPARTS(year, month, day, hour, minute, second, fraction, digits)": _with_fraction(
        _MOMENT, 5
    ),
    "DATETIMEFROMPARTS(year, month, day, hour, minute, second, milliseconds)": _MOMENT.replace(
        "{SECONDS}", "{5} + CAST({6} AS DOUBLE) / 1000"
    ),
    "SMALLDATETIMEFROMPARTS(year, month, day, hour, minute)": _MOMENT.replace("{SECONDS}", "0.0"),
    "TIMEFROMPARTS(hour, minute, second, fraction, digits)": _with_fraction(
        "make_time({0}, {1}, {SECONDS})", 2
    ),
    "TODATETIMEOFFSET(at, offset)": _at_offset,
    # ISDATE('2009-05-12 10:19:41.177') is 1
    "ISDATE(text)": (
        f"CASE WHEN coalesce(TRY_CAST({{0}} AS TIMESTAMP), try_strptime({{0}}, {_DATE_FORMS})) IS NOT NULL"
        " THEN 1 ELSE 0 END"
    ),
}


def with_literal_dates(node: exp.Expression) -> exp.Expression:
    """A cast or a date function whose dates are written as ISO 8601 has them; the node itself without."""
    match node:
        case exp.Cast(to=to) if to.this is exp.DType.SMALLDATETIME:
            moment = exp.cast(node.this.copy(), exp.DType.DATETIME2)
            return sql("date_trunc('minute', {0} + INTERVAL 30 SECOND)", [moment])
        case exp.Cast(this=exp.Literal() as text, to=to) if text.is_string and to.this in _DATES:
            written = _rounded(_iso(text.name)) if to.this is exp.DType.DATETIME else _iso(text.name)
            if written == text.name:
                return node
            return with_parts(node, this=exp.Literal.string(written))
        case exp.Anonymous(expressions=args) if (places := _MOMENTS.get(node.name.upper())) is not None:
            written_args = [_moment(arg) if place in places else arg for place, arg in enumerate(args)]
            if all(new is arg for new, arg in zip(written_args, args, strict=True)):
                return node
            return exp.Anonymous(this=node.this, expressions=[arg.copy() for arg in written_args])
    return node


def _moment(node: exp.Expression) -> exp.Expression:
    """A literal as the date that it means: 0, '20060831' and '12/20/1974' are days."""
    is_negative = isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)
    literal = node.this if is_negative else node
    if not isinstance(literal, exp.Literal):
        return node
    if literal.is_string:
        written = _iso(literal.name)
        return node if written == literal.name else exp.Literal.string(written)
    days = int(literal.name) * (-1 if is_negative else 1) if literal.is_int else _DAYS_LATER
    if not -53690 <= days < _DAYS_LATER:
        return node
    return exp.cast(exp.Literal.string((_FIRST_DAY + timedelta(days)).isoformat()), exp.DType.DATETIME2)


def _iso(text: str) -> str:
    """The text of a date as ISO 8601 has it; any other text itself."""
    if digits := _DIGITS.fullmatch(text.strip()):
        return f"{digits[1]}-{digits[2]}-{digits[3]}{digits[4]}"
    if parts := _MONTH_FIRST.fullmatch(text.strip()):
        return f"{parts[3]}-{parts[1]:0>2}-{parts[2]:0>2}{parts[4]}"
    return text


def _rounded(text: str) -> str:
    """The text of a DATETIME, which has 300 parts of a second: '...29.999' is '...30.000'."""
    if "." not in text:
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    ticks = round(moment.microsecond * 3 / 10_000)
    moment = moment.replace(microsecond=0) + timedelta(milliseconds=round(ticks * 10 / 3))
    return moment.isoformat(" ", "milliseconds")
