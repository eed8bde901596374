"""Point reads beside DuckDB's, by turns in one process: one row by a key, prepared, with its answer decoded.

`trace` finds the words of the row in the engine. `door` is all of the service but HTTP: it finds the prepared
statement, checks the privilege, finds the row, and makes it values of Python. DuckDB executes a prepared
statement over a table with the same primary key. Each answer is checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from bench.data import SEED
from bench.duck import WrongAnswer
from bench.measure import Timing, clock
from bench.table import Row, duration, markdown
from planner.parsing.parameters import Given, Parameters
from service.app import create_app
from service.reading.callers import Caller
from service.settings.settings import Settings
from service.sql.script_door import SqlDoor

FULL, QUICK = (1_000_000, 20_000), (1_000, 20)
"""Rows of the table, and reads of each subject."""
PART = 100_000
"""Rows in one INSERT."""
HEAD = """\

## One row by its key

`python -m bench points`: a row of a large table, found in the engine's trace, and read through the service's
door, by key and by an index, beside DuckDB.

"""
_ROWS = "SELECT i + {first}, (i + {first}) * 7 % 1000, 'row ' || (i + {first}) FROM range({count}) AS r (i)"
_TABLE = "CREATE TABLE sales (id BIGINT PRIMARY KEY, amount BIGINT, note TEXT)"
_VIEW = "CREATE VIEW sold AS SELECT id, sum(amount) AS amount, min(note) AS note FROM sales GROUP BY id"
_INDEX = "CREATE INDEX by_note ON sales (note)"


@dataclass
class Subject:
    """What answers; `read` returns the row of an id. `taken` has nanoseconds."""

    name: str
    read: Callable[[int], Sequence[object]]
    taken: list[int] = field(default_factory=list)

    def take(self, id: int) -> None:
        answers: list[Sequence[object]] = []
        self.taken.append(clock(lambda: answers.append(self.read(id))))
        if list(answers[0]) != [id, id * 7 % 1000, f"row {id}"]:
            raise WrongAnswer(f"{self.name} has {answers[0]!r} for id {id}")


def run(rows: int, reads: int) -> list[Subject]:
    """The subjects, measured by turns."""
    with TemporaryDirectory(prefix="freshet-bench-") as directory:
        return asyncio.run(_run(Path(directory), rows, reads))


async def _run(directory: Path, rows: int, reads: int) -> list[Subject]:
    app = create_app(replace(Settings(data=directory / "data"), spark="never"))
    async with app.router.lifespan_context(app):
        door: SqlDoor = app.state.sql_door
        for script in (_TABLE, *_inserts(rows), _VIEW, _INDEX):
            await door.run(script, "duckdb", Caller())
        subjects = [
            Subject("trace", _trace(app.state.runtime.snapshot)),
            Subject("door, table's key", await _door(door, "SELECT * FROM sales WHERE id = $1", int)),
            Subject("door, view's key", await _door(door, "SELECT * FROM sold WHERE id = $1", int)),
            Subject(
                "door, index",
                await _door(door, "SELECT * FROM sales WHERE note = $1", lambda id: f"row {id}"),
            ),
            Subject("DuckDB", _duckdb(rows)),
        ]
        ids = np.random.default_rng(SEED).integers(rows, size=reads).tolist()
        for id in ids[: reads // 10 + 1]:
            for subject in subjects:
                subject.read(id)
        for id in ids:
            for subject in subjects:
                subject.take(id)
        return subjects


def _inserts(rows: int) -> list[str]:
    starts = range(0, rows, PART)
    parts = (_ROWS.format(first=start, count=min(PART, rows - start)) for start in starts)
    return [f"INSERT INTO sales {part}" for part in parts]


def _trace(snapshot) -> Callable[[int], Sequence[object]]:  # type: ignore[no-untyped-def]
    def read(id: int) -> Sequence[object]:
        key = np.array([[id]], np.int64)
        words, _ = snapshot.few_rows_between("sales", key, key, None, 64)
        return (*words[:2, 0].tolist(), f"row {id}")  # its texts are not looked up

    return read


async def _door(
    door: SqlDoor, text: str, value: Callable[[int], object]
) -> Callable[[int], Sequence[object]]:
    """Reads through the door; what is not ready at once runs to its end in the lane of lookups."""
    caller = Caller()
    await door.run(text, "postgres", caller, Parameters({"1": Given(value(0))}, True))

    def read(id: int) -> Sequence[object]:
        running = door.run(text, "postgres", caller, Parameters({"1": Given(value(id))}, True))
        try:
            running.send(None)
        except StopIteration as ended:
            (result,) = ended.value
            return result.document()["rows"][0]  # type: ignore[no-any-return]
        running.close()
        raise WrongAnswer("a point read has waited")

    return read


def _duckdb(rows: int) -> Callable[[int], Sequence[object]]:
    connection = duckdb.connect()
    connection.execute(_TABLE)
    for insert in _inserts(rows):
        connection.execute(insert)
    connection.execute("PREPARE point AS SELECT * FROM sales WHERE id = $1")

    def read(id: int) -> Sequence[object]:
        row = connection.execute(f"EXECUTE point({id})").fetchone()
        assert row is not None
        return row

    return read


def text(subjects: Sequence[Subject]) -> str:
    """The times as a table in Markdown."""
    timings = [(subject.name, Timing.of(subject.taken)) for subject in subjects]
    rows: list[Row] = [(name, duration(timing.median), duration(timing.p99)) for name, timing in timings]
    return markdown(rows, ("one row", "median", "99 of 100 within"))
