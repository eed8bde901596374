"""The groups of matches, against PostgreSQL: as values, and as rows of FROM."""

from __future__ import annotations

import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import plan_query
from tests.postgres.server import Server

TEXTS = "(VALUES ('foobar'), ('x'), ('barfbar'), (NULL), ('a(b)|c')) AS t (s)"
QUERIES = (
    f"SELECT s, regexp_match(s, 'o+') AS m FROM {TEXTS}",
    f"SELECT s, regexp_match(s, '(b)a(.)') AS m FROM {TEXTS}",
    f"SELECT s, (regexp_match(s, 'f(?:o|b)+'))[1] AS m FROM {TEXTS}",
    f"SELECT s, regexp_match(s, '[(|]([a-z])') AS m FROM {TEXTS}",
    f"SELECT s, m FROM {TEXTS}, regexp_matches(s, '[abo]', 'g') AS m",
    f"SELECT s, m FROM {TEXTS}, regexp_matches(s, 'ba(.)', 'g') AS m",
    f"SELECT s, m[1] AS m FROM {TEXTS}, LATERAL regexp_matches(s, 'b(a)r') AS m",
    f"SELECT s, m FROM {TEXTS} LEFT JOIN LATERAL regexp_matches(s, 'o') AS m ON true",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_matches_are_postgresqls(postgres: Server, sql: str) -> None:
    with postgres.connect() as connection:
        expected = connection.execute(sql).fetchall()
    engine, planned = Engine(), plan_query(sql, {})
    engine.create_view("v", planned.plan)
    words, counts = engine.snapshot.rows("v", 0)
    found = decode_rows(words, planned.schema, engine.dictionary)
    rows = [row for row, count in zip(found, counts.tolist(), strict=True) for _ in range(count)]
    assert sorted(map(repr, map(tuple, rows))) == sorted(map(repr, map(tuple, expected)))
