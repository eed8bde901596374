"""Date functions of dialects whose systems cannot be run here: views and ad-hoc queries against plain Python.

FRESHET_DATES=50 takes fifty times as many moments.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

import pytest

from engine.schema import DATE, TIMESTAMP, Type
from tests.planner import calendar
from tests.planner.calendar import (
    CLOCK,
    add,
    begin,
    crossed,
    day,
    following,
    last,
    moment,
    months_between,
    passed,
    week_from_first,
    week_of_us,
)
from tests.planner.dated import asked, plain, viewed
from tests.seeds import SEED

Case = tuple[str, Callable]
MONDAY, SUNDAY = 0, 6
CALENDAR = ("day", "week", "month", "quarter", "year")
UNITS = (*CALENDAR, *CLOCK)
DAYS: list[date | None] = [
    *map(
        date.fromisoformat,
        ("2024-01-31", "2024-02-29", "2023-12-31", "1969-12-28", "2026-01-01", "2021-01-03"),
    ),
    None,
]
MOMENTS: list[datetime | None] = [
    datetime(2024, 2, 29, 23, 59, 59, 123456),
    datetime(2023, 12, 31),
    datetime(1969, 12, 31, 22, 30, 15, 500000),
    datetime(2024, 1, 31, 10),
    None,
]


def more(count: int) -> Iterator[datetime]:
    chance = random.Random(SEED)
    for _ in range(count):
        near_end = calendar.begin(datetime(1960, 1, 1) + timedelta(days=chance.randrange(30_000)), "month")
        yield near_end + timedelta(days=chance.choice((-3, -2, -1, 0, 14)), seconds=chance.randrange(86_400))


EXTRA = list(more(int(os.environ.get("FRESHET_DATES", "1")) * 3))
DAYS += [at.date() for at in EXTRA]
MOMENTS += EXTRA


def sums(template: str, units: tuple[str, ...] = UNITS, **rules: bool) -> list[Case]:
    """`{unit}` and `{n}` in a template, for sums whose days stay days."""
    return [
        (template.format(unit=unit, n=n), lambda a, b, unit=unit, n=n: add(a, unit, n, **rules))
        for unit in units
        for n in (-13, 1)
    ]


def moments(cases: list[Case]) -> list[Case]:
    """The same, as moments."""
    return [(sql, lambda a, b, means=means: moment(means(a, b))) for sql, means in cases]


def differences(template: str, means: Callable, units: tuple[str, ...] = UNITS) -> list[Case]:
    return [(template.format(unit=unit), lambda a, b, unit=unit: means(a, b, unit)) for unit in units]


def kept(a: date, at: datetime) -> date:
    return at if isinstance(a, datetime) else at.date()


def truncations(template: str, units: tuple[str, ...], first: int = MONDAY) -> list[Case]:
    return [(template.format(unit=u), lambda a, b, u=u: kept(a, begin(a, u, first))) for u in units]


def fields(template: str, **parts: Callable) -> list[Case]:
    return [(template.format(part=part), lambda a, b, of=of: of(moment(a))) for part, of in parts.items()]


ISO = {
    "year": lambda a: a.year,
    "quarter": lambda a: (a.month + 2) // 3,
    "month": lambda a: a.month,
    "day": lambda a: a.day,
}
ISO_WEEK = {"week": lambda a: a.isocalendar().week}
YEARDAY = {"dayofyear": lambda a: a.timetuple().tm_yday}


EPOCH = datetime(1970, 1, 1)


def from_0(a: date) -> int:
    """The weekday, Sunday being 0."""
    return a.isoweekday() % 7


def from_1(a: date) -> int:
    """The weekday, Sunday being 1."""
    return from_0(a) + 1


def from_sunday(a: date, b: date, unit: str) -> int:
    return crossed(a, b, unit, SUNDAY)


OF_ANY: dict[str, list[Case]] = {
    "snowflake": [
        *sums("DATEADD({unit}, {n}, a)"),
        *sums("TIMESTAMPADD('{unit}s', {n}, a)", ("day", "month", "hour")),
        *sums("ADD_MONTHS(a, {n})", ("month",), end_to_end=True),
        *sums("a + INTERVAL '{n} {unit}s'", ("day", "month", "year")),
        *differences("DATEDIFF({unit}, a, b)", crossed),
        *truncations("DATE_TRUNC('{unit}', a)", CALENDAR),
        *fields("EXTRACT({part} FROM a)", **ISO, **ISO_WEEK, **YEARDAY),
        *fields("DATE_PART({part}, a)", dayofweek=from_0, dayofweekiso=lambda a: a.isoweekday()),
        *fields("{part}(a)", yearofweekiso=lambda a: a.isocalendar().year, dayofweek=from_0),
        ("DATE_PART(epoch_second, a)", lambda a, b: (moment(a) - EPOCH) // timedelta(seconds=1)),
        ("MONTHS_BETWEEN(b, a)", lambda a, b: months_between(b, a)),
        ("LAST_DAY(a)", lambda a, b: last(a)),
        ("LAST_DAY(a, 'week')", lambda a, b: last(a, "week")),
        ("LAST_DAY(a, 'quarter')", lambda a, b: last(a, "quarter")),
        ("NEXT_DAY(a, 'fri')", lambda a, b: following(a, 4)),
        ("PREVIOUS_DAY(a, 'fri')", lambda a, b: following(day(a) - timedelta(days=8), 4)),
    ],
    "redshift": [
        *moments(sums("DATEADD({unit}, {n}, a)")),
        *moments(sums("ADD_MONTHS(a, {n})", ("month",), end_to_end=True)),
        *moments(sums("a + INTERVAL '{n} {unit}s'", ("day", "month", "hour"))),
        *differences("DATEDIFF({unit}, a, b)", crossed, ("day", "month", "quarter", "year", "hour")),
        *moments(truncations("DATE_TRUNC('{unit}', a)", CALENDAR)),
        *fields("DATE_PART({part}, a)", **ISO, **ISO_WEEK, dow=from_0),
        ("MONTHS_BETWEEN(b, a)", lambda a, b: months_between(b, a)),
        ("LAST_DAY(a)", lambda a, b: last(a)),
        ("NEXT_DAY(a, 'Sunday')", lambda a, b: following(a, SUNDAY)),
    ],
    "bigquery": [
        *sums("DATE_ADD(a, INTERVAL {n} {unit})", CALENDAR),
        *moments(sums("DATETIME_ADD(a, INTERVAL {n} {unit})")),
        *differences("DATE_DIFF(b, a, {unit})", from_sunday, CALENDAR),
        *differences("DATE_DIFF(b, a, {unit})", crossed, ("isoyear",)),
        ("DATE_DIFF(b, a, ISOWEEK)", lambda a, b: crossed(a, b, "week")),
        ("DATE_DIFF(b, a, WEEK(THURSDAY))", lambda a, b: crossed(a, b, "week", 3)),
        *differences("DATETIME_DIFF(b, a, {unit})", from_sunday),
        *truncations("DATE_TRUNC(a, {unit})", (*CALENDAR, "isoyear"), SUNDAY),
        ("DATE_TRUNC(a, WEEK(TUESDAY))", lambda a, b: kept(a, begin(a, "week", 1))),
        ("DATE_TRUNC(a, ISOWEEK)", lambda a, b: kept(a, begin(a, "week"))),
        ("LAST_DAY(a, WEEK)", lambda a, b: last(a, "week", SUNDAY)),
        ("LAST_DAY(a, WEEK(MONDAY))", lambda a, b: last(a, "week")),
        ("LAST_DAY(a, ISOYEAR)", lambda a, b: last(a, "isoyear")),
        ("LAST_DAY(a)", lambda a, b: last(a)),
        *fields("EXTRACT({part} FROM a)", **ISO, **YEARDAY, dayofweek=from_1),
        ("EXTRACT(WEEK FROM a)", lambda a, b: week_from_first(a, SUNDAY)),
        ("EXTRACT(WEEK(FRIDAY) FROM a)", lambda a, b: week_from_first(a, 4)),
        ("EXTRACT(ISOWEEK FROM a)", lambda a, b: a.isocalendar().week),
        ("EXTRACT(ISOYEAR FROM a)", lambda a, b: a.isocalendar().year),
    ],
    "tsql": [
        *sums("DATEADD({unit}, {n}, a)", CALENDAR),
        *differences("DATEDIFF({unit}, a, b)", from_sunday),
        *truncations("DATETRUNC({unit}, a)", CALENDAR, SUNDAY),
        *fields("DATEPART({part}, a)", **ISO, **YEARDAY, week=week_of_us, weekday=from_1),
        ("DATEPART(iso_week, a)", lambda a, b: a.isocalendar().week),
        ("DATEPART(wk, a)", lambda a, b: week_of_us(a)),
        ("DATENAME(weekday, a)", lambda a, b: a.strftime("%A")),
        ("DATENAME(year, a)", lambda a, b: str(a.year)),
        ("EOMONTH(a)", lambda a, b: last(a)),
        ("EOMONTH(a, -1)", lambda a, b: last(add(a, "month", -1))),
    ],
    "oracle": [
        *sums("ADD_MONTHS(a, {n})", ("month",), end_to_end=True),
        ("MONTHS_BETWEEN(b, a)", lambda a, b: months_between(b, a)),
        ("LAST_DAY(a)", lambda a, b: kept(a, moment(a).replace(day=last(a).day))),
        ("NEXT_DAY(a, 'TUESDAY')", lambda a, b: kept(a, moment(a) + (following(a, 1) - day(a)))),
        *((f"TRUNC(a{form})", lambda a, b, unit=unit: begin(a, unit).date())
          for form, unit in (("", "day"), (", 'MM'", "month"), (", 'YYYY'", "year"), (", 'IW'", "week"))),
        *fields("EXTRACT({part} FROM a)", **{k: v for k, v in ISO.items() if k != "quarter"}),
    ],
    "trino": [
        *sums("date_add('{unit}', {n}, a)", CALENDAR),
        *sums("a + INTERVAL '{n}' {unit}", ("day", "month", "year")),
        *truncations("date_trunc('{unit}', a)", CALENDAR),
        *differences("date_diff('{unit}', a, b)", passed, ("day", "week", "hour", "second", "millisecond")),
        *fields("EXTRACT({part} FROM a)", **ISO, **ISO_WEEK, dow=lambda a: a.isoweekday()),
        *fields("{part}(a)", day_of_week=lambda a: a.isoweekday()),
        *fields("{part}(a)", year_of_week=lambda a: a.isocalendar().year),
        ("last_day_of_month(a)", lambda a, b: last(a)),
    ],
}  # fmt: skip
OF_MOMENTS: dict[str, list[Case]] = {
    "snowflake": truncations("DATE_TRUNC('{unit}', a)", CLOCK),
    "bigquery": [
        *differences("TIMESTAMP_DIFF(b, a, {unit})", passed, ("day", *CLOCK)),
        *fields("EXTRACT({part} FROM a)", microsecond=lambda a: a.microsecond),
        *fields("EXTRACT({part} FROM a)", millisecond=lambda a: a.microsecond // 1000),
        *fields("EXTRACT({part} FROM a)", hour=lambda a: a.hour, second=lambda a: a.second),
    ],
    "tsql": [*sums("DATEADD({unit}, {n}, a)", CLOCK), *truncations("DATETRUNC({unit}, a)", CLOCK),
             *fields("DATEPART({part}, a)", hour=lambda a: a.hour,
                     millisecond=lambda a: a.microsecond // 1000)],
    "oracle": [("EXTRACT(SECOND FROM a)", lambda a, b: a.second + a.microsecond / 1_000_000),
               ("TRUNC(a, 'HH24')", lambda a, b: begin(a, "hour"))],
    "trino": [*sums("date_add('{unit}', {n}, a)", CLOCK[:-1]), 
              *truncations("date_trunc('{unit}', a)", CLOCK[:-1])],
}  # fmt: skip
TYPES: list[tuple[Type, list]] = [(DATE, DAYS), (TIMESTAMP, MOMENTS)]


def wrong(dialect: str, type: Type, values: list, cases: list[Case]) -> list[tuple]:
    rows = (
        list(itertools.product(values, values))
        if len(values) < 12
        else list(zip(values, reversed(values), strict=True))
    )
    texts = [sql for sql, _ in cases]
    found = []
    by_view, by_query = (answers(dialect, (type, type), rows, texts) for answers in (viewed, asked))
    for (sql, means), viewed_values, asked_values in zip(cases, by_view, by_query, strict=True):
        for (a, b), there, once in zip(rows, viewed_values, asked_values, strict=True):
            uses = [
                x
                for name, x in (("a", a), ("b", b))
                if f"{name}," in sql or f"{name})" in sql or f"{name} " in sql
            ]
            expected = None if None in uses else plain(means(a, b))
            if (there, once) != (expected, expected):
                found.append((sql, a, b, expected, there, once))
    return found


@pytest.mark.parametrize("dialect", OF_ANY)
@pytest.mark.parametrize(("type", "values"), TYPES, ids=["DATE", "TIMESTAMP"])
def test_functions_of_days_and_moments(dialect: str, type: Type, values: list) -> None:
    cases = OF_ANY[dialect] + (OF_MOMENTS.get(dialect, []) if type == TIMESTAMP else [])
    assert not wrong(dialect, type, values, cases)
