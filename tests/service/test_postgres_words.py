"""Intervals, bytes, documents, arrays and their operators: views and ad-hoc queries answer as PostgreSQL.

Values whose forms differ between the doors are compared as texts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.postgres.alike import Alike
from tests.postgres.server import Server
from tests.service.client import Client, code

TABLE = """CREATE TABLE d (id INT, i INTERVAL, t TIMESTAMP, z TIMESTAMPTZ, y DATE, c TIME, b BYTEA, js JSONB,
xs INT[], ts TEXT[], f FLOAT8, r REAL, o BOOLEAN, s TEXT)"""
ROWS = """INSERT INTO d VALUES
(1, '1 mon', '2001-02-16 20:38:40.123456', '2001-02-16 20:38:40+00', '2001-02-16', '13:45:30.5', '\\x6162',
 '{"a": 1, "b": [1, {"c": "x"}], "d": null}', '{1,2,3}', '{a,b c,NULL}', 16, 1e6, true, 'a'),
(2, '2 mons -3 days +04:05:06.789', '1957-06-13', '1957-06-13 05:00+00', '1957-06-13', '00:00', '\\x',
 '["a", "b", 7]', '{}', '{}', 1e15, 0.25, false, 'hello world'),
(3, '-1 years -2 mons +3 days -04:05:06', '2024-02-29 23:59:59.999999', '2024-02-29 12:00+00', '2024-02-29',
 '23:59:59.999999', '\\x00ff7f', '"a"', '{NULL,7}', '{a,"q\\"u"}', -0.5, 2.5, NULL, ''),
(4, '@ 1 day 1 second ago', '2000-01-01', '2000-01-01', '2000-01-01', '12:00', '\\xdead', '{"k": {}}', '{7}',
 '{"",k}', 0, 0, true, 'x'),
