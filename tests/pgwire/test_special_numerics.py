"""NaN and the infinities of NUMERIC over the wire: COPY, parameters and answers in both formats."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor

SPECIALS = ("NaN", "Infinity", "-Infinity")


@pytest.fixture(scope="module", autouse=True)
def table(door: PostgresDoor) -> None:
    with door.connect() as connection:
        connection.execute("CREATE TABLE special (id INTEGER PRIMARY KEY, x NUMERIC(38, 4))")
        for id, name in enumerate(SPECIALS, 1):
            connection.execute("INSERT INTO special VALUES (%s, %s)", (id, name))


@pytest.mark.parametrize("binary", [False, True])
def test_reads_by_key_give_them_in_both_formats(connection: psycopg.Connection, binary: bool) -> None:
    for id, name in enumerate(SPECIALS, 1):
        for _ in range(7):  # psycopg prepares what it runs again
            (row,) = connection.execute(
                "SELECT x FROM special WHERE id = %s", (id,), binary=binary
            ).fetchall()
            assert str(row[0]) == name


@pytest.mark.parametrize("format", ["text", "binary"])
def test_copy_takes_them(connection: psycopg.Connection, format: str) -> None:
    connection.execute(f"CREATE TABLE copied_{format} (id INTEGER PRIMARY KEY, x NUMERIC(30, 2))")
    values = [Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity"), Decimal("1.25"), None]
    with connection.cursor().copy(f"COPY copied_{format} FROM STDIN (FORMAT {format})") as copy:
        copy.set_types(["int4", "numeric"])
        for row in enumerate(values):
            copy.write_row(row)
    for id, value in enumerate(values):
        (found,) = connection.execute(f"SELECT x FROM copied_{format} WHERE id = {id}").fetchone()  # type: ignore[misc]
        assert str(found) == str(value)


def test_a_query_of_their_column_is_refused_by_its_name(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error, match="column x"):
        connection.execute("SELECT sum(x) FROM special")


def test_a_parameter_is_one(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE given (id INTEGER PRIMARY KEY, x NUMERIC(30, 2))")
    for id, name in enumerate(SPECIALS):
        try:
            connection.execute("INSERT INTO given VALUES (%s, %s)", (id, Decimal(name)))
        except psycopg.Error as error:
            assert "NaN" in str(error) or "Infinity" in str(error)
            connection.execute("INSERT INTO given VALUES (%s, %s)", (id, name))
    found = [connection.execute(f"SELECT x FROM given WHERE id = {id}").fetchall() for id in range(3)]
    assert [str(x) for ((x,),) in found] == list(SPECIALS)


LONG = Decimal("-123456789012345678901234567890.12345678")
"""A number with more digits than Python's arithmetic of Decimals keeps by default."""
LONGER = Decimal("-123456789012345678901234567891.12345678")


def test_values_of_38_digits_keep_them_all(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE long (id BIGINT PRIMARY KEY, x NUMERIC(38, 8))")
    connection.execute("INSERT INTO long VALUES (%s, %s), (%s, %s)", (1, LONG, 2, LONG.copy_negate()))
    connection.execute(
        f"CREATE VIEW minus AS SELECT id, -({LONG.copy_negate()}) AS x, -({LONG}) AS y FROM long"
    )
    read = "SELECT x FROM long WHERE id = 1"
    assert connection.execute(read).fetchall() == [(LONG,)]
    assert connection.execute("SELECT id FROM long WHERE x = %s", (LONG,)).fetchall() == [(1,)]
    assert connection.execute("SELECT %s::numeric(38, 8)", (LONG,)).fetchall() == [(LONG,)]
    assert connection.execute("SELECT x, y FROM minus WHERE id = 1").fetchall() == [
        (LONG, LONG.copy_negate())
    ]
    connection.execute("UPDATE long SET x = %s WHERE id = 1", (LONGER,))
    assert connection.execute(read).fetchall() == [(LONGER,)]


def test_specials_stand_beside_all_numbers_that_fit(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE beside (id BIGINT PRIMARY KEY, x NUMERIC(38, 8))")
    connection.execute(f"INSERT INTO beside VALUES (1, 'NaN'), (2, {LONG}), (3, '{LONG}'), (4, '+1.5')")
    connection.execute("INSERT INTO beside VALUES (5, %s), (6, %s)", (float("nan"), Decimal("Infinity")))
    found = [connection.execute("SELECT x FROM beside WHERE id = %s", (id,)).fetchone() for id in range(1, 7)]
    assert [str(row[0]) for row in found if row] == [
        *("NaN", str(LONG), str(LONG), "1.50000000", "NaN", "Infinity")
    ]
    with pytest.raises(psycopg.Error, match="NaN") as refused:
        connection.execute("UPDATE beside SET x = 'NaN' WHERE id = 2")
    assert "posted as rows" in str(refused.value.diag.message_hint)
