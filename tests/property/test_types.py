"""Views over times, intervals, bytes, UUIDs, enums and arrays, over random histories."""

from __future__ import annotations

from pathlib import Path

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.examples import hold
from tests.seeds import SEED, seeds

TABLES = [
    "t(u UUID, i INTERVAL, ts TIMESTAMPTZ, clock TIME, b BYTEA, xs INTEGER[], m MOOD, n INTEGER)",
    "s(u UUID NOT NULL, i INTERVAL, xs INTEGER[], m MOOD, PRIMARY KEY (u))",
]


def test_zoned_times_and_bits() -> None:
    hold(
        ["t(k INTEGER, z TIMETZ, b BIT, i INTERVAL)", "s(z TIMETZ, b BIT, n INTEGER)"],
        [
            "SELECT k, min(z) AS least, max(z) AS most, count(DISTINCT z) AS n FROM t GROUP BY k",
            "SELECT z, b, count(*) AS n FROM t GROUP BY z, b",
            "SELECT b, min(z) AS z, max(b) AS most FROM s GROUP BY b",
            "SELECT DISTINCT z, b FROM s",
            "SELECT t.k, s.n FROM t JOIN s ON s.z = t.z AND s.b = t.b",
            "SELECT t.k, s.n FROM t JOIN s ON t.z < s.z AND t.b >= s.b",
            "SELECT z FROM t EXCEPT SELECT z FROM s",
            "SELECT z, b FROM t ORDER BY z DESC NULLS LAST, b LIMIT 3",
            "SELECT k, z, lag(z) OVER (PARTITION BY k ORDER BY z, b, i) AS before FROM t",
            "SELECT k, array_agg(z ORDER BY z, b) AS zs FROM t GROUP BY k",
            "SELECT k, string_agg(CAST(b AS TEXT), ',' ORDER BY b) AS bs FROM t GROUP BY k",
            "SELECT CAST(z AS TIME) AS c, CAST(z AS TEXT) AS t, CAST(CAST(z AS TIME) AS TIMETZ) AS r FROM t",
            "SELECT z + i AS later, z - i AS before, z AT TIME ZONE 'UTC' AS utc FROM t",
            "SELECT extract(hour FROM z) AS h, extract(timezone FROM z) AS o FROM t",
            "SELECT z > TIMETZ '11:00:00+01' AS x FROM s",
            "SELECT coalesce(z, TIMETZ '00:00:00+00') AS z FROM s",
        ],
    )


def test_orders_and_groups() -> None:
    hold(
        TABLES,
        [
            "SELECT m, min(i) AS i, max(ts) AS ts, min(clock) AS c, count(*) AS n FROM t GROUP BY m",
            "SELECT u, min(xs) AS least, max(xs) AS most, max(b) AS b, min(m) AS m FROM t GROUP BY u",
            "SELECT xs, b, count(DISTINCT u) AS n, count(DISTINCT ts) AS k FROM t GROUP BY xs, b",
            "SELECT DISTINCT xs, m FROM t",
            "SELECT xs FROM t ORDER BY xs DESC NULLS LAST, b, u LIMIT 3",
            "SELECT m, b FROM t ORDER BY m, b NULLS FIRST LIMIT 4",
            "SELECT min(u) AS least, max(u) AS most, sum(n) AS n FROM t HAVING count(*) > 1",
        ],
    )


def test_joins_and_sets() -> None:
    hold(
        TABLES,
        [
            "SELECT t.u, t.m, s.xs FROM t JOIN s ON s.u = t.u",
            "SELECT t.u, s.u AS v FROM t LEFT JOIN s ON t.i = s.i AND t.m = s.m",
            "SELECT t.n, s.u FROM t JOIN s ON t.i < s.i AND t.xs >= s.xs",
            "SELECT xs, m FROM t UNION SELECT xs, m FROM s",
            "SELECT xs FROM s EXCEPT SELECT xs FROM t",
            "SELECT u FROM t WHERE xs IN (SELECT xs FROM s) OR i = ANY (SELECT i FROM s)",
            "SELECT u FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.u = s.u AND t.i = s.i)",
        ],
    )


def test_expressions() -> None:
    hold(
        TABLES,
        [
            "SELECT ts + i AS later, ts - INTERVAL '1 month' AS before, i * 2 AS twice, -i AS less FROM t",
            "SELECT ts AT TIME ZONE 'Europe/Berlin' AS there FROM t",
            "SELECT ts - TIMESTAMPTZ '2024-01-01 00:00:00Z' AS since FROM t",
            "SELECT extract(hour FROM clock) AS h, extract(epoch FROM i) AS e, clock + i AS c FROM t",
            (
                "SELECT xs[1] AS first, xs[2:] AS others, xs || ARRAY[n] AS more FROM t",
                "SELECT xs[1], xs[2:], coalesce(xs, []) || [n] FROM t",
            ),
            (
                "SELECT array_length(xs, 1) AS k, array_to_string(xs, '-') AS text FROM t",
                "SELECT nullif(len(xs), 0), array_to_string(xs, '-') FROM t",
            ),
            "SELECT n FROM t WHERE i > INTERVAL '1 day' AND clock < '12:00' AND xs <> ARRAY[1]",
            "SELECT n FROM t WHERE n = ANY(xs) AND u >= '80000000-0000-0000-0000-000000000000'",
            (
                "SELECT n FROM t WHERE m > 'sad'",
                "SELECT n FROM t WHERE m IN ('ok', 'happy')",
            ),
            "SELECT coalesce(xs, ARRAY[n]) AS xs, CASE WHEN n > 1 THEN i ELSE '1 hour' END AS i FROM t",
            "SELECT u::text AS u, m::text AS m, i = INTERVAL '30 days' AS is_month FROM t",
        ],
    )


def test_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    views = [
        "SELECT m, min(i) AS i, max(xs) AS xs, count(DISTINCT u) AS n FROM t GROUP BY m",
        "SELECT t.u, s.xs, t.ts + t.i AS later FROM t JOIN s ON s.u = t.u AND s.i >= t.i",
        "SELECT xs, m FROM t UNION SELECT xs, m FROM s",
        "SELECT xs[1] AS first, b FROM t WHERE xs > ARRAY[1] OR clock < '12:00'",
    ]
    hold(TABLES, views, seeds=seeds(1), length=6, make=lambda: Mixed(executor, rng, 0.7))
    assert executor.done