(5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""
TEXTS = (
    "SELECT id, i::text AS a, upper(i::varchar) AS b, (i * 2)::text AS c, (-i)::text AS e FROM d",
    "SELECT i || '!' AS a, concat(i, '!') AS b, concat_ws(',', i, id) AS c, format('%s', i) AS e FROM d",
    "SELECT ARRAY[i, i * 2]::text AS a, ARRAY[c]::text AS b FROM d",
    "SELECT array_agg(i ORDER BY id)::text AS a, string_agg(i::text, ',' ORDER BY id) AS b FROM d",
    "SELECT max(i)::text AS a, min(i)::text AS b, sum(i)::text AS c, avg(i)::text AS e FROM d",
    "SELECT id FROM d WHERE i::text = '1 mon'",
    "SELECT to_json(i)::text AS a, to_jsonb(i)::text AS b FROM d",
    "SELECT v.span::text AS a, v.clock::text AS b FROM (SELECT i AS span, i AS clock FROM d) AS v",
    "SELECT (INTERVAL '-1 days +02:03')::text AS a, (INTERVAL '@ 14 seconds ago')::text AS b",
    "SELECT (INTERVAL '1 day 02:03')::text AS a, (INTERVAL '2 days 3')::text AS b, "
    "(INTERVAL '-1 +02:03')::text AS c",
    "SELECT (INTERVAL '1.5 weeks')::text AS a, (INTERVAL '1.5 mons')::text AS b, "
    "(INTERVAL '0.7 years')::text AS c",
    "SELECT '-1 days +02:03'::interval::text AS a, '1-2'::interval::text AS b, "
    "'1 12:59:10'::interval::text AS c",
    "SELECT '10 years -11 month -12 days +13:14'::interval::text AS a, 'P1Y2MT3H'::interval::text AS b",
    "SELECT id FROM d WHERE i = '-1 years -2 mons +3 days -04:05:06' OR i < '@ 1 day ago'",
    "SELECT sha256(b)::text AS a, b::text AS c, (b || '\\x01'::bytea)::text AS e, "
    "sha256('abc')::text AS f FROM d",
    "SELECT concat(b, 'x') AS a, format('%s', b) AS c, ARRAY[b]::text AS e, decode(md5(s), "
    "'hex')::text AS f FROM d",
    "SELECT id FROM d WHERE b::text = '\\x6162'",
    "SELECT f || '!' AS a, concat(f, '!') AS b, format('%s', f) AS c, r || '!' AS e FROM d",
    "SELECT o || '!' AS a, concat(o, '!') AS b, format('%s %s', o, xs) AS c, concat(ts, '!') AS e FROM d",
    r"SELECT regexp_replace('1112223333', E'(\\d{3})(\\d{3})', E'(\\1) \\2-') AS a, E'a\tb' || s AS b FROM d",
    "SELECT initcap(s) AS a, initcap('hI THOMAS') AS b FROM d",
    """SELECT ('{"b": 1, "a": 2, "b": 3}'::jsonb) ->> 'b' AS a, length(' [1,  2] '::jsonb::text) < 8 AS b""",
)
OPERATORS = (
    "SELECT div(17, 5) AS a, div(-17, 5) AS b, div(17.5, 5) AS c, div(7, 2.5) AS e, div(-7.5, 2) AS f",
    "SELECT div(id, 2) AS a, div(id * 1.75, 2) AS b, div(id::bigint, 3) AS c FROM d",
    "SELECT id IN (VALUES (1), (2)) AS a, id IN ((SELECT 3)) AS b, id IN ((SELECT 3), 4) AS c FROM d",
    "SELECT every(o) AS a, every(id > 0) AS b, every(o) FILTER (WHERE id = 1) AS c, "
    "every(DISTINCT o) AS e FROM d",
    "SELECT id, every(o) OVER (ORDER BY id) AS a FROM d",
    "SELECT x.id, y.id AS n, age(x.t, y.t)::text AS a, age(x.z, y.z)::text AS b FROM d AS x, d AS y",
    "SELECT x.id, y.id AS n, age(x.y, y.y)::text AS a, age(x.t, y.y)::text AS b FROM d AS x, d AS y",
    "SELECT age('2001-04-10', t)::text AS a, age(timestamp '2001-04-10', "
    "timestamp '1957-06-13')::text AS b FROM d",
    "SELECT (i / 7)::text AS a, (i / -3)::text AS b, (i / 2.5)::text AS c, (i / id)::text AS e FROM d",
    "SELECT (sum(i) / 7)::text AS a, (sum(i) / count(*))::text AS b FROM d",
    "SELECT (c - TIME '01:00')::text AS a, (t - '2000-01-01')::text AS b FROM d",
    "SELECT justify_days(t - timestamp '2000-01-01')::text AS a FROM d",
    "SELECT id, js ? 'a' AS a, js ?| ARRAY['a', 'k'] AS b, js ?& ARRAY['a', 'b'] AS c, js ? s AS e FROM d",
    "SELECT id, js ?| ts AS a, js ?& ts AS b, js ?| '{a,k}' AS c, js ?& ARRAY[]::text[] AS e FROM d",
    "SELECT id FROM d WHERE NOT js ? 'a' OR js -> 'k' ? 'x'",
    """SELECT js @> '{"a": 1}' AS a, js @> '["a"]' AS b, '{"k": {}}' <@ js AS c FROM d""",
    """SELECT '{"a": {"b": 1}}'::jsonb @> '{"a": {}}' AS a, '["foo"]'::jsonb @> '"foo"' AS b""",
    "SELECT xs || 4 AS a, 0 || xs AS b, xs || '{4}' AS c, xs || NULL AS e, '{1}' <@ xs AS f FROM d",
    "SELECT xs || ARRAY[2.5] AS a, xs || 2.5 AS b, ts || 'x'::text AS c, xs @> ARRAY[7] AS e FROM d",
    "SELECT array_remove(v.each, 7) AS a, v.x = ANY(v.each) AS b FROM (SELECT xs AS each, "
    "id AS x FROM d) AS v",
    "SELECT jsonb_object_keys(js) AS k FROM d WHERE id IN (1, 4)",
    "SELECT key, value ->> 'c' AS a FROM d, jsonb_each(js) WHERE id = 1",
    """SELECT x.a, x.b FROM jsonb_to_recordset('[{"a": 1, "b": "x"}, {"a": 2}]') AS x(a int, b text)""",
    "SELECT jsonb_agg(id ORDER BY id) -> 1 AS a, json_agg(t ORDER BY id) ->> 0 AS b FROM d",
    "SELECT json_agg(id ORDER BY id DESC) FILTER (WHERE id > 1) ->> 0 AS a, jsonb_object_agg(id, "
    "s) ->> '1' AS b FROM d",
    "SELECT id, json_agg(id) OVER (ORDER BY id) ->> 0 AS a FROM d",
)


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[Alike]:
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client, postgres.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS d")
        connection.execute(TABLE)
        connection.execute(ROWS)
        answer = client.post("/v1/sql", {"sql": f"{TABLE}; {ROWS}"})
        assert answer.status_code == 200, answer.text
        yield Alike(client, connection)
        connection.execute("DROP TABLE d")


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_postgresqls(alike: Alike, text: str) -> None:
    alike.check(text)


@pytest.mark.parametrize("text", OPERATORS)
def test_operators_are_postgresqls(alike: Alike, text: str) -> None:
    alike.check(text)


def test_a_pattern_with_an_escape_is_refused(alike: Alike) -> None:
    text = """SELECT substring('abcdefg' FROM 'a#"(b_d)#"%' FOR '#') AS a"""
    assert code(alike.sql(text)) == (422, "unsupported_sql")
    assert code(alike.client.post("/v1/views", {"name": "v", "sql": text})) == (422, "unsupported_sql")
