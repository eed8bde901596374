"""The catalogs: who sees what, numbers that stay, errors that say what is wrong, and how queries are read."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from service.pgcatalog.object_numbers import ObjectNumbers
from service.settings.settings import Settings
from tests.service.client import Client

_NAMES = "SELECT relname FROM pg_class WHERE relnamespace = 2200 AND relkind IN ('r', 'm') ORDER BY 1"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service with a table and a view that no test changes."""
    with Client(Settings(data=tmp_path_factory.mktemp("catalogs") / "data")) as client:
        _run(
            client,
            """CREATE TABLE "Orders" (id INTEGER PRIMARY KEY, amount NUMERIC(10, 2) DEFAULT 5, tags TEXT[]);
            CREATE VIEW totals AS SELECT id, sum(amount) AS total FROM "Orders" GROUP BY id""",
        )
        yield client


def _run(client: Client, sql: str, key: str = "") -> list[list]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = client.post("/v1/sql", {"sql": sql}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1].get("rows", [])


def _error(client: Client, sql: str) -> dict:
    answer = client.post("/v1/sql", {"sql": sql})
    assert 400 <= answer.status_code < 500, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT version() LIKE 'PostgreSQL 15%Freshet%'", [[True]]),
        ("SELECT current_database(), current_schema, current_schemas(true)", [["freshet", "public", ["pg_catalog", "public"]]]),  # noqa: E501
        ("SELECT oid::regclass FROM pg_class WHERE oid = '\"Orders\"'::regclass", [['"Orders"']]),
        ("SELECT 'totals'::regclass::oid = 'public.totals'::regclass", [[True]]),
        ("SELECT 1259::regclass, 'int4'::regtype, 'array_in'::regproc::oid", [["pg_class", "integer", 750]]),
        ("SELECT to_regclass('nothing') IS NULL", [[True]]),
        ("SELECT word FROM pg_catalog.pg_get_keywords() WHERE word = 'select'", [["select"]]),
        ("SELECT n FROM pg_catalog.generate_series(1, 2) AS pos (n), pg_am WHERE oid = 2", [[1], [2]]),
        ("SELECT format_type(1700, 655366), format_type(1231, -1), format_type(0, NULL)", [["numeric(10,2)", "numeric[]", "-"]]),  # noqa: E501
        ("SELECT indkey, indkey[0] FROM pg_index WHERE indrelid = '\"Orders\"'::regclass", [["1", 1]]),
        ("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg\\_%'", [[2]]),
        ("SELECT count(*) FROM pg_namespace WHERE nspname NOT LIKE E'pg\\\\_%'", [[2]]),
        ("SELECT (information_schema._pg_expandarray(indkey)).n FROM pg_index WHERE indrelid > 16384", [[1]]),
        ("SELECT quote_ident('a'), quote_ident('A b'), quote_ident('select')", [["a", '"A b"', '"select"']]),
        ("SELECT relkind FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '^(totals)$' COLLATE pg_catalog.default", [["m"]]),  # noqa: E501
        ("SELECT table_type FROM information_schema.tables WHERE table_name = 'totals'", [["VIEW"]]),
        ("SELECT has_table_privilege('totals', 'SELECT, INSERT')", [[True]]),
        ("SELECT typinput FROM pg_type WHERE typname = 'bool'", [["boolin"]]),
        ("WITH pg_class AS (SELECT 1 AS one) SELECT one FROM pg_class", [[1]]),
        ("SELECT c.relname FROM pg_class c JOIN \"Orders\" o ON true WHERE c.relname = 'none'", []),
        ("SELECT datname FROM freshet.pg_catalog.pg_database", [["freshet"]]),
        ("SELECT array_upper('{1,2}'::oid[], 1), 'b' = ANY ('{a,b}'::text[])", [[2, True]]),
        ("SELECT ARRAY(SELECT relname FROM pg_class WHERE false)", [[[]]]),
        ("SELECT tableoid = 'pg_am'::regclass FROM pg_am WHERE amname = 'btree'", [[True]]),
    ],
)  # fmt: skip
def test_a_query_means_what_it_means_to_postgres(sql: str, rows: list[list], client: Client) -> None:
    assert _run(client, sql) == rows


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("SELECT 'nothing'::regclass", 'relation "nothing" does not exist'),
        ("SELECT x::regclass FROM (SELECT 'no' || 'ne' AS x) AS t", 'relation "none" does not exist'),
        ("SELECT * FROM pg_catalog.pg_nothing", 'relation "pg_catalog.pg_nothing" does not exist'),
        ("SELECT * FROM other.pg_catalog.pg_class", "there is no database other"),
        ("SELECT format_type(1)  , pg_get_viewdef()", "pg_get_viewdef takes 1 or 2 arguments, not 0"),
        ("SELECT current_setting('memory_limit')", 'setting "memory_limit" does not exist'),
    ],
)
def test_an_error_says_what_is_wrong_and_is_logged(
    sql: str, detail: str, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "freshet.queries"):
        assert _error(client, sql)["detail"] == detail
    assert sql.split()[1] in caplog.text


def test_a_key_sees_what_it_may_use(settings: Settings) -> None:
    with Client(settings) as client:
        _run(
            client, "CREATE TABLE open (id INTEGER PRIMARY KEY); CREATE TABLE closed (id INTEGER PRIMARY KEY)"
        )
        admin = client.post("/v1/keys", {"name": "boss", "role": "admin"}).json()["key"]
        _run(client, "CREATE ROLE clerk; GRANT SELECT ON open TO clerk", admin)
        headers = {"Authorization": f"Bearer {admin}"}
        answer = client.post("/v1/keys", {"name": "anna", "role": "clerk"}, headers=headers)
        clerk = answer.json()["key"]
        assert _run(client, _NAMES, admin) == [["closed"], ["open"]]
        assert _run(client, _NAMES, clerk) == [["open"]]
        may = "has_table_privilege('open', 'SELECT'), has_table_privilege('open', 'INSERT')"
        asked = f"SELECT {may}, current_user"
        assert _run(client, asked, clerk) == [[True, False, "anna"]]
        listed = "SELECT rolname FROM pg_roles WHERE rolcanlogin ORDER BY 1"
        assert _run(client, listed, clerk) == [["anna"]]
        assert _run(client, listed, admin) == [["anna"], ["boss"]]


def test_numbers_outlive_a_restart(settings: Settings) -> None:
    asked = (
        "SELECT relname, oid::bigint FROM pg_class WHERE relnamespace = 2200 UNION ALL "
        "SELECT conname, oid FROM pg_constraint WHERE oid > 16384 UNION ALL "
        "SELECT typname, oid FROM pg_type WHERE oid > 16384"
    )
    with Client(settings) as client:
        _run(client, "CREATE TABLE gone (id INTEGER PRIMARY KEY); CREATE TYPE mood AS ENUM ('low', 'high')")
        _run(
            client,
            "CREATE TABLE kept (id INTEGER PRIMARY KEY, feeling mood, CONSTRAINT one UNIQUE (feeling))",
        )
        first = dict(map(tuple, _run(client, asked)))
        _run(client, "DROP TABLE gone; CREATE TABLE fresh (id INTEGER PRIMARY KEY)")
    with Client(settings) as client:
        second = dict(map(tuple, _run(client, asked)))
    kept = {name: oid for name, oid in first.items() if "gone" not in name}
    assert kept.items() <= second.items()
    assert second["fresh"] not in first.values()
    assert min(second.values()) > 16384


def test_numbers_differ() -> None:
    numbers = ObjectNumbers()
    assert len({numbers.of("index", place % 7) for place in range(1000)}) == 1000
