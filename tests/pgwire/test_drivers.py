"""Clients as people have them, each where it is found: psql, asyncpg, pgjdbc.

Each test asserts something that only Freshet says.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from tests import clients
from tests.pgwire.door import PostgresDoor

JDBC = Path("/usr/share/java/postgresql.jar")


def run(*command: str | Path, directory: Path, **environment: str) -> str:
    """What a program writes. Fails if it does not end well."""
    found = subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, cwd=directory, env={**os.environ, **environment}, timeout=240,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_psql(door: PostgresDoor, tmp_path: Path) -> None:
    clients.program("psql", "Debian's postgresql-client")
    (tmp_path / "rows.csv").write_text("1,a\n2,\n")
    script = (
        "CREATE TABLE of_psql (id BIGINT PRIMARY KEY, name TEXT);",
        "\\copy of_psql FROM rows.csv CSV",
        "SELECT * FROM of_psql ORDER BY id;",
        "BEGIN; DELETE FROM of_psql; ROLLBACK;",
        "\\set FETCH_COUNT 1",
        "SELECT count(*) AS n FROM of_psql;",
        "SHOW TABLES;",
    )
    (tmp_path / "script.sql").write_text("\n".join(script))
    command = ("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(door.postgres_port))
    written = run(*command, "-U", "me", "-d", "freshet", "-f", "script.sql", directory=tmp_path)
    assert written.splitlines()[:3] == ["1|a", "2|", "2"]
    assert "of_psql|id BIGINT NOT NULL, name TEXT|id" in written


def test_asyncpg(door: PostgresDoor) -> None:
    asyncpg = clients.module("asyncpg")
    values = (
        1, True, -5, 7, 1.5, 2.25, Decimal("12345.67800"), "hé'llo\\", date(2024, 2, 29),
        datetime(2024, 1, 1, 1, 2, 3), datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=3, seconds=5),
        b"\x00\xff", UUID(int=5), '{"a":[1,null]}',
    )  # fmt: skip
    columns = (
        "id bigint primary key, b boolean, s smallint, i integer, r real, d double precision, "
        "n numeric(20,5), t text, day date, ts timestamp, tz timestamptz, span interval, "
        "raw bytea, u uuid, j json"
    )

    async def talk() -> None:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=door.postgres_port, user="me", database="freshet"
        )
        await connection.execute(f"CREATE TABLE of_asyncpg ({columns})")
        marks = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        assert await connection.execute(f"INSERT INTO of_asyncpg VALUES ({marks})", *values) == "INSERT 0 1"
        row = await connection.fetchrow(
            "SELECT * FROM of_asyncpg WHERE id = $1 AND day > $2", 1, date(2020, 1, 1)
        )
        assert tuple(row) == values
        assert await connection.fetchval("SELECT count(*) FROM of_asyncpg WHERE t = ANY($1)", ["x", "y"]) == 0
        async with connection.transaction(isolation="repeatable_read"):
            await connection.execute("INSERT INTO of_asyncpg (id) VALUES ($1)", 2)
            found = [
                row[0] async for row in connection.cursor("SELECT id FROM of_asyncpg ORDER BY id", prefetch=1)
            ]
            assert found == [1, 2]
        await connection.executemany("INSERT INTO of_asyncpg (id) VALUES ($1)", [(n,) for n in range(10, 15)])
        records = [(n, "x") for n in range(20, 25)]
        assert (
            await connection.copy_records_to_table("of_asyncpg", records=records, columns=["id", "t"])
            == "COPY 5"
        )
        prepared = await connection.prepare("SELECT count(*) AS c FROM of_asyncpg WHERE id > $1")
        assert await prepared.fetchval(1) == 11
        with pytest.raises(asyncpg.UndefinedTableError):
            await connection.fetch("SELECT * FROM nope")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(connection.fetch("SELECT count(*) FROM range(100000000000)"), 0.3)
        assert len(await connection.fetch("SHOW TABLES")) >= 1
        await connection.close()
        where = {"host": "127.0.0.1", "port": door.postgres_port, "user": "me", "database": "freshet"}
        async with asyncpg.create_pool(min_size=1, max_size=1, **where) as pool:
            for _ in range(2):  # between two uses the pool resets its connection
                assert await pool.fetchval("SELECT count(*) FROM of_asyncpg") == 12

    asyncio.run(talk())


JAVA = """
import java.sql.*;
public class Talk {
  public static void main(String[] a) throws Exception {
    Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + a[0] + "/freshet", "me", "x");
    Statement s = c.createStatement();
    s.execute("create table of_jdbc (id bigint primary key, name text, n numeric(9,2), "
      + "d date, ts timestamp)");
    PreparedStatement p = c.prepareStatement("insert into of_jdbc values (?,?,?,?,?)");
    for (int k = 0; k < 8; k++) {
      p.setLong(1, k); p.setString(2, "n" + k); p.setBigDecimal(3, new java.math.BigDecimal("1.25"));
      p.setDate(4, Date.valueOf("2024-02-29")); p.setTimestamp(5, Timestamp.valueOf("2024-01-01 01:02:03.5"));
      if (p.executeUpdate() != 1) throw new Exception("insert");
    }
    PreparedStatement q = c.prepareStatement("select * from of_jdbc where id = ? and name = ?");
    for (int k = 0; k < 8; k++) {
      q.setInt(1, k); q.setString(2, "n" + k);
      ResultSet r = q.executeQuery();
      if (!r.next()) throw new Exception("select");
      System.out.println(r.getLong(1) + r.getString(2) + r.getBigDecimal(3) + r.getDate(4)
        + r.getTimestamp(5));
    }
    c.setAutoCommit(false);
    Statement f = c.createStatement(); f.setFetchSize(3);
    ResultSet r = f.executeQuery("select id from of_jdbc"); int n = 0; while (r.next()) n++;
    System.out.println("fetched " + n);
    Savepoint sp = c.setSavepoint("a");
    try { s.execute("insert into of_jdbc (id) values (1)"); }
    catch (SQLException e) { System.out.println(e.getSQLState()); }
    c.rollback(sp); c.commit(); c.setAutoCommit(true);
    s.setQueryTimeout(1);
    try { s.executeQuery("select count(*) from range(100000000000)"); }
    catch (SQLException e) { System.out.println(e.getSQLState()); }
    r = s.executeQuery("show tables"); r.next(); System.out.println(r.getMetaData().getColumnName(3));
    c.close();
  }
}
"""


def test_pgjdbc(door: PostgresDoor, tmp_path: Path) -> None:
    clients.file(JDBC, "Debian's libpostgresql-jdbc-java")
    clients.program("javac", "Debian's default-jdk")
    (tmp_path / "Talk.java").write_text(JAVA)
    written = run("java", "-cp", JDBC, "Talk.java", str(door.postgres_port), directory=tmp_path)
    lines = written.splitlines()
    assert lines[0] == "0n01.252024-02-292024-01-01 01:02:03.5" and lines[7].startswith("7n7")
    assert lines[8:] == ["fetched 8", "23505", "57014", "primary_key"]
