"""Assertions: an epoch that breaks one is refused with rows that do, however it comes; nothing else is."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor
from tests.seeds import each_seed, few
from tests.service.client import Client, Process, code

EDGES = """
CREATE TABLE edges (a BIGINT, b BIGINT, PRIMARY KEY (a, b));
CREATE VIEW paths AS WITH RECURSIVE p (a, b) AS (
    SELECT a, b FROM edges UNION SELECT p.a, e.b FROM p JOIN edges e ON p.b = e.a) SELECT * FROM p;
CREATE ASSERTION acyclic CHECK (NOT EXISTS (SELECT a FROM paths WHERE a = b));
"""
STOCK = """
CREATE TABLE moves (item BIGINT, n BIGINT);
CREATE ASSERTION enough CHECK (
    NOT EXISTS (SELECT item, sum(n) AS stock FROM moves GROUP BY item HAVING sum(n) < 0));
"""


def ask(client: Client, sql: str) -> tuple[int, str]:
    answer = client.post("/v1/sql", {"sql": sql})
    return (200, "") if answer.status_code == 200 else code(answer)


def refusal(client: Client, sql: str) -> str:
    answer = client.post("/v1/sql", {"sql": sql})
    assert code(answer) == (409, "assertion_broken"), answer.text
    return answer.json()["detail"]


def test_a_recursion_is_asserted(client: Client) -> None:
    assert ask(client, EDGES) == (200, "")
    assert ask(client, "INSERT INTO edges VALUES (1, 2), (2, 3)") == (200, "")
    before = client.runtime.snapshot.upper
    told = refusal(client, "INSERT INTO edges VALUES (3, 1)")
    assert told == "assertion acyclic would be broken by (a = 1); (a = 2); (a = 3)"
    assert code(client.deltas("edges", {"insert": {"a": 3, "b": 3}})) == (409, "assertion_broken")
    assert client.runtime.snapshot.upper == before
    assert client.rows("edges") == [(1, 2), (2, 3)]
    assert client.rows("paths") == [(1, 2), (1, 3), (2, 3)]
    assert ask(client, "DELETE FROM edges WHERE a = 2; INSERT INTO edges VALUES (3, 1)") == (200, "")
    assert client.rows("acyclic") == []


def test_a_block_is_checked_at_its_end(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data")) as door, door.connect(autocommit=False) as own:
        assert ask(door, STOCK) == (200, "")
        own.execute("INSERT INTO moves VALUES (1, -5)")
        own.execute("INSERT INTO moves VALUES (1, 5)")
        own.commit()
        own.execute("INSERT INTO moves VALUES (1, -1)")
        with pytest.raises(Exception, match=r"enough would be broken by \(item = 1, stock = -1\)") as caught:
            own.commit()
        assert caught.value.sqlstate == "23514"
        own.rollback()
        assert sorted(door.rows("moves")) == [(1, -5), (1, 5)]


def test_conditions_of_any_form(client: Client) -> None:
    assert ask(client, "CREATE TABLE t (v BIGINT)") == (200, "")
    condition = "(SELECT sum(v) FROM t) <= 10 AND NOT EXISTS (SELECT 1 FROM t WHERE v < 0)"
    assert ask(client, f"CREATE ASSERTION small CHECK ({condition})") == (200, "")
    assert ask(client, "INSERT INTO t VALUES (4), (NULL), (6)") == (200, "")
    assert refusal(client, "INSERT INTO t VALUES (1)").endswith("(holds = false)")
    refusal(client, "INSERT INTO t VALUES (-1)")
    assert ask(client, "DELETE FROM t") == (200, "")  # the sum is NULL, and a condition that is NULL holds
    assert ask(client, "CREATE ASSERTION two CHECK (NOT EXISTS (SELECT 1 FROM t) OR FALSE)") == (200, "")
    refusal(client, "INSERT INTO t VALUES (1)")


def test_it_is_not_made_while_it_is_broken(client: Client) -> None:
    assert ask(client, "CREATE TABLE t (v BIGINT)") == (200, "")
    assert ask(client, "INSERT INTO t VALUES (-1), (-2), (-3), (-4), (5)") == (200, "")
    told = refusal(client, "CREATE ASSERTION positive CHECK (NOT EXISTS (SELECT v FROM t WHERE v < 0))")
    assert told.endswith("(v = -2); (v = -3); (v = -4) and 1 more")
    assert "positive" not in client.runtime.definitions()
    assert ask(client, "DELETE FROM t WHERE v < 0") == (200, "")
    body = {"name": "positive", "sql": "SELECT v FROM t WHERE v < 0", "breach": "refuse"}
    answer = client.post("/v1/views", body)
    assert answer.status_code == 201 and answer.json()["breach"] == "refuse"
    refusal(client, "UPDATE t SET v = -1")


def test_one_that_warns_is_a_view(client: Client) -> None:
    assert ask(client, STOCK.replace("));", ")) WITH (WARN);")) == (200, "")
    epoch = client.insert("moves", {"item": 1, "n": -5})
    assert client.rows("enough") == [(1, -5)]
    changes = client.get("/v1/views/enough/changes", since=epoch - 1).json()
    assert "-5" in str(changes)
    assert client.get("/v1/views/enough").json()["breach"] == "warn"


def test_statements_about_assertions(client: Client) -> None:
    assert ask(client, STOCK) == (200, "")
    (shown,) = client.post("/v1/sql", {"sql": "SHOW ASSERTIONS"}).json()["results"]
    assert [row[:3] for row in shown["rows"]] == [["enough", "refuse", "ready"]]
    (shown,) = client.post("/v1/sql", {"sql": "SHOW CREATE ASSERTION enough"}).json()["results"]
    text = shown["rows"][0][1]
    assert text.startswith("CREATE ASSERTION enough CHECK (NOT EXISTS (")
    again = "CREATE OR REPLACE VIEW enough AS SELECT 1 AS item, 2 AS stock"
    assert ask(client, again) == (409, "in_use")
    assert ask(client, "CREATE VIEW plain AS SELECT item FROM moves") == (200, "")
    assert ask(client, "DROP ASSERTION plain") == (404, "unknown_name")
    assert ask(client, "DROP ASSERTION nothing") == (404, "unknown_name")
    assert ask(client, "DROP ASSERTION IF EXISTS nothing, enough") == (200, "")
    assert ask(client, "INSERT INTO moves VALUES (1, -5)") == (200, "")
    assert ask(client, text) == (409, "assertion_broken")
    assert ask(client, "DELETE FROM moves; " + text) == (200, "")


def test_an_assertion_is_dropped_as_one(client: Client) -> None:
    assert ask(client, STOCK + "CREATE VIEW plain AS SELECT item FROM moves") == (200, "")
    for sql in ("DROP VIEW enough", "DROP VIEW IF EXISTS plain, enough"):
        answer = client.post("/v1/sql", {"sql": sql})
        assert code(answer) == (404, "unknown_name")
        assert "DROP ASSERTION enough" in answer.json()["hint"]
    assert "plain" in client.runtime.definitions()
    refusal(client, "INSERT INTO moves VALUES (1, -5)")
    assert ask(client, "SHOW CREATE ASSERTION plain") == (404, "unknown_name")
    assert client.delete("/v1/views/enough").status_code == 204  # over HTTP it is a view with a breach


def test_its_text_has_the_names_of_today(client: Client) -> None:
    """After tables and columns were renamed, the text that is shown makes the same assertion again."""
    made = (
        STOCK
        + """
        CREATE SCHEMA other;
        CREATE TABLE items (id BIGINT, name TEXT);
        CREATE VIEW named AS SELECT items.name, m.n FROM moves m JOIN items ON items.id = m.item;
        CREATE ASSERTION known CHECK (NOT EXISTS (
            WITH moves AS (SELECT items.id AS item FROM items) SELECT m.item FROM public.moves m
            WHERE m.item NOT IN (SELECT item FROM moves)));
        ALTER TABLE moves RENAME TO "Moves of it";
        ALTER TABLE "Moves of it" RENAME COLUMN n TO number;
        ALTER TABLE "Moves of it" ADD COLUMN more BIGINT;
        ALTER TABLE items RENAME TO goods"""
    )
    assert ask(client, made) == (200, "")
    shown = client.post("/v1/sql", {"sql": "SHOW ASSERTIONS"}).json()["results"][0]["rows"]
    assert all('"Moves of it"' in text for *_, text in shown)
    texts = []
    for name in ("ASSERTION enough", "ASSERTION known", "VIEW named"):
        (found,) = client.post("/v1/sql", {"sql": f"SHOW CREATE {name}"}).json()["results"]
        texts.append(found["rows"][0][1])
    assert "FROM goods AS items" in texts[1] and "FROM goods AS items" not in texts[0]
    assert ask(client, "DROP VIEW named; DROP ASSERTION enough, known; " + "; ".join(texts)) == (200, "")
    refusal(client, """INSERT INTO "Moves of it" VALUES (1, 5, 0)""")
    moves = """INSERT INTO goods VALUES (1, 'one'); INSERT INTO "Moves of it" VALUES (1, 5, 0)"""
    assert ask(client, moves) == (200, "")
    assert client.rows("named") == [("one", 5)]
    refusal(client, """INSERT INTO "Moves of it" VALUES (1, -6, 0)""")


def test_what_reads_the_time_can_warn(client: Client) -> None:
    client.table("t", {"at": "TIMESTAMP"})
    view = {"name": "late", "sql": "SELECT at FROM t WHERE at < now()", "breach": "refuse"}
    answer = client.post("/v1/views", view)
    assert code(answer) == (422, "invalid_query")
    assert '"breach": "warn"' in answer.json()["hint"]
    assert client.post("/v1/views", {**view, "breach": "warn"}).status_code == 201


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE ASSERTION a CHECK ()", "the condition is missing"),
        ("CREATE ASSERTION a CHECK (TRUE", "a parenthesis is not closed"),
        ("CREATE ASSERTION a CHECK (TRUE) NOT DEFERRABLE", 'syntax error at or near "NOT"'),
        ("CREATE ASSERTION a NOT EXISTS (SELECT 1)", "CHECK is expected"),
        ("CREATE ASSERTION a CHECK (NOT EXISTS (SELECT v FROM nowhere))", 'unknown table "nowhere"'),
        ("CREATE ASSERTION a CHECK (NOT EXISTS (SELECT v FROM t WHERE v < now()))", "reads the time"),
    ],
)
def test_what_is_wrong_is_said(client: Client, sql: str, message: str) -> None:
    assert ask(client, "CREATE TABLE t (v TIMESTAMPTZ)") == (200, "")
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code in (400, 404, 422), answer.text
    assert message in answer.json()["detail"]
    assert "a" not in client.runtime.definitions()


def test_an_alteration_that_breaks_one_is_refused(client: Client) -> None:
    assert ask(
        client,
        "CREATE TABLE t (v BIGINT); CREATE VIEW w AS SELECT v FROM t WHERE v < 0; INSERT INTO t VALUES (1);"
        "CREATE ASSERTION a CHECK (NOT EXISTS (SELECT v FROM w))",
    ) == (200, "")
    assert ask(client, "CREATE OR REPLACE VIEW w AS SELECT v FROM t WHERE v > 0") == (409, "assertion_broken")
    assert client.rows("w") == [] and client.rows("a") == []
    assert ask(client, "INSERT INTO t VALUES (2)") == (200, "")
    refusal(client, "INSERT INTO t VALUES (-1)")


def test_one_that_cannot_be_computed_refuses_too(client: Client) -> None:
    assert ask(
        client,
        "CREATE TABLE t (v BIGINT); CREATE TABLE other (v BIGINT);"
        "CREATE ASSERTION a CHECK (NOT EXISTS (SELECT 1 FROM t WHERE 10 / v > 5))",
    ) == (200, "")
    answer = client.post("/v1/sql", {"sql": "INSERT INTO t VALUES (0)"})
    assert code(answer) == (409, "assertion_unchecked")
    assert answer.json()["detail"] == "assertion a cannot be checked: division by zero: 10 // 0"
    assert client.rows("t") == []
    assert ask(client, "INSERT INTO other VALUES (0)") == (200, "")
    other = "CREATE ASSERTION b CHECK (NOT EXISTS (SELECT 1 FROM other WHERE 10 / v > 5))"
    assert ask(client, other) == (409, "assertion_unchecked")


def test_it_survives_a_start_and_a_kill(settings: Settings, start) -> None:
    process: Process = start()
    process.wait_ready()
    for script in (EDGES, "INSERT INTO edges VALUES (1, 2)"):
        assert process.http.post("/v1/sql", json={"sql": script}).status_code == 200
    process.kill()
    with Client(settings) as client:
        refusal(client, "INSERT INTO edges VALUES (2, 1)")
        assert client.rows("edges") == [(1, 2)]
    with Client(settings) as client:
        refusal(client, "INSERT INTO edges VALUES (2, 1)")


def test_large_changes_are_checked(settings: Settings) -> None:
    with Client(replace(settings, large_changes=10)) as client:
        assert ask(client, STOCK) == (200, "")
        rows = [{"insert": {"item": i, "n": 1}} for i in range(50)]
        assert client.deltas("moves", *rows).status_code == 200
        bad = [{"insert": {"item": i, "n": -1 - (i == 7)}} for i in range(50)]
        assert code(client.deltas("moves", *bad)) == (409, "assertion_broken")
        assert len(client.rows("moves")) == 50
        assert client.deltas("moves", *bad[8:]).status_code == 200


@each_seed(few(3))
def test_random_changes_that_come_together(settings: Settings, seed: int) -> None:
    """Requests that are committed as one group are taken in their order, each by itself."""
    rng = random.Random(f"assertions {seed}")
    with Client(settings) as client:
        assert ask(client, EDGES + STOCK) == (200, "")
        edges: set[tuple[int, int]] = set()
        stock: dict[int, int] = {}
        for _ in range(30):
            posts, taken = [], []
            for _ in range(rng.randrange(1, 6)):
                if rng.random() < 0.5:
                    a, b = rng.randrange(6), rng.randrange(6)
                    op = "delete" if (a, b) in edges else "insert"
                    posts.append(client.http.post("/v1/tables/edges/deltas", json=[{op: {"a": a, "b": b}}]))
                    changed = edges ^ {(a, b)}
                    taken.append(not is_cyclic(changed))
                    edges = changed if taken[-1] else edges
                else:
                    item, n = rng.randrange(3), rng.randrange(-3, 4)
                    body = [{"insert": {"item": item, "n": n}}]
                    posts.append(client.http.post("/v1/tables/moves/deltas", json=body))
                    taken.append(stock.get(item, 0) + n >= 0)
                    stock[item] = stock.get(item, 0) + n * taken[-1]
            answers = client.together(*posts)
            assert [answer.status_code == 200 for answer in answers] == taken
            assert {row[:2] for row in client.rows("edges")} == edges
        assert client.rows("acyclic") == [] and client.rows("enough") == []


def is_cyclic(edges: set[tuple[int, int]]) -> bool:
    reach = set(edges)
    while True:
        more = {(a, d) for a, b in reach for c, d in edges if b == c} - reach
        if not more:
            return any(a == b for a, b in reach)
        reach |= more
