"""What the holder of a limited key tries: to learn of hidden relations, and to spoil what others do."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from service.settings.settings import Settings
from service.sql.script_run import ScriptRun
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

SETUP = """
CREATE TABLE hidden (a BIGINT PRIMARY KEY, b TEXT); INSERT INTO hidden VALUES (1, 'x'), (2, 'y');
CREATE VIEW hidden_view AS SELECT a FROM hidden; CREATE VIEW v AS SELECT a FROM hidden;
CREATE TABLE parent (id BIGINT PRIMARY KEY); INSERT INTO parent VALUES (1), (2);
CREATE TABLE hidden_child (id BIGINT, p BIGINT REFERENCES parent (id));
CREATE TABLE lone (id BIGINT PRIMARY KEY); INSERT INTO lone VALUES (1);
CREATE TABLE hidden_too (id BIGINT REFERENCES lone (id)); INSERT INTO hidden_too VALUES (1);
INSERT INTO hidden_child VALUES (7, 1);
CREATE TABLE child (id BIGINT, p BIGINT REFERENCES parent (id)); INSERT INTO child VALUES (7, 2);
CREATE TABLE t (a BIGINT PRIMARY KEY); INSERT INTO t SELECT * FROM generate_series(1, 20)
"""


class Doors:
    """A service with hidden relations: `boss` is an admin's key, `one` a limited one, `two` another."""

    def __init__(self, client: Client) -> None:
        self.client = client
        assert client.post("/v1/sql", {"sql": SETUP}).status_code == 200
        self.boss = make_key(client, "boss", "admin")["key"]
        made = make_key(client, "one", "write", ["v", "parent", "lone", "child", "t"], by=self.boss)
        self.id, self.one = made["id"], made["key"]
        self.two = make_key(client, "two", "write", ["t"], by=self.boss)["key"]

    def sql(self, sql: str, key: str = "", **members: object) -> httpx.Response:
        return self.client.post("/v1/sql", {"sql": sql, **members}, headers=bearer(key or self.one))

    def cursor(self, text: str, key: str) -> httpx.Response:
        return self.client.post("/v1/sql", {"cursor": text}, headers=bearer(key))

    def post(self, path: str, body: object, key: str, **headers: str) -> httpx.Response:
        return self.client.post(path, body, headers=bearer(key) | headers)

    def get(self, path: str, key: str) -> httpx.Response:
        return self.client.run(self.client.http.get(path, headers=bearer(key)))


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    with Client(Settings(data=tmp_path_factory.mktemp("limited") / "data")) as client:
        yield Doors(client)


def test_a_hidden_table_that_is_called_as_a_catalog_is(doors: Doors) -> None:
    """Its name without a schema is the catalog's; with one it is a table like any other."""
    made = "CREATE SCHEMA others; CREATE TABLE others.pg_locks (a BIGINT)"
    assert doors.sql(made, doors.boss).status_code == 200
    assert code(doors.sql("SELECT a FROM others.pg_locks")) == (403, "forbidden")
    assert doors.sql("SELECT count(*) FROM pg_locks").status_code == 200


@pytest.mark.parametrize(
    "sql", ["DELETE FROM parent WHERE id = 1", "TRUNCATE lone", "UPDATE parent SET id = 9 WHERE id = 1"]
)
def test_a_key_of_a_hidden_table_is_not_named(doors: Doors, sql: str) -> None:
    """A constraint holds unseen; the tables of its own that the key sees are named as before."""
    refused, full = doors.sql(sql), doors.sql(sql, doors.boss)
    assert code(refused) == code(full) == (409, "foreign_key_violated")
    assert "hidden" in full.text and "hidden" not in refused.text
    assert "cannot lose id = 1" in refused.json()["detail"]
    own = doors.sql("DELETE FROM parent WHERE id = 2")
    assert "table child refers to it" in own.json()["detail"]


def test_neither_by_a_change_over_http(doors: Doors) -> None:
    for path, body in (
        ("/v1/tables/parent/deltas", [{"delete": {"id": 1}}]),
        ("/v1/deltas", {"tables": {"parent": [{"delete": {"id": 1}}]}}),
    ):
        refused = doors.post(path, body, doors.one)
        assert code(refused) == (409, "foreign_key_violated") and "hidden" not in refused.text
        assert "hidden_child" in doors.post(path, body, doors.boss).text


