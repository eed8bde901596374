"""Sums and averages of intervals, against PostgreSQL, while rows come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import INTEGER, INTERVAL, Column, Schema
from planner import plan_query
from planner.relation import Relation
from tests.postgres.server import Server

SPANS = {
    "P1M3D": "1 month 3 days",
    "P-2DT4H": "-2 days 4 hours",
    "PT1H0.000001S": "1 hour 0.000001 second",
    "P-1Y-1M": "-13 months",
    "PT26H": "26 hours",
    "P40D": "40 days",
    "PT-5.5S": "-5.5 seconds",
    None: None,
}
SCHEMA = Schema((Column("id", INTEGER), Column("k", INTEGER), Column("i", INTERVAL)))
QUERIES = (
    "SELECT k, sum(i) AS s, count(*) FROM t GROUP BY k",
    "SELECT sum(i) AS s FROM t",
    "SELECT k, avg(i) AS s FROM t GROUP BY k",
    "SELECT sum(i) FILTER (WHERE id > 2) AS s, avg(i * 2) AS a FROM t",
    "SELECT id, sum(i) OVER (PARTITION BY k ORDER BY id) AS s, "
    "avg(i) OVER (ORDER BY id ROWS 1 PRECEDING) AS a FROM t",
    "SELECT k FROM t GROUP BY k HAVING sum(i) > INTERVAL '1 day'",
    "SELECT k, (SELECT sum(u.i) FROM t AS u WHERE u.k < t.k) AS s FROM t",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_sums_are_postgresqls(postgres: Server, sql: str) -> None:
    relation = Relation("t", SCHEMA, Source("t", SCHEMA))
    planned = plan_query(sql, {"t": relation, "public.t": relation}, named=True)
    engine = Engine()
    engine.create_source("t", SCHEMA, None)
    engine.create_view("v", planned.plan)
    rows = [(n, n % 3, span) for n, span in enumerate(list(SPANS) * 2)]
    epochs: list[list[tuple[Any, int]]] = [
        [(row, 1) for row in rows[:6]],
        [(row, 1) for row in rows[6:]],
        [(row, -1) for row in rows[1:12]],
        [(rows[0], -1), *((row, -1) for row in rows[12:])],
    ]
    with postgres.connect() as connection:
        connection.execute("SET intervalstyle = iso_8601")
        connection.execute("CREATE TEMPORARY TABLE t (id integer, k integer, i interval)")
        for epoch, changes in enumerate(epochs, 1):
            words = encode_rows([row for row, _ in changes], SCHEMA, engine.dictionary)
            tail = np.array([[epoch] * len(changes), [diff for _, diff in changes]], np.int64)
            engine.stage({"t": np.concatenate([words, tail])}, epoch + 1).publish()
            for (id, k, span), diff in changes:
                if diff > 0:
                    connection.execute("INSERT INTO t VALUES (%s, %s, %s::interval)", (id, k, SPANS[span]))
                else:
                    connection.execute("DELETE FROM t WHERE id = %s", (id,))
            expected = connection.execute(_as_texts(sql, planned.schema)).fetchall()
            found, counts = engine.snapshot.rows("v", epoch)
            got = decode_rows(found, planned.schema, engine.dictionary)
            assert not engine.snapshot.errors("v")
            bag = [row for row, count in zip(got, counts.tolist(), strict=True) for _ in range(count)]
            assert sorted(map(repr, map(tuple, bag))) == sorted(map(repr, map(tuple, expected)))


def _as_texts(sql: str, schema: Schema) -> str:
    """The query with intervals as ISO 8601 texts."""
    columns = ", ".join(f"{c.name}::text" if c.type == INTERVAL else c.name for c in schema.columns)
    return f"SELECT {columns} FROM ({sql}) AS q"
