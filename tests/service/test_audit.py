"""The audit log: every change of a definition or an account has its entry, in its own transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.accounts import audit as module
from service.accounts.account_tables import audit
from service.accounts.audited_refusals import SPAN_SECONDS, Refusals
from service.http.needs import NEEDS
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import ask, bearer, make_key


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service with keys of an admin, `client.boss`, and of a reader, `client.reader`."""
    with Client(Settings(data=tmp_path_factory.mktemp("audit") / "data")) as client:
        client.table("kept", {"a": "BIGINT"})
        client.boss = make_key(client, "boss", "admin")["key"]
        client.reader = make_key(client, "reader", "read", by=client.boss)["key"]
        yield client


def entries(client: Client, since: int = 0) -> list[dict]:
    path = f"/v1/audit?since={since}&limit=1000"
    answer = client.run(client.http.get(path, headers=bearer(client.boss)))
    assert answer.status_code == 200, answer.text
    return answer.json()["entries"]


def newest(client: Client) -> int:
    return max(entry["number"] for entry in entries(client))


def sql(client: Client, text: str, key: str):
    return client.post("/v1/sql", {"sql": text}, headers=bearer(key))


@pytest.mark.parametrize("route", [route for route, need in NEEDS.items() if need.audited])
def test_every_route_that_is_audited_leaves_an_entry(audited: Client, route: str) -> None:
    """Refused for what it asks, and refused for who asks: one entry each, by name."""
    for key, name in ((audited.boss, "boss"), (audited.reader, "reader")):
        before = newest(audited)
        answer = ask(audited, route, key)
        assert answer.status_code >= 400
        (entry,) = entries(audited, before)
        assert entry["name"] == name and entry["key"] in key
        assert entry["outcome"] == str(answer.status_code)
        assert entry["action"].startswith(route.split()[0])


STATEMENTS = [
    "CREATE TABLE x (a BIGINT)",
    "CREATE TABLE IF NOT EXISTS x (a BIGINT)",
    "ALTER TABLE x ADD COLUMN b TEXT",
    "COMMENT ON TABLE x IS 'c'",
    "CREATE VIEW y AS SELECT a FROM x",
    "CREATE OR REPLACE VIEW y AS SELECT a + 1 AS a FROM x",
    "ALTER VIEW y RENAME TO z",
    "DROP VIEW z",
    "DROP VIEW IF EXISTS z",
    "CREATE TABLE copy AS SELECT * FROM x",
    "DROP TABLE x, copy",
    "CREATE TYPE mood AS ENUM ('a')",
    "DROP TYPE mood",
    "CREATE ROLE r",
    "GRANT SELECT ON kept TO r",
    "REVOKE SELECT ON kept FROM r",
    "DROP ROLE r",
]


def test_every_statement_that_defines_leaves_one_entry(audited: Client) -> None:
    before = newest(audited)
    for statement in STATEMENTS:
        assert sql(audited, statement, audited.boss).status_code == 200, statement
    found = entries(audited, before)
    assert [entry["action"] for entry in found] == STATEMENTS
    assert {(entry["name"], entry["outcome"]) for entry in found} == {("boss", "done")}
    for statement in ("INSERT INTO kept VALUES (1)", "SELECT * FROM kept", "SHOW TABLES"):
        assert sql(audited, statement, audited.boss).status_code == 200
    assert len(entries(audited, before)) == len(STATEMENTS)


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE kept (a BIGINT)", "DROP TABLE none", "CREATE ROLE admin"]
)
def test_statements_that_fail_leave_one_entry(audited: Client, statement: str) -> None:
    for key, name in ((audited.boss, "boss"), (audited.reader, "reader")):
        before = newest(audited)
        answer = sql(audited, statement, key)
        (entry,) = entries(audited, before)
        assert (entry["name"], entry["outcome"]) == (name, str(answer.status_code))
        assert entry["action"] == statement


