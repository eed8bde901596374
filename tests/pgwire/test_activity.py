"""What a session sees of the others, and how it cancels what they run and ends them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor, Raw, errors, fields, refused, tags
from tests.postgres.server import Server
from tests.service.waiting import wait_until

_OTHERS = "FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
_SLOW = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a.a * b.b = 7"


_WAITING = ["ClientRead", "ClientRead", None]


def rows(connection: psycopg.Connection, sql: str) -> list[tuple]:
    return connection.execute(sql).fetchall()


def test_a_session_knows_its_number(connection: psycopg.Connection) -> None:
    assert rows(connection, "SELECT pg_backend_pid()") == [(connection.info.backend_pid,)]
    own = "SELECT inet_client_addr(), inet_client_port() = client_port, state, query FROM pg_stat_activity "
    own += "WHERE pid = pg_backend_pid()"
    assert rows(connection, own) == [("127.0.0.1", True, "active", own)]


def test_each_session_is_shown_with_what_it_does(door: PostgresDoor, connection: psycopg.Connection) -> None:
    columns = "application_name, state, query, wait_event, xact_start IS NULL, backend_start <= query_start"
    of_other = f"SELECT {columns} {_OTHERS}"
    with door.connect(application_name="other") as other:
        other.execute("SELECT 1 AS one")
        found = ("other", "idle", "SELECT 1 AS one", "ClientRead", True, True)
        assert rows(connection, of_other) == [found]
        other.execute("BEGIN")
        assert rows(connection, of_other)[0][1:5] == ("idle in transaction", "BEGIN", "ClientRead", False)
        with pytest.raises(psycopg.Error):
            other.execute("SELECT nope")
        assert rows(connection, of_other)[0][1] == "idle in transaction (aborted)"
    wait_until(lambda: not rows(connection, of_other))


def test_a_point_read_is_shown_too(door: PostgresDoor, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE seen (id INTEGER PRIMARY KEY)")
    with door.connect(prepare_threshold=0) as other:
        for number in range(3):
            other.execute("SELECT id FROM seen WHERE id = %s", (number,))
        assert rows(connection, f"SELECT query, state {_OTHERS}") == [
            ("SELECT id FROM seen WHERE id = $1", "idle")
        ]


def test_a_statement_is_cancelled(door: PostgresDoor, connection: psycopg.Connection) -> None:
    other = door.raw()
    other.start()
    other.send(b"Q", _SLOW.encode() + b"\0")
    running = f"{_OTHERS} AND state = 'active'"
    wait_until(lambda: rows(connection, f"SELECT query {running}") == [(_SLOW,)])
    assert rows(connection, f"SELECT pid, pg_cancel_backend(pid) AS done {running}")[0][1:] == (True,)
    assert errors(other.until(b"Z")) == ["57014"]
    assert tags(other.query("SELECT 1")) == ["SELECT 1"]
    other.close()


@pytest.mark.parametrize("sql", ["", _SLOW, "BEGIN"])
def test_a_session_is_ended(door: PostgresDoor, connection: psycopg.Connection, sql: str) -> None:
    other = door.raw()
    other.start(application_name="ending")
    if sql == _SLOW:
        other.send(b"Q", sql.encode() + b"\0")
        wait_until(lambda: bool(rows(connection, f"SELECT 1 {_OTHERS} AND state = 'active'")))
    elif sql:
        other.query(sql)
    ending = f"SELECT pg_terminate_backend(pid, 1000) {_OTHERS} AND application_name = 'ending'"
    cursor = connection.execute(ending)
    assert cursor.fetchall() == [(True,)]
    assert [(column.name, column.type_code) for column in cursor.description or ()] == [
        ("pg_terminate_backend", 16)
    ]
    assert _fatal(other) == "57P01"
    wait_until(lambda: not rows(connection, f"SELECT 1 {_OTHERS} AND application_name = 'ending'"))


def _fatal(raw: Raw) -> str:
    """The SQLSTATE of the last message of a session that is ended."""
    (found,) = [fields(body) for type, body in raw.until() if type == b"E"][-1:]
    assert found["S"] == "FATAL"
    return found["C"]


def test_a_session_ends_itself(door: PostgresDoor) -> None:
    raw = door.raw()
    raw.start()
    raw.send(b"Q", b"SELECT pg_terminate_backend(pg_backend_pid())\0")
    assert _fatal(raw) == "57P01"


def test_a_number_that_no_session_has(connection: psycopg.Connection) -> None:
    told: list[str | None] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    assert rows(connection, "SELECT pg_catalog.pg_cancel_backend(2147483647), pg_cancel_backend(NULL)") == [
        (False, None)
    ]
    assert told == ["PID 2147483647 is not a session"]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT count(*) {_OTHERS} AND pg_terminate_backend(pid)",
        f"SELECT count(pg_terminate_backend(pid)) {_OTHERS}",
        f"SELECT DISTINCT pg_terminate_backend(pid) {_OTHERS}",
        f"SELECT pg_terminate_backend(pid) {_OTHERS} ORDER BY 1",
        f"SELECT pg_terminate_backend(pid) AS done {_OTHERS} ORDER BY done",
        f"SELECT * FROM (SELECT pg_terminate_backend(pid) {_OTHERS}) AS t",
        f"SELECT pg_terminate_backend(pid) {_OTHERS} UNION ALL SELECT true",
        f"CREATE TABLE ended AS SELECT pg_terminate_backend(pid) {_OTHERS}",
        f"CREATE VIEW ended AS SELECT pg_terminate_backend(pid) {_OTHERS}",
    ],
)
def test_a_signal_elsewhere_is_refused_and_not_sent(
    door: PostgresDoor, connection: psycopg.Connection, sql: str
) -> None:
    with door.connect() as other:
        with pytest.raises(psycopg.Error):
            connection.execute(sql)
        assert rows(other, "SELECT 1") == [(1,)]


def test_a_block_that_is_computed_again_asks_the_catalogs_once(
    door: PostgresDoor, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE counted (id INTEGER PRIMARY KEY, n INTEGER)")
    connection.execute("INSERT INTO counted VALUES (1, 1), (2, 2)")
    with door.connect() as other, door.connect() as third:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO counted VALUES (3, 3)")
        assert rows(connection, "SELECT count(*) FROM counted WHERE id < 3") == [(2,)]
        assert len(rows(connection, f"SELECT pg_terminate_backend(pid) {_OTHERS}")) == 2
        for ended in (other, third):
            with refused("57P01"):
                ended.execute("SELECT 1")
    with door.connect() as changing:
        changing.execute("UPDATE counted SET n = 5 WHERE id = 2")
        connection.execute("COMMIT")
        assert rows(changing, "SELECT id, n FROM counted ORDER BY id") == [(1, 1), (2, 5), (3, 3)]


# Whose sessions


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PostgresDoor, dict[str, str]]]:
    """A service with keys: an admin's, and two of the role `read`."""
    settings = Settings(data=Path(tmp_path_factory.mktemp("keyed")) / "data", query_workers=2)
    with PostgresDoor(settings) as door:
        keys: dict[str, str] = {}
        for name, role in (("boss", "admin"), ("anna", "read"), ("bert", "read")):
            headers = {"Authorization": f"Bearer {keys['boss']}"} if keys else {}
            keys[name] = door.post("/v1/keys", {"name": name, "role": role}, headers=headers).json()["key"]
        yield door, keys


