"""Moments in PostgreSQL's spellings are plain literals of VALUES: DuckDB need not be asked for them."""

from __future__ import annotations

import pytest

from engine.schema import DATE, TIME, TIMESTAMP, TIMESTAMPTZ, Type
from planner.adhoc.literals import NotPlain, plain_value

PLAIN = [
    ("January 8, 1999 04:05 PM", TIMESTAMP, "1999-01-08 16:05:00"),
    ("2024-1-5 4:5:6.1234567 am", TIMESTAMPTZ, "2024-01-05 04:05:06.123457"),
    ("2024-01-31 04:05 PST", TIMESTAMPTZ, "2024-01-31 04:05:00-08:00"),
    ("19990108", DATE, "1999-01-08"),
    ("2024-01-31 04:05:06.5+02", TIMESTAMPTZ, "2024-01-31 04:05:06.5+02"),
    ("2024-01-31 22:59:59.9999996", TIMESTAMP, "2024-01-31 23:00:00"),
    ("2024-01-31 22:59:60", TIMESTAMP, "2024-01-31 23:00:00"),
    ("04:05 PM", TIME, "16:05:00"),
    ("04:05:59.9999999", TIME, "04:06:00"),
]


@pytest.mark.parametrize(("text", "type", "plain"), PLAIN, ids=[text for text, *_ in PLAIN])
def test_spelled_moments_are_plain(text: str, type: Type, plain: str) -> None:
    assert plain_value(text, type, True, "postgres") == plain


@pytest.mark.parametrize(
    ("text", "type", "dialect"),
    [
        ("2024-01-31 04:05 PM", TIMESTAMP, "duckdb"),
        ("2024-01-31 13:05 PM", TIMESTAMP, "postgres"),
        ("0044-03-15 BC", DATE, "postgres"),
        ("2024-01-31 04:05 Europe/Paris", TIMESTAMPTZ, "postgres"),
        ("2024-01-31 23:59:60.5", TIMESTAMP, "postgres"),
        ("2024-01-31 23:59:59.9999996", TIMESTAMP, "postgres"),
        ("2024-01-31 24:00:00", TIMESTAMP, "postgres"),
        ("04:05:59.9999999", TIME, "duckdb"),
    ],
)
def test_what_is_not_plain(text: str, type: Type, dialect: str) -> None:
    with pytest.raises(NotPlain):
        plain_value(text, type, True, dialect)


def test_a_moment_without_a_zone_is_not_plain_elsewhere() -> None:
    assert plain_value("2024-01-31 04:05 PST", TIMESTAMPTZ, False, "postgres") == "2024-01-31 04:05:00-08:00"
    with pytest.raises(NotPlain):
        plain_value("2024-01-31 04:05 PM", TIMESTAMPTZ, False, "postgres")
