"""Why a view has a row: over HTTP, at past epochs, for several kinds of query, and within limits."""

from __future__ import annotations

import json

import httpx
import pytest

from service.derivations.facts import MOST_CAUSES
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

GRAPH = """
CREATE TABLE edges (a BIGINT, b BIGINT, PRIMARY KEY (a, b));
CREATE VIEW paths AS WITH RECURSIVE p (a, b) AS (
    SELECT a, b FROM edges UNION SELECT p.a, e.b FROM p JOIN edges e ON p.b = e.a) SELECT * FROM p;
CREATE VIEW counts AS SELECT a, count(*) AS n FROM paths GROUP BY a HAVING count(*) > 1;
INSERT INTO edges VALUES (1, 2), (2, 3), (3, 1), (3, 4);
"""


def sql(client: Client, script: str) -> int:
    answer = client.post("/v1/sql", {"sql": script})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1]["epoch"]


def why(client: Client, view: str, row: dict, **params: object) -> httpx.Response:
    return client.get(f"/v1/views/{view}/why", row=json.dumps(row), **params)


def test_a_recursion_is_explained_by_earlier_rounds(client: Client) -> None:
    sql(client, GRAPH)
    found = why(client, "paths", {"a": 1, "b": 4}).json()
    assert found["row"] == {"a": 1, "b": 4} and found["count"] == 1 and not found["cut"]
    assert found["tables"] == {"edges": [{"a": 3, "b": 4}, {"a": 2, "b": 3}, {"a": 1, "b": 2}]}
    rounds = [fact["rule"] for fact in found["facts"]]
    assert rounds == ["p, round 3", "p, round 2", "p, round 1"]
    cycle = why(client, "paths", {"a": 1, "b": 1}).json()
    assert [fact["row"] for fact in cycle["facts"]] == [{"a": 1, "b": 1}, {"a": 1, "b": 3}, {"a": 1, "b": 2}]


def test_rows_with_moments_beyond_pythons_are_explained(client: Client) -> None:
    sql(
        client,
        "CREATE TABLE m (a BIGINT PRIMARY KEY, t TIMESTAMP, z TIMESTAMPTZ, d DATE);"
        "CREATE VIEW mv AS SELECT t, z, d, count(*) AS n FROM m GROUP BY t, z, d;"
        "INSERT INTO m VALUES (1, 'infinity', '-infinity', 'infinity'), (2, '2024-01-01', NULL, NULL),"
        "(3, '-infinity', '44000-01-01', '-infinity')",
    )
    found = why(client, "mv", {"t": "infinity"}).json()
    assert found["row"] == {"t": "infinity", "z": "-infinity", "d": "infinity", "n": 1}
    assert [row["a"] for row in found["tables"]["m"]] == [1]
    assert [row["a"] for row in why(client, "mv", {"d": "-infinity"}).json()["tables"]["m"]] == [3]
    sql(client, "EXPLAIN WHY SELECT * FROM mv WHERE t = 'infinity'; DELETE FROM m WHERE a = 1")
    asked = json.dumps({"t": "infinity"})
    assert client.get("/v1/views/mv/why-changed", row=asked).status_code == 200
    assert client.get("/v1/views/mv/why-not", row=asked).status_code == 200


def test_a_group_over_a_view_over_a_recursion(client: Client) -> None:
    sql(client, GRAPH)
    found = why(client, "counts", {"a": 1}).json()
    assert found["row"] == {"a": 1, "n": 4}
    assert [cause["rule"] for cause in found["because"]["of"]] == ["row of view paths"] * 4
    assert len(found["tables"]["edges"]) == 4
    text = why(client, "counts", {"a": 1}, format="text").text
    assert text.startswith("group (a = 1, count = 4)\n  row of view paths (a = 1, b = 1), see [1]\n")