def test_others_sessions_are_hidden_unless_an_admin_asks(
    keyed: tuple[PostgresDoor, dict[str, str]],
) -> None:
    door, keys = keyed
    people = [door.connect(user=name, password=key) for name, key in keys.items()]
    boss, anna, bert = people
    with boss, anna, bert, door.connect(user="anna", password=keys["anna"]) as again:
        bert.execute("SELECT 'secret'")
        asked = f"SELECT usename, query, state, client_port {_OTHERS} AND pid = "
        of_bert = asked + str(bert.info.backend_pid)
        assert rows(anna, of_bert) == [(None, "<insufficient privilege>", None, None)]
        assert rows(boss, of_bert)[0][:3] == ("bert", "SELECT 'secret'", "idle")
        assert rows(anna, asked + str(again.info.backend_pid))[0][0] == "anna"
        assert rows(anna, "SELECT count(*) FROM pg_stat_ssl") == [(2,)]
        for call in ("pg_cancel_backend", "pg_terminate_backend"):
            with refused("42501"):
                anna.execute(f"SELECT {call}({bert.info.backend_pid})")
        assert rows(bert, "SELECT 1") == [(1,)]
        assert rows(anna, f"SELECT pg_terminate_backend({again.info.backend_pid})") == [(True,)]
        assert rows(boss, f"SELECT pg_terminate_backend({bert.info.backend_pid})") == [(True,)]
        for ended in (again, bert):
            with refused("57P01"):
                ended.execute("SELECT 1")


def test_columns_are_those_of_postgres(door: PostgresDoor, postgres: Server) -> None:
    """The rows of an idle session, one in a block and the asking one, beside PostgreSQL's."""
    asked = """SELECT state, query, wait_event_type, wait_event, backend_type, application_name, usename,
        xact_start IS NULL, query_start IS NULL, state_change >= query_start, pid = pg_backend_pid(),
        client_hostname, leader_pid FROM pg_stat_activity WHERE application_name LIKE 'act%' ORDER BY 6"""
    found: list[list[tuple]] = []
    for connect in (partial(door.connect, user="postgres"), postgres.connect):
        names = ("act1", "act2", "act3")
        idle, inside, asking = (connect(application_name=name) for name in names)
        with idle, inside, asking:
            idle.execute("SELECT 1")
            inside.execute("BEGIN")
            inside.execute("SELECT 2")
            wait_until(lambda asking=asking: [row[3] for row in rows(asking, asked)] == _WAITING)
            found.append(rows(asking, asked))
    assert found[0] == found[1]


def test_errors_hide_what_the_client_does_not_read(keyed: tuple[PostgresDoor, dict[str, str]]) -> None:
    """Over this door as over HTTP: neither stored periods nor an assertion that is not the client's."""
    door, keys = keyed
    with door.connect(user="boss", password=keys["boss"]) as boss:
        boss.execute("CREATE TABLE timed (id INT PRIMARY KEY, PERIOD VALID_TIME); CREATE ROLE inserting")
        boss.execute("INSERT INTO timed VALUES (1, '2001-02-03', NULL)")
        boss.execute("CREATE ASSERTION kept_small CHECK (NOT EXISTS (SELECT id FROM timed WHERE id > 8))")
        boss.execute("GRANT INSERT ON timed TO inserting")
    headers = {"Authorization": f"Bearer {keys['boss']}"}
    made = door.post("/v1/keys", {"name": "dora", "role": "inserting"}, headers=headers)
    rows = ("(1, '2024-01-01', NULL)", "2001-02-03"), ("(9, '2024-01-01', NULL)", "kept_small")
    for name, key, sees in (("boss", keys["boss"], True), ("dora", made.json()["key"], False)):
        with door.connect(user=name, password=key) as connection:
            for row, secret in rows:
                with pytest.raises(psycopg.Error) as failed:
                    connection.execute(f"INSERT INTO timed VALUES {row}")
                assert (secret in str(failed.value)) == sees, str(failed.value)
