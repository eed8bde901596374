"""What a session does, seen by psycopg: queries, parameters, blocks, cursors, settings, cancels."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor, asked, errors, fields, refused, tags
from tests.service.waiting import wait_until, when


def rows(connection: psycopg.Connection, sql: str, *parameters: object) -> list[tuple]:
    return connection.execute(sql, parameters or None).fetchall()


@pytest.fixture
def table(connection: psycopg.Connection, request: pytest.FixtureRequest) -> str:
    """An empty table of the test's own."""
    name = "t_" + "".join(letter if letter.isalnum() else "_" for letter in request.node.name.lower())[:50]
    connection.execute(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, name TEXT, n NUMERIC(10, 2))")
    return name


# Queries


def test_several_statements_have_several_answers(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    found = raw.query("SELECT 1; ; SELECT 2, 3; -- nothing\n")
    assert tags(found) == ["SELECT 1", "SELECT 1"]
    assert [type for type, _ in raw.query("  ")] == [b"I", b"Z"]


def test_statements_of_one_message_are_one_epoch(door: PostgresDoor, table: str) -> None:
    raw = door.raw()
    raw.start()
    before = door.runtime.snapshot.upper
    assert (
        tags(raw.query(f"INSERT INTO {table} (id) VALUES (1); INSERT INTO {table} (id) VALUES (2)"))
        == ["INSERT 0 1"] * 2
    )
    assert door.runtime.snapshot.upper == before + 1
    assert errors(raw.query(f"INSERT INTO {table} (id) VALUES (3); INSERT INTO {table} (id) VALUES (1)")) == [
        "23505"
    ]
    assert door.rows(table, order_by="id") == [(1, None, None), (2, None, None)]


def test_an_error_has_its_place_in_the_whole_message(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    sql = "SELECT 1 /* é */;\nSELECT 'e', nope"
    (problem,) = [fields(body) for type, body in raw.query(sql) if type == b"E"]
    assert problem["C"] == "42703" and sql[int(problem["P"]) - 1 :] == "nope"


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("SELEC 1", "42601"),
        ("SELECT * FROM nope", "42P01"),
        ("SELECT nope(1)", "42883"),
        ("SELECT 1 / 0", "22012"),
        ("SELECT 'x'::int", "22P02"),
        ("SELECT 3000000000::int", "22003"),
        ("SAVEPOINT a", "25P01"),
        ("FETCH c", "34000"),
        ("EXECUTE p", "26000"),
        ("SET nope = 1", "42704"),
        ("SET client_encoding = 'latin1'", "22023"),
        ("LISTEN a", "0A000"),
        ("COPY nope FROM '/etc/passwd'", "0A000"),
        ("SUBSCRIBE nope", "0A000"),
        ("SELECT '\ud800'".encode("utf-8", "replace").decode() + " +", "42601"),
    ],
)
def test_errors_have_sqlstates(connection: psycopg.Connection, sql: str, sqlstate: str) -> None:
    with refused(sqlstate):
        connection.execute(sql)
    assert rows(connection, "SELECT 1") == [(1,)]


def test_duplicate_names_of_columns_stay(connection: psycopg.Connection) -> None:
    cursor = connection.execute("SELECT 1 AS a, 2 AS a")
    assert [column.name for column in cursor.description or ()] == ["a", "a"]
    cursor = connection.execute("SELECT 1 AS a, %s::int AS a", (2,))
    assert cursor.fetchall() == [(1, 2)]


# Parameters


@pytest.mark.parametrize("placeholder", ["%s", "%t", "%b"])
@pytest.mark.parametrize("binary", [False, True])
def test_parameters_find_rows(
    connection: psycopg.Connection, table: str, placeholder: str, binary: bool
) -> None:
    sql = f"INSERT INTO {table} VALUES ({placeholder}, {placeholder}, {placeholder})"
    connection.execute(sql, (1, "it's", Decimal("1.25")))
    connection.execute(sql, (2, None, None))
    cursor = connection.cursor(binary=binary)
    where = f"SELECT * FROM {table} WHERE id = {placeholder} AND name = {placeholder} AND n > {placeholder}"
    assert cursor.execute(where, (1, "it's", Decimal("1"))).fetchall() == [(1, "it's", Decimal("1.25"))]
    of = f"SELECT id FROM {table} WHERE id = ANY({placeholder}) ORDER BY id LIMIT {placeholder}"
    assert cursor.execute(of, ([2, 1, 7], 5)).fetchall() == [(1,), (2,)]


