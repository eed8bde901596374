"""Point reads that are answered as they arrive: the answers are the usual way's, whatever has changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from service.postgres.reads_at_once import ReadsAtOnce
from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor, Raw, errors, framed, tags
from tests.pgwire.test_copying import ROWS, TYPES

BIND = b"\0s\0\0\0\0\x01\0\0\0\x011\0\0"
"""Of the statement s, with the text 1."""
EXECUTE = b"\0\0\0\0\0"
_NUMBERS = count()
READ = (framed(b"B", BIND), framed(b"E", EXECUTE), framed(b"S"))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The answers that are given without waking a session."""
    found: list[bytes] = []
    answers = ReadsAtOnce.answers

    def noting(reads: ReadsAtOnce, waiting) -> bytes:  # type: ignore[no-untyped-def]
        answer = answers(reads, waiting)
        found.extend([answer] if answer else [])
        return answer

    monkeypatch.setattr(ReadsAtOnce, "answers", noting)
    yield found


@pytest.fixture(scope="module")
def kinds(door: PostgresDoor) -> PostgresDoor:
    """A table with a column of every kind, and one without those that need Arrow."""
    with door.connect() as connection:
        connection.execute(f"CREATE TABLE kinds ({TYPES}, wide NUMERIC(38, 2), r REAL, o TIME)")
        connection.execute(ROWS.format("kinds (id, b, d, n, t, day, at, z, span, raw, u, j, a, w, bits)"))
        connection.execute(
            "UPDATE kinds SET wide = 123456789012345678901234567890.12, r = 0.1, o = '01:02:03.4'"
        )
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        connection.execute("CREATE TABLE moods (id INT PRIMARY KEY, mood mood, s SMALLINT)")
        connection.execute("INSERT INTO moods VALUES (1, 'ok', 3), (2, NULL, NULL)")
    return door


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("columns", "is_quick"),
    [("id, b, d, n, t, day, at, z, u, j, wide, r, o", True), ("*", False), ("id + 1, n * 2, t AS u", True)],
)
def test_every_kind_is_written_as_in_the_usual_way(
    kinds: PostgresDoor, at_once: list[bytes], columns: str, is_quick: bool, binary: bool
) -> None:
    sql = f"SELECT {columns} FROM kinds WHERE id = %s"
    with kinds.connect() as connection:
        for id in (1, 2, 3, 4, 5):
            usual = connection.execute(sql, (id,), prepare=False, binary=binary).fetchall()
            for _ in range(3):
                again = connection.execute(sql, (id,), prepare=True, binary=binary).fetchall()
                assert str(again) == str(usual) and len(again) == (id < 5)
    assert bool(at_once) == is_quick


def test_labels_and_small_numbers(kinds: PostgresDoor, at_once: list[bytes]) -> None:
    with kinds.connect() as connection:
        for binary in (False, True, False, True):
            found = [
                connection.execute("SELECT * FROM moods WHERE id = %s", (i,), prepare=True, binary=binary)
                for i in (1, 2)
            ]
            assert [cursor.fetchone() for cursor in found] == [(1, "ok", 3), (2, None, None)]
    assert len(at_once) >= 6


def reading(
    door: PostgresDoor, connection: psycopg.Connection, table: str
) -> tuple[Raw, list[tuple[bytes, bytes]]]:
    """A client that has prepared and run a read of a new table, and the answer to the read."""
    connection.execute(f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, name TEXT)")
    connection.execute(f"INSERT INTO {table} VALUES (1, 'a')")
    raw = door.raw()
    raw.start()
    raw.send(b"P", f"s\0SELECT * FROM {table} WHERE id = $1\0\0\0".encode())
    raw.socket.sendall(b"".join(READ))
    return raw, raw.until(b"Z")[1:]


def test_reads_of_one_packet_are_answered_in_order(
    door: PostgresDoor, connection: psycopg.Connection, at_once: list[bytes]
) -> None:
    raw, first = reading(door, connection, "ordered")
    describe = framed(b"D", b"P\0")
    raw.socket.sendall(b"".join(READ) * 3 + READ[0] + describe + READ[1] + READ[2])
    found = [raw.until(b"Z") for _ in range(4)]
    assert found[:3] == [first] * 3 and [type for type, _ in found[3]] == [b"2", b"T", b"D", b"C", b"Z"]
    assert at_once and len(at_once) <= 4
    raw.socket.sendall(READ[0] + READ[1])  # without Sync it waits for more
    raw.socket.sendall(framed(b"E", EXECUTE) + READ[2])
    assert tags(raw.until(b"Z")) == ["SELECT 1", "SELECT 0"]
    raw.socket.sendall(framed(b"B", BIND.replace(b"1", b"x")) + READ[1] + READ[2])
    assert errors(raw.until(b"Z")) == ["22P02"]
    raw.socket.sendall(b"".join(READ))
    assert raw.until(b"Z") == first


