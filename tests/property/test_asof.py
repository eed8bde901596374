"""ASOF JOIN against DuckDB: the nearest row is the first of all rows that meet the condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.examples import SQL, hold
from tests.seeds import few, seeds

TABLES = (
    "l(k INTEGER, t INTEGER, s TEXT, x DOUBLE PRECISION, w NUMERIC(30, 2), at TIMESTAMP)",
    "r(k INTEGER, t INTEGER, s TEXT, x DOUBLE PRECISION, w NUMERIC(30, 2), at TIMESTAMP)",
    "e(a INTEGER, b INTEGER)",
)
PLACES = ("t", "s", "x", "w", "at")
OPS = (">=", ">", "<=", "<")


def asof(op: str, place: str, on: str, kind: str = "LEFT", match: str = "") -> SQL:
    """An ASOF JOIN, and the same with LATERAL; `match` has the conditions of the right side once more."""
    order = f"r.{place} {'DESC' if op in ('>=', '>') else 'ASC'} NULLS LAST"
    ties = ", ".join(f"r.{column} NULLS LAST" for column in ("k", "t", "s", "x", "w", "at"))
    condition = f"{on} AND l.{place} {op} r.{place}"
    return (
        f"SELECT l.*, r.k AS rk, r.t AS rt, r.s AS rs, r.x AS rx, r.w AS rw, r.at AS rat "
        f"FROM l ASOF {kind if kind == 'LEFT' else ''} JOIN r ON {condition}",
        f"SELECT l.*, n.k AS rk, n.t AS rt, n.s AS rs, n.x AS rx, n.w AS rw, n.at AS rat FROM l "
        f"{kind} JOIN LATERAL (SELECT * FROM r WHERE {match or condition} ORDER BY {order}, {ties} LIMIT 1) "
        "AS n ON TRUE",
    )


ONE_SIDED = [
    asof(">=", "t", "l.k = r.k AND r.x > 0"),
    asof(">=", "t", "l.k = r.k AND l.x > 0"),
    asof("<", "t", "l.k = r.k AND l.x > 0", "INNER"),
    asof(">", "t", "l.k = r.k AND l.x > 0 AND r.s IS NOT NULL AND l.s IS NOT DISTINCT FROM r.s"),
    asof("<=", "t", "l.k + 1 = r.k - 1 AND coalesce(l.s, 'x') = coalesce(r.s, 'x')"),
    asof(">=", "t", "l.k = r.k AND l.x <> r.x"),
    asof(">=", "t", "l.k = r.k AND l.t = r.t"),
]

AROUND = [
    "SELECT count(*), sum(r.t) FROM l ASOF LEFT JOIN (SELECT DISTINCT k, t FROM r) r "
    "ON l.k = r.k AND l.t >= r.t",
    "SELECT l.k, r.t FROM l ASOF LEFT JOIN (SELECT DISTINCT k, t FROM r) r ON l.k = r.k AND l.t >= r.t "
    "WHERE r.t > 1 AND l.k < 3",
    "SELECT l.k FROM l ASOF LEFT JOIN (SELECT DISTINCT k, t FROM r) r ON l.k = r.k AND l.t >= r.t",
    (
        "SELECT a, (SELECT max(r.t) FROM l ASOF JOIN (SELECT DISTINCT t FROM r WHERE k = e.a) r "
        "ON l.t >= r.t) FROM e",
        "SELECT a, (SELECT max(m) FROM (SELECT (SELECT max(r.t) FROM r WHERE r.k = e.a AND r.t <= l.t) AS m "
        "FROM l)) FROM e",
    ),
    (
        "SELECT a, (SELECT sum(r.t) FROM (SELECT * FROM l WHERE l.k = e.a) l ASOF JOIN "
        "(SELECT DISTINCT t FROM r WHERE k = e.b) r ON l.t > r.t) FROM e",
        "SELECT a, (SELECT sum(m) FROM (SELECT (SELECT max(r.t) FROM r WHERE r.k = e.b AND r.t < l.t) AS m "
        "FROM l WHERE l.k = e.a)) FROM e",
    ),
    (
        "SELECT a, y.* FROM e, LATERAL (SELECT l.t, r.t AS n FROM l ASOF LEFT JOIN r "
        "ON l.k = r.k + e.b AND l.t >= r.t) y",
        "SELECT a, l.t, (SELECT max(t) FROM r WHERE l.k = r.k + e.b AND l.t >= t) FROM e, l",
    ),
    (
        "WITH RECURSIVE up (n, t) AS (SELECT a, b FROM e UNION "
        "SELECT up.n, r.t FROM up ASOF JOIN (SELECT DISTINCT t FROM r) r ON up.t > r.t) SELECT * FROM up",
        "WITH RECURSIVE up (n, t) AS (SELECT a, b FROM e UNION "
        "SELECT up.n, (SELECT max(r.t) FROM r WHERE r.t < up.t) FROM up "
        "WHERE EXISTS (SELECT 1 FROM r WHERE r.t < up.t)) SELECT * FROM up",
    ),
    (
        "WITH RECURSIVE reach (a, b) AS (SELECT a, b FROM e UNION SELECT reach.a, e.b FROM reach JOIN e "
        "ON reach.b = e.a) SELECT reach.*, r.t FROM reach ASOF LEFT JOIN (SELECT DISTINCT t FROM r) r "
        "ON reach.b >= r.t",
        "WITH RECURSIVE reach (a, b) AS (SELECT a, b FROM e UNION SELECT reach.a, e.b FROM reach JOIN e "
        "ON reach.b = e.a) SELECT reach.*, (SELECT max(t) FROM r WHERE t <= reach.b) FROM reach",
    ),
    (
        "SELECT a.t, b.t AS before, c.t AS after FROM l AS a "
        "ASOF LEFT JOIN l AS b ON a.k = b.k AND a.t > b.t "
        "ASOF LEFT JOIN l AS c ON a.k = c.k AND a.t < c.t",
        "SELECT a.t, (SELECT max(t) FROM l AS b WHERE a.k = b.k AND a.t > b.t), "
        "(SELECT min(t) FROM l AS c WHERE a.k = c.k AND a.t < c.t) FROM l AS a",
    ),
]


VERSIONED = (
    "v(k INTEGER NOT NULL, since TIMESTAMP NOT NULL, x INTEGER, PRIMARY KEY (k, since))",
    "d(day DATE NOT NULL, x INTEGER, PRIMARY KEY (day))",
)
OF_VERSIONS: list[SQL] = [
    (
        "SELECT l.k, l.at, v.x FROM l JOIN v FOR SYSTEM_TIME AS OF l.at ON l.k = v.k",
        "SELECT l.k, l.at, v.x FROM l ASOF JOIN v ON l.k = v.k AND l.at >= v.since",
    ),
    (
        "SELECT l.t, n.x, n.since FROM l LEFT JOIN v FOR SYSTEM_TIME AS OF l.at - INTERVAL '1 day' AS n "
        "ON (n.k = l.t) WHERE l.k > 1",
        "SELECT l.t, n.x, n.since FROM l ASOF LEFT JOIN v AS n ON n.k = l.t "
        "AND l.at - INTERVAL '1 day' >= n.since WHERE l.k > 1",
    ),
]


def test_joins_to_versions() -> None:
    hold((*TABLES, *VERSIONED), OF_VERSIONS, seeds=seeds(few(16)), length=8)


@pytest.mark.parametrize("place", PLACES)
def test_by_values_of_every_type(place: str) -> None:
    views = [asof(op, place, on, kind) for op in OPS for on in ("l.k = r.k",) for kind in ("LEFT", "INNER")]
    hold(TABLES, [*views, *(asof(op, place, "TRUE") for op in OPS)], seeds=seeds(few(8)), length=7)


def test_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(7, tmp_path, Here(7))
    views = [asof(op, place, "l.k = r.k") for op, place in zip(OPS, PLACES, strict=False)]
    hold(TABLES, views, seeds(1), 6, lambda: Mixed(executor, rng, 0.7))
    assert executor.done


def test_conditions_of_one_side_and_of_both() -> None:
    hold(TABLES, ONE_SIDED, seeds=seeds(few(16)), length=8)


def test_inside_of_other_queries() -> None:
    hold(TABLES, AROUND, seeds=seeds(few(16)), length=8, dialect="duckdb")
