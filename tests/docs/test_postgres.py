"""docs/postgres.md runs as it is written, and docs/errors.md has the SQLSTATE of each code."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import psycopg

from service.postgres.sqlstates import SQLSTATES
from service.settings.settings import Settings
from tests.docs.markdown import ROOT, blocks
from tests.docs.test_errors import ROW as CODE
from tests.pgwire.door import PostgresDoor

STATE = re.compile(r"^\| `(\w{5})` \| (`.*) \|$", re.MULTILINE)


def answer_of(connection: psycopg.Connection, statement: str) -> list[str]:
    """The rows of a statement as psql writes them with -At."""
    if statement.upper().startswith("COPY"):
        with connection.cursor().copy(statement) as copy:
            return b"".join(bytes(part) for part in copy).decode().splitlines()
    cursor = connection.execute(statement)
    rows = cursor.fetchall() if cursor.description else []
    return ["|".join("" if value is None else str(value) for value in row) for row in rows]


def test_the_guide_runs(tmp_path: Path) -> None:
    found = blocks("docs/postgres.md")
    shown = 0
    with PostgresDoor(Settings(data=tmp_path)) as door, door.connect() as connection:
        for block, following in pairwise([*found, None]):
            if block is None or block.language != "sql":
                continue
            answers = [answer_of(connection, part.strip()) for part in block.text.split(";") if part.strip()]
            if following is not None and following.language == "text":
                assert next(part for part in answers if part) == following.text.splitlines(), block.line
                shown += 1
    assert shown == 6


def test_every_sqlstate_is_documented() -> None:
    text = (ROOT / "docs/errors.md").read_text()
    documented = {
        code: state for state, codes in STATE.findall(text) for code in re.findall(r"`(\w+)`", codes)
    }
    assert documented == SQLSTATES
    assert SQLSTATES.keys() <= {code for code, _ in CODE.findall(text)}


def test_the_port_of_the_guide_is_the_default() -> None:
    assert f"port {Settings(data=Path('x')).postgres_port}" in (ROOT / "docs/postgres.md").read_text()
