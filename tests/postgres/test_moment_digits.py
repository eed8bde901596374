"""Casts to moments with some digits of a second, against PostgreSQL; types that would be cut are refused."""

from __future__ import annotations

import random

import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import PlannerError, plan_query
from tests.postgres.server import Server
from tests.seeds import SEED

HALVES = ("1969-12-31 23:59:59.5", "1999-12-31 23:59:59.5", "2000-01-01 00:00:00.5", "1950-06-01 10:00:00.65")
REFUSED = ("'10:00:00.6'::time(0)", "'3 days'::interval month", "'1.25 s'::interval(1)", "m::time(3)")


def ours(sql: str) -> list[tuple]:
    engine = Engine()
    planned = plan_query(sql, {})
    engine.create_view("v", planned.plan)
    words, _ = engine.snapshot.rows("v", 0)
    return sorted(decode_rows(words, planned.schema, engine.dictionary))


@pytest.mark.parametrize("type", ["timestamp", "timestamptz"])
def test_a_moment_is_rounded_as_postgresql_rounds(postgres: Server, type: str) -> None:
    rng = random.Random(SEED)
    some = [
        f"{rng.randint(1900, 2100)}-03-04 05:06:{rng.randint(0, 59)}.{rng.randrange(10**6):06}"
        for _ in range(50)
    ]
    moments = (*HALVES, *some, "infinity", "2020-01-01 00:00:00")
    rows = ", ".join(f"({id}, CAST('{moment}' AS {type}))" for id, moment in enumerate(moments))
    rounded = ", ".join(f"CAST(CAST(m AS {type}({digits})) AS text) AS m{digits}" for digits in range(7))
    sql = f"SELECT id, {rounded} FROM (VALUES {rows}, (-1, NULL)) AS t (id, m)"
    with postgres.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        expected = sorted(connection.execute(sql).fetchall())
    assert ours(sql) == expected


@pytest.mark.parametrize("expression", REFUSED)
def test_what_would_be_cut_is_refused(expression: str) -> None:
    with pytest.raises(PlannerError, match="keeps all"):
        plan_query(f"SELECT {expression} AS a FROM (VALUES (TIMESTAMP '2020-01-01 10:00:00')) AS t (m)", {})
