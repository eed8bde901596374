"""Views over HTTP: definitions, states, and conflicts when dropping."""

from __future__ import annotations

import pytest

from tests.service.client import Client, code


@pytest.fixture
def edges(client: Client) -> Client:
    client.table("edges", {"a": "BIGINT", "b": "BIGINT"})
    client.insert("edges", {"a": 1, "b": 2}, {"a": 2, "b": 3})
    return client


REACH = """
    WITH RECURSIVE reach (a, b) AS (
        SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON edges.a = reach.b
    ) SELECT a, b FROM reach
"""


def test_create_describe_list_drop(edges: Client) -> None:
    answer = edges.post("/v1/views", {"name": "Reach", "sql": REACH})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == "/v1/views/reach"
    created = answer.json()
    assert created.pop("epoch") == 1
    assert created["name"] == "reach"
    assert created["sql"] == REACH
    assert [column["name"] for column in created["columns"]] == ["a", "b"]
    assert created["state"] == "ready"
    assert edges.get("/v1/views").json() == {"views": [created]}
    assert edges.get("/v1/views/REACH").json() == created
    assert edges.delete("/v1/views/reach").status_code == 204
    assert code(edges.get("/v1/views/reach")) == (404, "unknown_name")
    assert code(edges.get("/v1/views/reach/rows")) == (404, "unknown_name")


def test_a_view_follows_its_table_and_has_its_past(edges: Client) -> None:
    edges.insert("edges", {"a": 3, "b": 4})
    edges.view("reach", REACH)
    assert edges.rows("reach", as_of=1) == [(1, 2), (1, 3), (2, 3)]
    assert len(edges.rows("reach")) == 6
    edges.change("edges", {"delete": {"a": 2, "b": 3}})
    assert edges.rows("reach") == [(1, 2), (3, 4)]
    assert len(edges.rows("reach", as_of=2)) == 6
    assert edges.rows("reach", as_of=0) == []


def test_a_view_over_a_view_holds_it(edges: Client) -> None:
    edges.view("reach", REACH)
    edges.view("counts", "SELECT a, count(*) AS n FROM reach GROUP BY a")
    assert edges.rows("counts") == [(1, 2), (2, 1)]
    assert code(edges.delete("/v1/views/reach")) == (409, "in_use")
    assert code(edges.delete("/v1/tables/edges")) == (409, "in_use")
    assert edges.delete("/v1/views/counts").status_code == 204
    assert edges.delete("/v1/views/reach").status_code == 204
    assert edges.delete("/v1/tables/edges").status_code == 204


@pytest.mark.parametrize(
    ("name", "sql", "expected"),
    [
        ("edges", "SELECT a FROM edges", (409, "name_in_use")),
        ("v", "SELEC a FROM edges", (400, "syntax_error")),
        ("v", "SELECT a FROM nodes", (422, "unknown_table")),
        ("v", "SELECT c FROM edges", (422, "unknown_column")),
        ("v", "SELECT a, b AS a FROM edges", (422, "duplicate_column")),
        ("v", "SELECT a, random() AS r FROM edges", (422, "unsupported_sql")),
        ("1v", "SELECT a FROM edges", (422, "invalid_name")),
    ],
)
def test_bad_views(edges: Client, name: str, sql: str, expected: tuple[int, str]) -> None:
    assert code(edges.post("/v1/views", {"name": name, "sql": sql})) == expected
    assert edges.get("/v1/views").json() == {"views": []}


def test_an_error_in_sql_has_its_place(edges: Client) -> None:
    problem = edges.post("/v1/views", {"name": "v", "sql": "SELECT a,\n  c\nFROM edges"}).json()
    assert problem["position"] == {"line": 2, "column": 3}


def test_a_view_that_exists(edges: Client) -> None:
    edges.view("v", "SELECT a FROM edges")
    assert code(edges.post("/v1/views", {"name": "V", "sql": "SELECT b FROM edges"})) == (409, "name_in_use")
    assert edges.rows("v") == [(1,), (2,)]


def test_dialects(edges: Client) -> None:
    answer = edges.post("/v1/views", {"name": "v", "sql": "SELECT `a` FROM `edges`", "dialect": "mysql"})
    assert answer.status_code == 201, answer.text
    assert answer.json()["dialect"] == "mysql"


def test_rows_that_fail(edges: Client) -> None:
    edges.table("texts", {"t": "TEXT"})
    edges.view("numbers", "SELECT CAST(t AS BIGINT) AS n FROM texts")
    edges.insert("texts", {"t": "1"})
    broken = edges.insert("texts", {"t": "one"})
    answer = edges.get("/v1/views/numbers/rows")
    assert code(answer) == (409, "view_has_errors")
    assert "one" in answer.json()["detail"]
    assert edges.get("/v1/views/numbers").json()["state"] == "errors"
    assert edges.rows("numbers", errors="skip") == [(1,)]
    assert edges.rows("numbers", as_of=broken - 1) == [(1,)]
    assert code(edges.get("/v1/views/numbers/changes", since=0)) == (409, "view_has_errors")
    assert edges.get("/v1/views/numbers/changes", since=0, errors="skip").status_code == 200
    edges.change("texts", {"delete": {"t": "one"}})
    assert edges.get("/v1/views/numbers").json()["state"] == "ready"
    assert edges.rows("numbers") == [(1,)]
    assert code(edges.get("/v1/views/numbers/rows", as_of=broken)) == (409, "view_has_errors")


