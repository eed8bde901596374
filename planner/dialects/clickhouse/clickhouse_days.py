"""ClickHouse's functions of days and moments beyond those of `planner.dialects.date_tables`."""

from __future__ import annotations

from sqlglot import exp

from planner.dialects import parts
from planner.dialects.trying import tried
from planner.native.templates import Args, Meanings, sql
from planner.positions import refuse

_AT = "CAST({0} AS TIMESTAMP)"
_FROM_SUNDAY = f"CAST({_AT} AS DATE) - CAST(dayofweek({_AT}) AS INTEGER)"
_FROM_MONDAY = f"CAST({_AT} AS DATE) - CAST(isodow({_AT}) - 1 AS INTEGER)"
_WEEKDAYS = ("isodow({0})", "isodow({0}) - 1", "dayofweek({0})", "dayofweek({0}) + 1")
"""The number of a day by the mode: from Monday as 1 or 0, from Sunday as 0 or 1."""
_YEAR_ZERO = 719528
_JULIAN = 40587
_UNITS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 604800}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_BEST_EFFORT = (
    "CASE WHEN regexp_full_match({0}, '[0-9][0-9]?/[0-9][0-9]?/[0-9][0-9][0-9][0-9]( .*)?')"
    " THEN CAST(regexp_replace({0}, '^([0-9]+)/([0-9]+)/([0-9]+)', '\\3-\\2-\\1') AS TIMESTAMP)"
    " ELSE date_trunc('second', timezone('UTC', CAST({0} AS TIMESTAMPTZ))) END"
)
_LOCAL = "timezone({1}, timezone('UTC', CAST({0} AS TIMESTAMP)))"
_ZONED = {
    **dict.fromkeys(("TODATE",), "CAST(LOCAL AS DATE)"),
    **{
        f"TO{part}": f"{part.lower()}(LOCAL)"
        for part in ("YEAR", "QUARTER", "MONTH", "HOUR", "MINUTE", "SECOND")
    },
    "TODAYOFMONTH": "day(LOCAL)",
    "TODAYOFYEAR": "dayofyear(LOCAL)",
    "TOYYYYMM": "year(LOCAL) * 100 + month(LOCAL)",
    "TOYYYYMMDD": "year(LOCAL) * 10000 + month(LOCAL) * 100 + day(LOCAL)",
}


def _mode(args: Args, most: int) -> int:
    mode = (
        args[1].name if len(args) > 1 and isinstance(args[1], exp.Literal) else "" if len(args) > 1 else "0"
    )
    if not mode.isdigit() or int(mode) > most:
        refuse(args[1], f"a mode is a number from 0 to {most}", "write the number")
    return int(mode)


def _week_begun(args: Args) -> exp.Expression:
    """TOSTARTOFWEEK(day) is a Sunday, and with the mode 1 a Monday."""
    return sql(_FROM_MONDAY if _mode(args, 9) % 2 else _FROM_SUNDAY, args[:1])


def _week_ended(args: Args) -> exp.Expression:
    return sql(f"({_FROM_MONDAY if _mode(args, 9) % 2 else _FROM_SUNDAY}) + 6", args[:1])


def _weekday(args: Args) -> exp.Expression:
    return sql(_WEEKDAYS[_mode(args, 3)].replace("{0}", _AT), args[:1])


def _week(args: Args) -> exp.Expression:
    """TOWEEK(day, 9): the mode 8 counts the week of January 1 as the first, and 9 begins it on Monday."""
    mode = _mode(args, 9)
    if mode < 8:
        return sql(parts.week_template(mode), args[:1])
    since = "isodow({0}) - 1" if mode == 9 else "dayofweek({0})"
    start = "make_date(year({0}), 1, 1)"
    offset = since.replace("{0}", start)
    next_year = "make_date(year({0}) + 1, 1, 1)"
    is_next = f"CAST({{0}} AS DATE) >= {next_year} - CAST({since.replace('{0}', next_year)} AS INTEGER)"
    number = f"CASE WHEN {is_next} THEN 1 ELSE (dayofyear({{0}}) - 1 + {offset}) // 7 + 1 END"
    return sql(number.replace("{0}", _AT), args[:1])