def test_a_parameter_without_a_type_takes_that_of_its_place(
    connection: psycopg.Connection, table: str
) -> None:
    prepared = asked(
        connection,
        "send_prepare",
        b"p",
        f"SELECT n + $1, $2, $3::date FROM {table} WHERE id = $4 AND name LIKE $5".encode(),
    )
    assert prepared.status == psycopg.pq.ExecStatus.COMMAND_OK, prepared.error_message
    described = asked(connection, "send_describe_prepared", b"p")
    assert [described.param_type(i) for i in range(described.nparams)] == [1700, 25, 1082, 20, 25]
    assert [described.ftype(i) for i in range(described.nfields)] == [1700, 25, 1082]


def test_a_statement_is_described_without_being_run(
    door: PostgresDoor, connection: psycopg.Connection, table: str
) -> None:
    before = door.runtime.snapshot.upper
    for sql, names in (
        (f"INSERT INTO {table} (id) VALUES ($1) RETURNING id, name", ["id", "name"]),
        (f"UPDATE {table} SET n = $1 WHERE id = $2 RETURNING *", ["id", "name", "n"]),
        (f"DELETE FROM {table}", []),
        ("SELECT count(*) AS c FROM range(10000000000)", ["c"]),
        (f"WITH x AS (SELECT * FROM {table}) SELECT id, n FROM x ORDER BY id LIMIT $1", ["id", "n"]),
        ("SHOW TimeZone", ["TimeZone"]),
        ("BEGIN", []),
    ):
        assert asked(connection, "send_prepare", b"", sql.encode()).status == psycopg.pq.ExecStatus.COMMAND_OK
        described = asked(connection, "send_describe_prepared", b"")
        assert described.status == psycopg.pq.ExecStatus.COMMAND_OK, described.error_message
        assert [(described.fname(i) or b"").decode() for i in range(described.nfields)] == names, sql
    assert door.runtime.snapshot.upper == before


@pytest.mark.parametrize(
    ("sql", "values", "sqlstate"),
    [
        ("SELECT $1::int", [b"x"], "22P02"),
        ("SELECT $1::int", [], "08P01"),
        ("SELECT $1::smallint", [b"70000"], "22003"),
        ("SELECT $1::jsonb", [b"{"], "22P02"),
        ("CREATE VIEW v AS SELECT $1", [b"1"], "0A000"),
        ("SELECT 1; SELECT 2", [], "42601"),
    ],
)
def test_wrong_values_are_refused(
    connection: psycopg.Connection, sql: str, values: list, sqlstate: str
) -> None:
    found = asked(connection, "send_query_params", sql.encode(), values)
    assert found.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == sqlstate.encode(), found.error_message


# Blocks


def test_a_block_is_one_epoch(door: PostgresDoor, table: str) -> None:
    before = door.runtime.snapshot.upper
    with door.connect(autocommit=False) as writer, door.connect() as reader:
        writer.execute(f"INSERT INTO {table} (id) VALUES (1), (2)")
        writer.execute(f"UPDATE {table} SET name = 'x' WHERE id = 1")
        assert rows(writer, f"SELECT name FROM {table} WHERE id = 1") == [("x",)]
        assert rows(reader, f"SELECT * FROM {table}") == []
        writer.commit()
        assert door.runtime.snapshot.upper == before + 1
        assert rows(reader, f"SELECT name FROM {table} ORDER BY id") == [("x",), (None,)]
        writer.execute(f"DELETE FROM {table}")
        writer.rollback()
        assert len(rows(reader, f"SELECT * FROM {table}")) == 2