DIVERGES = """
    WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 20)
        r (n BIGINT) AS (SELECT a FROM edges WHERE a > 9 UNION SELECT n + 1 FROM r)
    SELECT n FROM r
"""


def test_a_view_that_diverges_fails_alone(edges: Client) -> None:
    edges.view("grows", DIVERGES)
    edges.view("above", "SELECT count(*) AS n FROM grows")
    edges.view("plain", "SELECT a FROM edges")
    assert edges.rows("grows") == []
    edges.insert("edges", {"a": 10, "b": 10})
    for view in ("grows", "above"):
        answer = edges.get(f"/v1/views/{view}/rows")
        assert code(answer) == (409, "view_failed")
        described = edges.get(f"/v1/views/{view}").json()
        assert described["state"] == "failed"
        assert described["reason"] in answer.json()["detail"]
    assert edges.rows("plain") == [(1,), (2,), (10,)]
    assert edges.get("/v1/status").json()["failed"] == ["above", "grows"]
    edges.insert("edges", {"a": 11, "b": 11})
    assert edges.rows("plain") == [(1,), (2,), (10,), (11,)]
    assert edges.delete("/v1/views/above").status_code == 204
    assert edges.delete("/v1/views/grows").status_code == 204


def test_a_new_view_that_diverges_is_refused(edges: Client) -> None:
    edges.insert("edges", {"a": 10, "b": 10})
    assert code(edges.post("/v1/views", {"name": "grows", "sql": DIVERGES})) == (422, "recursion_limit")
    assert edges.get("/v1/views").json() == {"views": []}


def test_replacing_a_view(edges: Client) -> None:
    edges.view("v", "SELECT a FROM edges")
    runtime = edges.runtime
    edges.run(runtime.create_view("v", "SELECT b FROM edges", or_replace=True))
    assert edges.rows("v") == [(2,), (3,)]
    [failed] = edges.together(runtime.create_view("v", "SELECT c FROM edges", or_replace=True))
    assert failed.code == "unknown_column"
    assert edges.rows("v") == [(2,), (3,)]
    edges.insert("edges", {"a": 10, "b": 10})
    [failed] = edges.together(runtime.create_view("v", DIVERGES, or_replace=True))
    assert failed.code == "recursion_limit"
    assert edges.rows("v") == [(2,), (3,), (10,)]
    edges.view("w", "SELECT b FROM v")
    [failed] = edges.together(runtime.create_view("v", "SELECT a FROM edges", or_replace=True))
    assert failed.code == "in_use"


@pytest.mark.parametrize("stage", ["logical", "optimized", "dataflow", "supersteps", "analyze"])
@pytest.mark.parametrize(
    ("format", "media_type"),
    [("text", "text/plain"), ("json", "application/json"), ("mermaid", "text/plain")],
)
def test_plans(edges: Client, stage: str, format: str, media_type: str) -> None:
    edges.view("reach", REACH)
    answer = edges.get("/v1/views/reach/plan", stage=stage, format=format)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(media_type)
    assert "edges" in answer.text
    assert code(edges.get("/v1/views/reach/plan", stage="physical")) == (422, "invalid_request")


def test_what_runs_is_measured(edges: Client) -> None:
    edges.view("degrees", "SELECT a, count(*) AS n FROM edges GROUP BY a")
    edges.insert("edges", {"a": 2, "b": 4}, {"a": 5, "b": 4})
    found = edges.get("/v1/views/degrees/plan", stage="analyze", format="json").json()
    assert found["nodes"][-1]["figures"]["rows"] == 5, "2 groups, one that changed and one that came"
    assert found["nodes"][0]["figures"]["out"] == 4, "all that the table has seen"
    text = edges.get("/v1/views/degrees/plan", stage="analyze").text
    statements = (
        "ANALYZE degrees",
        "ANALYZE VIEW degrees",
        "ANALYZE SELECT a, count(*) AS n FROM edges GROUP BY 1",
    )
    for statement in statements:
        (result,) = edges.post("/v1/sql", {"sql": f"EXPLAIN {statement}"}).json()["results"]
        assert [line for (line,) in result["rows"]] == text.splitlines()
    block = "BEGIN; EXPLAIN ANALYZE degrees; COMMIT"
    assert len(edges.post("/v1/sql", {"sql": block}).json()["results"][1]["rows"]) == len(text.splitlines())
    answer = edges.post("/v1/sql", {"sql": "EXPLAIN ANALYZE SELECT a FROM edges"})
    assert code(answer) == (404, "unknown_name")
    assert "CREATE VIEW" in answer.json()["hint"]


def test_an_overflow_of_a_frame_names_no_column_that_nobody_has_written(client: Client) -> None:
    client.table("t", {"k": "INTEGER", "x": "BIGINT"})
    client.view("v", "SELECT k, sum(x) OVER (ORDER BY k GROUPS 1 PRECEDING) AS s FROM t")
    client.insert("t", {"k": 1, "x": 2**62}, {"k": 2, "x": 2**62})
    answer = client.get("/v1/views/v/rows")
    assert code(answer) == (409, "view_has_errors")
    detail = answer.json()["detail"]
    assert str(2**63) in detail and "column" not in detail
