"""Settings with units: what SET takes and what SHOW and the catalogs say, beside PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest

from tests.postgres.server import Server

_ASKED = """SELECT current_setting('{0}'), setting, unit, short_desc, extra_desc, category, vartype, context,
    enumvals, boot_val, min_val, max_val FROM pg_settings WHERE name = '{0}'"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lock_timeout", value) for value in ("2000", "0", "1500", "'1.5s'", "86400000")),
        ("statement_timeout", "'2min'"),
        ("statement_timeout", "'36h'"),
        ("lock_timeout", "'499us'"),
        ("lock_timeout", "'1501us'"),
        ("lock_timeout", "' 3 s '"),
        ("statement_timeout", "2147483647"),
        ("statement_timeout", "2147483648"),
        ("statement_timeout", "'1 parsec'"),
        ("statement_timeout", "'1 S'"),
        ("lock_timeout", "'1d'"),
        ("work_mem", "'64MB'"),
        ("work_mem", "4097"),
        ("work_mem", "'1GB'"),
        ("work_mem", "'1B'"),
        ("maintenance_work_mem", "DEFAULT"),
        ("work_mem", "DEFAULT"),
        ("extra_float_digits", "2"),
        ("IntervalStyle", "'postgres'"),
    ],
)  # fmt: skip
def test_a_setting_is_shown_as_postgres_shows_it(
    connection: psycopg.Connection, postgres: Server, name: str, value: str
) -> None:
    with postgres.connect() as theirs:
        ours, expected = _shown(connection, name, value), _shown(theirs, name, value)
    assert ours == expected


def _shown(connection: psycopg.Connection, name: str, value: str) -> list | str | None:
    """What is said of a setting once it has the value, or the SQLSTATE of the refusal."""
    try:
        connection.execute(f"SET {name} = {value}")
    except psycopg.Error as error:
        return error.sqlstate
    rows = connection.execute(_ASKED.format(name)).fetchall()
    shown = connection.execute(f"SHOW {name}").fetchall()
    listed = [row for row in connection.execute("SHOW ALL").fetchall() if row[0] == name]
    return [rows, shown, listed]