def test_windows_over_windows_show_no_power_of_causes(client: Client) -> None:
    """Each row of a window has all rows of its partition as causes, and so has each of these."""
    query = "SELECT id FROM t"
    for number in range(4):
        query = f"SELECT id, count(*) OVER () + {number} AS c{number} FROM ({query}) AS q{number}"
    values = ", ".join(f"({id})" for id in range(40))
    sql(
        client,
        f"CREATE TABLE t (id BIGINT PRIMARY KEY); CREATE VIEW v AS {query}; INSERT INTO t VALUES {values}",
    )
    found = why(client, "v", {"id": 7}, causes=1000)
    assert found.json()["cut"]
    assert found.text.count('"rule"') < 3 * MOST_CAUSES


def test_a_group_of_extremes_follows_from_the_rows_that_have_them(client: Client) -> None:
    """The rows with the least and the greatest value make the row again, and without them it is another."""
    sql(
        client,
        "CREATE TABLE t (id BIGINT PRIMARY KEY, k TEXT, v BIGINT);"
        "INSERT INTO t SELECT i, 'a', 10 + i % 5 FROM range(50) AS r(i);"
        "INSERT INTO t VALUES (90, 'b', NULL);"
        "CREATE VIEW ends AS SELECT k, min(v) AS low, max(v + 1) AS high FROM t GROUP BY k;"
        "CREATE VIEW lows AS SELECT min(v) AS low FROM t GROUP BY k;"
        "CREATE VIEW counted AS SELECT k, min(v) AS low, count(*) AS n FROM t GROUP BY k",
    )
    found = why(client, "ends", {"k": "a"}, causes=100).json()
    assert found["because"]["rule"] == "extreme rows of 50"
    rows = found["tables"]["t"]
    assert {row["v"] for row in rows} == {10, 14} and len(rows) == 20
    listed = ", ".join(str(row["id"]) for row in rows)
    sql(client, f"DELETE FROM t WHERE id NOT IN ({listed}) AND k = 'a'")
    assert ("a", 10, 15) in client.rows("ends")
    assert len(why(client, "lows", {"low": 10}).json()["tables"]["t"]) == 10
    assert len(why(client, "counted", {"k": "a"}, causes=100).json()["tables"]["t"]) == 20
    nothing = why(client, "ends", {"k": "b"}).json()
    assert nothing["because"]["rule"] == "group" and nothing["tables"] == {
        "t": [{"id": 90, "k": "b", "v": None}]
    }
    sql(client, "DELETE FROM t WHERE v = 10")
    assert ("a", 14, 15) in client.rows("ends")


def test_a_side_of_a_union_without_the_row_explains_nothing(client: Client) -> None:
    """Neither a group with other values does, nor a union within the union."""
    sql(
        client,
        "CREATE TABLE t (k BIGINT, v BIGINT); CREATE TABLE u (k BIGINT, v BIGINT);"
        "INSERT INTO t VALUES (1, 1), (1, 2); INSERT INTO u VALUES (1, 7);"
        "CREATE VIEW one AS SELECT k, sum(v) AS v FROM t GROUP BY k UNION SELECT k, v FROM u;"
        "CREATE VIEW every AS SELECT k, sum(v) AS v FROM t GROUP BY k UNION ALL SELECT k, v FROM u;"
        "CREATE VIEW inner_one AS (SELECT k, v FROM t WHERE v > 5 UNION ALL SELECT v, k FROM t WHERE v > 6)"
        " UNION SELECT k, v FROM u",
    )
    for view in ("one", "every", "inner_one"):
        assert why(client, view, {"k": 1, "v": 7}).json()["tables"] == {"u": [{"k": 1, "v": 7}]}, view
    assert len(why(client, "one", {"v": 3}).json()["tables"]["t"]) == 2


def test_columns_of_values_have_their_names(client: Client) -> None:
    sql(
        client,
        "CREATE VIEW plain AS SELECT id, name FROM (VALUES (1, 'one'), (2, 'two')) AS v (id, name);"
        "CREATE VIEW named AS WITH v (id, name) AS (VALUES (1, 'one')) SELECT * FROM v",
    )
    for view in ("plain", "named"):
        text = why(client, view, {"id": 1}, format="text").text
        assert text == "a constant row (id = 1, name = one)\n"


