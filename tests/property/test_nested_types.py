"""Views over structs, maps and arrays of them, over random histories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.examples import SQL, hold
from tests.seeds import SEED, seeds

PAIR = "STRUCT(a INTEGER, b TEXT)"
TABLES = [
    f"t(id INTEGER, s {PAIR}, m MAP(TEXT, INTEGER), ss {PAIR}[], n INTEGER)",
    f"u(k INTEGER, s {PAIR}, d STRUCT(x DOUBLE, y STRUCT(z DATE, u UUID)), m MAP(INTEGER, TEXT[]))",
    f"w(k {PAIR} NOT NULL, big NUMERIC(30, 2)[], PRIMARY KEY (k))",
]
SAME: list[SQL] = [
    "SELECT s, m, ss FROM t",
    "SELECT s.a, s.b AS c, t.s.a AS d, (s).b AS e, (t.s).a + 1 AS f FROM t",
    "SELECT d.y.z, (d.y).u AS v, (d).x AS x, u.d.y.z AS w FROM u",
    "SELECT s['a'] AS x, ss[1].b AS y, ss[1]['a'] AS z, m['ab'] AS v FROM t",
    "SELECT s, count(*) AS n, min(m) AS m, max(ss) AS x FROM t GROUP BY s",
    "SELECT s.b, min(s) AS least, max(s) AS most, count(DISTINCT m) AS n FROM t GROUP BY s.b",
    "SELECT DISTINCT s, m FROM t",
    "SELECT t.id, u.k FROM t JOIN u ON t.s = u.s",
    "SELECT t.id, u.k FROM t LEFT JOIN u ON t.s < u.s",
    "SELECT s FROM t UNION SELECT s FROM u",
    "SELECT s FROM t EXCEPT SELECT k FROM w",
    "SELECT k, big FROM w WHERE k IN (SELECT s FROM t) OR k = ANY (SELECT s FROM u)",
    "SELECT s FROM t ORDER BY s DESC NULLS LAST, id, n LIMIT 3",
    "SELECT m FROM t ORDER BY m NULLS FIRST, id, n, s LIMIT 4",
    "SELECT d FROM u ORDER BY d, k, s LIMIT 3",
    "SELECT id, {'x': id, 'y': s} AS made, {'p': s.a, 'q': [s.b]} AS flat FROM t",
    "SELECT id, struct_pack(x := id, y := n).y AS y, row(id, s.b) AS r FROM t",
    "SELECT id, MAP {'p': id, 'q': n} AS made, MAP {'p': id}['p'] AS p FROM t",
    "SELECT map(['p', 'q'], [id, n]) AS made, map_from_entries([('a', id)]) AS e FROM t",
    "SELECT map_keys(m) AS ks, map_values(m) AS vs, map_entries(m) AS es, map_contains(m, 'a') AS c FROM t",
    "SELECT map_extract(m, 'a') AS x, element_at(m, 'a') AS y, map_concat(m, MAP {'a': id}) AS z FROM t",
    "SELECT id FROM t WHERE s = {'a': 1, 'b': 'a'} OR s = row(2, 'b') OR (1, 'ab') = s",
    "SELECT id FROM t WHERE s > {'a': 1, 'b': NULL} OR s IN ({'a': 0, 'b': ''}, row(1, 'b'))",
    "SELECT id, s IS NULL AS n, s IS DISTINCT FROM {'a': NULL, 'b': NULL} AS d FROM t",
    "SELECT id, (id, n) = (1, NULL) AS e, (id, n) < (1, 2) AS l, (id, n) >= (n, id) AS g FROM t",
    "SELECT id, (id, n) IN ((1, NULL), (2, 2)) AS i, (id, n) <> (n, id) AS d FROM t",
    "SELECT id FROM t WHERE (id, n) IN (SELECT k, k FROM u)",
    "SELECT id FROM t WHERE (id, n) NOT IN (SELECT k, (s).a FROM u)",
    "SELECT CAST(to_json(s) AS TEXT) AS s, CAST(to_json(m) AS TEXT) AS m FROM t",
    "SELECT CAST(CAST(ss AS JSON) AS TEXT) AS ss FROM t",
    "SELECT CAST(s AS STRUCT(b TEXT, c INTEGER)) AS x, CAST(s AS STRUCT(a DOUBLE, b TEXT)) AS y FROM t",
    "SELECT CAST(row(id, n) AS STRUCT(p BIGINT, q TEXT)) AS r, CAST(s AS TEXT) AS s FROM t",
    "SELECT CAST(m AS TEXT) AS m, CAST(ss AS TEXT) AS ss FROM t",
    "SELECT id, array_agg(s ORDER BY s) AS all_s, list(m ORDER BY m) AS ms FROM t GROUP BY id",
    "SELECT list_transform(ss, lambda x: x.a + 1) AS a, list_filter(ss, lambda x: x.b = 'a') AS f FROM t",
    "SELECT list_transform(ss, lambda x: {'z': x.b, 'n': id}) AS a, list_sort(ss) AS o FROM t",
    "SELECT id, unnest(ss) AS e FROM t",
    "SELECT t.id, e.b FROM t, unnest(t.ss) AS x(e) WHERE e.a > 0",
    "SELECT id, unnest(map_entries(m)) AS e FROM t",
    "SELECT coalesce(s, {'a': id, 'b': 'none'}) AS s FROM t",
    "SELECT CASE WHEN id > 1 THEN s ELSE row(0, 'z') END AS c FROM t",
    "SELECT greatest(s, {'a': 1, 'b': 'b'}) AS g FROM t",
    "SELECT k, big[1] AS b, list_sort(big) AS l, unnest(big) AS e FROM w",
    "SELECT struct_insert(s, c := id) AS i, struct_extract(s, 'a') AS e, s.* FROM t",
    ("SELECT (d.y).*, (u.s).* FROM u", "SELECT d.y.z, d.y.u, s.a, s.b FROM u"),
    "SELECT cardinality(m) AS c, len(ss) AS l FROM t",
    "SELECT s, rank() OVER (ORDER BY s) AS r, lag(s) OVER (ORDER BY id, n, s, m) AS l FROM t",
    "SELECT arg_max(s, id) AS x, any_value(m) IS NULL AS z, mode(s) AS o FROM t HAVING count(*) < 2",
    "SELECT [s, {'a': 1, 'b': 'x'}] AS l, [row(id, n)] AS r FROM t",
    "SELECT t AS r, t.s AS s FROM t",
    "SELECT u.k, w AS r FROM u LEFT JOIN w ON w.k = u.s",
    "SELECT row(id, n) AS r FROM t UNION ALL SELECT row(k, k) FROM u",
]

POSTGRES: list[SQL] = [
    ("SELECT (s).a, (t.s).b AS c, (ss[1]).b AS d FROM t", "SELECT s.a, s.b AS c, ss[1].b AS d FROM t"),
    ("SELECT ROW(id, s) AS r FROM t", "SELECT row(id, s) AS r FROM t"),
    ("SELECT id FROM t WHERE s = ROW(1, 'a')", "SELECT id FROM t WHERE s = {'a': 1, 'b': 'a'}"),
    ("SELECT id FROM t WHERE s > '(1,)'", "SELECT id FROM t WHERE s > {'a': 1, 'b': NULL}"),
    (
        "SELECT id, ROW(id, n) = ROW(1, NULL) AS e, ROW(id, n) < (2, 1) AS l FROM t",
        "SELECT id, id = 1 AND NULL AS e, id < 2 OR (id = 2 AND n < 1) AS l FROM t",
    ),
    (
        "SELECT id FROM t WHERE ROW(id, n) IN ((1, 2), ROW(2, NULL))",
        "SELECT id FROM t WHERE id = 1 AND n = 2",
    ),
    (
        "SELECT id FROM t WHERE ROW(id, n) IN (SELECT k, k FROM u) OR (id, n) <> ANY (SELECT k, 1 FROM u)",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE id = k AND n = k)"
        " OR EXISTS (SELECT 1 FROM u WHERE id <> k OR n <> 1)",
    ),
    (
        "SELECT CAST(row_to_json(ROW(id, s)) AS TEXT) AS j, CAST(to_json(ss) AS TEXT) AS k FROM t",
        "SELECT CAST(to_json({'f1': id, 'f2': s}) AS TEXT) AS j, CAST(to_json(ss) AS TEXT) AS k FROM t",
    ),
    (
        "SELECT id, array_agg(ROW(n, s) ORDER BY n, s) AS a FROM t GROUP BY id",
        "SELECT id, list(row(n, s) ORDER BY n NULLS LAST, s NULLS LAST) AS a FROM t GROUP BY id",
    ),
    (
        "SELECT CAST(json_agg(ROW(n, id) ORDER BY n, id) AS TEXT) AS a FROM t",
        "SELECT '[' || string_agg(CAST(to_json({'f1': n, 'f2': id}) AS TEXT), ',' ORDER BY n NULLS LAST,"
        " id NULLS LAST) || ']' AS a FROM t",
    ),
    ("SELECT CAST(ROW(id, s) AS TEXT) AS a FROM t WHERE false", "SELECT '' AS a WHERE false"),
    ("SELECT e.a, b, e FROM t, unnest(t.ss) AS e", "SELECT e.a, e.b, e FROM t, unnest(t.ss) AS x(e)"),
    ("SELECT x.* FROM t, unnest(t.ss) AS x(p, q)", "SELECT e.a, e.b FROM t, unnest(t.ss) AS x(e)"),
    (
        "SELECT id, p, o FROM t, unnest(t.ss) WITH ORDINALITY AS x(p, q, o)",
        "SELECT id, unnest(ss).a, generate_subscripts(ss, 1) FROM t",
    ),
    ("SELECT w AS r, (w).big AS b FROM w", "SELECT w AS r, w.big AS b FROM w"),
    (
        "SELECT CAST(row_to_json(x) AS TEXT) AS j FROM (SELECT k, 1 AS n FROM w) AS x",
        "SELECT CAST(to_json({'k': k, 'n': 1}) AS TEXT) AS j FROM w",
    ),
    (
        "SELECT u.k, (x.k).b AS b FROM u JOIN w x ON x.k = u.s",
        "SELECT u.k, x.k.b AS b FROM u JOIN w x ON x.k = u.s",
    ),
]
BIGQUERY: list[SQL] = [
    (
        "SELECT STRUCT(id AS x, n) AS r, STRUCT(id).id AS i FROM t",
        "SELECT {'x': id, 'n': n} AS r, id AS i FROM t",
    ),
    ("SELECT STRUCT<p INT64, q STRING>(id, s.b) AS r FROM t", "SELECT {'p': id, 'q': s.b} AS r FROM t"),
    (
        "SELECT CAST(s AS STRUCT<p FLOAT64, q STRING>) AS r FROM t",
        "SELECT CASE WHEN s IS NOT NULL THEN {'p': CAST(s.a AS DOUBLE), 'q': s.b} END AS r FROM t",
    ),
    ("SELECT ss[SAFE_OFFSET(0)].a AS o FROM t", "SELECT ss[1].a AS o FROM t"),
    ("SELECT t.id, e.a, e FROM t, UNNEST(t.ss) AS e", "SELECT t.id, e.a, e FROM t, unnest(t.ss) AS x(e)"),
    ("SELECT t.id, a, b FROM t, UNNEST(t.ss)", "SELECT t.id, e.a, e.b FROM t, unnest(t.ss) AS x(e)"),
]
SPARK: list[SQL] = [
    (
        "SELECT named_struct('x', id, 'y', s.b) AS r, struct(id, n AS m) AS q FROM t",
        "SELECT {'x': id, 'y': s.b} AS r, {'id': id, 'm': n} AS q FROM t",
    ),
    (
        "SELECT map('p', id, 'q', n) AS m, m['a'] AS v FROM t",
        "SELECT MAP {'p': id, 'q': n} AS m, m['a'] AS v FROM t",
    ),
    (
        "SELECT map_keys(m) AS k, size(m) AS n, element_at(m, 'b') AS e FROM t",
        "SELECT map_keys(m) AS k, cardinality(m) AS n, m['b'] AS e FROM t",
    ),
    (
        "SELECT map_from_arrays(array('x'), array(id)) AS a, map_from_entries(array(struct('k', n))) FROM t",
        "SELECT map(['x'], [id]) AS a, MAP {'k': n} AS b FROM t",
    ),
    (
        "SELECT transform(ss, x -> x.a + 1) AS a FROM t",
        "SELECT list_transform(ss, lambda x: x.a + 1) AS a FROM t",
    ),
    (
        "SELECT id, x.a, b FROM t LATERAL VIEW inline(ss) x",
        "SELECT id, e.a, e.b FROM t, unnest(ss) AS x(e)",
    ),
    (
        "SELECT id, k, v FROM t LATERAL VIEW explode(m) x AS k, v",
        "SELECT id, e.key, e.value FROM t, unnest(map_entries(m)) AS x(e)",
    ),
]
TRINO: list[SQL] = [
    ("SELECT m['a'] AS a FROM t", "SELECT m['a'] AS a FROM t"),
    (
        "SELECT CAST(ROW(id, n) AS ROW(p BIGINT, q BIGINT)) AS r FROM t",
        "SELECT {'p': id, 'q': n} AS r FROM t",
    ),
    ("SELECT CAST(s AS ROW(p BIGINT, q VARCHAR)).p AS r FROM t", "SELECT s.a AS r FROM t"),
    ("SELECT ROW(id, n)[2] AS r, s[1] AS a FROM t", "SELECT n AS r, s.a AS a FROM t"),
    ("SELECT MAP(ARRAY['x'], ARRAY[id]) AS m FROM t", "SELECT MAP {'x': id} AS m FROM t"),
    (
        "SELECT element_at(m, 'a') AS a, cardinality(m) AS c FROM t",
        "SELECT m['a'] AS a, cardinality(m) AS c FROM t",
    ),
    (
        "SELECT t.id, x.p, x.q FROM t, UNNEST(t.ss) AS x(p, q)",
        "SELECT id, e.a, e.b FROM t, unnest(ss) AS x(e)",
    ),
    (
        "SELECT t.id, x.k, x.v FROM t CROSS JOIN UNNEST(t.m) AS x(k, v)",
        "SELECT id, e.key, e.value FROM t, unnest(map_entries(m)) AS x(e)",
    ),
]


@pytest.mark.parametrize(
    ("views", "dialect"),
    [
        (SAME[: len(SAME) // 2], "duckdb"),
        (SAME[len(SAME) // 2 :], "duckdb"),
        (POSTGRES, "postgres"),
        (BIGQUERY, "bigquery"),
        (SPARK, "spark"),
        (TRINO, "trino"),
    ],
)
def test_dialects(views: list[SQL], dialect: str) -> None:
    hold(TABLES, views, dialect=dialect, length=6)


def test_a_failure_that_try_does_not_catch() -> None:
    """The template of OFFSET calls error(), which DuckDB does not take inside TRY."""
    first = "SELECT CASE WHEN len(ss) > 0 THEN ss[1].a ELSE error('') END AS o FROM t WHERE ss IS NOT NULL"
    hold(TABLES, [("SELECT ss[OFFSET(0)].a AS o FROM t WHERE ss IS NOT NULL", first)], dialect="bigquery")


def test_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    views = [
        "SELECT s, min(m) AS m, max(ss) AS x, count(DISTINCT s) AS n FROM t GROUP BY s",
        "SELECT t.id, u.k FROM t JOIN u ON t.s = u.s AND t.s.a = u.k",
        "SELECT s FROM t UNION SELECT k FROM w",
        "SELECT id, unnest(ss) AS e FROM t",
        "SELECT k, unnest(big) AS b FROM w",
    ]
    hold(TABLES, views, seeds=seeds(1), length=6, make=lambda: Mixed(executor, rng, 0.7), dialect="duckdb")
    assert executor.done
