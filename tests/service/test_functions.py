"""SQL functions and macros: what calls of them return, what is stored of them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import httpx

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor
from tests.postgres.server import Server
from tests.service.backups import back_up, restored
from tests.service.client import Client, Process

ORDERS = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer TEXT, total NUMERIC(8, 2));
INSERT INTO orders VALUES (1, 'ada', 10.50), (2, 'bob', 3), (3, 'ada', NULL), (4, NULL, 7);
"""
FUNCTIONS = [
    "CREATE FUNCTION add_up(a INT, b INT DEFAULT 5) RETURNS INT LANGUAGE SQL IMMUTABLE AS $$ SELECT a + b $$",
    "CREATE FUNCTION twice(a INT) RETURNS INT LANGUAGE SQL AS 'SELECT add_up($1, add_up(a, 0));'",
    "CREATE FUNCTION total_of(c TEXT) RETURNS NUMERIC LANGUAGE SQL STABLE AS $$ "
    "SELECT sum(total) FROM orders WHERE customer = c $$",
    "CREATE FUNCTION latest(customer TEXT) RETURNS BIGINT LANGUAGE SQL AS $$ SELECT id FROM orders "
    "WHERE orders.customer = latest.customer ORDER BY id DESC $$",
    "CREATE FUNCTION orders_of(who TEXT) RETURNS TABLE (nr BIGINT, amount NUMERIC) LANGUAGE SQL AS $$ "
    "SELECT id, total FROM orders WHERE customer = who $$",
    "CREATE FUNCTION joined(a TEXT, b TEXT) RETURNS TEXT LANGUAGE SQL STRICT AS $$ "
    "SELECT coalesce(a, 'x') || coalesce(b, 'y') $$",
    "CREATE FUNCTION many(n INT) RETURNS SETOF INT LANGUAGE SQL AS $$ "
    "SELECT i FROM (VALUES (1), (2), (3)) AS v (i) WHERE i <= n $$",
    "CREATE FUNCTION answer() RETURNS INT RETURN 42",
]
QUERIES = [
    "SELECT add_up(1), add_up(1, 2) AS x, add_up(b => 1, a => 7), add_up(add_up(1), 2) * 2, answer()",
    "SELECT twice(3), twice('4'), public.twice(NULL)",
    'SELECT twice(1) "Quoted", twice(2) plain, (SELECT twice(5)), 1 + twice(6) FROM many(1) m',
    "SELECT id, total_of(customer), total_of('bob') FROM orders ORDER BY id",
    "SELECT customer, total_of(customer), count(*) FROM orders GROUP BY customer ORDER BY customer",
    "SELECT id FROM orders WHERE total_of(customer) > 5 ORDER BY id",
    "SELECT id, latest(customer) FROM orders ORDER BY id",
    "SELECT * FROM orders_of('ada') ORDER BY nr",
    "SELECT o.id, f.nr FROM orders AS o, orders_of(o.customer) AS f ORDER BY 1, 2",
    "SELECT o.id, f.nr FROM orders AS o LEFT JOIN orders_of(customer) AS f (nr, a) ON true ORDER BY 1, 2",
    "SELECT id, (SELECT count(*) FROM orders_of(customer)) AS n FROM orders ORDER BY id",
    "SELECT joined('a', NULL), joined('a', 'b'), joined(customer, 'c') FROM orders ORDER BY id",
    "SELECT * FROM many(2) ORDER BY 1",
    "SELECT sum(many) FROM many(3)",
    "WITH orders AS (SELECT 'bob' AS customer) SELECT total_of(customer) FROM orders",
    "SELECT CASE WHEN add_up(1, 1) = 2 THEN 'yes' END, extract(YEAR FROM DATE '2020-01-01')",
    "SELECT id IS DISTINCT FROM add_up(1, 0) FROM orders ORDER BY id",
    "SELECT count(*) FILTER (WHERE add_up(id::int, 1) > 2) FROM orders",
]


