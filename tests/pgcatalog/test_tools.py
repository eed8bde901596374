"""What tools ask of the catalogs: everything is answered, and what PostgreSQL 15 would say too is equal.

By default one query in twelve is asked. With `FRESHET_CATALOG_QUERIES=all` all are, which takes minutes.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from bench.wire.own_postgres import programs
from service.settings.settings import Settings
from tests import clients
from tests.pgcatalog.collected import TABLES, TOOLS, filled, queries_of
from tests.postgres.server import Server, running
from tests.service.client import Client

Answer = tuple[list[str], list[list]]
DIFFERING = json.loads((Path(__file__).parent / "differing.json").read_text())
"""The queries whose rows differ from PostgreSQL's, by tool and place from 0, and why they do."""
_STEP = 1 if os.environ.get("FRESHET_CATALOG_QUERIES") == "all" else 12
_NUMBERED = """
SELECT c.relname, c.oid FROM pg_class c WHERE c.relnamespace = 2200
UNION ALL SELECT 'type ' || typname, oid FROM pg_type WHERE typnamespace = 2200
UNION ALL SELECT 'constraint ' || conname, oid FROM pg_constraint WHERE connamespace = 2200
UNION ALL SELECT 'default', oid FROM pg_attrdef WHERE adnum = 4
UNION ALL SELECT 'the database', oid FROM pg_database WHERE datname = 'freshet'
UNION ALL SELECT 'information_schema', oid FROM pg_namespace WHERE nspname = 'information_schema'
"""
"""OIDs that differ from server to server, and what they are."""


class Freshet:
    """A service with the tables."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.names = {oid: name for name, oid in self.ask(_NUMBERED)[1]}

    def ask(self, sql: str) -> Answer:
        answer = self._client.post("/v1/sql", {"sql": sql})
        assert answer.status_code == 200, f"{answer.text}\n{sql}"
        result = answer.json()["results"][-1]
        return [column["name"] for column in result["columns"]], result["rows"]

    def oid(self, name: str) -> int:
        return next(oid for oid, known in self.names.items() if known in (name, f"type {name}"))


class Postgres(Freshet):
    """A PostgreSQL with the tables."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        connection.execute(TABLES)
        self.names = {oid: name for name, oid in self.ask(_NUMBERED)[1]}

    def ask(self, sql: str) -> Answer:
        self._connection.execute("RESET ALL")
        cursor = self._connection.execute(sql)
        assert cursor.description is not None
        return [column.name for column in cursor.description], [list(row) for row in cursor.fetchall()]


@pytest.fixture(scope="module")
def freshet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Freshet]:
    with Client(Settings(data=tmp_path_factory.mktemp("service") / "data")) as client:
        answer = client.post("/v1/sql", {"sql": TABLES})
        assert answer.status_code == 200, answer.text
        yield Freshet(client)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    where = programs()
    if where is None:
        clients.missing("initdb", "on Debian it is in the package postgresql")
    with running(where) as server, server.connect() as connection:
        connection.execute("CREATE DATABASE freshet")
        yield server


@pytest.mark.parametrize("tool", TOOLS)
def test_every_query_is_answered(tool: str, freshet: Freshet) -> None:
    assert queries_of(tool)
    for query in queries_of(tool)[::_STEP]:
        freshet.ask(filled(query, freshet.oid))


def test_rows_are_those_of_postgres(freshet: Freshet, server: Server) -> None:
    with server.connect("freshet") as connection:
        postgres = Postgres(connection)
        found = {
            f"{tool} {place}"
            for tool in TOOLS
            for place, query in enumerate(queries_of(tool))
            if place % _STEP == 0 and _differ(query, postgres, freshet)
        }
    expected = {name for name in DIFFERING if int(name.split()[1]) % _STEP == 0}
    assert found == expected


def _differ(query: str, postgres: Postgres, freshet: Freshet) -> bool:
    theirs, ours = _answer(query, postgres), _answer(query, freshet)
    assert ours[0] == theirs[0], query
    return ours[1] != theirs[1]


def _answer(query: str, server: Freshet) -> tuple[list[str], Counter[str]]:
    names, rows = server.ask(filled(query, server.oid))
    return names, Counter(json.dumps([_plain(value, server.names) for value in row]) for row in rows)


def _plain(value: object, names: dict[int, str]) -> object:
    """A value as both servers give it, with names for OIDs and the same owner."""
    match value:
        case bool() | None:
            return value
        case int():
            return names.get(value, value)
        case Decimal() | float():
            return float(value)
        case list() | tuple():
            return [_plain(each, names) for each in value]
        case bytes():
            return value.decode()
        case dict():
            return {key: _plain(each, names) for key, each in value.items()}
    text = str(value)
    if text.isdecimal():
        return _plain(int(text), names)
    for theirs, ours in _SAME:
        text = text.replace(theirs, ours)
    return text


_SAME: Sequence[tuple[str, str]] = (
    ("postgres", "admin"),
    ("(0)::numeric", "0"),
    ("0::numeric", "0"),
    ("'basic'::text", "'basic'"),
)
