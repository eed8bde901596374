"""Statements about branches, and statements on them."""

from __future__ import annotations

import pytest

from service.catalog.branch_records import branches_of
from service.running.branches import open_branches
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

START = """
    CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT);
    CREATE TABLE bag (a BIGINT);
    CREATE VIEW v AS SELECT n, count(*) AS c FROM t GROUP BY n;
    INSERT INTO t VALUES (1, 10), (2, 10), (3, 20)
"""


def run(client: Client, sql: str, **more: object) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def rows(client: Client, sql: str, **more: object) -> list[list]:
    return run(client, sql, **more)[-1]["rows"]


@pytest.fixture
def started(client: Client) -> Client:
    run(client, START)
    return client


def test_a_session_is_on_a_branch(started: Client) -> None:
    made = run(started, "CREATE BRANCH b; SET branch = b; SHOW branch; INSERT INTO t VALUES (4, 20)")
    assert [result["statement"] for result in made] == ["CREATE BRANCH", "SET", "SHOW", "INSERT"]
    assert made[2]["rows"] == [["b"]]
    on = {"branch": "b"}
    assert rows(started, "SELECT * FROM v ORDER BY n") == [[10, 2], [20, 1]]
    assert rows(started, "SELECT * FROM v ORDER BY n", **on) == [[10, 2], [20, 2]]
    assert rows(started, "SELECT n FROM t WHERE id = 4", **on) == [[20]]
    assert rows(started, "SELECT n FROM t WHERE id = 4") == []
    assert rows(started, "SELECT n FROM t WHERE id = $1", parameters=[4], **on) == [[20]]
    assert run(started, "UPDATE t SET n = n + 1 WHERE id < 3", **on)[0]["count"] == 2
    assert run(started, "DELETE FROM t WHERE n = 20", **on)[0]["count"] == 2
    assert run(started, "BEGIN; INSERT INTO bag SELECT n FROM t; DELETE FROM t; COMMIT", **on)
    assert rows(started, "SELECT a FROM bag", **on) == [[11], [11]]
    assert rows(started, "SELECT count(*) FROM v", **on) == [[0]]
    begins = started.get("/v1/branches/b").json()["begins"]
    assert rows(started, "SELECT * FROM v ORDER BY n", as_of=begins, **on) == [[10, 2], [20, 1]]
    assert rows(started, f"SELECT count(*) FROM t VERSION AS OF {begins}", **on) == [[3]]
    assert rows(started, "SHOW BRANCHES") == [["b", "main", "1", None]]
    assert rows(started, "SHOW branch; RESET branch; SHOW branch", **on) == [["main"]]
    assert [row[0] for row in rows(started, "SHOW TABLES", **on)] == ["bag", "t"]


def test_a_branch_may_have_a_name_in_quotes(started: Client) -> None:
    """The request names it as SQL does: a name is folded once."""
    on = {"branch": '"What if? B"'}
    run(started, 'CREATE BRANCH "What if? B"; SET branch = "What if? B"; INSERT INTO t VALUES (4, 20)')
    assert rows(started, "SELECT count(*) FROM t", **on) == [[4]]
    begins = started.get("/v1/branches/%22What%20if%3F%20B%22").json()["begins"]
    assert rows(started, "SELECT count(*) FROM t", as_of=begins, **on) == [[3]]
    assert rows(started, "SELECT count(*) FROM t", branch="main", as_of=1) == [[3]]
    run(started, "CREATE BRANCH b")
    assert rows(started, "SHOW branch", branch="B") == [["b"]]
    assert rows(started, "SHOW branch", branch="MAIN") == [["main"]]


