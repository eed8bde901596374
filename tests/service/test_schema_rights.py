"""Rights by schema: what ALL on all tables of one schema allows there, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key
from tests.service.test_grants import Door

SETUP = """
CREATE SCHEMA mine; CREATE SCHEMA other;
CREATE TABLE mine.t (a BIGINT PRIMARY KEY); INSERT INTO mine.t VALUES (1);
CREATE TABLE other.t (a BIGINT PRIMARY KEY); INSERT INTO other.t VALUES (2);
CREATE VIEW other.v AS SELECT a FROM other.t; CREATE SEQUENCE other.s;
CREATE FUNCTION other.f() RETURNS BIGINT LANGUAGE SQL AS 'SELECT max(a) FROM other.t';
GRANT ALL ON ALL TABLES IN SCHEMA mine TO r; GRANT USAGE ON SCHEMA other TO r
"""


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Client(Settings(data=tmp_path_factory.mktemp("rights") / "data")) as client:
        door = Door(client)
        door.admin(SETUP)
        yield door


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO mine.t VALUES (5); DELETE FROM mine.t WHERE a = 5",
        "CREATE TABLE mine.u (a BIGINT, b BIGINT REFERENCES mine.t); ALTER TABLE mine.u ADD c INT",
        "CREATE VIEW mine.v AS SELECT a FROM mine.t; ALTER VIEW mine.v RENAME TO w; DROP VIEW mine.w",
        "CREATE TABLE mine.copied AS SELECT a FROM mine.t; DROP TABLE mine.copied",
        "CREATE TABLE mine.alike (LIKE mine.t); COMMENT ON TABLE mine.alike IS 'x'; DROP TABLE mine.alike",
        "CREATE TYPE mine.mood AS ENUM ('a'); DROP TYPE mine.mood",
        "CREATE FUNCTION mine.f() RETURNS BIGINT LANGUAGE SQL AS 'SELECT max(a) FROM mine.t'",
        "SELECT mine.f()",
        "SELECT routine_name FROM information_schema.routines; DROP FUNCTION mine.f",
        "CREATE SEQUENCE mine.s; SELECT nextval('mine.s'), currval('mine.s'); DROP SEQUENCE mine.s",
        "SHOW SCHEMAS",
    ],
)
def test_what_all_on_a_schema_allows(door: Door, sql: str) -> None:
    answer = door.ask(sql)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM other.t", 403),
        ("SELECT * FROM t", 403),
        ("INSERT INTO other.t VALUES (3)", 403),
        ("CREATE TABLE n (a INT)", 403),
        ("CREATE TABLE other.n (a INT)", 403),
        ("CREATE VIEW other.n AS SELECT 1 AS a", 403),
        ("CREATE VIEW mine.n AS SELECT a FROM other.t", 422),
        ("CREATE VIEW mine.n AS WITH t AS (SELECT a FROM other.v) SELECT a FROM t", 422),
        ("CREATE OR REPLACE VIEW mine.n AS SELECT a FROM public.t", 422),
        ("CREATE TABLE mine.n AS SELECT a FROM other.t", 422),
        ("CREATE TABLE mine.n (LIKE other.t)", 403),
        ("CREATE TABLE mine.n (a BIGINT REFERENCES other.t)", 403),
        ("ALTER TABLE mine.t ADD CONSTRAINT k FOREIGN KEY (a) REFERENCES other.t", 403),
        ("ALTER TABLE mine.t SET SCHEMA other", 403),
        ("ALTER TABLE mine.t SET SCHEMA public", 403),
        ("ALTER TABLE other.t SET SCHEMA mine", 403),
        ("ALTER VIEW other.v SET SCHEMA mine", 403),
        ("DROP TABLE other.t", 403),
        ("DROP TABLE mine.t, other.t", 403),
        ("DROP VIEW other.v", 403),
        ("COMMENT ON TABLE other.t IS 'x'", 403),
        ("CREATE TYPE other.m AS ENUM ('a')", 403),
        ("CREATE FUNCTION other.g() RETURNS INT RETURN 1", 403),
        ("CREATE FUNCTION mine.g() RETURNS BIGINT LANGUAGE SQL AS 'SELECT max(a) FROM other.t'", 422),
        ("SELECT other.f()", 403),
        ("CREATE SEQUENCE other.n", 403),
        ("SELECT nextval('other.s')", 403),
        ("CREATE TABLE mine.n (a BIGINT DEFAULT nextval('other.s') PRIMARY KEY)", 403),
        ("CREATE TYPE m AS ENUM ('a')", 403),
        ("CREATE SCHEMA more", 403),
        ("DROP SCHEMA mine CASCADE", 403),
        ("GRANT SELECT ON mine.t TO r", 403),
    ],
)
def test_what_it_does_not_allow(door: Door, sql: str, expected: int) -> None:
    answer = door.ask(sql)
    assert answer.status_code == expected, answer.text
    assert "(2)" not in answer.text


def test_the_search_path_tells_nothing(door: Door) -> None:
    """A name that only a hidden schema has is as unknown as one that nothing has."""
    answers = [
        door.client.post(
            "/v1/sql",
            {"sql": f"SELECT * FROM {name}", "search_path": "other, mine"},
            headers=bearer(door.key),
        )
        for name in ("v", "w")
    ]
    assert {code(answer) for answer in answers} == {(403, "forbidden")}
    first, second = (answer.json()["detail"] for answer in answers)
    assert first.replace("other.v", "other.w") == second
    seen = door.ask("SHOW SCHEMAS; SHOW TABLES").json()["results"]
    assert seen[0]["rows"] == [["mine"], ["public"]]
    assert all(row[0].startswith("mine.") for row in seen[1]["rows"])


@pytest.mark.parametrize(
    ("route", "body", "expected"),
    [
        ("POST /v1/tables", {"name": "mine.made", "columns": [{"name": "a", "type": "INT"}]}, 201),
        ("POST /v1/tables", {"name": "other.made", "columns": [{"name": "a", "type": "INT"}]}, 403),
        ("POST /v1/tables", {"sql": "CREATE TABLE other.made (a INT)"}, 403),
        ("POST /v1/tables", {"sql": "CREATE TABLE mine.made2 (a BIGINT REFERENCES other.t)"}, 403),
        ("DELETE /v1/tables/mine.made", None, 204),
        ("DELETE /v1/tables/other.t", None, 403),
        ("POST /v1/views", {"name": "mine.seen", "sql": "SELECT a FROM mine.t"}, 201),
        ("POST /v1/views", {"name": "mine.not", "sql": "SELECT a FROM other.t"}, 422),
        ("POST /v1/views", {"name": "not_mine", "sql": "SELECT a FROM mine.t"}, 403),
        ("DELETE /v1/views/mine.seen", None, 204),
        ("DELETE /v1/views/other.v", None, 403),
        ("POST /v1/views/other.v/rebuild", None, 403),
        ("POST /v1/views/other.v/check", None, 403),
        ("POST /v1/exports", {"view": "other.v", "format": "csv", "path": "x"}, 403),
        ("POST /v1/sinks", {"name": "s", "view": "other.v", "path": "x"}, 403),
        ("POST /v1/sources", {"name": "s", "table": "other.t", "format": "csv", "path": "x"}, 403),
        ("POST /v1/loads", {"table": "other.t", "format": "csv", "path": "x"}, 403),
        ("GET /metrics", None, 403),
    ],
)
def test_the_routes_ask_for_the_schema(door: Door, route: str, body: object, expected: int) -> None:
    method, path = route.split()
    request = door.client.http.request(method, path, json=body, headers=bearer(door.key))
    answer = door.client.run(request)
    assert answer.status_code == expected, answer.text


def test_a_limit_of_a_key_is_about_one_schema(door: Door) -> None:
    key = make_key(door.client, "narrow", "write", relations=["mine.*", "u"], by=door.admin_key)["key"]
    for sql, status in (
        ("SELECT * FROM mine.t", 200),
        ("SELECT * FROM u", 200),
        ("SELECT * FROM t", 403),
        ("SELECT * FROM other.t", 403),
        ("CREATE TABLE mine.x (a INT)", 403),
    ):
        assert door.ask(sql, key).status_code == status, sql


def test_all_on_every_schema_scrapes_metrics_until_there_is_another(door: Door) -> None:
    door.admin("CREATE ROLE eye; GRANT SELECT ON ALL TABLES IN SCHEMA public, mine, other TO eye")
    key = make_key(door.client, "eye", "eye", by=door.admin_key)["key"]
    scrape = door.client.http.get
    assert door.client.run(scrape("/metrics", headers=bearer(key))).status_code == 200
    door.admin("CREATE SCHEMA more; CREATE TABLE more.t (a INT)")
    assert door.client.run(scrape("/metrics", headers=bearer(key))).status_code == 403
    door.admin("DROP SCHEMA more CASCADE")
