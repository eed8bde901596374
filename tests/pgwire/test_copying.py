"""COPY in and out: every format there and back, options, errors that name the line, budgets, blocks."""

from __future__ import annotations

import struct

import psycopg
import pytest

from service.postgres.copy_texts import END, HEAD
from tests.pgwire.door import PostgresDoor, asked, errors, fields, framed, refused, tags

TYPES = (
    "id BIGINT PRIMARY KEY, b BOOLEAN, d DOUBLE PRECISION, n NUMERIC(12, 3), t TEXT, day DATE, at TIMESTAMP, "
    "z TIMESTAMPTZ, span INTERVAL, raw BYTEA, u UUID, j JSON, a INT[], "
    "w TIMETZ, bits BIT VARYING"
)
ROWS = (
    "INSERT INTO {} VALUES "
    "(1, true, 1.5, 2.5, E'a\\tb\\\\c\\nd,\"e\"', '2024-02-29', '2024-01-01 01:02:03.5', "
    "'2024-01-01 01:02:03+02', INTERVAL '1 month 2 days 3 seconds', unhex('00ff'), "
    "'12345678-9abc-def0-1234-56789abcdef0', '{{\"k\": [1, null]}}', [1, NULL, 3], "
    "'23:59:59+02', '0010'), "
    "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
    "(3, false, 'NaN', -1, '', '0001-01-01', '1969-12-31 23:59:59', '1969-12-31 23:59:59', "
    "INTERVAL '-1 day', unhex(''), '00000000-0000-0000-0000-000000000000', '[]', [], "
    "'01:02:03.5-15:59:59', '1'), "
    "(4, NULL, 'Infinity', NULL, '\\N', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
)


def copied(connection: psycopg.Connection, sql: str) -> bytes:
    with connection.cursor().copy(sql) as copy:
        return b"".join(bytes(part) for part in copy)


def put(connection: psycopg.Connection, sql: str, data: bytes, size: int = 1 << 16) -> int:
    cursor = connection.cursor()
    with cursor.copy(sql) as copy:
        for start in range(0, len(data), size):
            copy.write(data[start : start + size])
    return cursor.rowcount


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("text", ""),
        ("pipes", "(DELIMITER '|', NULL 'nil')"),
        ("csv", "(FORMAT csv)"),
        ("header", "WITH CSV HEADER"),
        ("quotes", "(FORMAT csv, HEADER, DELIMITER ';', QUOTE '''', NULL 'NULL', FORCE_QUOTE *)"),
        ("binary", "(FORMAT binary)"),
    ],
)
@pytest.mark.parametrize("size", [7, 1 << 16])
def test_what_is_copied_out_comes_back(
    connection: psycopg.Connection, name: str, options: str, size: int
) -> None:
    source, target = f"from_{name}_{size}", f"to_{name}_{size}"
    connection.execute(f"CREATE TABLE {source} ({TYPES})")
    connection.execute(f"CREATE TABLE {target} ({TYPES})")
    connection.execute(ROWS.format(source))
    data = copied(connection, f"COPY {source} TO STDOUT {options}")
    assert put(connection, f"COPY {target} FROM STDIN {options}", data, size) == 4
    ordered = "SELECT * FROM {} ORDER BY id"
    rows = connection.execute(ordered.format(source)).fetchall()
    assert str(connection.execute(ordered.format(target)).fetchall()) == str(rows) and len(rows) == 4