def test_diff(started: Client) -> None:
    run(started, "CREATE BRANCH b; SET branch = b; INSERT INTO t VALUES (4, 20), (5, 30)")
    query = "SELECT n, c, _diff FROM diff(v, 'main', 'b') ORDER BY n, c"
    assert rows(started, query) == [[20, 1, -1], [20, 2, 1], [30, 1, 1]]
    assert rows(started, "SELECT * FROM diff(v, 'b', 'main') WHERE _diff > 0") == [[20, 1, 1]]
    assert rows(started, "SELECT * FROM diff(public.v, 'b', 'b')") == []
    joined = "SELECT d.id, m.n FROM diff(t, 'main', 'b') AS d LEFT JOIN t m ON m.id = d.id ORDER BY 1"
    assert rows(started, joined) == [[4, None], [5, None]]
    run(started, "INSERT INTO bag VALUES (1), (1); SET branch = b; INSERT INTO bag VALUES (1)")
    assert rows(started, "SELECT * FROM diff(bag, 'main', 'b')") == [[1, -1]]
    assert started.get("/v1/branches/b/diff", view="bag", format="csv").text == "a,_diff\r\n1,-1\r\n"


def test_a_branch_of_an_epoch_and_merging(started: Client) -> None:
    epoch = run(started, "INSERT INTO t VALUES (4, 40)")[0]["epoch"]
    run(started, f"DELETE FROM t WHERE id = 1; CREATE BRANCH old AS OF {epoch - 1}")
    assert rows(started, "SELECT count(*) FROM t", branch="old") == [[3]]
    run(started, "CREATE BRANCH IF NOT EXISTS old; CREATE BRANCH young FROM old; CREATE BRANCH mine")
    run(started, "UPDATE t SET n = 0 WHERE id = 2", branch="young")
    assert run(started, "MERGE BRANCH young INTO old ON CONFLICT FAIL")[0]["count"] == 1
    assert rows(started, "SELECT n FROM t WHERE id = 2", branch="old") == [[0]]
    merged = run(started, "MERGE BRANCH old; SELECT n FROM t WHERE id = 2")
    assert (merged[0]["statement"], merged[1]["rows"]) == ("MERGE BRANCH", [[0]])
    run(started, "UPDATE t SET n = 1 WHERE id = 3; SET branch = mine; UPDATE t SET n = 2 WHERE id = 3")
    assert code(started.post("/v1/sql", {"sql": "MERGE BRANCH mine"})) == (409, "merge_conflict")
    run(started, "MERGE BRANCH mine ON CONFLICT OURS")
    assert rows(started, "SELECT n FROM t WHERE id = 3") == [[1]]
    run(started, "DROP BRANCH young, mine; DROP BRANCH old; DROP BRANCH IF EXISTS old")
    assert rows(started, "SHOW BRANCHES") == []


def test_a_branch_of_a_time(started: Client) -> None:
    before = "CREATE BRANCH b AS OF '2020-01-01T00:00:00Z'"
    assert run(started, before)
    assert rows(started, "SELECT count(*) FROM t", branch="b") == [[0]]
    run(started, "CREATE BRANCH c AS OF '2999-01-01T00:00:00Z'")
    assert rows(started, "SELECT count(*) FROM t", branch="c") == [[3]]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CREATE TABLE u (a BIGINT)", (422, "unsupported_sql")),
        ("CREATE OR REPLACE VIEW v AS SELECT n FROM t", (422, "unsupported_sql")),
        ("ALTER TABLE t ADD COLUMN x BIGINT", (422, "unsupported_sql")),
        ("DROP TABLE t CASCADE", (422, "unsupported_sql")),
        ("DROP BRANCH b", (409, "in_use")),
        ("SET branch = none", (404, "unknown_name")),
        ("MERGE BRANCH b INTO c", (422, "unsupported_sql")),
        ("MERGE BRANCH b ON CONFLICT MINE", (400, "syntax_error")),
        ("CREATE BRANCH", (400, "syntax_error")),
        ("CREATE BRANCH x AS OF yesterday", (400, "syntax_error")),
        ("BEGIN; CREATE BRANCH x; COMMIT", (422, "unsupported_sql")),
        ("BEGIN; SET branch = b; COMMIT", (422, "invalid_query")),
        ("INSERT INTO bag SELECT n FROM diff(t, 'main', 'b')", (409, "diff_in_block")),
        ("SELECT * FROM diff(t, 'main')", (422, "invalid_query")),
        ("SELECT * FROM diff(t, 'main', b)", (422, "invalid_query")),
        ("SELECT * FROM diff('t', 'main', 'b')", (422, "invalid_query")),
        ("SELECT * FROM diff(t, 'main', 'none')", (404, "unknown_name")),
        ("SELECT * FROM diff(none, 'main', 'b')", (422, "unknown_table")),
    ],
)
def test_refusals(started: Client, sql: str, expected: tuple[int, str]) -> None:
    run(started, "CREATE BRANCH b")
    assert code(started.post("/v1/sql", {"sql": sql, "branch": "b"})) == expected


