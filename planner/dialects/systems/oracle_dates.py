"""Oracle's functions of dates and intervals that no table of units has.

Examples are the manual's, https://docs.oracle.com/en/database/oracle/oracle-database/23/sqlrf/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import refuse

_HOURS = {
    **dict.fromkeys(("AST",), -4),
    **{"ADT": -3, "BST": -11, "BDT": -10, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "GMT": 0, "HST": -10},
    **{"HDT": -9, "MST": -7, "MDT": -6, "NST": -3.5, "PST": -8, "PDT": -7, "YST": -9, "YDT": -8},
}
"""The zones of NEW_TIME, in hours from GMT."""
_OFFSET = re.compile(r"([-+]?)(\d\d?):(\d\d)")
_SECONDS = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_MONTHS = {"YEAR": 12, "MONTH": 1}
_OF_DAYS = re.compile(r"([-+]?)(\d+) (\d+):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?")
_OF_MONTHS = re.compile(r"([-+]?)(\d+)-(\d+)")
_AT = "CAST({0} AS TIMESTAMP)"
_THIRD_MONTHS = f"(month({_AT}) - 1) % 3"
_LATE = f"day({_AT}) >= 16"
_ROUNDED = {
    **dict.fromkeys(
        ("YEAR", "SYEAR", "SYYYY", "YYYY", "YYY", "YY", "Y"), f"date_trunc('year', {_AT} + INTERVAL 6 MONTH)"
    ),
    "Q": (
        f"date_trunc('quarter', {_AT}) + CASE WHEN {_THIRD_MONTHS} = 2 OR {_THIRD_MONTHS} = 1 AND {_LATE}"
        " THEN INTERVAL 3 MONTH ELSE INTERVAL 0 MONTH END"
    ),
    **dict.fromkeys(
        ("MONTH", "MON", "MM", "RM"),
        f"date_trunc('month', {_AT}) + CASE WHEN {_LATE} THEN INTERVAL 1 MONTH ELSE INTERVAL 0 MONTH END",
    ),
    "IW": f"date_trunc('week', {_AT} + INTERVAL 84 HOUR)",
    **dict.fromkeys(("DAY", "DY", "D"), f"date_trunc('week', {_AT} + INTERVAL 108 HOUR) - INTERVAL 1 DAY"),
    **dict.fromkeys(("DDD", "DD", "J"), f"date_trunc('day', {_AT} + INTERVAL 12 HOUR)"),
}
_CLOCK = {
    **dict.fromkeys(("HH", "HH12", "HH24"), f"date_trunc('hour', {_AT} + INTERVAL 30 MINUTE)"),
    "MI": f"date_trunc('minute', {_AT} + INTERVAL 30 SECOND)",
}


def _rounded_to(args: Args) -> exp.Expression:
    """ROUND(DATE '2000-10-27', 'YEAR') is 2001-01-01."""
    unit = args[1]
    if not isinstance(unit, exp.Literal) or not unit.is_string:
        return sql("round({0}, {1})", args)
    name = unit.name.upper()
    if name in _CLOCK:
        return sql(_CLOCK[name], args[:1])
    if name not in _ROUNDED:
        refuse(unit, f"round to the format {name} is not supported")
    return sql(f"CAST({_ROUNDED[name]} AS DATE)", args[:1])


def _new_time(args: Args) -> exp.Expression:
    """NEW_TIME(at, 'AST', 'PST') is four hours earlier."""
    hours = [_HOURS.get(zone.name.upper()) if isinstance(zone, exp.Literal) else None for zone in args[1:]]
    if hours[0] is None or hours[1] is None:
        refuse(args[1], "new_time takes the names of two zones", ", ".join(_HOURS))
    minutes = round((hours[1] - hours[0]) * 60)
    return sql(f"{_AT} + INTERVAL '{minutes}' MINUTE", args[:1])


def _in_zone(args: Args) -> exp.Expression:
    """FROM_TZ(TIMESTAMP '2000-03-28 08:00:00', '3:00')."""
    zone = args[1]
    offset = _OFFSET.fullmatch(zone.name) if isinstance(zone, exp.Literal) else None
    if offset is None:
        return sql(f"timezone({{1}}, {_AT})", args)
    minutes = (1 if offset[1] == "-" else -1) * (int(offset[2]) * 60 + int(offset[3]))
    return sql(f"timezone('UTC', {_AT} + INTERVAL '{minutes}' MINUTE)", args[:1])


def _span(units: Mapping[str, int], maker: str) -> Made:
    """NUMTODSINTERVAL(100, 'DAY') and NUMTOYMINTERVAL(1, 'YEAR')."""

    def made(args: Args) -> exp.Expression:
        count = units.get(args[1].name.upper()) if isinstance(args[1], exp.Literal) else None
        if count is None:
            refuse(args[1], "an interval of this unit is not supported", ", ".join(units))
        return sql(maker.replace("{COUNT}", str(count)), args[:1])

    return made


def _days(args: Args) -> exp.Expression:
    """TO_DSINTERVAL('100 00:00:00')."""
    written = _OF_DAYS.fullmatch(args[0].name.strip()) if isinstance(args[0], exp.Literal) else None
    if written is None:
        refuse(args[0], "to_dsinterval takes a constant such as '4 05:12:10'")
    days, hours, minutes, seconds = (int(part) for part in written.groups()[1:5])
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    micros = total * 1_000_000 + int((written[6] or "0").ljust(6, "0"))
    return sql(f"INTERVAL '{-micros if written[1] == '-' else micros}' MICROSECOND", [])


def _months(args: Args) -> exp.Expression:
    """TO_YMINTERVAL('01-02')."""
    written = _OF_MONTHS.fullmatch(args[0].name.strip()) if isinstance(args[0], exp.Literal) else None
    if written is None:
        refuse(args[0], "to_yminterval takes a constant such as '01-02'")
    months = int(written[2]) * 12 + int(written[3])
    return sql(f"INTERVAL '{-months if written[1] == '-' else months}' MONTH", [])


ORACLE_DATES: Meanings = {
    "FROM_TZ(at, zone)": _in_zone,
    "NEW_TIME(at, zone, other)": _new_time,
    "NUMTODSINTERVAL(number, unit)": _span(
        _SECONDS, "to_microseconds(CAST(round(CAST({0} AS DOUBLE) * {COUNT} * 1000000) AS BIGINT))"
    ),
    "NUMTOYMINTERVAL(number, unit)": _span(_MONTHS, "to_months(CAST(round({0} * {COUNT}) AS INTEGER))"),
    # ROUND(2.5) is 3, and ROUND of a moment its nearest midnight
    "ROUND(value)": "@rounded_or_number",
    "ROUND(value, unit)": _rounded_to,
    # SYS_EXTRACT_UTC(TIMESTAMP '2000-03-28 11:30:00.00 -08:00') is 2000-03-28 19:30:00
    "SYS_EXTRACT_UTC(at)": "timezone('UTC', CAST({0} AS TIMESTAMPTZ))",
    "TO_DSINTERVAL(text)": _days,
    "TO_YMINTERVAL(text)": _months,
}