def test_past_epochs_and_changes(client: Client) -> None:
    first = sql(client, GRAPH)
    gone = sql(client, "DELETE FROM edges WHERE a = 2")
    assert code(why(client, "paths", {"a": 1, "b": 4})) == (404, "unknown_row")
    assert why(client, "paths", {"a": 1, "b": 4}, as_of=first).json()["epoch"] == first
    back = sql(client, "INSERT INTO edges VALUES (2, 4)")
    changed = client.get("/v1/views/paths/why-changed", row='{"a": 1, "b": 4}').json()
    assert [(it["epoch"], it["diff"]) for it in changed["epochs"]] == [(first, 1), (gone, -1), (back, 1)]
    assert changed["epochs"][1]["changes"] == {"edges": [{"diff": -1, "row": {"a": 2, "b": 3}}]}
    assert changed["epochs"][2]["changes"] == {"edges": [{"diff": 1, "row": {"a": 2, "b": 4}}]}
    only = client.get("/v1/views/paths/why-changed", row='{"a": 1, "b": 4}', since=gone).json()
    assert [it["epoch"] for it in only["epochs"]] == [back]


def test_the_request_that_changed_a_row_is_named(settings: Settings) -> None:
    """To whoever may change the tables: by its idempotency key, or as a merge."""
    with Client(settings) as client:
        sql(client, GRAPH)
        sql(client, "CREATE BRANCH b")
        gone = [{"delete": {"a": 2, "b": 3}}]
        client.post("/v1/tables/edges/deltas", gone, headers={"Idempotency-Key": "closing-7"})
        sql(client, "SET branch = b; INSERT INTO edges VALUES (2, 4); SET branch = main; MERGE BRANCH b")

        def by(**more: object) -> list[dict | None]:
            answer = client.get("/v1/views/paths/why-changed", row='{"a": 1, "b": 4}', **more)
            assert answer.status_code == 200, answer.text
            return [it["by"] for it in answer.json()["epochs"]]

        nothing = dict.fromkeys(("idempotency_key", "load", "source", "merged"))
        expected = [None, {**nothing, "idempotency_key": "closing-7"}, {**nothing, "merged": "b"}]
        assert by() == expected
        posted = [{"delete": {"a": 3, "b": 4}}, {"delete": {"a": 2, "b": 4}}]
        answer = client.post(
            "/v1/tables/edges/deltas?branch=b", posted, headers={"Idempotency-Key": "closing-7"}
        )
        assert answer.status_code == 200
        assert by(branch="b") == [{**nothing, "idempotency_key": "closing-7"}]
        admin = make_key(client, "boss", "admin")["key"]
        reads = make_key(client, "reads", "read", None, admin)["key"]
        request = client.http.get(
            "/v1/views/paths/why-changed", params={"row": '{"a": 1, "b": 4}'}, headers=bearer(reads)
        )
        assert [it["by"] for it in client.run(request).json()["epochs"]] == [None] * 3


def test_on_a_branch(client: Client) -> None:
    """All questions about rows are answered over the branch's tables and epochs."""
    sql(client, GRAPH)
    sql(
        client,
        "CREATE BRANCH b; SET branch = b; DELETE FROM edges WHERE a = 2; INSERT INTO edges VALUES (2, 9)",
    )
    on = {"branch": "b"}
    begins = client.get("/v1/branches/b").json()["begins"]
    assert code(why(client, "paths", {"a": 1, "b": 4}, **on)) == (404, "unknown_row")
    assert code(why(client, "paths", {"a": 1, "b": 9})) == (404, "unknown_row")
    found = why(client, "paths", {"a": 1, "b": 9}, **on).json()
    assert found["tables"] == {"edges": [{"a": 2, "b": 9}, {"a": 1, "b": 2}]}
    assert len(why(client, "paths", {"a": 1, "b": 4}, as_of=begins, **on).json()["tables"]["edges"]) == 3
    assert code(why(client, "paths", {"a": 1, "b": 4}, as_of=1, **on)) == (410, "history_gone")
    missing = client.get("/v1/views/paths/why-not", row='{"a": 1, "b": 4}', **on)
    assert missing.status_code == 200 and missing.json()["missing"]["edges"]
    changed = client.get("/v1/views/paths/why-changed", row='{"a": 1, "b": 4}', **on).json()["epochs"]
    assert [(it["epoch"], it["diff"]) for it in changed] == [(begins + 1, -1)]
    rounds = client.get("/v1/views/paths/rounds", **on).json()
    assert {"round": 2, "diff": 1, "row": {"a": 1, "b": 9}} in rounds["rows"]
    for script, expected in (
        ("EXPLAIN WHY SELECT * FROM paths WHERE a = 1 AND b = 9", "b = 9"),
        ("SELECT _round FROM rounds(paths) WHERE a = 1 AND b = 9", "[[2]]"),
    ):
        answer = client.post("/v1/sql", {"sql": script, **on})
        assert answer.status_code == 200 and expected in str(answer.json()["results"][0]["rows"]), answer.text
    assert code(why(client, "paths", {"a": 1, "b": 4}, branch="none")) == (404, "unknown_name")