def told(client: Client, sql: str, dialect: str = "postgres") -> dict[str, Any]:
    """The last result of a script."""
    answer = client.post("/v1/sql", {"sql": sql, "dialect": dialect})
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["results"][-1])


def refused(client: Client, sql: str, dialect: str = "postgres") -> dict[str, Any]:
    answer = client.post("/v1/sql", {"sql": sql, "dialect": dialect})
    assert answer.status_code >= 400, answer.text
    return dict(answer.json())


def rows(client: Client, sql: str) -> list[list[Any]]:
    return list(told(client, sql)["rows"])


def plain(value: object) -> object:
    """A value as it is compared: numbers as floats."""
    if value is None or isinstance(value, bool):
        return value
    try:
        return float(str(value))
    except ValueError:
        return str(value)


def test_calls_return_what_postgres_returns(tmp_path: Path, postgres: Server) -> None:
    """Ad hoc over both doors, and in views that follow changes."""
    with PostgresDoor(Settings(data=tmp_path / "data")) as door, door.connect() as own:
        with postgres.connect() as first:
            first.execute("CREATE DATABASE functions")
        other = postgres.connect("functions")
        for statement in (ORDERS, *FUNCTIONS):
            other.execute(statement)
            own.execute(statement)
        for place, query in enumerate(QUERIES):
            theirs = other.execute(query)
            ours = own.execute(query)
            assert ours.description is not None and theirs.description is not None
            assert [c.name for c in ours.description] == [c.name for c in theirs.description], query
            expected = [[plain(value) for value in row] for row in theirs.fetchall()]
            assert [[plain(value) for value in row] for row in ours.fetchall()] == expected, query
            told(door, f"CREATE VIEW v{place} AS SELECT count(*) AS n FROM ({query}) AS q")
            names = ", ".join(f"c{i}" for i in range(len(theirs.description)))
            told(door, f"CREATE VIEW w{place} ({names}) AS {query}")
        changes = (
            "INSERT INTO orders VALUES (5, 'bob', 100)",
            "DELETE FROM orders WHERE id = 1",
            "UPDATE orders SET customer = 'cleo' WHERE id > 2",
            "DELETE FROM orders",
        )
        for change in changes:
            other.execute(change)
            own.execute(change)
            for place, query in enumerate(QUERIES):
                expected = sorted(([plain(v) for v in row] for row in other.execute(query)), key=repr)
                found = [[plain(v) for v in row] for row in door.rows(f"w{place}")]
                assert sorted(found, key=repr) == expected, (change, query)
        other.close()


MACROS = [
    "CREATE MACRO middle(x) AS (min(x) + max(x)) / 2",
    "CREATE OR REPLACE MACRO plus(a, b) AS a + b, (a, b, c) AS a + b + c",
    "CREATE MACRO part(a, b := 4) AS a / b",
    "CREATE FUNCTION below(n) AS TABLE SELECT id, customer FROM orders WHERE id < n",
    "CREATE MACRO largest(customer) AS (SELECT max(total) FROM orders)",
]
MACRO_QUERIES = [
    "SELECT customer, middle(total) FROM orders GROUP BY customer ORDER BY customer",
    "SELECT plus(1, 2), plus(1, 2, 3), part(1), part(1, b := 2)",
    "SELECT * FROM below(3) ORDER BY id",
    "SELECT largest(id) FROM orders",
]


def test_macros_return_what_duckdb_returns(client: Client) -> None:
    told(client, ORDERS)
    referee = duckdb.connect()
    referee.execute(ORDERS)
    for statement in MACROS:
        referee.execute(statement)
        told(client, statement, "duckdb")
    for place, query in enumerate(MACRO_QUERIES):
        expected = [[plain(value) for value in row] for row in referee.execute(query).fetchall()]
        found = told(client, query, "duckdb")
        assert [[plain(value) for value in row] for row in found["rows"]] == expected, query
        names = ", ".join(f"c{i}" for i in range(len(found["columns"])))
        told(client, f"CREATE VIEW m{place} ({names}) AS {query}", "duckdb")
        again = [[plain(value) for value in row] for row in rows(client, f"SELECT * FROM m{place}")]
        assert sorted(again, key=repr) == sorted(expected, key=repr), query