def test_measurements_name_no_hidden_views(doors: Doors) -> None:
    """Views share operators, and EXPLAIN ANALYZE says with which: with those that the key sees."""
    plans = [
        lambda key, way=way: doors.sql(f"EXPLAIN ANALYZE {way}", key)
        for way in ("VIEW v", "(FORMAT text) VIEW v")
    ]
    plans += [
        lambda key, form=form: doors.get(f"/v1/views/v/plan?stage=analyze&format={form}", key)
        for form in ("text", "json", "mermaid")
    ]
    found = 0
    for plan in plans:
        full = plan(doors.boss)
        if full.status_code != 200:
            continue
        found += "hidden_view" in full.text
        assert "hidden_view" not in plan(doors.one).text
    assert found >= 3


def test_each_key_has_its_own_names_for_requests(doors: Doors) -> None:
    """Nobody can take the Idempotency-Key of another key away, or find out that it was used."""
    path, body = "/v1/tables/t/deltas", [{"insert": {"a": 100}}]
    name = {"Idempotency-Key": "order-1"}
    first = doors.post(path, [{"insert": {"a": 99}}], doors.two, **name)
    assert first.status_code == 200
    made = doors.post(path, body, doors.one, **name)
    assert made.status_code == 200 and made.json()["epoch"] > first.json()["epoch"]
    assert doors.post(path, body, doors.one, **name).json() == made.json()
    again = doors.post(path, [{"insert": {"a": 101}}], doors.one, **name)
    assert code(again) == (422, "idempotency_key_reused") and "'order-1'" in again.json()["detail"]


def test_a_cursor_is_for_the_key_that_has_asked(doors: Doors) -> None:
    cursor = doors.sql("SELECT * FROM t", limit=5).json()["results"][0]["next"]
    assert len(doors.cursor(cursor, doors.one).json()["results"][0]["rows"]) >= 15
    for other in (doors.two, doors.boss):
        assert code(doors.cursor(cursor, other)) == (410, "cursor_gone")


def test_a_cursor_ends_with_the_rights(doors: Doors) -> None:
    """What a REVOKE has taken is not read on, page by page."""
    assert doors.sql("CREATE ROLE reader; GRANT SELECT ON t TO reader", doors.boss).status_code == 200
    key = make_key(doors.client, "pages", "reader", by=doors.boss)["key"]
    cursor = doors.sql("SELECT * FROM t", key, limit=5).json()["results"][0]["next"]
    assert doors.cursor(cursor, key).status_code == 200
    assert doors.sql("REVOKE SELECT ON t FROM reader", doors.boss).status_code == 200
    assert code(doors.cursor(cursor, key)) == (410, "cursor_gone")


def test_files_of_the_server_are_for_those_who_define(doors: Doors) -> None:
    """What lies under the roots, exports of hidden relations too, is not the limited key's to load."""
    load = {"table": "t", "format": "csv", "path": "export_of_hidden"}
    assert code(doors.post("/v1/loads", load, doors.one)) == (403, "forbidden")
    assert code(doors.post("/v1/loads", load, doors.boss)) == (422, "path_not_found")


def test_what_has_begun_ends_with_its_key(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script whose key is revoked between two statements, and a body that was on its way."""
    made = make_key(doors.client, "gone", "write", ["t"], by=doors.boss)
    alone, revoke = ScriptRun._alone, doors.client.runtime.accounts.revoke

    async def revoking(self: ScriptRun, statement: object) -> object:
        result = await alone(self, statement)
        revoke(made["id"])
        return result

    monkeypatch.setattr(ScriptRun, "_alone", revoking)
    answer = doors.sql("INSERT INTO t VALUES (500); INSERT INTO t VALUES (501)", made["key"])
    assert code(answer) == (401, "key_invalid") and answer.json()["index"] == 1
    monkeypatch.undo()
    made = make_key(doors.client, "late", "write", ["t"], by=doors.boss)

    async def body() -> object:
        yield b'[{"insert": '
        revoke(made["id"])
        yield b'{"a": 502}}]'

    headers = bearer(made["key"]) | {"Content-Type": "application/json"}
    late = doors.client.http.post("/v1/tables/t/deltas", content=body(), headers=headers)
    assert code(doors.client.run(late)) == (401, "key_invalid")
    rows = doors.sql("SELECT a FROM t WHERE a >= 500", doors.boss).json()["results"][0]["rows"]
    assert rows == [[500]]