def test_routes_say_what_they_have_done(audited: Client) -> None:
    before = newest(audited)
    column = {"name": "a", "type": "BIGINT"}
    for method, path, body in (
        ("POST", "/v1/tables", {"name": "q", "columns": [column]}),
        ("POST", "/v1/tables", {"sql": "CREATE TABLE q2 (a BIGINT)"}),
        ("POST", "/v1/views", {"name": "w", "sql": "SELECT a FROM q"}),
        ("DELETE", "/v1/views/w", None),
        ("DELETE", "/v1/tables/q", None),
        ("POST", "/v1/keys", {"name": "k", "role": "read"}),
    ):
        answer = audited.run(audited.http.request(method, path, json=body, headers=bearer(audited.boss)))
        assert answer.status_code < 300, answer.text
    key = answer.json()["id"]
    assert ask(audited, f"POST /v1/keys/{key}/rotate", audited.boss).status_code == 200
    assert ask(audited, f"DELETE /v1/keys/{key}", audited.boss).status_code == 204
    found = entries(audited, before)
    assert [(entry["action"], entry["outcome"]) for entry in found] == [
        ("create table q", "done"),
        ("create table q2", "done"),
        ("create view w", "done"),
        ("DELETE /v1/views/w", "done"),
        ("DELETE /v1/tables/q", "done"),
        ("make key k of role read", "done"),
        (f"POST /v1/keys/{key}/rotate", "done"),
        (f"DELETE /v1/keys/{key}", "done"),
    ]


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE n (a BIGINT)", "CREATE VIEW n AS SELECT a FROM kept", "CREATE ROLE n"]
)
def test_without_its_entry_there_is_no_change(
    audited: Client, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """The entry fails where the transaction of the change is still open: the change goes with it."""
    with monkeypatch.context() as broken:

        def fail(*arguments: object) -> None:
            raise sa.exc.OperationalError("INSERT", {}, Exception("disk full"))

        broken.setattr(module, "record", fail)
        assert sql(audited, statement, audited.boss).status_code in (500, 503)
    assert sql(audited, "SELECT * FROM n", audited.boss).status_code == 422
    assert sql(audited, statement, audited.boss).status_code == 200
    clean = "DROP ROLE n" if "ROLE" in statement else f"DROP {statement.split()[1]} n"
    assert sql(audited, clean, audited.boss).status_code == 200


def test_nobody_fills_the_log(tmp_path: Path) -> None:
    """Refusals of a key beyond the setting have no entry, in either door; those of others have, and all that
    was done has."""
    with Client(Settings(data=tmp_path / "data", audit_refusals=5)) as client:
        client.boss = make_key(client, "boss", "admin")["key"]
        loud = make_key(client, "loud", "read", by=client.boss)["key"]
        quiet = make_key(client, "quiet", "read", by=client.boss)["key"]
        for _ in range(10):
            assert sql(client, "DROP TABLE t", loud).status_code == 403
            assert ask(client, "DELETE /v1/tables/{table}", loud).status_code == 403
        assert sql(client, "DROP TABLE t", quiet).status_code == 403
        assert sql(client, "CREATE TABLE t (a BIGINT)", client.boss).status_code == 200
        found = [entry["name"] for entry in entries(client)]
        assert (found.count("loud"), found.count("quiet"), found.count("boss")) == (5, 1, 3)


def test_left_out_refusals_are_counted() -> None:
    now = [0.0]
    refusals = Refusals(2, lambda: now[0])
    assert [refusals.entered("a") for _ in range(5)] == [0, 0, None, None, None]
    assert refusals.entered("b") == 0
    now[0] = SPAN_SECONDS
    assert [refusals.entered("a") for _ in range(3)] == [3, 0, None]


def test_pages_and_parameters(audited: Client) -> None:
    everything = entries(audited)
    answer = audited.run(audited.http.get("/v1/audit?since=2&limit=3", headers=bearer(audited.boss)))
    assert answer.json()["entries"] == everything[2:5]
    for query in ("limit=0", "limit=1001", "since=-1", "since=99999999999999999999999"):
        answer = audited.run(audited.http.get(f"/v1/audit?{query}", headers=bearer(audited.boss)))
        assert code(answer) == (422, "invalid_request"), query


def test_without_keys_there_is_a_log_too(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as client:
        client.table("t", {"a": "BIGINT"})
        assert client.delete("/v1/tables/t").status_code == 204
        (first, second) = client.get("/v1/audit").json()["entries"]
        assert (first["key"], first["name"], first["action"]) == (None, None, "create table t")
        assert second["action"] == "DELETE /v1/tables/t"
        assert client.post("/v1/sql", {"sql": "DROP TABLE t"}).status_code == 404
        assert len(client.get("/v1/audit").json()["entries"]) == 3
    engine = sa.create_engine(f"sqlite:///{tmp_path}/freshet.db")
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(audit)).scalar() == 3
    engine.dispose()