def test_a_column_of_an_argument_is_not_taken_for_one_of_the_body(client: Client) -> None:
    """`customer` beside the call is the caller's, whatever the body's FROM has."""
    told(client, ORDERS + ";".join(FUNCTIONS))
    assert rows(client, "SELECT total_of(customer) FROM orders WHERE id = 2") == [["3.00"]]


def test_what_is_stored_keeps_the_body(client: Client) -> None:
    told(client, ORDERS + FUNCTIONS[0])
    told(client, "CREATE VIEW v AS SELECT add_up(id::int, 1) FROM orders WHERE id = 1")
    told(
        client,
        "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (add_up(a, 1)) STORED, c INT DEFAULT add_up(2))",
    )
    told(client, "CREATE OR REPLACE FUNCTION add_up(a INT, b INT) RETURNS INT RETURN a - b")
    assert rows(client, "SELECT add_up(5, 1)") == [[4]]
    told(client, "DROP FUNCTION add_up(INT, INT)")
    assert rows(client, "SELECT * FROM v") == [[2]]
    assert told(client, "INSERT INTO t (a) VALUES (1) RETURNING b, c")["rows"] == [[2, 7]]
    assert refused(client, "SELECT add_up(1, 2)")["code"] == "unknown_function"


def test_functions_survive_a_crash(start: Callable[..., Process]) -> None:
    def ask(process: Process, sql: str) -> httpx.Response:
        process.wait_ready()
        return process.http.post("/v1/sql", json={"sql": sql})

    process = start()
    assert ask(process, ORDERS + ";".join(FUNCTIONS)).status_code == 200
    process.kill()
    process = start()
    answer = ask(process, "SELECT twice(4), add_up(1); DROP FUNCTION twice")
    assert answer.json()["results"][0]["rows"] == [[8, 6]]
    process.kill()
    assert ask(start(), "SELECT twice(4)").json()["code"] == "unknown_function"


def test_functions_are_in_backups(client: Client, settings: Settings) -> None:
    told(client, ORDERS + ";".join(FUNCTIONS))
    backup, _ = back_up(client, "backup")
    with Client(restored(backup, settings, "copy")) as again:
        assert rows(again, "SELECT twice(4), add_up(1)") == [[8, 6]]


