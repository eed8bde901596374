"""The types of columns of the catalogs on the wire, beside PostgreSQL's, in both formats."""

from __future__ import annotations

import psycopg
import pytest

from tests.pgwire.door import asked
from tests.postgres.server import Server

_QUERIES = [
    "SELECT oid, relname, relkind, relnatts, relhasindex FROM pg_class WHERE relname = 'pg_am'",
    "SELECT * FROM pg_enum WHERE enumtypid = 1",
    "SELECT t.oid AS number, t.typname, t.typtype, n.nspname FROM pg_type t "
    "JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (16, 23) ORDER BY 1",
    "SELECT q.*, q.relname FROM (SELECT c.relname, c.relkind AS kind, c.oid FROM pg_class AS c) AS q "
    "WHERE q.relname = 'pg_cast'",
    "WITH w (a, b) AS (SELECT amname, oid FROM pg_am) SELECT b, a FROM w ORDER BY b",
    "SELECT relname FROM pg_class WHERE oid = 2601 UNION ALL SELECT amname FROM pg_am WHERE oid = 403",
    "SELECT relname::text, amname FROM pg_class c JOIN pg_am a ON c.relam = a.oid WHERE c.oid = 1259",
    "SELECT current_database() = '', 'a'::name, typname || '' FROM pg_type WHERE oid = 16",
    "SELECT proallargtypes, proargnames FROM pg_proc WHERE oid = 750",
    "SELECT count(*), min(oid), max(relname) FROM pg_class WHERE oid < 1300",
    "SELECT conkey, contype FROM pg_constraint WHERE conname = 'pg_am_oid_index'",
]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("sql", _QUERIES)
def test_columns_have_the_types_of_postgres(
    connection: psycopg.Connection, postgres: Server, sql: str, binary: bool
) -> None:
    with postgres.connect() as theirs:
        assert _described(connection, sql, binary) == _described(theirs, sql, binary)


def _described(connection: psycopg.Connection, sql: str, binary: bool) -> tuple[list, list]:
    cursor = connection.execute(sql, binary=binary)
    columns = [(column.name, column.type_code) for column in cursor.description or ()]
    return columns, cursor.fetchall()


def test_what_is_prepared_has_the_types_too(connection: psycopg.Connection) -> None:
    asked(connection, "send_prepare", b"p", b"SELECT oid, amname, amtype FROM pg_am WHERE oid = $1")
    found = asked(connection, "send_describe_prepared", b"p")
    assert [found.ftype(place) for place in range(found.nfields)] == [26, 19, 18]
