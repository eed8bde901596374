"""Ad-hoc queries mean the snapshots that they name, and nothing else; DuckDB runs what comes out."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

import duckdb
import pyarrow as pa
import pytest

from engine.plan.nodes import Source
from engine.schema import INTEGER, INTERVAL, TIMESTAMP, Column, Schema
from planner import Relation
from planner.adhoc.adhoc_query import AdhocQuery, SnapshotReference, adhoc_query
from planner.errors import PlannerError
from planner.parsing.parse import parse_query
from planner.parsing.script import split

SCHEMA = Schema((Column("a", INTEGER), Column("b", INTEGER)))
RELATIONS = {name: Relation(name, SCHEMA, Source(name, SCHEMA)) for name in ("orders", "lines", "V")}


def rewritten(sql: str, dialect: str = "postgres") -> AdhocQuery:
    (piece,) = split(sql, dialect)
    return adhoc_query(piece.parse(), RELATIONS)


def run(sql: str, **tables: Mapping[str, list]) -> list[tuple]:
    """The rows of a query over relations of these columns, by DuckDB."""
    query = rewritten(sql)
    connection = duckdb.connect(config={"enable_external_access": False})
    connection.execute(f"SET integer_division = {query.integer_division}")
    for reference in query.references:
        connection.register(reference.alias, pa.table(tables[reference.relation]))
    return connection.execute(query.sql).fetchall()


def refusal(sql: str) -> PlannerError:
    with pytest.raises(PlannerError) as refused:
        rewritten(sql)
    return refused.value


def test_a_relation_becomes_a_snapshot_of_it():
    query = rewritten("SELECT o.a FROM Orders o JOIN lines ON o.a = lines.a")
    assert query.references == (
        SnapshotReference("orders#0", "orders"),
        SnapshotReference("lines#1", "lines"),
    )
    assert query.sql == ('SELECT o.a FROM "orders#0" AS o JOIN "lines#1" AS "lines" ON o.a = lines.a')


def test_every_version_of_a_relation_is_a_snapshot_once():
    query = rewritten("SELECT * FROM orders a, orders VERSION AS OF 3 b, orders VERSION AS OF 3 c, orders d")
    assert query.references == (
        SnapshotReference("orders#0", "orders"),
        SnapshotReference("orders#1", "orders", 3),
    )


def test_times_are_aware_and_without_an_offset_utc():
    query = rewritten(
        "SELECT * FROM orders TIMESTAMP AS OF '2026-01-01T00:00:00+02:00', "
        "lines FOR TIMESTAMP AS OF TIMESTAMP '2026-01-01 12:00'"
    )
    first, second = (reference.timestamp for reference in query.references)
    assert first == datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert second == datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_quoted_name_keeps_its_case():
    assert rewritten('SELECT * FROM "V"').references[0].relation == "V"
    assert refusal("SELECT * FROM V").code == "unknown_table"


def test_the_rewritten_query_runs():
    orders, lines = {"a": [1, 2]}, {"a": [2, 2], "b": [5, 7]}
    sql = "SELECT orders.a, (SELECT sum(b) FROM lines l WHERE l.a = orders.a) FROM orders ORDER BY 1"
    assert run(sql, orders=orders, lines=lines) == [(1, None), (2, 12)]


def test_ctes_hide_relations_from_where_they_can_be_seen():
    lines, orders = "SELECT a + 1 AS a FROM orders", "SELECT a * 10 AS a FROM lines"
    sql = f"WITH lines AS ({lines}), orders AS ({orders}) TABLE orders"
    assert run(sql, orders={"a": [1]}) == [(20,)]


def test_a_cte_of_the_name_of_what_it_reads():
    assert run("WITH orders AS (SELECT a + 1 AS a FROM orders) TABLE orders", orders={"a": [1]}) == [(2,)]


def test_a_cte_ends_with_its_query():
    sql = "SELECT (WITH orders AS (SELECT 7 AS a) SELECT a FROM orders), a FROM orders"
    assert run(sql, orders={"a": [1]}) == [(7, 1)]


def test_recursion_runs():
    sql = """
        WITH RECURSIVE reach (a) AS (
            SELECT 1 UNION SELECT lines.b FROM lines JOIN reach ON lines.a = reach.a
        ) SELECT a FROM reach ORDER BY a
    """
    assert run(sql, lines={"a": [1, 2, 3, 8], "b": [2, 3, 1, 9]}) == [(1,), (2,), (3,)]


STEPS = {
    "SELECT min(o.b) FROM r JOIN orders AS o ON r.n = o.a": "an aggregate",
    "SELECT o.b FROM r JOIN orders AS o ON r.n = o.a GROUP BY o.b HAVING count(*) > 1": "an aggregate",
    "(SELECT a FROM orders EXCEPT SELECT n FROM r)": "EXCEPT or INTERSECT",
    "SELECT a FROM orders WHERE NOT EXISTS (SELECT 1 FROM r WHERE n = a)": "a subquery in an expression",
    "SELECT a FROM orders WHERE a > (SELECT max(n) FROM r)": "an aggregate",
    "SELECT o.a FROM orders AS o LEFT JOIN r ON r.n = o.a": "an outer join",
    "SELECT o.a FROM r RIGHT JOIN orders AS o ON r.n = o.a": "an outer join",
    "SELECT one.n + two.n FROM r AS one, r AS two WHERE one.n < 9": "a second reference",
}


@pytest.mark.parametrize("step", STEPS)
def test_a_recursion_that_a_view_understands_otherwise_is_refused(step: str):
    error = refusal(f"WITH RECURSIVE\nr (n) AS (\nSELECT 1 UNION\n{step}) SELECT n FROM r")
    assert error.message == f'recursive "r" with {STEPS[step]} is not supported outside a view'
    assert error.hint == "create a view of the query, and SELECT from the view"
    assert (error.code, error.line) == ("unsupported_sql", 4)
    assert step[(error.column or 0) - 1 :].startswith("r")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("WITH RECURSIVE r (n) AS (SELECT n + 1 FROM r) SELECT n FROM r", "no UNION"),
        ("WITH RECURSIVE r (n) AS (SELECT n FROM r UNION SELECT 1) SELECT n FROM r", "before its UNION"),
        ("WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT n + 1 FROM r LIMIT 3) SELECT n FROM r", "LIMIT"),
        (
            "WITH RECURSIVE x (n) AS (SELECT 1 UNION SELECT n FROM y), y (n) AS (SELECT n FROM x) SELECT 1",
            "refer to each other \\(x, y\\)",
        ),
        (
            "SELECT n FROM (WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT max(n) FROM r) SELECT n FROM r) s",
            "an aggregate",
        ),
    ],
)
def test_other_recursions_that_only_a_view_can_compute(sql: str, message: str):
    assert re.search(message, refusal(sql).message)


def test_explicit_recursion_is_for_views():
    tree = parse_query("SELECT a FROM (WITH MUTUALLY RECURSIVE r (a int) AS (SELECT 1) SELECT a FROM r) AS s")
    with pytest.raises(PlannerError, match="MUTUALLY RECURSIVE outside a view"):
        adhoc_query(tree, RELATIONS)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("", "CYCLE a SET c USING p", "SEARCH or CYCLE outside a view"),
        ("USING KEY (a)", "", "USING KEY in the dialect postgres"),
    ],
)
def test_clauses_of_recursion_are_for_views(before: str, after: str, message: str):
    step = "SELECT 1 UNION SELECT a FROM r"
    tree = parse_query(f"WITH RECURSIVE r (a) {before} AS ({step}) {after} SELECT a FROM r")
    with pytest.raises(PlannerError, match=message):
        adhoc_query(tree, RELATIONS)


@pytest.mark.parametrize(
    "step",
    [
        "SELECT DISTINCT b FROM r JOIN orders ON n = a",
        "SELECT b FROM (SELECT DISTINCT n FROM r) AS s JOIN orders ON n = a",
        "SELECT b FROM r LEFT JOIN orders ON n = a WHERE b > (SELECT min(a) FROM orders)",
        "SELECT b FROM r, orders WHERE n = a",
    ],
)
def test_a_recursion_that_a_view_understands_alike_runs(step: str):
    query = f"WITH RECURSIVE r (n) AS (SELECT 1 UNION {step}) SELECT count(*) FROM r"
    assert run(query, orders={"a": [1, 2, 3], "b": [2, 3, 1]}) == [(3,)]


def test_division_is_the_dialects():
    assert run("SELECT 7 / 2, -7 / 2, 7.0 / 2") == [(3, -3, 3.5)]
    assert rewritten("SELECT 7 / 2", "postgres").integer_division
    assert not rewritten("SELECT 7 / 2", "mysql").integer_division


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "SELECT (xs || xs)[1], xs[id], doc[1] FROM lines"),
        ("spark", "SELECT xs[0], xs[id - 1], doc[1] FROM lines"),
        ("bigquery", "SELECT xs[OFFSET(0)], xs[ORDINAL(id)], doc[1] FROM lines"),
        ("trino", "SELECT (xs || xs)[1], element_at(xs, id), doc[1] FROM lines"),
    ],
)
def test_a_subscript_counts_as_its_dialect_does(dialect: str, sql: str):
    connection = duckdb.connect()
    connection.execute("""CREATE TABLE "lines#0" AS SELECT 2 AS id, [7, 8] AS xs, '[5, 6]'::JSON AS doc""")
    assert connection.execute(rewritten(sql, dialect).sql).fetchall() == [(7, 8, "6")]


def test_names_are_folded_as_the_catalog_folds_them():
    assert rewritten('SELECT A AS B, "C" FROM orders').sql == 'SELECT a AS b, "C" FROM "orders#0" AS "orders"'


def test_table_functions_stay():
    assert run("SELECT g FROM generate_series(1, 3) AS t(g)") == [(1,), (2,), (3,)]


@pytest.mark.parametrize(
    "function", ["read_csv('/etc/passwd')", "read_text('/etc/passwd')", "parquet_schema('/x')"]
)
def test_no_function_reads_a_file(function: str):
    with pytest.raises(duckdb.PermissionException):
        run(f"SELECT * FROM {function}")


def test_a_file_is_no_relation():
    assert refusal("SELECT * FROM '/etc/passwd'").code in ("unknown_table", "syntax_error")
    assert refusal('SELECT * FROM "/etc/passwd"').code == "unknown_table"


@pytest.mark.parametrize(
    ("sql", "code", "message", "hint", "column"),
    [
        ("SELECT * FROM order", "unknown_table", 'no table or view "order"', "did you mean orders?", 15),
        ("SELECT * FROM orders VERSION AS OF AS x", "invalid_query", "NULL is not an epoch", "", 15),
        ("SELECT * FROM s.orders", "unknown_table", 'no table or view "s.orders"', "", 15),
        (
            "SELECT * FROM orders VERSION AS OF -1",
            "invalid_query",
            "-1 is not an epoch",
            "VERSION AS OF 12",
            15,
        ),
        ("SELECT * FROM orders TIMESTAMP AS OF 'now'", "invalid_query", "'now' is not a time", "", 15),
        (
            "SELECT * FROM orders FOR VERSION BETWEEN 1 AND 2",
            "unsupported_sql",
            "BETWEEN of versions",
            "",
            15,
        ),
        ("WITH c AS (SELECT 1) SELECT * FROM c VERSION AS OF 1", "invalid_query", "c is a CTE", "", 36),
    ],
)
def test_what_cannot_be_referred_to(sql: str, code: str, message: str, hint: str, column: int):
    error = refusal(sql)
    assert (error.code, error.line, error.column) == (code, 1, column)
    assert error.message.startswith(message) and hint in error.hint


def test_columns_that_a_condition_chooses_keep_their_names():
    query = rewritten("SELECT COLUMNS(c -> c LIKE 'i%') FROM orders", "duckdb")
    assert query.sql == """SELECT COLUMNS(LAMBDA c : c LIKE 'i%') FROM "orders#0" AS "orders\""""