def test_where_and_prepared_statements_call_functions(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data")) as door, door.connect() as own:
        for statement in (ORDERS, *FUNCTIONS):
            own.execute(statement)
        found = door.get("/v1/tables/orders/rows", where="add_up(id::int, 1) = 3").json()
        assert [row["id"] for row in found["rows"]] == [2]
        for number in (1, 2, 3, 4, 5, 6, 7):
            answer = own.execute("SELECT add_up(%s, 1), total_of(%s)", (number, "bob"), prepare=True)
            assert [plain(value) for value in answer.fetchall()[0]] == [number + 1, 3.0]
        own.execute("CREATE OR REPLACE FUNCTION add_up(a INT, b INT DEFAULT 5) RETURNS INT RETURN a - b")
        answer = own.execute("SELECT add_up(%s, 1), total_of(%s)", (1, "bob"), prepare=True)
        assert [plain(value) for value in answer.fetchall()[0]] == [0, 3.0]


def test_functions_are_in_the_catalogs(client: Client) -> None:
    told(client, ORDERS + ";".join(FUNCTIONS))
    sql = "SELECT routine_name, data_type FROM information_schema.routines ORDER BY routine_name"
    assert ["add_up", "integer"] in rows(client, sql)
    columns = "proname, pronargs, pronargdefaults, proretset"
    sql = f"SELECT {columns} FROM pg_proc WHERE proname IN ('add_up', 'many')"
    assert sorted(rows(client, sql)) == [["add_up", 2, 1, False], ["many", 1, 0, True]]
    calls = "pg_get_function_arguments(oid), pg_get_function_result(oid)"
    sql = f"SELECT {calls} FROM pg_proc WHERE proname = 'add_up'"
    assert rows(client, sql) == [["a int, b int", "int"]]
    sql = "SELECT parameter_name FROM information_schema.parameters WHERE specific_name LIKE 'joined%'"
    assert sorted(rows(client, sql)) == [["a"], ["b"]]


def test_functions_live_in_schemas(client: Client) -> None:
    told(client, "CREATE SCHEMA app; CREATE TABLE app.t (a INT); INSERT INTO app.t VALUES (1), (2)")
    told(
        client,
        "SET search_path TO app; CREATE FUNCTION n() RETURNS BIGINT LANGUAGE SQL AS 'SELECT count(*) FROM t'",
    )
    assert rows(client, "SELECT app.n()") == [[2]]
    assert rows(client, "SET search_path TO app, public; SELECT n()") == [[2]]
    assert refused(client, "SELECT n()")["code"] == "unknown_function"
    assert "function app.n" in refused(client, "DROP TABLE app.t; DROP SCHEMA app")["detail"]
    told(client, "DROP SCHEMA app CASCADE")
    assert refused(client, "SELECT app.n()")["status"] == 422


LARGE = "; ".join(
    [
        f"CREATE MACRO x0(a) AS {' + '.join('a' * 16)}",
        *(f"CREATE MACRO x{i}(a) AS x{i - 1}(x{i - 1}(a))" for i in range(1, 4)),
    ]
)
WRONG = [
    ("CREATE FUNCTION f(n INT) RETURNS INT RETURN f(n - 1)", "unsupported_sql", "call itself"),
    ("CREATE FUNCTION f(n INT) RETURNS INT LANGUAGE plpgsql AS 'x'", "unsupported_sql", "PLPGSQL"),
    ("CREATE FUNCTION f() RETURNS INT LANGUAGE SQL AS 'DELETE FROM orders'", "unsupported_sql", "one query"),
    ("CREATE FUNCTION f() RETURNS INT LANGUAGE SQL AS 'SELECT 1; SELECT 2'", "unsupported_sql", "one query"),
    ("CREATE FUNCTION f() RETURNS INT LANGUAGE SQL AS 'SELECT nope FROM orders'", "unknown_column", "nope"),
    ("CREATE FUNCTION f() RETURNS INT LANGUAGE SQL AS 'SELECT 1 FROM nothing'", "unknown_table", "nothing"),
    ("CREATE FUNCTION f(total INT) RETURNS INT LANGUAGE SQL AS 'SELECT id FROM orders WHERE total = 1'",
     "ambiguous_column", "total"),
    ("CREATE FUNCTION f(OUT a INT) LANGUAGE SQL AS 'SELECT 1'", "unsupported_sql", "OUT"),
    ("CREATE FUNCTION f() RETURNS INT SECURITY DEFINER RETURN 1", "unsupported_sql", "SECURITY"),
    ("CREATE FUNCTION lower(a INT) RETURNS INT RETURN a", "invalid_query", "lower"),
    ("CREATE FUNCTION f(a INT) RETURNS INT RETURN $2", "invalid_query", "$2"),
    ("CREATE FUNCTION f(a INT, a INT) RETURNS INT RETURN a", "invalid_query", "twice"),
    ("CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE SQL", "syntax_error", "no body"),
    ("CREATE FUNCTION add_up(x INT, y INT) RETURNS INT RETURN x", "name_in_use", "2 parameters"),
    ("SELECT add_up(1, 2, 3)", "invalid_query", "3 arguments"),
    ("SELECT add_up(c => 1)", "invalid_query", "named c"),
    ("SELECT add_up(1, a => 2)", "invalid_query", "named a"),
    ("SELECT add_up(1, ?)", "unsupported_sql", "?"),
    ("SELECT twice(1) OVER ()", "unsupported_sql", "OVER"),
    ("SELECT total_of(max(customer)) FROM orders", "unsupported_sql", "aggregate"),
    ("SELECT total_of(CAST(every(id > 1) AS TEXT)) FROM orders", "unsupported_sql", "its body is a query"),
    ("SELECT orders_of('ada')", "invalid_query", "returns rows"),
    ("SELECT * FROM add_up(1, 2)", "invalid_query", "value"),
    ("CREATE MACRO d(x) AS x + x; SELECT d(random())", "unsupported_sql", "2 times"),
    ("CREATE MACRO r() AS random(); CREATE VIEW v AS SELECT r() FROM orders", "unsupported_sql", "RANDOM"),
    ("CREATE FUNCTION filter(a INT) RETURNS INT RETURN a", "invalid_query", "filter"),
    ("CREATE FUNCTION f() RETURNS INT LANGUAGE SQL AS 'SELECT nextval(1)'", "unsupported_sql", "nextval"),
    ("DROP FUNCTION nothing", "unknown_name", "nothing"),
    ("DROP FUNCTION add_up(INT)", "unknown_name", "1 parameters"),
    (f"{LARGE}; SELECT x3(1)", "sql_too_large", "characters"),
]  # fmt: skip


def test_what_is_wrong_is_refused(client: Client) -> None:
    told(client, ORDERS + ";".join(FUNCTIONS))
    for sql, code, words in WRONG:
        problem = refused(client, sql)
        assert (problem["code"], words in problem["detail"]) == (code, True), (sql, problem)


def test_errors_after_a_call_have_their_place(client: Client) -> None:
    told(client, ORDERS + ";".join(FUNCTIONS))
    problem = refused(client, "SELECT 1,\n  add_up(1, 2) + nope FROM orders")
    assert problem["position"] == {"line": 2, "column": 18}
    problem = refused(client, "CREATE VIEW v AS SELECT add_up(1,\n2) + nope FROM orders")
    assert problem["position"]["line"] in (1, 2)
    problem = refused(client, "SELECT 1;\nCREATE VIEW v AS SELECT add_up(1, 2), nope FROM orders")
    assert problem["position"] == {"line": 2, "column": 39}


def test_two_functions_cannot_call_each_other(client: Client) -> None:
    told(
        client,
        "CREATE FUNCTION f(a INT) RETURNS INT RETURN a; CREATE FUNCTION g(a INT) RETURNS INT RETURN f(a)",
    )
    assert (
        "call itself"
        in refused(client, "CREATE OR REPLACE FUNCTION f(a INT) RETURNS INT RETURN g(a)")["detail"]
    )
    told(client, "CREATE FUNCTION f(a INT, b INT) RETURNS INT RETURN f(a) + b")
    assert rows(client, "SELECT f(1, 2)") == [[3]]


def test_a_name_before_a_parenthesis_is_not_always_a_call(client: Client) -> None:
    """Tables, common table expressions, indexes, aliases and columns may have a function's name."""
    told(
        client,
        "CREATE FUNCTION f(a INT) RETURNS INT RETURN a + 1; CREATE FUNCTION g(a INT) RETURNS INT RETURN 0",
    )
    told(
        client,
        "CREATE TABLE IF NOT EXISTS f (a INT, g INT); CREATE TABLE u (f INT UNIQUE, g INT, CHECK (f > 0))",
    )
    told(
        client,
        "CREATE INDEX ON f (a); INSERT INTO f (a, g) VALUES (f(1), g(5)); INSERT INTO u (f) VALUES (f(2))",
    )
    told(client, "CREATE VIEW g (a) AS SELECT f(a) FROM f")
    assert rows(client, "WITH f (a) AS (SELECT 5), g AS (SELECT 1) SELECT f(a) FROM f") == [[6]]
    assert rows(client, "SELECT f(x) FROM (SELECT 1) f (x)") == [[2]]
    assert rows(client, "SELECT f.a, f(f.a) FROM f AS f (a, b)") == [[2, 3]]
    assert rows(client, "SELECT DISTINCT ON (a) f(a), 'f(1)', a AS f FROM f -- f(7)") == [[3, "f(1)", 2]]
    assert rows(client, "SELECT * FROM g") == [[3]]
    assert rows(client, "SELECT extract(YEAR FROM DATE '2020-01-01' + f(1))") == [[2020]]
    assert rows(client, "SELECT count(*) FROM f JOIN u ON f(f.a) = u.f") == [[1]]


def test_deep_calls_and_chains_are_limited(client: Client) -> None:
    told(client, "CREATE MACRO c0(a) AS a")
    deep = "c0(" * 300 + "1" + ")" * 300
    assert refused(client, f"SELECT {deep}")["code"] == "sql_too_deep"
    script = "; ".join(f"CREATE MACRO c{i}(a) AS c{i - 1}(a)" for i in range(1, 60))
    answer = client.post("/v1/sql", {"sql": script})
    assert answer.json()["code"] == "sql_too_deep"
    assert rows(client, "SELECT c20(7)") == [[7]]


def test_a_long_query_calls_functions_too(client: Client) -> None:
    """It is planned in a process of its own."""
    told(client, "CREATE FUNCTION next_one(a BIGINT) RETURNS BIGINT LANGUAGE SQL RETURN a + 1")
    long = f"/* {'long ' * 8_000} */"
    (row,) = rows(client, f"SELECT {', '.join(f'next_one({i})' for i in range(100))} {long}")
    assert row == list(range(1, 101))
    assert rows(client, f"SELECT 1 AS a {long}") == [[1]]
    deep = f"SELECT {'next_one(' * 5_000}1{')' * 5_000}"
    assert refused(client, deep)["code"] == "sql_too_deep"


def test_a_function_may_have_the_name_of_a_keyword_that_is_no_function_of_postgresql(client: Client) -> None:
    for name in ("first", "range", "rlike", "truncate", "struct"):
        told(client, f"CREATE FUNCTION {name}(a INT) RETURNS INT LANGUAGE SQL RETURN a + 7")
        assert rows(client, f'SELECT {name}(1), "{name}"(2), public.{name}(3)') == [[8, 9, 10]]
    assert rows(
        client, "SELECT ROW(1) = CAST(ROW(1) AS STRUCT(a INT)), first(range(1)) FROM (SELECT 1) AS first (a)"
    ) == [[True, 15]]
    frame = "ORDER BY i RANGE BETWEEN 1 PRECEDING AND CURRENT ROW"
    assert rows(client, f"SELECT sum(i) OVER ({frame}) FROM (SELECT range(1)) AS v (i)") == [[8]]


def test_what_nests_too_deeply_for_duckdb_is_refused_with_a_way_out(client: Client) -> None:
    for text in ("+".join(["n"] * 1_500), "||".join(["n::text"] * 1_500)):
        error = refused(client, f"SELECT {text} FROM (SELECT 1) AS t (n)")
        assert (error["code"], error["hint"]) == ("sql_too_deep", "move parts of it into CTEs or views")


def test_an_average_of_far_dates_is_refused_with_a_way_out(client: Client) -> None:
    told(client, "CREATE TABLE days (d DATE); INSERT INTO days VALUES ('9999-06-27'), ('9999-06-28')")
    assert "avg(CAST(x AS TIMESTAMP))" in refused(client, "SELECT avg(greatest(d, d)) FROM days")["hint"]
    assert rows(client, "SELECT avg(CAST(d AS TIMESTAMP)) FROM days") == [["9999-06-27T12:00:00"]]
