"""Moments are read and written by the clock of the session's zone, as PostgreSQL does it; views keep UTC."""

from __future__ import annotations

import json
from itertools import count
from zoneinfo import available_timezones

import psycopg
import pytest

from service.reading.session_zones import session_zone
from tests.pgwire.door import PostgresDoor, refused
from tests.pgwire.write_zoned import ANSWERS, answers
from tests.pgwire.zoned_cases import ZONES, expressions

_NUMBERS = count()
_TOLD = json.loads(ANSWERS.read_text())


@pytest.mark.parametrize("zone", ZONES)
def test_expressions_have_postgresqls_values(connection: psycopg.Connection, zone: str) -> None:
    found = zip(expressions(), answers(connection, zone), _TOLD[zone], strict=True)
    assert [(text, ours, told) for text, ours, told in found if ours != told] == []


@pytest.fixture
def moments(connection: psycopg.Connection) -> str:
    name = f"moments_{next(_NUMBERS)}"
    connection.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, at TIMESTAMPTZ, day DATE)")
    return name


def texts(connection: psycopg.Connection, sql: str) -> list[str]:
    """The first column, as the server writes it."""
    result = connection.execute(sql).pgresult
    assert result is not None
    return [(result.get_value(row, 0) or b"").decode() for row in range(result.ntuples)]


def test_every_way_in_reads_the_clock_of_the_session(door: PostgresDoor, moments: str) -> None:
    with door.connect(options="-c timezone=America/New_York") as here, door.connect() as utc:
        at = "2024-07-01 12:00:00"
        here.execute(f"INSERT INTO {moments} (id, at) VALUES (1, '{at}')")
        here.execute(f"INSERT INTO {moments} (id, at) SELECT 2, '{at}'::timestamptz")
        here.execute(f"INSERT INTO {moments} (id, at) VALUES (3, %s)", [at])
        here.execute(f"INSERT INTO {moments} (id, at) VALUES (4, '{at}+00')")
        with here.cursor().copy(f"COPY {moments} (id, at) FROM STDIN") as copy:
            copy.write(f"5\t{at}\n6\t{at}Z\n")
        here.execute(f"PREPARE p AS INSERT INTO {moments} (id, at) VALUES (7, $1)")
        here.execute(f"EXECUTE p ('{at}')")
        here.execute(f"UPDATE {moments} SET day = at::date WHERE at < '2024-07-01 12:00:01'")
        sql = f"SELECT at FROM {moments} ORDER BY id"
        hours = {1: 16, 2: 16, 3: 16, 4: 12, 5: 16, 6: 12, 7: 16}
        assert texts(utc, sql) == [f"2024-07-01 {hour}:00:00+00" for hour in hours.values()]
        assert texts(here, sql) == [f"2024-07-01 {hour - 4:02}:00:00-04" for hour in hours.values()]
        assert texts(utc, f"SELECT count(day) FROM {moments}") == ["7"]


def test_every_way_out_writes_the_clock_of_the_session(
    door: PostgresDoor, connection: psycopg.Connection, moments: str
) -> None:
    connection.execute(f"INSERT INTO {moments} (id, at) VALUES (1, '2024-01-01 00:30:00+00')")
    with door.connect() as here:
        here.execute("SET TIME ZONE 'Asia/Kolkata'")
        shown = "2024-01-01 06:00:00+05:30"
        assert texts(here, f"SELECT at FROM {moments}") == [shown]
        assert texts(here, f"SELECT at FROM {moments} WHERE id = 1") == [shown]
        assert texts(here, f"SELECT at::text || '' FROM {moments} WHERE id = 1") == [shown]
        assert texts(here, f"SELECT array_agg(at) FROM {moments}") == [f'{{"{shown}"}}']
        with here.cursor().copy(f"COPY {moments} TO STDOUT") as copy:
            assert [bytes(part) for part in copy] == [f"1\t{shown}\t\\N\n".encode()]
        here.execute("BEGIN")
        here.execute(f"DECLARE c CURSOR FOR SELECT at FROM {moments}")
        assert texts(here, "FETCH c") == [shown]
        here.execute(f"DECLARE s CURSOR FOR SUBSCRIBE (SELECT at FROM {moments})")
        result = here.execute("FETCH s").pgresult
        assert result is not None and result.get_value(0, 2) == shown.encode()


def test_a_view_keeps_utc(door: PostgresDoor, moments: str) -> None:
    with door.connect() as here:
        here.execute("SET TIME ZONE 'America/New_York'")
        here.execute(f"INSERT INTO {moments} (id, at) VALUES (1, '2024-07-01 00:30:00+00')")
        here.execute(f"CREATE VIEW v_{moments} AS SELECT at::date AS day FROM {moments}")
        assert texts(here, f"SELECT day FROM v_{moments}") == ["2024-07-01"]
        assert texts(here, f"SELECT at::date FROM {moments}") == ["2024-06-30"]
        assert texts(here, f"SELECT at::date FROM {moments} WHERE id = 1") == ["2024-06-30"]


@pytest.mark.parametrize(
    ("statement", "name", "shown"),
    [
        ("SET TIME ZONE 'america/new_york'", "America/New_York", "2024-01-01 07:00:00-05"),
        ("SET TimeZone = 'UTC'", "UTC", "2024-01-01 12:00:00+00"),
        ("SET TIME ZONE -8", "<-08>+08", "2024-01-01 04:00:00-08"),
        ("SET TIME ZONE 5.5", "<+05:30>-05:30", "2024-01-01 17:30:00+05:30"),
        ("SET TIME ZONE INTERVAL '-02:30' HOUR TO MINUTE", "<-02:30>+02:30", "2024-01-01 09:30:00-02:30"),
        ("SET TimeZone = 'GMT-05:30'", "GMT-05:30", "2024-01-01 17:30:00+05:30"),
        ("SET TIME ZONE LOCAL", "UTC", "2024-01-01 12:00:00+00"),
    ],
)
def test_a_zone_has_several_names(
    connection: psycopg.Connection, statement: str, name: str, shown: str
) -> None:
    connection.execute(statement)
    assert texts(connection, "SHOW TIME ZONE") == [name]
    assert connection.pgconn.parameter_status(b"TimeZone") == name.encode()
    assert texts(connection, "SELECT '2024-01-01 12:00:00Z'::timestamptz") == [shown]
    assert texts(connection, "SELECT current_setting('TimeZone')") == [name]


@pytest.mark.parametrize("name", ["Mars/Olympus", "999", "A", "UTC+200", "'; DROP TABLE t"])
def test_no_zone_of_the_name_is_refused(connection: psycopg.Connection, name: str) -> None:
    with refused("22023"):
        connection.execute("SELECT set_config('TimeZone', %s, false)", [name])
    assert texts(connection, "SHOW TimeZone") == ["UTC"]


def test_many_zones_fit_one_worker(connection: psycopg.Connection) -> None:
    for zone in ("Asia/Tokyo", "Europe/Rome", "Africa/Lagos", "America/Lima", "Pacific/Apia", "UTC"):
        connection.execute("SELECT set_config('TimeZone', %s, false)", [zone])
        offset = session_zone(zone).offset(1_700_000_000_000_000)
        assert texts(connection, "SELECT extract(timezone FROM to_timestamp(1700000000))::int") == [
            str(offset)
        ]


def test_every_zone_has_an_offset() -> None:
    for name in available_timezones() - {"localtime", "Factory"}:
        assert abs(session_zone(name).offset(0)) < 16 * 3600