def test_recursive_queries_are_known():
    assert not rewritten("WITH q AS (SELECT a FROM orders) SELECT * FROM q").is_recursive
    assert rewritten(
        "SELECT * FROM (WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT n FROM r) SELECT * FROM r) q"
    ).is_recursive


@pytest.mark.parametrize(
    ("asked", "sums"),
    [
        ("sum(i)", [timedelta(days=32)]),
        ("sum(-i * 2)", [timedelta(days=-64)]),
        ("sum(i) FILTER (WHERE a < 3)", [timedelta(days=30)]),
        ("sum(i) FILTER (WHERE a > 9)", [None]),
        ("sum(CAST(b || ' days' AS INTERVAL))", [timedelta(days=11)]),
        ("sum(t - t)", [timedelta()]),
        ("avg(i)", [timedelta(days=16)]),
        ("sum(i) OVER (ORDER BY a)", [timedelta(days=30), timedelta(days=30), timedelta(days=32)]),
    ],
)
def test_intervals_are_summed(asked: str, sums: list):
    columns = (Column("a", INTEGER), Column("b", INTEGER), Column("i", INTERVAL), Column("t", TIMESTAMP))
    known = {"spans": Relation("spans", Schema(columns), Source("spans", Schema(columns)))}
    query = adhoc_query(parse_query(f"SELECT {asked} AS s FROM spans", "postgres"), known)
    connection = duckdb.connect()
    connection.execute(
        f'CREATE TABLE "{query.references[0].alias}" AS SELECT * FROM (VALUES '
        "(1, 5, INTERVAL '1 month', TIMESTAMP '2024-01-01'), (2, 5, NULL, NULL), "
        "(3, 1, INTERVAL '2 days', TIMESTAMP '2024-01-03')) AS v (a, b, i, t)"
    )
    assert [row[0] for row in connection.execute(query.sql).fetchall()] == sums