def test_many_reads_and_a_broken_message_of_one_packet(
    door: PostgresDoor, connection: psycopg.Connection, at_once: list[bytes]
) -> None:
    raw, first = reading(door, connection, "piped")
    raw.socket.sendall(b"".join(READ) * 150)
    assert [raw.until(b"Z") for _ in range(150)] == [first] * 150
    raw.socket.sendall(b"".join(READ) * 2 + framed(b"B", BIND[:-1]) + READ[1] + READ[2])
    assert [raw.until(b"Z") for _ in range(2)] == [first] * 2
    assert errors(raw.until(b"E")) == ["08P01"] and at_once


def test_the_time_zone_counts(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE timed (id INT PRIMARY KEY, at TIMESTAMPTZ)")
    connection.execute("INSERT INTO timed VALUES (1, '2024-01-01 12:00:00+00')")
    sql = "SELECT at FROM timed WHERE id = %s"

    def hours() -> set[str]:
        return {str(connection.execute(sql, (1,), prepare=True).fetchone()[0])[11:] for _ in range(3)}

    for zone, shown in (
        ("UTC", "12:00:00+00:00"),
        ("Asia/Tokyo", "21:00:00+09:00"),
        ("UTC", "12:00:00+00:00"),
    ):
        connection.execute(f"SET TimeZone = '{zone}'")
        assert hours() == {shown}
    with connection.transaction():
        connection.execute("SET LOCAL timezone = 'Asia/Tokyo'")
        assert hours() == {"21:00:00+09:00"}
    assert hours() == {"12:00:00+00:00"}
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    connection.execute("RESET TimeZone")
    assert hours() == {"12:00:00+00:00"}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE {0} SET name = 'b'", [(1, "b")]),
        ("DELETE FROM {0}", []),
        ("CREATE TABLE {0}_other (id INT)", [(1, "a")]),
        ("CREATE TEMPORARY TABLE {0} AS SELECT 1 AS id, 'temporary' AS name", [(1, "temporary")]),
        ("DROP TABLE {0}; CREATE TABLE {0} AS SELECT 1 AS id, 'new' AS name", [(1, "new")]),
    ],
)
def test_what_a_name_means_now_counts(connection: psycopg.Connection, change: str, found: list) -> None:
    name = f"named_{next(_NUMBERS)}"
    connection.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, name TEXT)")
    connection.execute(f"INSERT INTO {name} VALUES (1, 'a')")
    sql = f"SELECT id, name FROM {name} WHERE id = %s"
    for _ in range(3):
        assert connection.execute(sql, (1,), prepare=True).fetchall() == [(1, "a")]
    for statement in change.format(name).split(";"):
        connection.execute(statement)
    for _ in range(3):
        assert connection.execute(sql, (1,), prepare=True).fetchall() == found


def test_the_search_path_counts(connection: psycopg.Connection) -> None:
    connection.execute("CREATE SCHEMA elsewhere")
    for schema in ("public", "elsewhere"):
        connection.execute(f"CREATE TABLE {schema}.placed (id INT PRIMARY KEY, name TEXT)")
        connection.execute(f"INSERT INTO {schema}.placed VALUES (1, '{schema}')")
    sql = "SELECT name FROM placed WHERE id = %s"
    for path in ("public", "elsewhere", "public", "elsewhere, public"):
        connection.execute(f"SET search_path = {path}")
        for _ in range(3):
            found = connection.execute(sql, (1,), prepare=True).fetchall()
            assert found == [(path.split(",")[0],)]


def test_a_block_sees_its_own_changes(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE changing (id INT PRIMARY KEY, name TEXT)")
    connection.execute("INSERT INTO changing VALUES (1, 'a')")
    sql = "SELECT name FROM changing WHERE id = %s"
    for _ in range(3):
        connection.execute(sql, (1,), prepare=True)
    with connection.transaction(force_rollback=True):
        connection.execute("UPDATE changing SET name = 'b'")
        assert connection.execute(sql, (1,), prepare=True).fetchall() == [("b",)]
    assert connection.execute(sql, (1,), prepare=True).fetchall() == [("a",)]


def test_rights_that_go_end_the_reads(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data", query_workers=1)) as door:
        accounts = door.runtime.accounts
        _, secret = accounts.add("boss", "admin")
        with door.connect(user="boss", password=secret) as boss:
            boss.execute("CREATE TABLE guarded (id INT PRIMARY KEY)")
            boss.execute("CREATE ROLE reader")
            boss.execute("GRANT SELECT ON guarded TO reader")
            _, own = accounts.add("small", "reader")
            with door.connect(user="small", password=own) as small:
                sql = "SELECT id FROM guarded WHERE id = %s"
                for _ in range(3):
                    assert small.execute(sql, (1,), prepare=True).fetchall() == []
                boss.execute("REVOKE SELECT ON guarded FROM reader")
                with pytest.raises(psycopg.Error):
                    small.execute(sql, (1,), prepare=True)