def test_a_failed_block_takes_only_its_end(door: PostgresDoor, table: str) -> None:
    with door.connect(autocommit=False) as connection:
        connection.execute(f"INSERT INTO {table} (id) VALUES (1)")
        with refused("22012"):
            connection.execute("SELECT 1 / 0")
        with refused("25P02"):
            connection.execute("SELECT 1")
        assert connection.execute("COMMIT").statusmessage == "ROLLBACK"
        assert rows(connection, f"SELECT * FROM {table}") == []


def test_savepoints_keep_what_came_before_them(door: PostgresDoor, table: str) -> None:
    with door.connect(autocommit=False) as connection:
        connection.execute(f"INSERT INTO {table} (id) VALUES (1)")
        with pytest.raises(ZeroDivisionError), connection.transaction():
            connection.execute(f"INSERT INTO {table} (id) VALUES (2)")
            raise ZeroDivisionError
        with connection.transaction():
            connection.execute(f"INSERT INTO {table} (id) VALUES (3)")
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute(f"INSERT INTO {table} (id) VALUES (1)")
        connection.execute("SAVEPOINT a")
        connection.execute("RELEASE a")
        with refused("3B001"):
            connection.execute("ROLLBACK TO a")
        connection.rollback()
        connection.execute(f"INSERT INTO {table} (id) VALUES (4)")
        connection.commit()
        assert rows(connection, f"SELECT id FROM {table}") == [(4,)]


@pytest.mark.parametrize(
    ("begin", "sees"),
    [
        ("BEGIN", [(1,)]),
        ("BEGIN ISOLATION LEVEL REPEATABLE READ", []),
        ("BEGIN READ ONLY", []),
        ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE", []),
    ],
)
def test_isolation_says_which_state_is_seen(door: PostgresDoor, table: str, begin: str, sees: list) -> None:
    with door.connect() as connection, door.connect() as writer:
        connection.execute(begin)
        assert rows(connection, f"SELECT id FROM {table}") == []
        writer.execute(f"INSERT INTO {table} (id) VALUES (1)")
        assert rows(connection, f"SELECT id FROM {table}") == sees
        connection.execute("COMMIT")
        assert rows(connection, f"SELECT id FROM {table}") == [(1,)]


def test_a_block_reads_a_view_at_its_epoch(door: PostgresDoor, table: str) -> None:
    with door.connect() as connection, door.connect() as writer:
        writer.execute(f"CREATE VIEW v_{table} AS SELECT count(*) AS c FROM {table}")
        connection.execute("BEGIN READ ONLY")
        assert rows(connection, f"SELECT c FROM v_{table}") == [(0,)]
        writer.execute(f"INSERT INTO {table} (id) VALUES (1)")
        assert rows(connection, f"SELECT c FROM v_{table}") == [(0,)]
        connection.execute("COMMIT")
        connection.execute("BEGIN")
        connection.execute(f"INSERT INTO {table} (id) VALUES (2)")
        with refused("55000"):
            connection.execute(f"SELECT c FROM v_{table}")


def test_a_read_only_block_changes_nothing(door: PostgresDoor, table: str) -> None:
    with door.connect() as connection:
        for sql in (
            f"INSERT INTO {table} (id) VALUES (1)",
            f"DROP TABLE {table}",
            f"COPY {table} FROM STDIN",
        ):
            connection.execute("BEGIN READ ONLY")
            with refused("25006"):
                if sql.startswith("COPY"):
                    with connection.cursor().copy(sql) as copy:
                        copy.write_row((1, None, None))
                else:
                    connection.execute(sql)
            connection.execute("ROLLBACK")
        connection.execute("SET default_transaction_read_only = on")
        connection.execute("BEGIN")
        with refused("25006"):
            connection.execute(f"DELETE FROM {table}")


