"""SQLSTATEs of common mistakes: PostgreSQL's own, which a real one confirms where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor, errors
from tests.postgres.server import Server

MADE = """
    CREATE TABLE parents (id INT PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE, n SMALLINT, at DATE,
        price NUMERIC(5, 2), CHECK (n > 0));
    CREATE TABLE children (id INT PRIMARY KEY, parent INT REFERENCES parents (id), name TEXT);
    CREATE MATERIALIZED VIEW names AS SELECT id, name FROM parents;
    CREATE TYPE size AS ENUM ('s', 'm');
    CREATE SCHEMA made;
    INSERT INTO parents VALUES (1, 'ann', 'a', 1, '2024-01-01', 1.5);
    INSERT INTO children VALUES (1, 1, 'bob');
"""
MISTAKES = {
    # Names
    "SELECT nope FROM parents": "42703",
    "SELECT parents.nope FROM parents": "42703",
    "SELECT other.id FROM parents": "42P01",
    "SELECT * FROM nope": "42P01",
    "SELECT * FROM nowhere.nope": "42P01",
    "SELECT id FROM parents JOIN children ON parent = parents.id": "42702",
    "SELECT nope(1)": "42883",
    "SELECT lower(1, 2, 3)": "42883",
    "SELECT 1 + true": "42883",
    "SELECT CAST(1 AS nope)": "42704",
    "SELECT * FROM parents AS a, children AS a": "42712",
    "INSERT INTO parents (nope) VALUES (1)": "42703",
    "INSERT INTO parents (id, id) VALUES (1, 2)": "42701",
    "UPDATE parents SET nope = 1": "42703",
    "UPDATE nope SET a = 1": "42P01",
    "DELETE FROM nope": "42P01",
    # Definitions
    "CREATE TABLE parents (id INT)": "42P07",
    "CREATE VIEW names AS SELECT 1 AS a": "42P07",
    "CREATE TABLE twice (a INT, a INT)": "42701",
    "CREATE TABLE of_nope (a nope)": "42704",
    "CREATE TABLE nowhere.t (a INT)": "3F000",
    "CREATE SCHEMA made": "42P06",
    "CREATE TYPE size AS ENUM ('x')": "42710",
    "CREATE VIEW of_nope AS SELECT * FROM nope": "42P01",
    "CREATE VIEW broken AS SELECT nope FROM parents": "42703",
    "CREATE VIEW broken AS SELECT id FROM parents JOIN children ON parent = parents.id": "42702",
    "CREATE VIEW broken AS SELECT name, count(*) AS n FROM parents": "42803",
    "CREATE VIEW broken AS SELECT id FROM parents WHERE count(*) > 1": "42803",
    "CREATE VIEW broken AS SELECT nope(id) AS a FROM parents": "42883",
    "CREATE VIEW broken AS SELECT id FROM parents WHERE at = n": "42883",
    "CREATE VIEW broken AS SELECT 1 AS a UNION SELECT 1, 2": "42601",
    "CREATE VIEW broken AS SELECT id, id FROM parents": "42701",
    "CREATE TABLE two_keys (a INT PRIMARY KEY, b INT PRIMARY KEY)": "42P16",
    "CREATE TABLE of_child (a INT REFERENCES nope (id))": "42P01",
    "DROP TABLE nope": "42P01",
    "DROP VIEW nope": "42P01",
    "DROP SCHEMA nowhere": "3F000",
    "DROP TYPE nope": "42704",
    "DROP TABLE parents": "2BP01",
    "DROP TABLE names": "42809",
    "DROP VIEW parents": "42809",
    "ALTER TABLE nope ADD COLUMN a INT": "42P01",
    "ALTER TABLE parents ADD COLUMN name TEXT": "42701",
    "ALTER TABLE parents DROP COLUMN nope": "42703",
    "ALTER TABLE children DROP CONSTRAINT nope": "42704",
    # Syntax and types
    "SELEC 1": "42601",
    "SELECT FROM WHERE": "42601",
    "SELECT 'open": "42601",
    "INSERT INTO parents VALUES (1, 2": "42601",
    "SELECT name, count(*) FROM parents": "42803",
    "SELECT id FROM parents WHERE count(*) > 1": "42803",
    "SELECT sum(count(*)) FROM parents": "42803",
    "SELECT id FROM parents WHERE row_number() OVER () = 1": "42P20",
    "SELECT id FROM parents WHERE name": "42804",
    "SELECT CASE WHEN true THEN 1 ELSE 'x' END": "22P02",
    "SELECT 1 UNION SELECT 1, 2": "42601",
    "SELECT id FROM parents UNION SELECT at FROM parents": "42804",
    "INSERT INTO parents (id, name) VALUES (1, 'x', 3)": "42601",
    "INSERT INTO parents (id, name) SELECT at, name FROM parents": "42804",
    "SELECT (SELECT id, name FROM parents)": "42601",
    "SELECT id FROM parents ORDER BY 5": "42P10",
    "SELECT id FROM parents LIMIT -1": "2201W",
    "SELECT id FROM parents OFFSET -1": "2201X",
    # Values
    "SELECT 1 / (id - 1) FROM parents": "22012",
    "SELECT 1 % 0": "22012",
    "SELECT 'x'::int": "22P02",
    "SELECT 'x'::numeric": "22P02",
    "SELECT 'maybe'::boolean": "22P02",
    "SELECT 'x'::uuid": "22P02",
    "SELECT '{'::json": "22P02",
    "SELECT 'x'::size": "22P02",
    "SELECT '2024-02-30'::date": "22008",
    "SELECT 'never'::date": "22007",
    "SELECT 99999::smallint": "22003",
    "SELECT 9999999999::int": "22003",
    "SELECT 2147483647 + 1": "22003",
    "SELECT (SELECT id FROM (VALUES (1), (2)) AS v (id))": "21000",
    "INSERT INTO parents (id, name) VALUES ('x', 'y')": "22P02",
    "INSERT INTO parents (id, name, n) VALUES (2, 'b', 99999)": "22003",
    "INSERT INTO parents (id, name, price) VALUES (2, 'b', 12345)": "22003",
    # Rows
    "INSERT INTO parents (id, name) VALUES (1, 'again')": "23505",
    "INSERT INTO parents (id, name, code) VALUES (2, 'b', 'a')": "23505",
    "INSERT INTO parents (id) VALUES (2)": "23502",
    "UPDATE parents SET name = NULL": "23502",
    "INSERT INTO parents (id, name, n) VALUES (2, 'b', -1)": "23514",
    "INSERT INTO children VALUES (2, 99, 'x')": "23503",
    "DELETE FROM parents": "23503",
    "INSERT INTO names VALUES (1, 'x')": "42809",
    # Sessions and blocks
    "SET nope = 1": "42704",
    "SHOW nope": "42704",
    "SET statement_timeout = 'x'": "22023",
    "EXECUTE nope": "26000",
    "FETCH 1 FROM nope": "34000",
    "ROLLBACK TO nope": "25P01",
    "SAVEPOINT outside": "25P01",
    "BEGIN; ROLLBACK TO nope": "3B001",
    "BEGIN READ ONLY; INSERT INTO parents (id, name) VALUES (2, 'b')": "25006",
    "BEGIN READ ONLY; CREATE TABLE in_block (a INT)": "25006",
    "BEGIN; SELECT nope; SELECT 1": "42703",
    "PREPARE twice AS SELECT 1; PREPARE twice AS SELECT 2": "42P05",
    "BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE c CURSOR FOR SELECT 2": "42P03",
    "DECLARE c CURSOR FOR SELECT 1": "25P01",
    "PREPARE one AS SELECT $1::int; EXECUTE one": "42601",
    "SELECT $1": "42P02",
}
"""By statement, what PostgreSQL 15 answers."""
DIFFERENT: dict[str, str | None] = {
    "SELECT lower(1, 2, 3)": "42601",  # the parser knows how many arguments it has
    "CREATE VIEW broken AS SELECT id FROM parents WHERE at = n": "42804",
    "SELECT CASE WHEN true THEN 1 ELSE 'x' END": None,  # a branch that is not taken
    "SELECT id FROM parents UNION SELECT at FROM parents": "42846",
    "SELECT id FROM parents OFFSET -1": "2201W",
}
"""Where Freshet has another answer."""


def failure(connection: psycopg.Connection, sql: str) -> str | None:
    connection.prepare_threshold = None
    try:
        for statement in sql.split("; "):
            connection.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate
    finally:
        connection.execute("ROLLBACK")
        connection.execute("DEALLOCATE ALL")
    return None


@pytest.fixture(scope="module")
def mistaken(door: PostgresDoor) -> Iterator[psycopg.Connection]:
    with door.connect() as connection:
        connection.execute(MADE)
        yield connection


@pytest.mark.parametrize("sql", MISTAKES)
def test_a_mistake_has_the_sqlstate_of_postgresql(mistaken: psycopg.Connection, sql: str) -> None:
    assert failure(mistaken, sql) == DIFFERENT.get(sql, MISTAKES[sql])


def test_they_are_postgresqls(postgres: Server) -> None:
    with postgres.connect() as connection:
        connection.execute(MADE)
        assert {sql: failure(connection, sql) for sql in MISTAKES} == MISTAKES


@pytest.mark.parametrize("name", ["", "named"])
@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [("SELEC 1", "42601"), ("SELECT nope", "42703"), ("INSERT INTO nope VALUES ($1)", "42P01")],
)
def test_a_mistake_is_told_when_the_statement_is_prepared(
    door: PostgresDoor, name: str, sql: str, sqlstate: str
) -> None:
    """At Parse, so that a driver shows it at prepare and nothing is prepared."""
    raw = door.raw()
    raw.start()
    raw.send(b"P", f"{name}\0{sql}\0".encode() + b"\0\0")
    raw.send(b"S")
    assert errors(raw.until(b"Z")) == [sqlstate]
    raw.send(b"D", f"S{name}\0".encode())
    raw.send(b"S")
    assert errors(raw.until(b"Z")) == ["26000"]