def _interval_begun(args: Args) -> exp.Expression:
    """TOSTARTOFINTERVAL(at, INTERVAL 10 MINUTE): a moment; weeks and longer units give a day."""
    at, interval = args
    unit = interval.text("unit").upper().removesuffix("S") if isinstance(interval, exp.Interval) else ""
    count = interval.this.name if isinstance(interval, exp.Interval) and interval.this else ""
    if not count.isdigit() or int(count) < 1 or unit not in {**_UNITS, **_MONTHS}:
        refuse(interval, "the second argument is an interval of one unit", "write INTERVAL 10 MINUTE")
    if unit in _MONTHS:
        step = int(count) * _MONTHS[unit]
        months = f"(year({_AT}) * 12 + month({_AT}) - 1) // {step} * {step}"
        return sql(f"make_date(({months}) // 12, ({months}) % 12 + 1, 1)", [at])
    if unit == "WEEK":
        return sql(
            f"CAST(time_bucket(INTERVAL '{int(count) * 7}' DAY, {_AT}, TIMESTAMP '1969-12-29') AS DATE)", [at]
        )
    step = int(count) * _UNITS[unit] * 1_000_000
    return sql(f"make_timestamp(epoch_us({_AT}) // {step} * {step})", [at])


def _minutes_begun(minutes: int) -> str:
    step = minutes * 60_000_000
    return f"make_timestamp(epoch_us({_AT}) // {step} * {step})"


def _no_zone(args: Args) -> exp.Expression:
    hint = "write toHour(at, zone), or fromUTCTimestamp(at, zone) for the time there"
    refuse(args[0], "a moment keeps no zone here, so toTimeZone is not supported", hint)


def in_zone(name: str, at: exp.Anonymous) -> exp.Expression | None:
    """A part of toTimeZone(at, zone), which is the part there; None for other functions."""
    form = _ZONED.get(name)
    return None if form is None else sql(form.replace("LOCAL", _LOCAL), at.expressions)


def _number_of(form: str) -> str:
    return form.replace("AT", _AT)


def _changed(part: str) -> str:
    """CHANGEYEAR(toDate('1999-01-01'), 2000) is 2000-01-01."""
    numbers = {"YEAR": "year({0})", "MONTH": "month({0})", "DAY": "day({0})"}
    return "make_date(" + ", ".join("{1}" if name == part else form for name, form in numbers.items()) + ")"


def _name_of(args: Args) -> exp.Expression:
    """DATENAME('month', at) is April."""
    part = args[0].name.lower()
    names = {
        "month": "monthname(AT)",
        "weekday": "dayname(AT)",
        "dayofyear": "CAST(dayofyear(AT) AS VARCHAR)",
    }
    for each in ("year", "quarter", "day", "week", "hour", "minute", "second"):
        names[each] = f"CAST({each}(AT) AS VARCHAR)"
    if part not in names:
        refuse(args[0], f"the part {part} is not supported in dateName of clickhouse")
    return sql(_number_of(names[part]), args[1:2])


