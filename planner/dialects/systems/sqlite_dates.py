"""SQLite's functions of time values, with their modifiers: DATE('2024-01-31', '+1 month').

Examples are the manual's, https://sqlite.org/lang_datefunc.html. A month that is added keeps the day, which
may be one of the next month. Modifiers are written, not computed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from planner.native.templates import Args, Made, sql
from planner.positions import refuse

_MOMENT = (
    "CASE WHEN regexp_matches({0}, '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]')"
    " THEN timezone('UTC', CAST({0} AS TIMESTAMPTZ))"
    " WHEN regexp_matches({0}, '^[0-9][0-9]:[0-9][0-9]') THEN CAST('2000-01-01 ' || {0} AS TIMESTAMP)"
    " WHEN lower({0}) = 'now' OR regexp_full_match({0}, '[-+.0-9]+')"
    " THEN CAST('a time value is a day or a time, and not ' || {0} AS TIMESTAMP) END"
).replace("{0}", "CAST({0} AS VARCHAR)")
"""A text that is no time value is NULL; the moment of the query, and the number of a day, are refused."""
_OF_SECONDS = "make_timestamp(CAST({0} AS BIGINT) * 1000000)"
_SUM = re.compile(r"([-+]?\d+) *(second|minute|hour|day|month|year)s?")
_START = re.compile(r"start of (day|month|year)")
_WEEKDAY = re.compile(r"weekday ([0-6])")
_KEPT_DAY = "date_trunc('month', at) + INTERVAL '{n}' {unit} + (at - date_trunc('month', at))"
_DAY, _CLOCK = "%Y-%m-%d", "%H:%M:%S"


def _changed(modifier: exp.Expression) -> str:
    """What a modifier does to the moment `at`, in DuckDB's SQL."""
    text = modifier.name.lower().strip() if isinstance(modifier, exp.Literal) else ""
    if found := _SUM.fullmatch(text):
        count, unit = int(found[1]), found[2].upper()
        if unit in ("MONTH", "YEAR"):
            return _KEPT_DAY.replace("{n}", str(count)).replace("{unit}", unit)
        return f"at + INTERVAL '{count}' {unit}"
    if found := _START.fullmatch(text):
        return f"date_trunc('{found[1]}', at)"
    if found := _WEEKDAY.fullmatch(text):
        return f"at + to_days(CAST(({found[1]} - dayofweek(at) + 7) % 7 AS INTEGER))"
    refuse(
        modifier,
        "this modifier is not supported in sqlite",
        "modifiers are '+1 day' and its like, 'start of month', 'weekday 0' and 'unixepoch'",
    )


def _moment(args: Args) -> exp.Expression:
    """The moment that a time value and its modifiers mean."""
    value, *modifiers = args
    is_number = bool(modifiers) and modifiers[0].name.lower() == "unixepoch"
    found = sql(_OF_SECONDS if is_number else _MOMENT, [value])
    for modifier in modifiers[is_number:]:
        found = sql(f"list_transform([{{0}}], lambda at: {_changed(modifier)})[1]", [found])
    return found


def _written(form: str) -> Made:
    return lambda args: sql(f"strftime({{0}}, '{form}')", [_moment(args)])


def _computed(template: str) -> Made:
    return lambda args: sql(template, [_moment(args)])


SQLITE_DATES: Mapping[str, Made] = {
    # DATE('2024-01-15', 'start of month', '+1 month', '-1 day') is 2024-01-31
    "DATE(at, ...)": _written(_DAY),
    "DATETIME(at, ...)": _written(f"{_DAY} {_CLOCK}"),
    "TIME(at, ...)": _written(_CLOCK),
    # JULIANDAY('2000-01-01 12:00:00') is 2451545.0
    "JULIANDAY(at, ...)": _computed("CAST(epoch_us({0}) AS DOUBLE) / 86400000000 + 2440587.5"),
    "UNIXEPOCH(at, ...)": _computed("CAST(floor(CAST(epoch_us({0}) AS DOUBLE) / 1000000) AS BIGINT)"),
}