def test_no_update_is_lost(door: PostgresDoor, table: str) -> None:
    with door.connect() as first, door.connect() as second:
        first.execute(f"INSERT INTO {table} VALUES (1, NULL, 10)")
        for begin, sqlstate in (("BEGIN", None), ("BEGIN ISOLATION LEVEL REPEATABLE READ", "40001")):
            first.execute(begin)
            first.execute(f"UPDATE {table} SET n = n + 1 WHERE id = 1")
            second.execute(f"UPDATE {table} SET n = n * 2 WHERE id = 1")
            if sqlstate is None:
                first.execute("COMMIT")
            else:
                with refused(sqlstate):
                    first.execute("COMMIT")
        assert rows(first, f"SELECT n FROM {table}") == [(Decimal(42),)]
        first.execute("BEGIN")
        first.execute(f"UPDATE {table} SET n = 0 WHERE n > 40")
        second.execute(f"UPDATE {table} SET n = 1")
        with refused("40001"):  # its count is not what the client has seen
            first.execute("COMMIT")


def test_definitions_take_effect_at_once(door: PostgresDoor) -> None:
    with door.connect(autocommit=False) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        connection.execute("CREATE TABLE at_once (id INT)")
        connection.execute("INSERT INTO at_once VALUES (1)")
        with refused("25001"):
            connection.execute("CREATE TABLE after_change (id INT)")
        connection.rollback()
        assert rows(connection, "SELECT * FROM at_once") == []
        assert len(notices) == 2 and "at once" in notices[0] and "stays" in notices[1]


def test_blocks_can_chain(connection: psycopg.Connection, table: str) -> None:
    connection.execute("BEGIN READ ONLY")
    connection.execute("COMMIT AND CHAIN")
    with refused("25006"):
        connection.execute(f"DELETE FROM {table}")
    assert connection.execute("ROLLBACK").statusmessage == "ROLLBACK"


def test_a_pipeline_is_one_block_up_to_its_sync(
    door: PostgresDoor, connection: psycopg.Connection, table: str
) -> None:
    before = door.runtime.snapshot.upper
    with connection.pipeline():
        found = [connection.execute(f"INSERT INTO {table} (id) VALUES (%s)", (i,)) for i in range(5)]
    assert [cursor.rowcount for cursor in found] == [1] * 5
    assert door.runtime.snapshot.upper == before + 1
    with pytest.raises(psycopg.errors.UniqueViolation), connection.pipeline():
        connection.execute(f"INSERT INTO {table} (id) VALUES (7)")
        connection.execute(f"INSERT INTO {table} (id) VALUES (1)")
        connection.execute(f"INSERT INTO {table} (id) VALUES (8)")
    assert len(rows(connection, f"SELECT * FROM {table}")) == 5


# Cursors


