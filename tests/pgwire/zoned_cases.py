"""Expressions over moments, to be computed in sessions of several time zones."""

from __future__ import annotations

from collections.abc import Iterator

ZONES = ("America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "-3.5")
"""Two with summer time in the north, one in the south by half an hour, one without it, and an offset."""
_MOMENTS = (
    "2024-03-10 06:59:59+00",
    "2024-03-10 07:00:00+00",
    "2024-11-03 05:30:00+00",
    "2024-11-03 06:30:00.25+00",
    "2024-03-31 00:59:59+00",
    "2024-10-27 01:30:00+00",
    "2024-10-05 15:45:00+00",
    "2024-01-01 02:30:00+00",
    "1999-12-31 23:59:59.999999+00",
    "2038-07-01 12:00:00+00",
)
_LOCAL = (
    "2024-03-10 02:30:00",
    "2024-11-03 01:30:00",
    "2024-03-31 02:30:00",
    "2024-10-27 02:30:00",
    "2024-10-06 02:15:00",
    "2024-04-07 01:45:00",
    "2024-07-04 12:00:00",
    "1970-01-01 00:00:00",
)
_OF_MOMENTS = (
    "{}",
    "({})::text",
    "({})::timestamp",
    "({})::date",
    "({})::timestamp::time",
    "date_trunc('day', {})",
    "date_trunc('hour', {})",
    "date_trunc('month', {})",
    "extract(hour FROM {})",
    "extract(day FROM {})",
    "extract(dow FROM {})",
    "extract(epoch FROM {})::bigint",
    "date_trunc('minute', {}) + interval '1 hour'",
    "{} + interval '1 day'",
    "{} - interval '24 hours'",
    "{} AT TIME ZONE 'UTC'",
    "{} = ({})::timestamp::timestamptz",
)
_OF_LOCAL = (
    "'{}'::timestamptz",
    "'{}'::timestamp::timestamptz",
    "'{}'::timestamp AT TIME ZONE 'Europe/Berlin'",
    "'{}'::date::timestamptz",
    "'{}'::timestamptz > '2024-06-01 00:00:00+00'::timestamptz",
)
_OTHER = (
    "now()::date = current_date",
    "now()::timestamp = localtimestamp",
    "current_timestamp = now()",
    "date_trunc('day', now()) = current_date::timestamptz",
    "extract(timezone FROM '2024-07-01 00:00:00+00'::timestamptz)",
    "'2024-07-01'::date < '2024-07-01 03:00:00+00'::timestamptz",
    "to_char('2024-07-01 03:00:00+00'::timestamptz, 'YYYY-MM-DD HH24:MI')",
    "to_timestamp(1720000000)",
    "make_timestamptz(2024, 3, 10, 12, 30, 0)",
    "ARRAY['2024-07-01 03:00:00+00'::timestamptz, NULL]",
)


def expressions() -> Iterator[str]:
    for moment in _MOMENTS:
        literal = f"'{moment}'::timestamptz"
        yield from (form.replace("{}", literal) for form in _OF_MOMENTS)
    for local in _LOCAL:
        yield from (form.replace("{}", local) for form in _OF_LOCAL)
    yield from _OTHER