def test_time_on_a_branch(settings: Settings) -> None:
    """A view that reads the time is explained with that of the epoch, the first one of a branch too."""
    now = [1_700_000_000_000_000]
    with Client(settings, time=lambda: now[0]) as client:
        client.table("events", {"id": "BIGINT", "at": "TIMESTAMP"}, key=["id"])
        client.view("recent", "SELECT id FROM events WHERE at > now() - INTERVAL '1 hour'")
        client.insert("events", {"id": 1, "at": "2023-11-14T22:00:00"})
        begins = client.post("/v1/branches", {"name": "b"}).json()["begins"]
        now[0] += 7_200_000_000
        client.post("/v1/tables/events/deltas?branch=b", [{"insert": {"id": 2, "at": "2023-11-15T00:00:00"}}])
        on = {"branch": "b"}
        assert code(why(client, "recent", {"id": 1}, **on)) == (404, "unknown_row")
        assert why(client, "recent", {"id": 2}, **on).json()["tables"]["events"][0]["id"] == 2
        first = why(client, "recent", {"id": 1}, as_of=begins, **on).json()
        assert [row["id"] for row in first["tables"]["events"]] == [1]


def test_joins_windows_and_what_is_not_there(client: Client) -> None:
    sql(
        client,
        "CREATE TABLE people (name TEXT, boss TEXT); CREATE TABLE pay (name TEXT, amount NUMERIC(8, 2));"
        "INSERT INTO people VALUES ('ann', NULL), ('bob', 'ann'), ('cid', 'ann');"
        "INSERT INTO pay VALUES ('bob', 10), ('bob', 20), ('cid', 5);"
        "CREATE VIEW unpaid AS SELECT name FROM people p WHERE NOT EXISTS"
        " (SELECT 1 FROM pay WHERE pay.name = p.name);"
        "CREATE VIEW ranked AS SELECT name, amount, rank() OVER (PARTITION BY name ORDER BY amount DESC) AS r"
        " FROM pay;"
        "CREATE VIEW joined AS SELECT p.name, b.name AS boss, amount FROM people p"
        " LEFT JOIN people b ON p.boss = b.name LEFT JOIN pay ON pay.name = p.name;",
    )
    unpaid = why(client, "unpaid", {"name": "ann"}).json()
    assert unpaid["tables"] == {"people": [{"name": "ann", "boss": None}]}
    assert unpaid["because"]["of"][-1] == {"rule": "there is no match"}
    ranked = why(client, "ranked", {"name": "bob", "r": 2}).json()
    assert ranked["row"]["amount"] == "10.00"
    assert len(ranked["tables"]["pay"]) == 2
    joined = why(client, "joined", {"name": "cid"}).json()
    assert {name: len(rows) for name, rows in joined["tables"].items()} == {"people": 2, "pay": 1}
    top = why(client, "joined", {"name": "ann"}).json()
    assert top["tables"] == {"people": [{"name": "ann", "boss": None}]}


