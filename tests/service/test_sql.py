"""SQL scripts: the result of each statement, and what stands when one fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code


class Door(Client):
    """A client whose calls are scripts."""

    def script(self, text: str, **body: str):
        return self.post("/v1/sql", {"sql": text, **body})

    def results(self, text: str, **body: str) -> list[dict]:
        answer = self.script(text, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def select(self, text: str) -> list[list]:
        """The rows of the last statement."""
        return self.results(text)[-1]["rows"]

    def problem(self, text: str, **body: str) -> dict:
        answer = self.script(text, **body)
        code(answer)
        return answer.json()


@pytest.fixture
def door(settings: Settings) -> Iterator[Door]:
    with Door(settings) as door:
        door.results("CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT, c NUMERIC(10, 2))")
        door.results("CREATE TABLE bag (x INTEGER, y DATE)")
        yield door


# One result a statement


def test_each_statement_has_a_result(door: Door):
    results = door.results(
        "INSERT INTO t VALUES (1, 'x', 1.5), (2, 'y', NULL); INSERT INTO t (a) VALUES (3);"
        "UPDATE t SET b = 'z' WHERE a > 1; DELETE FROM t WHERE a = 3; SELECT a, b, c FROM t ORDER BY a"
    )
    assert results == [
        {"statement": "INSERT", "epoch": 1, "count": 2},
        {"statement": "INSERT", "epoch": 2, "count": 1},
        {"statement": "UPDATE", "epoch": 3, "count": 2},
        {"statement": "DELETE", "epoch": 4, "count": 1},
        {
            "statement": "SELECT",
            "epoch": 4,
            "columns": [
                {"name": "a", "type": "BIGINT"},
                {"name": "b", "type": "TEXT"},
                {"name": "c", "type": "NUMERIC(10, 2)"},
            ],
            "rows": [[1, "x", "1.50"], [2, "z", None]],
        },
    ]


def test_definitions_answer_with_the_newest_epoch(door: Door):
    door.results("INSERT INTO bag VALUES (1, '2026-01-01')")
    results = door.results("CREATE VIEW v AS SELECT x FROM bag; TABLE v; DROP VIEW v; DROP TABLE bag")
    assert [(r["statement"], r["epoch"]) for r in results] == [
        ("CREATE VIEW", 1),
        ("SELECT", 1),
        ("DROP VIEW", 1),
        ("DROP TABLE", 1),
    ]
    assert results[1]["rows"] == [[1]]


def test_an_empty_script_has_no_results(door: Door):
    assert door.results(" ; -- nothing\n") == []


def test_a_statement_that_changes_nothing_makes_no_epoch(door: Door):
    results = door.results("DELETE FROM t; UPDATE bag SET x = 1; INSERT INTO bag SELECT * FROM bag; SELECT 1")
    assert [(r["epoch"], r.get("count")) for r in results] == [(0, 0), (0, 0), (0, 0), (0, None)]


def test_a_script_may_be_in_any_dialect(door: Door):
    results = door.results(
        'INSERT INTO `t` VALUES (1, "x", 2); SELECT `b`, 7 / 2 AS q FROM `t`', dialect="mysql"
    )
    assert results[1]["rows"] == [["x", 3.5]]
    assert door.select("SELECT 7 / 2") == [[3]]


# INSERT


def test_values_take_the_types_of_their_columns(door: Door):
    door.results("INSERT INTO t VALUES ('7', 5, '1.005'), (4 + 4, NULL, DEFAULT)")
    door.results("INSERT INTO bag (y, x) VALUES ('2026-01-02'::date + 1, 2.6)")
    assert door.select("SELECT * FROM t ORDER BY a") == [[7, "5", "1.01"], [8, None, None]]
    assert door.select("SELECT * FROM bag") == [[3, "2026-01-03"]]


def test_insert_of_a_query_reads_the_newest_state(door: Door):
    script = "INSERT INTO bag VALUES (1, NULL);" + "INSERT INTO bag SELECT * FROM bag;" * 3
    assert [r["count"] for r in door.results(script)] == [1, 1, 2, 4]
    assert door.select("SELECT count(*) FROM bag") == [[8]]


def test_insert_with_a_cte(door: Door):
    door.results("WITH n AS (SELECT 5 AS five) INSERT INTO bag (x) SELECT five FROM n")
    assert door.select("TABLE bag") == [[5, None]]


NO_ROWS = [
    ("INSERT INTO t VALUES (1, 'x', 2, 3)", 422, "invalid_query", "4 values for 3 columns"),
    ("INSERT INTO t (a) VALUES (1, 2)", 422, "invalid_query", "2 values for 1 column"),
    ("INSERT INTO bag SELECT 1, 2, 3", 422, "invalid_query", "3 values for 2 columns"),
    ("INSERT INTO t (a, z) VALUES (1, 2)", 422, "unknown_column", 'table "t" has no column "z"'),
    ("INSERT INTO tt VALUES (1)", 422, "unknown_table", 'no table or view "tt"'),
    ("INSERT INTO t VALUES (1), (2, 'x')", 422, "invalid_query", "1 value for 3 columns"),
    ("INSERT INTO bag (x) VALUES (3000000000)", 422, "invalid_value", "column x: 3000000000 is no"),
    ("INSERT INTO bag (x) VALUES (1), ('x')", 422, "invalid_value", "column x: could not convert"),
    ("INSERT INTO bag SELECT 1, 'never'", 422, "invalid_value", "column y: "),
    ("INSERT INTO t (b) VALUES ('x')", 422, "null_not_allowed", "column a of table t"),
    ("INSERT INTO t (a) SELECT NULL", 422, "null_not_allowed", "column a of table t"),
    ("INSERT INTO t (a, c) VALUES (1, 123456789)", 422, "invalid_value", "column c: 123456789 is"),
    ("INSERT INTO t (a) VALUES (1), (1)", 409, "key_exists", "table t has already"),
]  # fmt: skip


def test_rows_that_cannot_be_inserted(door: Door) -> None:
    for sql, *expected, detail in NO_ROWS:
        problem = door.problem(sql)
        assert [problem["status"], problem["code"], problem["index"]] == [*expected, 0], sql
        assert detail in problem["detail"], sql
        assert door.select("SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM bag)") == [[0]], sql


# UPDATE and DELETE


def test_update_of_a_primary_key_moves_rows_together(door: Door):
    door.results("INSERT INTO t (a) VALUES (1), (2), (3); UPDATE t SET a = a + 1")
    assert door.select("SELECT a FROM t ORDER BY a") == [[2], [3], [4]]


def test_update_cannot_make_two_rows_one(door: Door):
    door.results("INSERT INTO t (a) VALUES (1), (2)")
    problem = door.problem("UPDATE t SET a = 7")
    assert (problem["code"], problem["detail"]) == (
        "key_exists",
        "the update gives two rows of table t one primary key",
    )
    assert door.select("SELECT a FROM t ORDER BY a") == [[1], [2]]


@pytest.mark.parametrize(
    "statement",
    [
        "MERGE INTO t USING (VALUES (1, 'x'), (1, 'y'), (3, 'z')) AS s (a, b) ON t.a = s.a "
        "WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.b)",
        "INSERT INTO t (a, b) VALUES (3, 'z'), (1, 'x'), (1, 'y') "
        "ON CONFLICT (a) DO UPDATE SET b = excluded.b",
        "INSERT INTO t (a, b) VALUES (3, 'x'), (3, 'y') ON CONFLICT (a) DO UPDATE SET b = excluded.b",
    ],
)
def test_no_statement_changes_a_row_twice(door: Door, statement: str):
    door.results("INSERT INTO t (a, b) VALUES (1, 'a'), (2, 'b')")
    assert door.problem(statement)["code"] == "changed_twice"
    assert door.select("SELECT a, b FROM t ORDER BY a") == [[1, "a"], [2, "b"]]


def test_equal_rows_of_a_bag_are_updated_and_deleted_together(door: Door):
    door.results("INSERT INTO bag (x) VALUES (1), (1), (2)")
    assert door.results("UPDATE bag SET x = 5 WHERE x = 1")[0]["count"] == 2
    assert door.select("SELECT x FROM bag ORDER BY x") == [[2], [5], [5]]
    assert door.results("DELETE FROM bag WHERE (SELECT count(*) FROM bag) = 3 AND x = 5")[0]["count"] == 2
    assert door.select("SELECT x FROM bag") == [[2]]


def test_update_from_another_table(door: Door):
    door.results(
        "INSERT INTO t (a) VALUES (1), (2); INSERT INTO bag VALUES (2, '2026-01-02'), (2, '2026-01-02')"
    )
    assert door.results("UPDATE t AS k SET b = bag.y::text FROM bag WHERE bag.x = k.a")[0]["count"] == 1
    assert door.select("SELECT a, b FROM t ORDER BY a") == [[1, None], [2, "2026-01-02"]]


def test_update_that_is_not_a_function_is_refused(door: Door):
    door.results("INSERT INTO t (a) VALUES (1); INSERT INTO bag (x) VALUES (1), (2)")
    problem = door.problem("UPDATE t SET c = bag.x FROM bag")
    assert (problem["code"], problem["detail"]) == (
        "invalid_query",
        "the update gives a row of table t several new values",
    )


def test_delete_using_another_table(door: Door):
    door.results("INSERT INTO t (a) VALUES (1), (2); INSERT INTO bag (x) VALUES (2), (2)")
    assert door.results("DELETE FROM t USING bag WHERE x = a")[0]["count"] == 1
    assert door.select("SELECT a FROM t") == [[1]]


def test_a_view_cannot_be_changed(door: Door):
    door.results("CREATE VIEW v AS SELECT a FROM t")
    for statement in ("INSERT INTO v VALUES (1)", "UPDATE v SET a = 1", "DELETE FROM v"):
        assert door.problem(statement)["detail"] == "v is a view: its rows cannot be changed"


def test_no_update_is_lost(door: Door):
    door.results("INSERT INTO t VALUES (1, NULL, 0)")

    async def add() -> int:
        answer = await door.http.post("/v1/sql", json={"sql": "UPDATE t SET c = c + 1 WHERE a = 1"})
        return answer.status_code

    assert door.together(*(add() for _ in range(40))) == [200] * 40
    assert door.select("SELECT c FROM t") == [["40.00"]]


# SELECT


def test_select_reads_tables_and_views_at_one_epoch(door: Door):
    door.results("CREATE VIEW v AS SELECT count(*) AS n FROM t; INSERT INTO t (a) VALUES (1), (2)")
    assert door.select("SELECT v.n, (SELECT count(*) FROM t) FROM v") == [[2, 2]]


def test_a_bags_rows_come_as_often_as_they_count(door: Door):
    door.results("INSERT INTO bag (x) VALUES (1), (1)")
    assert door.select("SELECT x FROM bag") == [[1], [1]]
    assert door.select("SELECT count(*) FROM bag") == [[2]]


def test_columns_are_named_as_a_views_are(door: Door):
    query = "SELECT a, a + 1, upper(b), count(*), sum(a) AS total FROM t GROUP BY a, b"
    view, adhoc = door.results(f"CREATE VIEW v AS {query}; TABLE v; {query}")[1:]
    assert view["columns"] == adhoc["columns"]
    assert [column["name"] for column in adhoc["columns"]] == ["a", "?column?", "upper", "count", "total"]


def test_history_inside_a_query(door: Door):
    door.results("INSERT INTO t (a) VALUES (1); INSERT INTO t (a) VALUES (2); DELETE FROM t WHERE a = 1")
    query = "SELECT n.a FROM t VERSION AS OF 2 AS n LEFT JOIN t AS now ON now.a = n.a WHERE now.a IS NULL"
    assert door.select(query) == [[1]]
    assert door.select("SELECT count(*) FROM t VERSION AS OF 0") == [[0]]


def test_history_by_time(door: Door):
    door.results("INSERT INTO t (a) VALUES (1)")
    assert door.select("SELECT a FROM t TIMESTAMP AS OF '2999-01-01T00:00:00Z'") == [[1]]
    problem = door.problem("SELECT a FROM t TIMESTAMP AS OF '2000-01-01'")
    assert (problem["status"], problem["code"]) == (410, "history_gone")


def test_recursion_in_an_ad_hoc_query(door: Door):
    query = "WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 4) SELECT max(n) FROM r"
    assert door.select(query) == [[4]]


def test_a_query_has_a_point_in_its_script(door: Door):
    problem = door.problem("SELECT 1;\nSELECT nope\nFROM t")
    assert (problem["code"], problem["index"], problem["position"]) == (
        "unknown_column",
        1,
        {"line": 2, "column": 8},
    )


def test_an_unknown_column_is_told_what_there_is(door: Door):
    hint = door.problem("SELECT a FROM t WHERE bb = 'x'")["hint"]
    assert hint.startswith("visible columns: ") and hint.endswith("; a text is written 'bb'")


def test_fewer_values_are_those_of_the_first_columns(door: Door):
    """As in PostgreSQL; other dialects want all of them."""
    door.results("CREATE TABLE w (a INT, b INT DEFAULT 7, c TEXT, d INT GENERATED ALWAYS AS (a * 2) STORED)")
    door.results("INSERT INTO w VALUES (1), (2); INSERT INTO w SELECT 3, 4; INSERT INTO w VALUES (5, 6, 'x')")
    rows = door.results("SELECT * FROM w ORDER BY a")[0]["rows"]
    assert rows == [[1, 7, None, 2], [2, 7, None, 4], [3, 4, None, 6], [5, 6, "x", 10]]
    for sql in ("INSERT INTO w VALUES (1), (2, 3)", "INSERT INTO w VALUES (1, 2, 'x', 4, 5)"):
        assert door.problem(sql)["code"] in ("invalid_query", "syntax_error")
    assert door.problem("INSERT INTO w VALUES (1)", dialect="duckdb")["code"] == "invalid_query"


@pytest.mark.parametrize(
    "query",
    [
        "SELCT a FROM t",
        "SELECT a FROM t WEHRE a = 1",
        "SELECT a FROM (SELECT a FROM t",
        "SELECT interval '1 foo' FROM t",
        "SELECT a FROM t GROUP BY a WHERE a > 1",
        "SELECT foo(a) FROM t",
        "SELECT upper(a) FROM t",
        "SELECT a + date '2020-01-01' || 'x' FROM t",
        "SELECT a FROM t WHERE a LIKE 1",
        "SELECT a, count(*) FROM t",
        "SELECT a FROM t HAVING a > 1",
        "SELECT p.a FROM t AS o",
        "SELECT a FROM t AS o JOIN t AS p ON o.a = p.a",
        "SELECT date_trunc('foo', date '2020-01-01') FROM t",
    ],
)
def test_a_view_and_a_query_say_the_same(door: Door, query: str):
    of_query = door.problem(query)
    of_view = door.problem(f"CREATE VIEW wrong AS {query}")
    assert of_query["detail"] == of_view["detail"] or of_query["code"] == "syntax_error"
    assert of_query["hint"] == of_view["hint"]


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("SELECT * FROM t VERSION AS OF 9", 422, "epoch_not_reached"),
        ("SELECT * FROM tt", 422, "unknown_table"),
        ("SELECT 1 FROM t WHERE a = 'x' OR 1 / 0 = 1", 422, "invalid_value"),
        ("SELECT nosuch(a) FROM t", 422, "unknown_function"),
        ("SELECT a FROM t, t AS u", 422, "ambiguous_column"),
        ("SELECT * FROM read_csv('/etc/passwd')", 422, "unsupported_sql"),
        ("SELECT * FROM '/etc/passwd'", 422, "unknown_table"),
        ("SELEC 1", 400, "syntax_error"),
        ("SELECT 1 +", 400, "syntax_error"),
        ("SELECT 'x", 400, "syntax_error"),
        ("TRUNCATE t CASCADE", 422, "unsupported_sql"),
        ("SET work_mem TO 1", 422, "unsupported_sql"),
        ("WITH MUTUALLY RECURSIVE r (a int) AS (SELECT 1) TABLE r", 422, "unsupported_sql"),
        ("CREATE TABLE t (a INT)", 409, "name_in_use"),
        ("DROP TABLE nothing", 404, "unknown_name"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, 422, "sql_too_deep"),
    ],
)
def test_queries_that_fail(door: Door, sql: str, status: int, code: str):
    door.results("INSERT INTO t (a) VALUES (1)")
    problem = door.problem(sql)
    assert (problem["status"], problem["code"]) == (status, code)


def test_a_view_with_errors_is_refused_until_it_heals(door: Door):
    door.results(
        "CREATE VIEW v AS SELECT 10 // (a - 1) AS q FROM t; INSERT INTO t (a) VALUES (1), (2)",
        dialect="duckdb",
    )
    assert door.problem("SELECT * FROM v")["code"] == "view_has_errors"
    assert door.select("SHOW VIEWS")[0][2] == "errors"
    assert door.select("DELETE FROM t WHERE a = 1; SELECT * FROM v") == [[10]]


# What stands


def test_a_script_stops_at_the_first_statement_that_fails(door: Door):
    problem = door.problem(
        "INSERT INTO t (a) VALUES (1); INSERT INTO t (a) VALUES (1); INSERT INTO t (a) VALUES (2)"
    )
    assert (problem["status"], problem["code"], problem["index"]) == (409, "key_exists", 1)
    assert door.select("SELECT a FROM t") == [[1]]


def test_what_comes_before_a_syntax_error_stands(door: Door):
    problem = door.problem("INSERT INTO t (a) VALUES (1); INSERT INTO INTO t; SELECT 1")
    assert (problem["status"], problem["index"]) == (400, 1)
    assert door.select("SELECT a FROM t") == [[1]]


def test_a_block_is_one_epoch(door: Door):
    results = door.results(
        "BEGIN; INSERT INTO t (a) VALUES (1), (2); UPDATE t SET b = 'x' WHERE a = 2;"
        "DELETE FROM t WHERE a = 1; SELECT a, b FROM t; INSERT INTO bag (x) SELECT a FROM t; COMMIT"
    )
    assert [(r["statement"], r["epoch"], r.get("count")) for r in results] == [
        ("BEGIN", 1, None),
        ("INSERT", 1, 2),
        ("UPDATE", 1, 1),
        ("DELETE", 1, 1),
        ("SELECT", 1, None),
        ("INSERT", 1, 1),
        ("COMMIT", 1, None),
    ]
    assert results[4]["rows"] == [[2, "x"]]
    assert door.rows("t") == [(2, "x", None)]
    assert door.rows("bag") == [(2, None)]
    assert door.get("/v1/status").json()["epoch"] == 1


@pytest.mark.parametrize(
    ("failing", "index", "code"),
    [
        ("INSERT INTO t (a) VALUES (1)", 2, "key_exists"),
        ("SELECT nope FROM t", 2, "unknown_column"),
        ("SELECT FROM FROM t", 2, "syntax_error"),
        ("CREATE TABLE u (a INT)", 2, "unsupported_sql"),
        ("BEGIN", 2, "invalid_query"),
        ("UPDATE t SET c = 1 / 0", 2, "invalid_value"),
    ],
)
def test_nothing_of_a_block_that_fails_stands(door: Door, failing: str, index: int, code: str):
    script = f"BEGIN; INSERT INTO t (a) VALUES (1); {failing}; INSERT INTO t (a) VALUES (2); COMMIT"
    problem = door.problem(script)
    assert (problem["index"], problem["code"]) == (index, code)
    assert door.select("SELECT a FROM t") == []
    assert door.get("/v1/status").json()["epoch"] == 0


def test_a_block_without_an_end_changes_nothing(door: Door):
    problem = door.problem("SELECT 1; BEGIN; INSERT INTO t (a) VALUES (1)")
    assert (problem["index"], problem["code"]) == (1, "invalid_query")
    assert problem["detail"].startswith("BEGIN has no COMMIT")
    assert door.select("SELECT a FROM t") == []


def test_a_commit_without_a_beginning_is_refused(door: Door):
    assert door.problem("COMMIT")["detail"] == "COMMIT has no BEGIN before it"


def test_a_view_is_not_read_behind_a_change_in_a_block(door: Door):
    door.results("CREATE VIEW v AS SELECT count(*) AS n FROM t")
    assert door.results("BEGIN; SELECT n FROM v; INSERT INTO t (a) VALUES (1); COMMIT")[1]["rows"] == [[0]]
    problem = door.problem("BEGIN; DELETE FROM t; SELECT n FROM v; COMMIT")
    assert (problem["status"], problem["index"], problem["code"]) == (409, 2, "view_before_commit")
    assert door.select("SELECT a FROM t") == [[1]]


# Definitions


def test_views_are_created_with_names_for_their_columns(door: Door):
    door.results("INSERT INTO t VALUES (1, 'x', 2); CREATE VIEW v (k, v) AS SELECT a, b FROM t")
    result = door.results("TABLE v")[0]
    assert ([c["name"] for c in result["columns"]], result["rows"]) == (["k", "v"], [[1, "x"]])
    problem = door.problem("CREATE VIEW w (k, l) AS\nSELECT a, nope FROM t")
    assert (problem["code"], problem["position"]) == ("unknown_column", {"line": 2, "column": 11})


def test_views_are_replaced_or_kept(door: Door):
    script = """
        CREATE VIEW v AS SELECT 1 AS n;
        CREATE OR REPLACE VIEW v AS SELECT 2 AS n;
        CREATE VIEW IF NOT EXISTS v AS SELECT 3 AS n;
        TABLE v
    """
    assert door.select(script) == [[2]]
    assert door.problem("CREATE VIEW v AS SELECT 4 AS n")["code"] == "name_in_use"


def test_what_may_be_missing_or_there(door: Door):
    script = (
        "DROP TABLE IF EXISTS n; DROP VIEW IF EXISTS n; CREATE TABLE IF NOT EXISTS t (z INT); SELECT a FROM t"
    )
    assert [r["statement"] for r in door.results(script)] == [
        "DROP TABLE",
        "DROP VIEW",
        "CREATE TABLE",
        "SELECT",
    ]


def test_explicit_recursion_in_a_view(door: Door):
    binding = "r (n INT) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 3)"
    view = f"CREATE VIEW v AS WITH MUTUALLY RECURSIVE {binding} SELECT n FROM r"
    assert door.select(f"{view}; SELECT n FROM v ORDER BY n") == [[1], [2], [3]]


def test_show(door: Door):
    door.results("CREATE VIEW v AS SELECT x FROM bag")
    tables, views = door.results("SHOW TABLES; SHOW VIEWS")
    assert [c["name"] for c in tables["columns"]] == ["name", "columns", "primary_key"]
    assert tables["rows"] == [
        ["bag", "x INTEGER, y DATE", None],
        ["t", "a BIGINT NOT NULL, b TEXT, c NUMERIC(10, 2)", "a"],
    ]
    assert [c["name"] for c in views["columns"]] == ["name", "columns", "state", "sql"]
    assert views["rows"] == [["v", "x INTEGER", "ready", "SELECT x FROM bag"]]


# The request


@pytest.mark.parametrize(
    ("body", "status", "code_"),
    [
        (b"{", 400, "invalid_json"),
        (b"{}", 422, "invalid_request"),
        (b'{"sql": 1}', 422, "invalid_request"),
        (b'{"sql": "SELECT 1", "more": 1}', 422, "invalid_request"),
        (b'{"sql": "SELECT 1", "dialect": "klingon"}', 400, "syntax_error"),
    ],
)
def test_bodies_that_are_no_script(door: Door, body: bytes, status: int, code_: str):
    headers = {"Content-Type": "application/json"}
    assert code(door.post("/v1/sql", content=body, headers=headers)) == (status, code_)