def test_what_no_column_takes_is_refused(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE taken (n BIGINT, p NUMERIC(9, 2), z TIMETZ, b BIT(3))")
    least = struct.pack("!hiq", 1, 8, -(2**63))
    nan = struct.pack("!hihhHh", 1, 8, 0, 0, 0xC000, 0)
    for column, binary in (("n", least), ("p", nan), ("z", struct.pack("!hiqi", 1, 12, 0, 57_600))):
        with pytest.raises(psycopg.DataError):
            put(connection, f"COPY taken ({column}) FROM STDIN (FORMAT binary)", HEAD + binary + END)
    for column, text in (("n", "-9223372036854775808"), ("p", "NaN"), ("p", "Infinity"), ("z", "25:00+00")):
        for options in ("", "CSV"):
            with pytest.raises(psycopg.DataError):
                put(connection, f"COPY taken ({column}) FROM STDIN {options}", f"{text}\n".encode())
    with refused("23514"):
        put(connection, "COPY taken (b) FROM STDIN", b"10\n")
    assert connection.execute("SELECT count(*) FROM taken").fetchone() == (0,)


def test_columns_and_queries_can_be_chosen(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE chosen (id BIGINT, name TEXT DEFAULT 'none', more INT)")
    assert put(connection, 'COPY chosen (more, "id") FROM STDIN CSV', b"1,2\n3,4\n") == 2
    assert copied(connection, "COPY chosen (id, name) TO STDOUT") == b"2\tnone\n4\tnone\n"
    assert copied(connection, "COPY (SELECT count(*), NULL FROM chosen) TO STDOUT CSV") == b"2,\n"
    assert put(connection, "COPY chosen FROM STDIN", b"") == 0
    with refused("42703"):
        put(connection, "COPY chosen (nope) FROM STDIN", b"1\n")
    with refused("42701"):
        put(connection, "COPY chosen (id, id) FROM STDIN", b"1\t2\n")


@pytest.mark.parametrize(
    ("options", "data", "rows"),
    [
        ("", b"1\ta\r\n2\tb", [(1, "a"), (2, "b")]),
        ("", b"1\ta\\tb\\\\\\x41\\101\\n\n2\t\\N\n\\.\nignored", [(1, "a\tb\\AA\n"), (2, None)]),
        ("CSV", b'1,"a\n""b"""\n2,\n3,""\n', [(1, 'a\n"b"'), (2, None), (3, "")]),
        ("CSV HEADER", b"x,y\n1,a\n", [(1, "a")]),
        ("(FORMAT csv, NULL 'x')", b'1,x\n2,"x"\n3,\n', [(1, None), (2, "x"), (3, "")]),
    ],
)
def test_forms_of_text_are_read(
    connection: psycopg.Connection, options: str, data: bytes, rows: list
) -> None:
    connection.execute("DROP TABLE IF EXISTS forms")
    connection.execute("CREATE TABLE forms (id BIGINT, name TEXT)")
    put(connection, f"COPY forms FROM STDIN {options}", data)
    assert connection.execute("SELECT * FROM forms ORDER BY id").fetchall() == rows


@pytest.mark.parametrize(
    ("options", "data", "sqlstate", "words"),
    [
        ("", b"1\ta\nx\tb\n", "22P02", "line 2: column id"),
        ("CSV HEADER", b'id,name\n1,"a\nb"\nx,c\n', "22P02", "line 4: column id"),
        ("", b"1\ta\n2\n", "22P04", "line 2 has 1 field"),
        ("CSV", b"1,a\n2,b,c\n", "22P04", "line 2 has 3 fields"),
        ("CSV", b'1,"a\n', "22P04", "quote"),
        ("", b"1\t\xff\n", "22P04", "line 1 is not UTF-8"),
        ("", b"1\t\\xff\n", "22P02", "escape"),
        ("(FORMAT binary)", b"nonsense", "22P04", "binary format"),
        ("(FORMAT binary)", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4", "22P04", "row 1 has 1 fields"),
        ("(FORMAT binary)", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\2\x7f\xff\xff\xff", "22P04", "row 1"),
        ("(FORMAT binary)", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "22P04", "end mark"),
        ("", b"1\ta\n1\tb\n", "23505", "key"),
    ],
)
def test_errors_name_the_line(
    connection: psycopg.Connection, options: str, data: bytes, sqlstate: str, words: str
) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS wrong (id BIGINT PRIMARY KEY, name TEXT)")
    with pytest.raises(psycopg.Error) as error:
        put(connection, f"COPY wrong FROM STDIN {options}", data)
    assert error.value.sqlstate == sqlstate and words in str(error.value), str(error.value)
    assert connection.execute("SELECT count(*) FROM wrong").fetchone() == (0,)


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("COPY a FROM STDIN (FORMAT xml)", "42601"),
        ("COPY a FROM STDIN (DELIMITER 'ab')", "42000"),
        ("COPY a FROM STDIN (QUOTE '!')", "42000"),
        ("COPY a FROM STDIN (FORMAT binary, NULL 'x')", "42000"),
        ("COPY a FROM STDIN (NOPE)", "42601"),
        ("COPY a FROM STDIN (FORMAT csv, ESCAPE '\\')", "0A000"),
        ("COPY (SELECT 1) FROM STDIN", "42601"),
        ("COPY a TO PROGRAM 'rm'", "0A000"),
        ("COPY nope TO STDOUT", "42P01"),
        ("COPY nope FROM STDIN", "42P01"),
        ("COPY a", "42601"),
        ("COPY (DELETE FROM a) TO STDOUT", "42000"),
    ],
)
def test_wrong_copies_are_refused(connection: psycopg.Connection, sql: str, sqlstate: str) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS a (id BIGINT, name TEXT)")
    found = asked(connection, "send_query", sql.encode())
    assert found.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == sqlstate.encode(), found.error_message


def test_a_copy_is_one_epoch_and_part_of_its_block(door: PostgresDoor) -> None:
    with door.connect() as connection:
        connection.execute("CREATE TABLE blocks (id BIGINT PRIMARY KEY)")
        before = door.runtime.snapshot.upper
        data = b"".join(b"%d\n" % number for number in range(5_000))
        assert put(connection, "COPY blocks FROM STDIN", data) == 5_000
        assert door.runtime.snapshot.upper == before + 1
        connection.execute("BEGIN")
        put(connection, "COPY blocks FROM STDIN", b"9000\n")
        assert (
            copied(connection, "COPY (SELECT * FROM blocks WHERE id > 4998 ORDER BY id) TO STDOUT")
            == b"4999\n9000\n"
        )
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM blocks").fetchone() == (5_000,)
        with (
            pytest.raises(ValueError),
            connection.cursor().copy("COPY blocks FROM STDIN") as copy,
        ):
            copy.write(b"7000\n")
            raise ValueError("the client changes its mind")
        assert connection.execute("SELECT count(*) FROM blocks").fetchone() == (5_000,)


def test_after_an_error_the_rest_of_the_data_is_dropped(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    raw.query("CREATE TABLE dropped (id BIGINT)")
    raw.send(b"Q", b"COPY dropped FROM STDIN\0")
    assert raw.message() == (b"G", b"\0\0\1\0\0")
    raw.socket.sendall(framed(b"d", b"x\n") * 3 + framed(b"f", b"no more\0"))
    found = raw.until(b"Z")
    assert errors(found) == ["57014"] and "no more" in fields(found[0][1])["M"]
    raw.socket.sendall(framed(b"Q", b"COPY dropped FROM STDIN\0"))
    raw.socket.sendall(framed(b"d", b"y\n") + framed(b"c") + framed(b"Q", b"SELECT 1\0"))
    assert errors(raw.until(b"Z")) == ["22P02"]
    assert tags(raw.until(b"Z")) == ["SELECT 1"]