def test_explain_why_of_a_query(client: Client) -> None:
    sql(client, GRAPH)
    script = "EXPLAIN WHY SELECT a, n FROM counts WHERE a = 2"
    (result,) = client.post("/v1/sql", {"sql": script}).json()["results"]
    lines = [row[0] for row in result["rows"]]
    assert lines[0] == "row of view counts (a = 2, n = 4), see [1]"
    assert "[1] group (a = 2, count = 4)" in lines
    assert any(line.strip() == "row of table edges (a = 3, b = 1)" for line in lines)
    (none,) = client.post("/v1/sql", {"sql": "EXPLAIN WHY SELECT * FROM edges WHERE a = 9"}).json()["results"]
    assert none["rows"] == [["the query has no row"]]
    (many,) = client.post("/v1/sql", {"sql": "EXPLAIN WHY SELECT * FROM edges"}).json()["results"]
    assert many["rows"][-1] == ["this is the first of 4 rows"]
    assert code(client.post("/v1/sql", {"sql": "EXPLAIN WHY counts"})) == (422, "unsupported_sql")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("{", (400, "invalid_body")),
        ("[]", (400, "invalid_body")),
        ("{}", (400, "invalid_body")),
        ('{"x": 1}', (422, "unknown_column")),
        ('{"a": "x"}', (422, "invalid_value")),
        ('{"a": 77}', (404, "unknown_row")),
    ],
)
def test_rows_that_are_not_meant(client: Client, row: str, expected: tuple[int, str]) -> None:
    sql(client, GRAPH)
    assert code(client.get("/v1/views/paths/why", row=row)) == expected


def test_what_is_too_much_is_left_out_or_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sql(client, "CREATE TABLE t (v BIGINT); CREATE VIEW n AS SELECT count(*) AS n FROM t")
    client.insert("t", *({"v": i} for i in range(50)))
    found = why(client, "n", {"n": 50}, causes=7).json()
    assert len(found["because"]["of"]) == 7 and found["because"]["more"] == 43 and found["cut"]
    monkeypatch.setattr("service.derivations.seen_rows.MOST_ROWS", 10)
    assert code(why(client, "n", {"n": 50})) == (422, "explanation_too_large")


def test_columns_and_tables_that_have_other_names_now(client: Client) -> None:
    sql(client, "CREATE TABLE old (a BIGINT, b BIGINT); INSERT INTO old VALUES (2, 3)")
    sql(client, "CREATE VIEW v AS SELECT a, b FROM old WHERE a > 1")
    sql(client, "ALTER TABLE old RENAME COLUMN a TO t; ALTER TABLE old RENAME TO new")
    assert why(client, "v", {"a": 2}).json()["tables"] == {"new": [{"t": 2, "b": 3}]}
    lacking = client.get("/v1/views/v/why-not", row='{"a": 9}').json()
    assert lacking["missing"] == {"new": [{"t": 9}]}
    sql(client, "ALTER TABLE new RENAME COLUMN b TO a; ALTER TABLE new RENAME COLUMN t TO b")
    assert why(client, "v", {"a": 2}).json()["tables"] == {"new": [{"b": 2, "a": 3}]}
    assert client.get("/v1/views/v/why-changed", row='{"a": 2}').json()["epochs"][0]["changes"] == {
        "new": [{"diff": 1, "row": {"b": 2, "a": 3}}]
    }


def test_an_epoch_of_any_length_does_not_exist_yet(client: Client) -> None:
    sql(client, GRAPH)
    for route in ("why", "why-not"):
        found = client.get(f"/v1/views/paths/{route}", row='{"a": 1}', as_of="9" * 30)
        assert code(found) == (422, "epoch_not_reached")
    assert code(client.get("/v1/views/paths/rounds", as_of="9" * 30)) == (422, "epoch_not_reached")


def test_a_row_is_among_the_rows_of_tables_as_often_as_it_is_there(client: Client) -> None:
    sql(client, "CREATE TABLE t (a BIGINT); CREATE VIEW n AS SELECT a, count(*) AS n FROM t GROUP BY a")
    sql(client, "INSERT INTO t VALUES (1), (1), (2)")
    assert why(client, "n", {"a": 1}).json()["tables"] == {"t": [{"a": 1}, {"a": 1}]}
    sql(client, "INSERT INTO t SELECT 3 FROM generate_series(1, 150)")
    many = why(client, "n", {"a": 3}).json()
    assert len(many["tables"]["t"]) == 100 and many["cut"]


