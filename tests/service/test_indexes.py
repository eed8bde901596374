"""CREATE INDEX and DROP INDEX: what they say, what is kept, and what reads do with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from service.accounts.principals import Principal
from service.reading import point_reads
from service.reading.callers import Caller
from service.running import index_builds
from service.settings.settings import Settings
from service.sql.script_failures import ScriptFailed
from tests.service.client import Client, code


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(replace(settings, spark="never")) as client:
        assert sql(client, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, s TEXT)") == []
        sql(client, "INSERT INTO t SELECT i, i % 7, 's' || i FROM generate_series(1, 100) AS g (i)")
        sql(client, "CREATE VIEW v AS SELECT count(*) AS rows, n FROM t GROUP BY n")
        yield client


def sql(client: Client, script: str, **body: object) -> list:
    """The rows of the last statement."""
    answer = client.post("/v1/sql", {"sql": script, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1].get("rows", [])


def refused(client: Client, script: str) -> tuple[str, str]:
    answer = client.post("/v1/sql", {"sql": script})
    return code(answer)[1], answer.json()["detail"]


def plan(client: Client, query: str) -> str:
    ((line,),) = sql(client, f"EXPLAIN ANSWER {query}")
    return line


def indexes(client: Client, path: str) -> list | None:
    return client.get(path).json().get("indexes")


def eventually(test) -> None:
    end = time.monotonic() + 240
    while not test():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_explain_says_what_is_looked_up(client: Client) -> None:
    assert plan(client, "SELECT * FROM t WHERE id = 5") == "lookup in the key of t (id)"
    assert plan(client, "SELECT * FROM t WHERE s = 's5'") == "DuckDB over t (100 rows)"
    assert plan(client, "SELECT * FROM v WHERE n = 5") == "DuckDB over v (7 rows)"
    sql(client, "CREATE INDEX ON t (s); CREATE INDEX ON v (n); CREATE INDEX c ON t (n) INCLUDE (s)")
    assert (
        plan(client, "SELECT * FROM t WHERE s = 's5'") == "lookup in index t_s_idx (s), then in the key of t"
    )
    assert plan(client, "SELECT s FROM t WHERE n IN (5, 6)") == "lookup in index c (n)"
    assert plan(client, "SELECT * FROM v WHERE n = 5 AND rows > 1") == "lookup in index v_n_idx (n)"
    assert plan(client, "SELECT * FROM t WHERE n < 5") == "DuckDB over t (range in index c (n))"
    assert plan(client, "SELECT count(*) FROM t WHERE id BETWEEN 3 AND 5") == (
        "DuckDB over t (range in the key of t (id))"
    )
    joined = "SELECT * FROM t JOIN v ON v.rows = t.id WHERE t.s = 's5'"
    assert plan(client, joined) == (
        "DuckDB over t (lookup in index t_s_idx (s), then in the key of t), "
        "v (lookup in the order of v (rows), with the rows of t)"
    )
    joined = "SELECT * FROM v LEFT JOIN t ON t.id = v.n AND t.s = v.rows::text WHERE v.n = 5"
    assert (
        plan(client, joined) == "DuckDB over v (lookup in index v_n_idx (n)), t (lookup in the key of t (id))"
    )
    joined = "SELECT * FROM t AS a JOIN t AS b ON b.id = a.n WHERE a.s = 's5'"
    assert plan(client, joined) == (
        "DuckDB over t (lookup in index t_s_idx (s), then in the key of t), "
        "t (lookup in the key of t (id), with the rows of t)"
    )
    assert plan(client, "CREATE VIEW w AS SELECT 1 AS one") == "only as a view"
    assert sql(client, "EXPLAIN SELECT * FROM t WHERE id = 5")[:2] == [
        ["-- answer"],
        ["lookup in the key of t (id)"],
    ]


def test_indexes_are_listed_and_kept(client: Client, settings: Settings) -> None:
    sql(client, "CREATE INDEX a ON t (s) INCLUDE (n); CREATE INDEX b ON v (n)")
    listed = [{"name": "a", "columns": ["s"], "included": ["n"], "state": "ready"}]
    assert indexes(client, "/v1/tables/t") == listed
    assert indexes(client, "/v1/views/v") == [{"name": "b", "columns": ["n"], "state": "ready"}]
    rows = sql(client, "SELECT * FROM t WHERE s = 's5'")
    client.__exit__()
    again = Client(replace(settings, spark="never"))
    again.__enter__()
    client.__dict__.update(again.__dict__)
    eventually(lambda: indexes(client, "/v1/tables/t") == listed)
    assert sql(client, "SELECT * FROM t WHERE s = 's5'") == rows == [[5, 5, "s5"]]
    assert plan(client, "SELECT * FROM v WHERE n = 5") == "lookup in index b (n)"


def test_definitions_that_change_take_their_indexes_along(client: Client) -> None:
    sql(client, "CREATE INDEX a ON t (s); CREATE INDEX b ON t (n); CREATE INDEX c ON v (n)")
    sql(client, "ALTER TABLE t RENAME COLUMN s TO text")
    assert plan(client, "SELECT * FROM t WHERE text = 's5'").startswith("lookup in index a (text)")
    assert sql(client, "SELECT id FROM t WHERE text = 's5'") == [[5]]
    sql(client, "ALTER TABLE t ADD COLUMN more BIGINT DEFAULT 3")
    eventually(lambda: plan(client, "SELECT * FROM t WHERE text = 's5'").startswith("lookup in index a"))
    assert sql(client, "SELECT * FROM t WHERE text = 's5'") == [[5, 5, "s5", 3]]
    sql(client, "ALTER TABLE t DROP COLUMN text")
    assert [index["name"] for index in indexes(client, "/v1/tables/t") or ()] == ["b"]
    sql(client, "CREATE OR REPLACE VIEW v AS SELECT n, count(*) * 10 AS rows FROM t GROUP BY n")
    eventually(lambda: plan(client, "SELECT * FROM v WHERE n = 5") == "lookup in index c (n)")
    assert sql(client, "SELECT * FROM v WHERE n = 5") == [[5, 140]]
    sql(client, "CREATE OR REPLACE VIEW v AS SELECT count(*) AS rows FROM t")
    assert indexes(client, "/v1/views/v") is None
    sql(client, "DROP VIEW v; DROP TABLE t")
    assert not [name for name in client.runtime.snapshot.relations if "\0" in name]


def test_an_index_reads_the_past(client: Client) -> None:
    epoch = client.runtime.snapshot.upper - 1
    sql(client, "UPDATE t SET s = 'new' WHERE id <= 3")
    sql(client, "CREATE INDEX a ON t (s)")
    sql(client, "DELETE FROM t WHERE id = 2")
    query = "SELECT id FROM t WHERE s = $1 ORDER BY id"
    assert sql(client, query, parameters=["new"]) == [[1], [3]]
    assert sql(client, query, parameters=["new"], as_of=epoch + 1) == [[1], [2], [3]]
    assert sql(client, query, parameters=["s2"], as_of=epoch) == [[2]]


def test_a_unique_index_is_a_constraint(client: Client) -> None:
    sql(client, "CREATE UNIQUE INDEX u ON t (s)")
    assert refused(client, "INSERT INTO t VALUES (1000, 0, 's5')")[0] == "unique_violated"
    assert (
        plan(client, "SELECT * FROM t WHERE s = 's5'") == "lookup in constraint u (s), then in the key of t"
    )
    sql(client, "DROP INDEX u; INSERT INTO t VALUES (1000, 0, 's5')")
    assert refused(client, "CREATE UNIQUE INDEX u ON t (s)")[0] == "unique_violated"
    assert sql(client, "SELECT id FROM t WHERE s = 's5' ORDER BY id") == [[5], [1000]]


@pytest.mark.parametrize(
    ("constraint", "broken"),
    [
        ("ALTER TABLE t ADD CONSTRAINT c UNIQUE (s)", "unique_violated"),
        ("CREATE UNIQUE INDEX c ON t (s)", "unique_violated"),
        ("ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (s) REFERENCES p", "foreign_key_violated"),
    ],
)
def test_a_constraint_shares_the_index_that_is_there(client: Client, constraint: str, broken: str) -> None:
    sql(client, "CREATE TABLE p (s TEXT PRIMARY KEY); INSERT INTO p SELECT s FROM t")
    sql(client, "CREATE INDEX a ON t (s)")
    sql(client, constraint)
    unknown = "INSERT INTO t VALUES (1000, 0, 's5'), (1001, 0, 'unknown')"
    assert refused(client, unknown)[0] == broken
    sql(client, "DROP INDEX a")
    assert refused(client, unknown)[0] == broken
    sql(client, "CREATE INDEX a ON t (s); ALTER TABLE t DROP CONSTRAINT c")
    sql(client, unknown)
    assert sql(client, "SELECT id FROM t WHERE s = 's5' ORDER BY id") == [[5], [1000]]
    sql(client, "DROP INDEX a")
    assert not [name for name in client.runtime.snapshot.relations if name.startswith("\0t\0")]


REFUSED = (
    ("CREATE INDEX i ON t (nix)", "unknown_column"),
    ("CREATE INDEX i ON nix (n)", "unknown_name"),
    ("CREATE INDEX i ON t (lower(s))", "invalid_query"),
    ("CREATE INDEX i ON t (n) WHERE n > 1", "unsupported_sql"),
    ("CREATE INDEX i ON t USING gin (n)", "unsupported_sql"),
    ("CREATE INDEX i ON t (n, n)", "invalid_query"),
    ("CREATE INDEX i ON t (n) WITH (fillfactor = 70)", "unsupported_sql"),
    ("CREATE INDEX i ON t (n text_ops)", "invalid_query"),
    ("CREATE INDEX t ON t (n)", "name_in_use"),
    ("CREATE INDEX i ON t (n); CREATE INDEX i ON v (n)", "name_in_use"),
    ("CREATE UNIQUE INDEX i ON v (n)", "unsupported_sql"),
    ("CREATE UNIQUE INDEX i ON t (id) INCLUDE (n)", "unsupported_sql"),
    ("DROP INDEX nix", "unknown_name"),
    ("DROP INDEX", "syntax_error"),
    ("BEGIN; CREATE INDEX i ON t (n); COMMIT", "unsupported_sql"),
)


def test_refusals(client: Client) -> None:
    for script, expected in REFUSED:
        assert refused(client, script)[0] == expected, script
        sql(client, "DROP INDEX IF EXISTS i, nix")
    assert indexes(client, "/v1/tables/t") is None


def test_drop_index_cancels_a_build(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    compute = index_builds.EngineBuild.compute

    def waiting(self, *args) -> None:
        begun.set()
        assert go_on.wait(240)
        compute(self, *args)

    monkeypatch.setattr(index_builds.EngineBuild, "compute", waiting)
    building = client.begin(client.http.post("/v1/sql", json={"sql": "CREATE INDEX slow ON t (s)"}))
    assert begun.wait(240)
    assert indexes(client, "/v1/tables/t") == [{"name": "slow", "columns": ["s"], "state": "building"}]
    assert sql(client, "SELECT id FROM t WHERE s = 's5'") == [[5]]
    sql(client, "INSERT INTO t VALUES (1001, 1, 's5')")  # the writer goes on
    sql(client, "DROP INDEX slow")
    go_on.set()
    assert building.result(240).status_code >= 400
    assert indexes(client, "/v1/tables/t") is None
    assert not [name for name in client.runtime.snapshot.relations if "\0" in name]


def test_definitions_that_change_end_prepared_statements(client: Client) -> None:
    query = {"sql": "SELECT * FROM t WHERE id = $1", "parameters": [5]}
    first = client.post("/v1/sql", query).json()["results"][0]
    assert first["rows"] == [[5, 5, "s5"]]
    prepared = client.app.state.sql_door.prepared
    count = len(prepared)
    client.post("/v1/sql", {**query, "parameters": [6]})
    assert len(prepared) == count
    sql(client, "ALTER TABLE t ADD COLUMN more BIGINT")
    assert client.post("/v1/sql", query).json()["results"][0]["rows"] == [[5, 5, "s5", None]]
    sql(client, "DROP VIEW v; DROP TABLE t")
    assert code(client.post("/v1/sql", query)) == (422, "unknown_table")


def test_prepared_statements_are_bounded(settings: Settings) -> None:
    with Client(replace(settings, spark="never", prepared_bytes=100_000)) as client:
        sql(client, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
        prepared = client.app.state.sql_door.prepared
        for number in range(20):
            sql(client, f"SELECT id AS n{number} FROM t WHERE id = 1")
        assert 1 <= len(prepared) <= 5 and prepared.bytes <= 100_000


def test_a_point_read_of_many_rows(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come from the lane of lookups; if their texts are many bytes, from DuckDB, which limits them."""
    query = "SELECT id, s, s || '!' AS loud FROM t WHERE id = ANY($1) ORDER BY s DESC"
    expected = sorted(([id, f"s{id}", f"s{id}!"] for id in range(1, 101)), key=lambda row: row[1])[::-1]
    assert sql(client, query, parameters=[list(range(1, 101))]) == expected
    answers = []
    run = point_reads.PointRead.run
    monkeypatch.setattr(point_reads.PointRead, "run", lambda *args: answers.append(run(*args)) or answers[-1])
    monkeypatch.setattr(point_reads, "_MOST_BYTES", 100)
    assert sql(client, query, parameters=[list(range(1, 101))]) == expected
    assert answers and not any(answers)


def test_privileges_hold_for_prepared_statements(client: Client) -> None:
    """What one caller has prepared, another without the privilege cannot run."""
    door = client.app.state.sql_door
    text = "SELECT * FROM t WHERE id = 1"
    client.run(door.run(text, "postgres", Caller()))
    nobody = Principal(id="", name="x", role="nobody", permissions=frozenset())
    with pytest.raises(ScriptFailed) as failed:
        client.run(door.run(text, "postgres", Caller(principal=nobody)))
    assert failed.value.error.code == "forbidden"
