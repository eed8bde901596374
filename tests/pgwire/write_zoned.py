"""Writes what PostgreSQL answers to the expressions of `zoned_cases` in each zone, into zoned_answers.json.

Run it as a program: `python -m tests.pgwire.write_zoned`. It needs PostgreSQL's programs.
"""

from __future__ import annotations

import json
from pathlib import Path

import psycopg

from bench.wire.own_postgres import programs
from tests.pgwire.zoned_cases import ZONES, expressions
from tests.postgres.server import running

ANSWERS = Path(__file__).parent / "zoned_answers.json"
_TOGETHER = 40


def answers(connection: psycopg.Connection, zone: str) -> list[str | None]:
    """The text of each expression in a session of a zone."""
    connection.execute("SELECT set_config('TimeZone', %s, false)", [zone])
    found: list[str | None] = []
    each = list(expressions())
    for start in range(0, len(each), _TOGETHER):
        part = each[start : start + _TOGETHER]
        row = connection.execute(f"SELECT {', '.join(f'{e} AS c{i}' for i, e in enumerate(part))}").pgresult
        assert row is not None
        values = (row.get_value(0, place) for place in range(len(part)))
        found += [None if value is None else value.decode() for value in values]
    return found


def main() -> None:
    where = programs()
    assert where is not None, "PostgreSQL's programs are missing"
    with running(where) as server, server.connect() as connection:
        told = {zone: answers(connection, zone) for zone in ZONES}
    ANSWERS.write_text(json.dumps(told, indent=0) + "\n")


if __name__ == "__main__":
    main()
