"""Random changes of tables with constraints have the same effect as in SQLite.

SQLite runs the same statements, each in a transaction of its own with deferred foreign keys. A request that
SQLite refuses must be refused here too, and must change nothing.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.codec.json import decode_rows
from planner.statements.statement_reader import parse_script
from planner.statements.statements import CreateTable
from service.catalog.details import Details
from service.changes.table_changes import Applied
from service.decoding.parsing import of_objects
from service.metrics import Metrics
from service.running.state import State, recover
from service.settings.settings import Settings
from service.writing.request import Request
from tests.seeds import each_seed
from tests.service.client import Client

SCHEMA = """
CREATE TABLE parents (
    id INTEGER NOT NULL PRIMARY KEY, u INTEGER, v INTEGER, n INTEGER DEFAULT 1 CHECK (n <> 3),
    g INTEGER GENERATED ALWAYS AS (n * 2 + coalesce(u, 0)) STORED, UNIQUE (u), UNIQUE (v, n)
);
CREATE TABLE children (
    id INTEGER NOT NULL PRIMARY KEY, p INTEGER, q INTEGER,
    CONSTRAINT gone FOREIGN KEY (p) REFERENCES parents (id) ON DELETE CASCADE {deferred},
    CONSTRAINT kept FOREIGN KEY (q) REFERENCES parents (u) ON UPDATE SET NULL {deferred}
);
CREATE TABLE notes (
    p INTEGER CONSTRAINT cut REFERENCES parents (id) ON DELETE SET NULL ON UPDATE CASCADE {deferred},
    q INTEGER REFERENCES parents (u) ON UPDATE CASCADE {deferred},
    c INTEGER REFERENCES children (id) ON DELETE CASCADE ON UPDATE CASCADE {deferred}
)
"""
TABLES = {"parents": "id, u, v, n, g", "children": "id, p, q", "notes": "p, q, c"}
STATEMENTS = 70


class Author:
    """Writes scripts with few distinct values, so that rows often conflict."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def script(self) -> list[str]:
        """The statements of one epoch."""
        count = 1 if self._chance.random() < 0.7 else self._chance.randint(2, 3)
        return [self._statement() for _ in range(count)]

    def _statement(self) -> str:
        return self._chance.choice(
            [
                self._parents,
                self._parents,
                self._children,
                self._children,
                self._notes,
                self._upsert,
                self._update,
                self._delete,
            ]
        )()

    def _id(self) -> int:
        return self._chance.randrange(8)

    def _maybe(self) -> str:
        return "NULL" if self._chance.random() < 0.3 else str(self._id())

    def _parent(self, id: int) -> str:
        return f"({id}, {self._maybe()}, {self._maybe()}, {self._id()})"

    def _ids(self) -> list[int]:
        return self._chance.sample(range(8), self._chance.randint(1, 3))

    def _parents(self) -> str:
        end = self._chance.choice(["", "", " ON CONFLICT DO NOTHING", " ON CONFLICT (u) DO NOTHING"])
        if self._chance.random() < 0.3:
            return f"INSERT INTO parents (u, id) VALUES ({self._maybe()}, {self._id()}){end}"
        rows = ", ".join(self._parent(id) for id in self._ids())
        return f"INSERT INTO parents (id, u, v, n) VALUES {rows}{end}"

    def _children(self) -> str:
        rows = ", ".join(f"({id}, {self._maybe()}, {self._maybe()})" for id in self._ids())
        return f"INSERT INTO children VALUES {rows}"

    def _notes(self) -> str:
        rows = ", ".join(
            f"({self._maybe()}, {self._maybe()}, {self._maybe()})" for _ in range(self._chance.randint(1, 3))
        )
        return f"INSERT INTO notes VALUES {rows}"

    def _upsert(self) -> str:
        assignment = self._chance.choice(
            ["u = excluded.u", "n = parents.n + excluded.n", "v = NULL, n = 0", "u = parents.u"]
        )
        where = self._chance.choice(["", "WHERE parents.n < 4", "WHERE excluded.u IS NOT NULL"])
        rows = ", ".join(self._parent(id) for id in self._ids())
        values = f"INSERT INTO parents (id, u, v, n) VALUES {rows}"
        return f"{values} ON CONFLICT (id) DO UPDATE SET {assignment} {where}"

    def _update(self) -> str:
        return self._chance.choice(
            [
                f"UPDATE parents SET u = {self._maybe()} WHERE id = {self._id()}",
                f"UPDATE parents SET n = n + 1 WHERE id = {self._id()}",
                f"UPDATE parents SET id = {self._id()} WHERE id = {self._id()}",
                f"UPDATE children SET id = {self._id()} WHERE id = {self._id()}",
                f"UPDATE children SET p = {self._maybe()}, q = {self._maybe()} WHERE id < {self._id()}",
                f"UPDATE notes SET c = {self._maybe()} WHERE p = {self._id()}",
            ]
        )

    def _delete(self) -> str:
        table, column = self._chance.choice(
            [("parents", "id"), ("parents", "u"), ("children", "id"), ("notes", "p")]
        )
        return f"DELETE FROM {table} WHERE {column} IN ({', '.join(map(str, self._ids()))})"


