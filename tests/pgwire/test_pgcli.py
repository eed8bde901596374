"""pgcli: what it asks for its completions, the commands that describe, and a terminal with it."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import clients
from tests.pgwire.door import PostgresDoor
from tests.pgwire.test_drivers import run
from tests.service.client import PATIENCE

MADE = """
    CREATE SCHEMA of_pgcli;
    CREATE TYPE mood AS ENUM ('sad', 'ok');
    CREATE TABLE of_pgcli.people (id BIGINT PRIMARY KEY, name TEXT NOT NULL DEFAULT 'nobody');
    CREATE TABLE pets (id INT PRIMARY KEY, owner BIGINT REFERENCES of_pgcli.people (id));
    CREATE VIEW owners AS SELECT owner, count(*) AS pets FROM pets GROUP BY owner;
    CREATE TABLE "CamelCase" (id INT);
"""
ASKED = r"""
import json, sys
from pgcli.completion_refresher import CompletionRefresher
from pgcli.pgcompleter import PGCompleter
from pgcli.pgexecute import PGExecute
from pgspecial.main import PGSpecial

executor, special = PGExecute("freshet", "me", "x", "127.0.0.1", sys.argv[1]), PGSpecial()
completer = PGCompleter(smart_completion=True, pgspecial=special, settings={"casing_file": sys.argv[2],
    "generate_casing_file": True})
for refresh in CompletionRefresher.refreshers.values():
    refresh(completer, executor)
own = {kind: {schema: sorted(names) for schema, names in found.items() if schema in ("public", "of_pgcli")}
       for kind, found in completer.dbmetadata.items()}
calls = len(completer.dbmetadata["functions"]["pg_catalog"])
commands = {}
for command in sys.argv[3:]:
    for title, rows, headers, status, sql, success, *_ in executor.run(command, special):
        commands[command] = [list(map(str, row)) for row in rows or []]
(key,) = executor.foreignkeys()
print(json.dumps([own, calls, completer.databases, open(sys.argv[2]).read().split(), commands, list(key),
    executor.view_definition("owners")]))
"""
COMMANDS = (
    r"\l", r"\d", r"\dt *.*", r"\dv", r"\dm", r"\d pets", r"\d+ of_pgcli.people", r"\dn", r"\df", r"\dT",
    r"\du", r"\di", r"\ds", r"\dx", r"\dp", r"\db", r"\dD", r"\dF", r"\ddp", "SELECT 40 + 2",
)  # fmt: skip


@pytest.fixture(scope="module")
def program() -> Path:
    return clients.program("pgcli", "pip install pgcli, FRESHET_PGCLI names the program", "FRESHET_PGCLI")


@pytest.fixture(scope="module")
def pets(door: PostgresDoor) -> PostgresDoor:
    with door.connect() as connection:
        connection.execute(MADE)
    return door


def test_its_questions_are_answered(program: Path, pets: PostgresDoor, tmp_path: Path) -> None:
    (tmp_path / "asked.py").write_text(ASKED)
    arguments = (str(pets.postgres_port), str(tmp_path / "casing"), *COMMANDS)
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    written = run(program.parent / "python", "asked.py", *arguments, directory=tmp_path, **home)
    own, calls, databases, casing, commands, key, view = json.loads(written.splitlines()[-1])
    assert own["tables"] == {"of_pgcli": ["people"], "public": ['"CamelCase"', "pets"]}
    assert own["views"]["public"] == ["owners"] and own["datatypes"]["public"] == ["mood"]
    assert calls > 100 and databases == ["freshet"] and casing == []  # words of functions' bodies
    assert key == ["of_pgcli", "people", "id", "public", "pets", "owner"]
    assert "GROUP BY owner" in view
    assert ["public", "pets", "table", "admin"] in commands[r"\d"]
    assert [row[0] for row in commands[r"\d pets"]] == ["id", "owner"]
    assert commands.keys() == {*COMMANDS} and commands["SELECT 40 + 2"] == [["42"]]


def test_it_talks_in_a_terminal(program: Path, pets: PostgresDoor, tmp_path: Path) -> None:
    where = f"postgresql://me@127.0.0.1:{pets.postgres_port}/freshet"
    with terminal([str(program), "--less-chatty", where], tmp_path) as talk:
        talk("freshet>", b"SELECT 'ma' || 'de' AS word;\r")
        talk("made", b"\\d pets\r")
        talk("pets_pkey", b"SELECT nope;\r")
        talk("nope", b"\\q\r")


@contextmanager
def terminal(command: list[str], home: Path) -> Iterator:
    """A program in a terminal; calls wait until it has written something, and then type."""
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "TERM": "xterm",
        "PAGER": "cat",
    }
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=home)
    os.close(theirs)
    written = bytearray()

    def talk(expected: str, typed: bytes) -> None:
        end = time.monotonic() + PATIENCE
        while expected.encode() not in written:
            assert time.monotonic() < end, written.decode(errors="replace")
            if select.select([ours], [], [], 1)[0]:
                more = os.read(ours, 1 << 16)
                written.extend(more)
                if b"\x1b[6n" in more:
                    os.write(ours, b"\x1b[1;1R")  # where the cursor is
        written.clear()
        os.write(ours, typed)

    try:
        yield talk
        process.wait(60)
    finally:
        process.kill()
        os.close(ours)