def test_a_portal_is_read_in_parts(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    raw.query("BEGIN")
    raw.send(b"P", b"\0SELECT range FROM range(5)\0\0\0")
    raw.send(b"B", b"c\0\0\0\0\0\0\0\0")
    raw.send(b"E", b"c\0\0\0\0\2")
    raw.send(b"S")
    assert [type for type, _ in raw.until(b"Z")] == [b"1", b"2", b"D", b"D", b"s", b"Z"]
    raw.send(b"E", b"c\0\0\0\0\2")
    raw.send(b"E", b"c\0\0\0\0\0")
    raw.send(b"S")
    found = raw.until(b"Z")
    assert [type for type, _ in found] == [b"D", b"D", b"s", b"D", b"C", b"Z"]
    assert tags(found) == ["SELECT 1"]
    raw.query("COMMIT")
    raw.send(b"E", b"c\0\0\0\0\0")
    raw.send(b"S")
    assert errors(raw.until(b"Z")) == ["34000"]


def test_cursors_go_both_ways(connection: psycopg.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("DECLARE c SCROLL CURSOR FOR SELECT range FROM range(5)")
    for fetch, expected in (
        ("FETCH c", [0]),
        ("FETCH 2 FROM c", [1, 2]),
        ("FETCH PRIOR c", [1]),
        ("FETCH ALL IN c", [2, 3, 4]),
        ("FETCH c", []),
        ("FETCH BACKWARD 2 c", [4, 3]),
        ("FETCH ABSOLUTE 2 c", [1]),
        ("FETCH RELATIVE 2 c", [3]),
        ("FETCH FIRST c", [0]),
        ("FETCH LAST c", [4]),
        ("FETCH 0 c", [4]),
        ("FETCH BACKWARD ALL c", [3, 2, 1, 0]),
        ("FETCH FORWARD -1 c", []),
        ("FETCH ABSOLUTE 9 c", []),
    ):
        assert [row for (row,) in rows(connection, fetch)] == expected, fetch
    assert connection.execute("MOVE ABSOLUTE 0 c").statusmessage == "MOVE 0"
    assert connection.execute("MOVE 3 c").statusmessage == "MOVE 3"
    assert rows(connection, "FETCH c") == [(3,)]
    connection.execute("CLOSE c")
    with refused("34000"):
        connection.execute("FETCH c")
    connection.execute("ROLLBACK")


def test_a_cursor_lives_as_long_as_its_block_or_its_session(
    connection: psycopg.Connection, table: str
) -> None:
    with refused("25P01"):
        connection.execute("DECLARE c CURSOR FOR SELECT 1")
    connection.execute("BEGIN")
    connection.execute("DECLARE c CURSOR FOR SELECT 1")
    connection.execute("DECLARE h CURSOR WITH HOLD FOR SELECT range FROM range(3)")
    with refused("42P03"):
        connection.execute("DECLARE c CURSOR FOR SELECT 1")
    connection.execute("ROLLBACK")
    connection.execute("DECLARE h CURSOR WITH HOLD FOR SELECT range FROM range(3)")
    assert rows(connection, "FETCH 2 h") == [(0,), (1,)]
    assert rows(connection, "FETCH 2 h") == [(2,)]
    connection.execute("CLOSE ALL")
    with refused("34000"):
        connection.execute("FETCH h")
    with refused("0A000"):
        connection.execute(f"DECLARE h CURSOR WITH HOLD FOR INSERT INTO {table} (id) VALUES (1) RETURNING id")


def test_a_cursor_of_the_server(door: PostgresDoor) -> None:
    with door.connect(autocommit=False) as connection, connection.cursor("named", scrollable=True) as cursor:
        cursor.execute("SELECT range FROM range(10) WHERE range >= %s", (2,))
        assert cursor.fetchone() == (2,) and cursor.fetchmany(2) == [(3,), (4,)]
        cursor.scroll(-2)
        assert [row for (row,) in cursor] == list(range(3, 10))


# Prepared statements


def test_statements_are_prepared_by_sql_too(connection: psycopg.Connection, table: str) -> None:
    connection.execute(f"PREPARE put (bigint, text) AS INSERT INTO {table} VALUES ($1, $2, $3)")
    connection.execute("EXECUTE put(1 + 1, upper('a'), 1.5)")
    connection.execute("PREPARE get AS SELECT name, n FROM " + table + " WHERE id = $1")
    assert rows(connection, "EXECUTE get(2)") == [("A", Decimal("1.50"))]
    with refused("42P05"):
        connection.execute("PREPARE get AS SELECT 1")
    with refused("42601"):
        connection.execute("EXECUTE get(1, 2)")
    with refused("42703"):
        connection.execute(f"PREPARE wrong AS SELECT nope FROM {table}")
    connection.execute("DEALLOCATE get")
    with refused("26000"):
        connection.execute("EXECUTE get(2)")
    connection.execute("DEALLOCATE ALL")


def test_prepared_statements_notice_that_columns_have_changed(
    connection: psycopg.Connection, table: str
) -> None:
    assert asked(connection, "send_prepare", b"q", f"SELECT * FROM {table}".encode()).status
    asked(connection, "send_describe_prepared", b"q")
    connection.execute(f"ALTER TABLE {table} ADD COLUMN more INT")
    connection.execute(f"INSERT INTO {table} (id) VALUES (1)")
    found = asked(connection, "send_query_prepared", b"q", [])
    assert found.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"0A000"


# Settings


def test_settings_are_set_shown_and_reset(connection: psycopg.Connection) -> None:
    assert connection.info.parameter_status("server_version") == "15.0"
    connection.execute("SET application_name = 'mine'")
    assert connection.info.parameter_status("application_name") == "mine"
    assert rows(connection, "SHOW application_name") == [("mine",)]
    assert rows(
        connection, "SELECT current_setting('application_name') AS a, set_config('my.own', 'x', false)"
    ) == [("mine", "x")]
    connection.execute("RESET application_name")
    assert rows(connection, "SHOW application_name") == [("",)]
    connection.execute("SET SESSION my.own TO a, 'b c', 3")
    assert rows(connection, "SHOW my.own") == [("a, b c, 3",)]
    for sql in (
        "SET extra_float_digits = 3",
        "SET DateStyle TO ISO",
        "SET client_encoding TO 'UTF8'",
        "SET NAMES 'utf8'",
        "SET TIME ZONE 'UTC'",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
        "SET standard_conforming_strings = on",
        "SET search_path TO public",
        "UNLISTEN *",
        "DISCARD ALL",
    ):
        connection.execute(sql)
    assert len(rows(connection, "SHOW ALL")) > 40


def test_settings_of_a_block_end_with_it(connection: psycopg.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("SET LOCAL statement_timeout = '5s'")
    connection.execute("SET application_name = 'gone'")
    assert rows(connection, "SHOW statement_timeout") == [("5s",)]
    connection.execute("ROLLBACK")
    assert rows(connection, "SHOW statement_timeout") == [("0",)]
    assert rows(connection, "SHOW application_name") == [("",)]


# Ending what runs

ENDLESS = "SELECT count(*) FROM range(100000000000)"


def test_a_statement_is_cancelled_alone(door: PostgresDoor, connection: psycopg.Connection) -> None:
    cancelling = when(lambda: is_busy(door), connection.cancel_safe)
    with refused("57014"):
        connection.execute(ENDLESS)
    cancelling.join()
    assert rows(connection, "SELECT 1") == [(1,)]


def test_a_wrong_secret_cancels_nothing(door: PostgresDoor, connection: psycopg.Connection) -> None:
    raw = door.raw()
    raw.startup((80877102).to_bytes(4, "big") + connection.info.backend_pid.to_bytes(4, "big") + b"nope")
    assert raw.message() is None
    assert rows(connection, "SELECT 1") == [(1,)]


def test_a_statement_has_its_timeout(connection: psycopg.Connection) -> None:
    connection.execute("SET statement_timeout = 200")
    with refused("57014"):
        connection.execute(ENDLESS)
    connection.execute("RESET statement_timeout")
    assert rows(connection, "SELECT 1") == [(1,)]


def test_what_runs_ends_with_its_client(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    raw.send(b"Q", ENDLESS.encode() + b"\0")
    wait_until(lambda: is_busy(door))
    raw.close()
    wait_until(lambda: not is_busy(door))


def is_busy(door: PostgresDoor) -> bool:
    """Whether a worker runs a query."""
    return bool(door.app.state.queries.readers.pool._busy)


def test_an_error_of_the_extended_protocol_skips_to_sync(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    raw.send(b"P", b"\0SELEC\0\0\0")
    raw.send(b"B", b"\0\0\0\0\0\0\0\0")
    raw.send(b"E", b"\0\0\0\0\0")
    raw.send(b"S")
    raw.send(b"P", b"\0SELECT 1\0\0\0")
    raw.send(b"B", b"\0\0\0\0\0\0\0\1\0\1")
    raw.send(b"D", b"P\0")
    raw.send(b"E", b"\0\0\0\0\0")
    raw.send(b"C", b"S\0")
    raw.send(b"S")
    found = [type for type, _ in raw.until(b"Z")]  # what arrives with its Bind is judged with it
    assert found[-2:] == [b"E", b"Z"] and set(found[:-2]) <= {b"1", b"2"}
    assert [type for type, _ in raw.until(b"Z")] == [b"1", b"2", b"T", b"D", b"C", b"3", b"Z"]