class Referee:
    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.executescript(SCHEMA.format(deferred="DEFERRABLE INITIALLY DEFERRED"))

    def close(self) -> None:
        self._connection.close()

    def accepts(self, statements: list[str]) -> bool:
        self._connection.execute("BEGIN")
        try:
            for statement in statements:
                self._connection.execute(statement)
            self._connection.execute("COMMIT")
        except sqlite3.IntegrityError:
            self._connection.execute("ROLLBACK")
            return False
        return True

    def rows(self, table: str) -> Counter:
        return Counter(self._connection.execute(f"SELECT {TABLES[table]} FROM {table}").fetchall())


def _check(client: Client, referee: Referee, told: str) -> None:
    for table in TABLES:
        assert Counter(client.rows(table)) == referee.rows(table), told


@each_seed(4)
def test_tables_are_what_sqlite_makes_of_them(settings: Settings, seed: int) -> None:
    author, referee, refused = Author(seed), Referee(), 0
    with Client(settings) as client:
        assert client.post("/v1/sql", {"sql": SCHEMA.format(deferred="")}).status_code == 200
        client.view("counts", "SELECT n, count(*) AS rows FROM parents GROUP BY n")
        for number in range(STATEMENTS):
            statements = author.script()
            script = "; ".join(statements)
            answer = client.post("/v1/sql", {"sql": f"BEGIN; {script}; COMMIT" if number % 2 else script})
            if number % 2 or len(statements) == 1:
                accepted = referee.accepts(statements)
            else:
                accepted = all(referee.accepts([statement]) for statement in statements)
            told = f"seed {seed}, statement {number}: {script}\n{answer.text}"
            assert answer.status_code == (200 if accepted else answer.json()["status"]), told
            assert accepted or answer.json()["status"] in (409, 422), told
            refused += not accepted
            _check(client, referee, told)
        counts = Counter(n for _, _, _, n, _ in referee.rows("parents").elements())
        assert sorted(client.rows("counts"), key=str) == sorted(counts.items(), key=str)
    referee.close()
    assert 0 < refused < STATEMENTS


def _parts(body: dict) -> list[tuple[str, dict]]:
    return [(table, change) for table, changes in body.items() for change in changes]


def _as_statement(table: str, change: dict) -> str:
    """A change of a delta as SQL."""
    ((op, row),) = change.items()
    values = ", ".join("NULL" if value is None else str(value) for value in row.values())
    cells = ", ".join(f"{name} = excluded.{name}" for name in row if name != "id")
    end = f"ON CONFLICT (id) DO UPDATE SET {cells}" if op == "upsert" else ""
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values}) {end}"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = recover(Settings(data=tmp_path), Metrics())
    for statement in parse_script(SCHEMA.format(deferred="")):
        assert isinstance(statement, CreateTable)
        key = statement.primary_key and tuple(map(statement.columns.index, statement.primary_key))
        details = Details(statement.rules)
        state.definitions.create_table(statement.name, statement.columns, key, details=details)
    yield state
    state.close()


def _request(state: State, body: dict) -> Request:
    parts = []
    for table, changes in body.items():
        definition = state.definitions.known.get(table)
        parts.append(
            (definition, definition.admitted(of_objects(changes, definition, state.engine.dictionary)))
        )
    return Request(tuple(parts))


def _rows(state: State, table: str) -> Counter:
    words, counts = state.engine.snapshot.rows(table)
    schema = state.definitions.known.get(table).schema
    return Counter(decode_rows(np.repeat(words, counts, axis=1), schema, state.engine.dictionary))


@each_seed(6)
def test_a_group_of_requests_is_judged_one_after_another(state: State, seed: int) -> None:
    """Each request has the effect it would have alone, after earlier ones that were not refused."""
    chance, referee = random.Random(seed), Referee()
    setup = {"parents": [{"insert": {"id": i, "u": i}} for i in range(3)]}
    state.epochs.commit([_request(state, setup)])
    for table, change in _parts(setup):
        assert referee.accepts([_as_statement(table, change)])
    for _ in range(6):
        bodies = [_body(chance) for _ in range(12)]
        outcomes = state.epochs.commit([_request(state, body) for body in bodies])
        for body, outcome in zip(bodies, outcomes, strict=True):
            accepted = referee.accepts([_as_statement(*part) for part in _parts(body)])
            assert isinstance(outcome, Applied) == accepted, (seed, body, outcome)
        for table in TABLES:
            assert _rows(state, table) == referee.rows(table), seed
    referee.close()


def _body(chance: random.Random) -> dict:
    """A delta of several tables, with few keys."""

    def key() -> int:
        return chance.randrange(9)

    row = {"id": key(), "p": chance.choice([None, key()]), "q": chance.choice([None, key()])}
    if chance.random() < 0.2:
        return {"parents": [{"upsert": {"id": key(), "u": key(), "v": None, "n": 1}}]}
    body: dict = {"children": [{chance.choice(["insert", "upsert"]): row}]}
    if chance.random() < 0.4:
        body["parents"] = [{"insert": {"id": key(), "u": key()}}]
    return body
