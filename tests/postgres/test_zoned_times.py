"""Times of day with a zone, against PostgreSQL: order, casts, parts, zones and arithmetic."""

from __future__ import annotations

import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import PlannerError, plan_query
from tests.postgres.server import Server

ROWS = """(VALUES
  (1, CAST('12:00:00+02' AS timetz), CAST('03:30' AS interval), CAST('2024-03-31 00:30:00Z' AS timestamptz)),
  (2, CAST('11:00:00+01' AS timetz), CAST('-1 hour' AS interval), NULL),
  (3, CAST('10:00:00.5+00' AS timetz), CAST('1 day' AS interval), NULL), (4, NULL, NULL, NULL),
  (5, CAST('00:00:01-15:59:59' AS timetz), CAST('1 month 2 hours' AS interval), NULL),
  (6, CAST('24:00:00+00' AS timetz), CAST('1 second' AS interval), NULL),
  (7, CAST('23:30:00-03:30' AS timetz), CAST('3 hours' AS interval), NULL)) AS t (id, z, i, at)"""
ALIKE = (
    "z::text",
    "(CASE WHEN id <> 6 THEN z END)::time::timetz::text",
    "(z + i)::text",
    "(z - i)::text",
    "(i + z)::text",
    "extract(hour FROM z)::int::text",
    "extract(minute FROM z)::int::text",
    "(extract(second FROM z) * 10)::int::text",
    "extract(timezone FROM z)::int::text",
    "extract(timezone_hour FROM z)::int::text",
    "extract(timezone_minute FROM z)::int::text",
    "(extract(epoch FROM z) * 10)::bigint::text",
    "(date_part('epoch', z) * 10)::bigint::text",
    "(z AT TIME ZONE 'UTC')::text",
    "(z AT TIME ZONE '+05:30')::text",
    "(z AT TIME ZONE INTERVAL '-05:00')::text",
    "min(z)::text",
    "max(z)::text",
    "count(DISTINCT z)::text",
    "(z < '10:00+00')::text",
    "(z > TIME WITH TIME ZONE '12:00:00+02')::text",
    "(z BETWEEN '10:00+00' AND '12:00+00')::text",
    "(z IN ('12:00:00+02', '10:00:00.5Z'))::text",
    "coalesce(z, '01:00+01')::text",
    "greatest(z, TIMETZ '11:00+01')::text",
    "least(z, TIMETZ '11:00+01')::text",
    "lag(z) OVER (ORDER BY z)::text",
    "at::timetz::text",
    "('1' || '2:00:00+02')::timetz::text",
    "'12:00 PM+02'::timetz::text",
    "'1200+02'::timetz::text",
    "'12:00+2'::timetz::text",
)
REFUSED = ("z - z", "z::date", "z::timestamptz", "id::timetz", "z::interval", "'25:00+00'::timetz")


def ours(sql: str) -> list[object]:
    engine = Engine()
    planned = plan_query(sql, {})
    engine.create_view("v", planned.plan)
    words, counts = engine.snapshot.rows("v", 0)
    rows = decode_rows(words, planned.schema, engine.dictionary)
    return sorted((v for (v,), n in zip(rows, counts.tolist(), strict=True) for _ in range(n)), key=str)


@pytest.mark.parametrize("expression", ALIKE)
def test_a_time_with_a_zone_is_postgresqls(postgres: Server, expression: str) -> None:
    sql = f"SELECT {expression} AS a FROM {ROWS}"
    with postgres.connect() as connection:
        expected = sorted((value for (value,) in connection.execute(sql).fetchall()), key=str)
    assert ours(sql) == expected


def test_the_order_is_postgresqls(postgres: Server) -> None:
    sql = f"SELECT string_agg(z::text, ' ' ORDER BY z) AS a FROM {ROWS}"
    with postgres.connect() as connection:
        expected = [value for (value,) in connection.execute(sql).fetchall()]
    assert ours(sql) == expected


@pytest.mark.parametrize("expression", REFUSED)
def test_what_has_no_meaning_is_refused(expression: str) -> None:
    with pytest.raises(PlannerError):
        plan_query(f"SELECT {expression} AS a FROM {ROWS}", {})