DAYS: Meanings = {
    "TOSTARTOFWEEK(at, mode?)": _week_begun,
    "TOLASTDAYOFWEEK(at, mode?)": _week_ended,
    "TODAYOFWEEK(at, mode)": _weekday,
    "TOWEEK(at, mode)": _week,
    "TODAYSSINCEYEARZERO(at)": f"CAST({_AT} AS DATE) - DATE '1970-01-01' + {_YEAR_ZERO}",
    "FROMDAYSSINCEYEARZERO(days)": f"DATE '1970-01-01' + CAST({{0}} - {_YEAR_ZERO} AS INTEGER)",
    "TOMODIFIEDJULIANDAY(text)": f"CAST({{0}} AS DATE) - DATE '1970-01-01' + {_JULIAN}",
    "FROMMODIFIEDJULIANDAY(days)": (
        f"strftime(DATE '1970-01-01' + CAST({{0}} - {_JULIAN} AS INTEGER), '%Y-%m-%d')"
    ),
    "TOMILLISECOND(at)": f"millisecond({_AT}) % 1000",
    "TOSTARTOFSECOND(at)": f"date_trunc('second', {_AT})",
    "TOSTARTOFFIVEMINUTES | TOSTARTOFFIVEMINUTE(at)": _minutes_begun(5),
    "TOSTARTOFTENMINUTES(at)": _minutes_begun(10),
    "TOSTARTOFFIFTEENMINUTES(at)": _minutes_begun(15),
    "TIMESLOT(at)": _minutes_begun(30),
    "TOSTARTOFINTERVAL(at, interval)": _interval_begun,
    "TOYYYYMMDDHHMMSS(at)": f"CAST(strftime({_AT}, '%Y%m%d%H%M%S') AS BIGINT)",
    "YYYYMMDDTODATE(number)": "make_date({0} // 10000, {0} // 100 % 100, {0} % 100)",
    "YYYYMMDDHHMMSSTODATETIME(number)": (
        "make_timestamp({0} // 10000000000, {0} // 100000000 % 100, {0} // 1000000 % 100, {0} // 10000 % 100,"
        " {0} // 100 % 100, CAST({0} % 100 AS DOUBLE))"
    ),
    "MAKEDATE(year, day)": "make_date({0}, 1, 1) + CAST({1} - 1 AS INTEGER)",
    "MAKEDATETIME(year, month, day, hour, minute, second)": (
        "make_timestamp({0}, {1}, {2}, {3}, {4}, CAST({5} AS DOUBLE))"
    ),
    "ADDDATE(at, interval)": lambda args: exp.Add(this=args[0].copy(), expression=args[1].copy()),
    "SUBDATE(at, interval)": lambda args: exp.Sub(this=args[0].copy(), expression=args[1].copy()),
    "DATENAME(part, at)": _name_of,
    "MONTHNAME(at)": f"monthname({_AT})",
    "TORELATIVEYEARNUM(at)": f"year({_AT})",
    "TORELATIVEMONTHNUM(at)": f"year({_AT}) * 12 + month({_AT})",
    "TORELATIVEDAYNUM(at)": f"CAST({_AT} AS DATE) - DATE '1970-01-01'",
    "TORELATIVEHOURNUM(at)": f"epoch_us({_AT}) // 3600000000",
    "CHANGEYEAR(day, year)": _changed("YEAR"),
    "CHANGEMONTH(day, month)": _changed("MONTH"),
    "CHANGEDAY(day, day)": _changed("DAY"),
    "TOTIME(at)": f"CAST({_AT} AS TIME)",
    # PARSEDATETIMEBESTEFFORT('23/10/2020 12:12:57') is 2020-10-23 12:12:57
    "PARSEDATETIMEBESTEFFORT(text)": _BEST_EFFORT,
    "PARSEDATETIMEBESTEFFORTORNULL(text)": lambda args: tried(sql(_BEST_EFFORT, args)),
    "TOTIMEZONE(at, zone)": _no_zone,
    # TOHOUR(at, 'Asia/Tokyo'): the hour there
    **{f"{name}(at, zone)": form.replace("LOCAL", _LOCAL) for name, form in _ZONED.items()},
    "FROMUTCTIMESTAMP(at, zone)": _LOCAL,
    "TOUTCTIMESTAMP(at, zone)": "timezone('UTC', timezone({1}, CAST({0} AS TIMESTAMP)))",
    "TOUNIXTIMESTAMP(at, zone)": "epoch_us(timezone({1}, CAST({0} AS TIMESTAMP))) // 1000000",
}