def test_values_are_told_as_json_has_them(client: Client) -> None:
    sql(client, "CREATE TABLE t (a BOOLEAN, j JSON, xs BIGINT[]); CREATE VIEW v AS SELECT * FROM t")
    sql(client, """INSERT INTO t VALUES (TRUE, '{"k": [null, "x"]}', ARRAY[1, NULL])""")
    told = why(client, "v", {"a": True}, format="text").text
    assert told == 'row of table t (a = true, j = {"k": [null, "x"]}, xs = [1, null])\n'


def test_a_cause_that_a_later_round_takes_away(client: Client) -> None:
    """Node 4 came at 2 while node 1 was still at 10, which a shorter way to 1 takes away a round later."""
    sql(
        client,
        "CREATE TABLE roads (a BIGINT, b BIGINT, length BIGINT);"
        "CREATE VIEW far AS WITH RECURSIVE d (n, m) AS (SELECT n, min(m) FROM ("
        " SELECT 0 AS n, 0 AS m UNION ALL SELECT r.b, d.m + r.length FROM d JOIN roads r ON r.a = d.n) q"
        " GROUP BY n HAVING count(*) > 0) SELECT n, m FROM d;"
        "INSERT INTO roads VALUES (0, 1, 10), (0, 2, 1), (2, 1, 1), (0, 5, 1), (5, 4, 1), (1, 4, 1)",
    )
    found = why(client, "far", {"n": 4}).json()
    assert found["row"] == {"n": 4, "m": 2}
    facts = {(it["rule"], *it["row"].values()) for it in found["facts"]}
    assert facts == {("d, round 3", 4, 2), ("d, round 2", 5, 1), ("d, round 2", 1, 10), ("d, round 1", 0, 0)}
    far = {(it["rule"], *it["row"].values()) for it in why(client, "far", {"n": 1}).json()["facts"]}
    assert ("d, round 3", 1, 2) in far


def rows(client: Client, query: str, **body: object) -> list[list]:
    answer = client.post("/v1/sql", {"sql": query, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1]["rows"]


def test_rounds_are_a_relation(client: Client) -> None:
    first = sql(client, GRAPH)
    query = "SELECT a, b, _round, _diff FROM rounds(paths) WHERE a = 1 ORDER BY b"
    assert rows(client, query) == [[1, 1, 3, 1], [1, 2, 1, 1], [1, 3, 2, 1], [1, 4, 3, 1]]
    sql(client, "DELETE FROM edges WHERE a = 2")
    assert rows(client, query) == [[1, 2, 1, 1]]
    past = f"rounds(public.paths, 'p') FOR SYSTEM_TIME AS OF {first}"
    counted = f"SELECT _round, count(*) FROM {past} GROUP BY 1 ORDER BY 1"
    assert rows(client, counted) == [[1, 4], [2, 4], [3, 4]]
    joined = "SELECT count(*) FROM rounds(paths) r JOIN edges e ON e.a = r.a AND e.b = r.b WHERE r._round = 1"
    assert rows(client, joined) == [[3]]
    sql(client, "CREATE BRANCH b")
    sql(client, "SET branch = b; INSERT INTO edges VALUES (7, 8)")
    assert rows(client, "SELECT count(*) FROM rounds(paths)", branch="b") == [[5]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM rounds(edges)", (404, "unknown_name")),
        ("SELECT * FROM rounds(counts)", (422, "invalid_request")),
        ("SELECT * FROM rounds(paths, 'q')", (404, "unknown_name")),
        ("SELECT * FROM rounds(paths, p)", (422, "invalid_query")),
        ("SELECT * FROM rounds(paths, 'p', 'p')", (422, "invalid_query")),
        ("SELECT * FROM rounds()", (422, "invalid_query")),
        ("SELECT * FROM rounds(nothing)", (422, "unknown_table")),
        ("INSERT INTO edges SELECT a, b FROM rounds(paths)", (409, "diff_in_block")),
    ],
)
def test_rounds_that_cannot_be_listed(client: Client, query: str, expected: tuple[int, str]) -> None:
    sql(client, GRAPH)
    assert code(client.post("/v1/sql", {"sql": query})) == expected