def test_what_a_refusal_proposes(started: Client) -> None:
    run(started, "CREATE BRANCH b")
    for sql, hint in (
        ("COPY t TO 'out.csv'", "SELECT reads a branch"),
        ("CREATE TABLE w (n BIGINT)", "a branch can have views, made with CREATE VIEW"),
    ):
        answer = started.post("/v1/sql", {"sql": sql, "branch": "b"})
        assert code(answer) == (422, "unsupported_sql")
        assert hint in answer.json()["hint"], answer.text


def test_all_branches_of_a_statement_are_dropped_or_none(started: Client) -> None:
    run(started, "CREATE BRANCH first; CREATE BRANCH second FROM first; CREATE BRANCH third")
    for names in ("third, nothing", "third, first", "nothing, third"):
        assert started.post("/v1/sql", {"sql": f"DROP BRANCH {names}"}).status_code in (404, 409)
    before = {name for name, *_ in rows(started, "SHOW BRANCHES")}
    assert {"first", "second", "third"} <= before
    run(started, "DROP BRANCH IF EXISTS first, nothing, second, third, third")
    after = {name for name, *_ in rows(started, "SHOW BRANCHES")}
    assert after == before - {"first", "second", "third"}


def test_branches_are_dropped_in_one_transaction(started: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the catalog cannot remove one of them, all are still there after a restart."""
    run(started, "CREATE BRANCH first; CREATE BRANCH second")
    whole, removed = open_branches.remove_branch, []

    def fails(connection: object, id: int) -> None:
        if removed:
            raise OSError("the disk is gone")
        removed.append(id)
        whole(connection, id)

    monkeypatch.setattr(open_branches, "remove_branch", fails)
    assert started.post("/v1/sql", {"sql": "DROP BRANCH first, second"}).status_code == 500
    with started.runtime._state.catalog.connections.reading_aside() as connection:
        assert [record.name for record in branches_of(connection)] == ["first", "second"]


def test_who_may(settings: Settings) -> None:
    """Whoever may write everything may make, merge and drop branches; others read and change their tables."""
    with Client(settings) as client:
        run(client, START)
        admin = make_key(client, "boss", "admin")["key"]
        write, some = (
            make_key(client, name, "write", relations, admin)["key"]
            for name, relations in (("all", None), ("some", ["t"]))
        )

        def ask(key: str, sql: str, **more: object):
            return client.post("/v1/sql", {"sql": sql, **more}, headers=bearer(key))

        assert ask(write, "CREATE BRANCH b").status_code == 200
        for sql in ("CREATE BRANCH c", "MERGE BRANCH b", "DROP BRANCH b"):
            assert code(ask(some, sql)) == (403, "forbidden")
        assert client.post("/v1/branches", {"name": "c"}, headers=bearer(some)).status_code == 403
        assert client.post("/v1/branches/b/merge", {}, headers=bearer(some)).status_code == 403
        assert ask(some, "INSERT INTO t VALUES (9, 9)", branch="b").status_code == 200
        assert code(ask(some, "INSERT INTO bag VALUES (9)", branch="b")) == (403, "forbidden")
        assert code(ask(some, "SELECT * FROM diff(bag, 'main', 'b')")) == (422, "unknown_table")
        assert ask(some, "SELECT * FROM diff(t, 'main', 'b')").json()["results"][0]["rows"] == [[9, 9, 1]]
        hidden = client.run(
            client.http.get("/v1/branches/b/diff", params={"view": "bag"}, headers=bearer(some))
        )
        assert code(hidden) == (403, "forbidden")
        entries = client.run(client.http.get("/v1/audit", headers=bearer(admin))).json()["entries"]
        assert any(entry["action"] == "CREATE BRANCH b" for entry in entries)
