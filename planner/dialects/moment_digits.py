"""Casts to moments with fewer than six digits of a second: CAST(moment AS TIMESTAMP(1)).

PostgreSQL  →  rounded, and a half away from the beginning of 2000
Trino       →  rounded, and a half up
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql
from planner.positions import refuse

_MOST = 6
# DuckDB's // cuts towards zero
_IN_UTC = "timezone('UTC', {0})"
_ZONED = frozenset({exp.DType.TIMESTAMPTZ})
_MOMENTS = frozenset({exp.DType.TIMESTAMP, *_ZONED})
_CLOCKS = frozenset({exp.DType.TIME, exp.DType.TIMETZ})
_AROUND_2000 = (
    "list_transform([epoch_us({MOMENT}) - 946684800000000],"
    " lambda since: 946684800000000 + sign(since) * ((abs(since) + {HALF}) // {STEP} * {STEP}))[1]"
)
_UP = (
    "list_transform([epoch_us({MOMENT})],"
    " lambda since: (since + CASE WHEN since < 0 THEN 1 - {HALF} ELSE {HALF} END) // {STEP} * {STEP})[1]"
)


def digits_of(cast: exp.Cast) -> int | None:
    """The digits of a second that the cast keeps; None if it keeps all that there are, or is to no moment."""
    return _digits(cast.to) if cast.to.this in _MOMENTS else None


def _digits(type: exp.DataType) -> int | None:
    written = type.expressions[0].name if len(type.expressions) == 1 else ""
    return int(written) if written.isdigit() and int(written) < _MOST else None


def check_uncut(cast: exp.Cast) -> None:
    """Raise Unsupported for a cast to a time of day with fewer digits, or to some fields of an interval."""
    type = cast.to
    if type.this in _CLOCKS and _digits(type) is not None:
        refuse(cast, "a cast of a time of day keeps all digits of a second", "write the type without digits")
    if isinstance(type.this, exp.Interval) or (type.this is exp.DType.INTERVAL and type.expressions):
        refuse(cast, "a cast to an interval keeps all of its fields", "write INTERVAL alone")


def rounded_around_2000(cast: exp.Cast, digits: int) -> exp.Expression:
    """As PostgreSQL rounds."""
    return _rounded(cast, digits, _AROUND_2000)


def rounded_up(cast: exp.Cast, digits: int) -> exp.Expression:
    """As Trino rounds."""
    return _rounded(cast, digits, _UP)


def _rounded(cast: exp.Cast, digits: int, number: str) -> exp.Expression:
    inner = cast.copy()
    inner.args["to"].set("expressions", [])
    step = 10 ** (_MOST - digits)
    is_zoned = cast.to.this in _ZONED
    number = number.replace("{MOMENT}", _IN_UTC if is_zoned else "{0}")
    found = f"make_timestamp({number.replace('{HALF}', str(step // 2)).replace('{STEP}', str(step))})"
    found = f"timezone('UTC', {found})" if is_zoned else found
    return sql(f"coalesce({found}, {{0}})", [inner])  # infinity has no number
