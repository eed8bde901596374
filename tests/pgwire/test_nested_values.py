"""Structs and maps at PostgreSQL's door: records and JSON, in both formats, and COPY."""

from __future__ import annotations

import asyncio
import json

import psycopg
import pytest

from tests import clients
from tests.pgwire.door import PostgresDoor

_MADE = (
    "CREATE TABLE {name} (id BIGINT PRIMARY KEY, s STRUCT(a INTEGER, b TEXT, c DATE), "
    "l STRUCT(x INTEGER, y STRUCT(z TEXT))[], m MAP(TEXT, INTEGER), n MAP(INTEGER, TEXT)[])"
)
_ROWS = (
    """INSERT INTO {name} VALUES (1, ROW(1, 'x "y", (z)', '2026-01-02'), '{{"(1,\\"(q w)\\")",NULL}}', """
    """'{{"k": 1, "l": null}}', NULL), (2, '(,"",)', '{{}}', '{{}}', NULL), (3, NULL, NULL, NULL, NULL)"""
)


@pytest.fixture(scope="module")
def table(door: PostgresDoor) -> str:
    with connected(door) as connection:
        connection.execute(_MADE.format(name="nested"))
        connection.execute(_ROWS.format(name="nested"))
    return "nested"


def connected(door: PostgresDoor) -> psycopg.Connection:
    return psycopg.connect(
        f"host=127.0.0.1 port={door.postgres_port} user=me dbname=freshet", autocommit=True
    )


def test_texts_are_those_of_postgres(door: PostgresDoor, table: str) -> None:
    with connected(door) as connection:
        cursor = connection.execute(f"SELECT s::text FROM {table} WHERE false")
        cursor = psycopg.RawCursor(connection)
        cursor.execute(f"SELECT s, l, m, ROW(id, NULL, '') AS r FROM {table} ORDER BY id")
        assert cursor.description is not None
        assert [column.type_code for column in cursor.description] == [2249, 2287, 114, 2249]
        pgresult = cursor.pgresult
        assert pgresult is not None
        texts = [[pgresult.get_value(row, place) for place in range(4)] for row in range(3)]
    assert texts == [
        [
            b'(1,"x ""y"", (z)",2026-01-02)',
            b'{"(1,\\"(\\"\\"q w\\"\\")\\")",NULL}',
            b'{"k":1,"l":null}',
            b'(1,,"")',
        ],
        [b'(,"",)', b"{}", b"{}", b'(2,,"")'],
        [None, None, None, b'(3,,"")'],
    ]


def test_parameters(door: PostgresDoor, table: str) -> None:
    with connected(door) as connection:
        found = connection.execute(
            f"SELECT id FROM {table} WHERE (s).a = %s AND m['k'] = %s", (1, 1)
        ).fetchall()
        assert found == [(1,)]
        connection.execute(_MADE.format(name="given"))
        connection.execute(
            "INSERT INTO given VALUES (%s, %s, %s, %s)", (1, '(5,"a b",)', '{"(1,(q))"}', '{"k": 2}')
        )
        connection.execute("CREATE VIEW of_given AS SELECT (s).b AS b, (l[1]).y AS y, m FROM given")
        assert connection.execute("SELECT * FROM of_given").fetchall() == [("a b", ("q",), {"k": 2})]
        connection.execute("DROP TABLE given CASCADE")


@pytest.mark.parametrize("form", ["TEXT", "CSV", "BINARY"])
def test_copy(door: PostgresDoor, table: str, form: str) -> None:
    with connected(door) as connection:
        with connection.cursor().copy(f"COPY {table} TO STDOUT (FORMAT {form})") as out:
            data = b"".join(bytes(part) for part in out)
        connection.execute(_MADE.format(name="copied"))
        with connection.cursor().copy(f"COPY copied FROM STDIN (FORMAT {form})") as into:
            into.write(data)
        query = "SELECT * FROM {} ORDER BY id"
        copied = connection.execute(query.format("copied")).fetchall()
        connection.execute("DROP TABLE copied")
        assert copied == connection.execute(query.format(table)).fetchall()


def test_a_record_of_another_length_is_refused(door: PostgresDoor, table: str) -> None:
    copy = f"COPY {table} (id, s) FROM STDIN"
    with (
        connected(door) as connection,
        pytest.raises(psycopg.Error, match="not a record of 3 fields"),
        connection.cursor().copy(copy) as into,
    ):
        into.write("9\t(1,2)\n")


def test_asyncpg(door: PostgresDoor, table: str) -> None:
    asyncpg = clients.module("asyncpg")

    async def talk() -> list:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=door.postgres_port, user="me", database="freshet"
        )
        try:
            return await connection.fetch(f"SELECT s, m FROM {table} ORDER BY id")
        finally:
            await connection.close()

    first, second, third = asyncio.run(talk())
    assert tuple(first["s"])[:2] == (1, 'x "y", (z)')
    assert json.loads(first["m"]) == {"k": 1, "l": None}
    assert tuple(second["s"]) == (None, "", None)
    assert tuple(third) == (None, None)


def test_catalogs_know_them(door: PostgresDoor, table: str) -> None:
    with connected(door) as connection:
        found = connection.execute(
            "SELECT column_name, data_type, udt_name FROM information_schema.columns"
            f" WHERE table_name = '{table}' ORDER BY ordinal_position"
        ).fetchall()
        typed = connection.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
            f" WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
        ).fetchall()
    assert found[1:] == [
        ("s", "record", "record"), ("l", "ARRAY", "_record"), ("m", "json", "json"), ("n", "ARRAY", "_json"),
    ]  # fmt: skip
    assert typed[1:] == [("s", "record"), ("l", "record[]"), ("m", "json"), ("n", "json[]")]
