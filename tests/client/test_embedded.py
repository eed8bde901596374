"""The service inside the process: its start and its end, and that it is the same service as over HTTP."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import freshet
from freshet import Connection
from freshet.contract import calls
from freshet.sending.embedded import EmbeddedService, EmbeddedStream
from tests.seeds import few
from tests.service.client import Process

ROOT = Path(__file__).resolve().parents[2]


def run(program: str, *arguments: str) -> str:
    """The output of a program without an `if __name__ == "__main__"`."""
    done = subprocess.run(
        [sys.executable, *arguments], input=program, capture_output=True, text=True, cwd=ROOT, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


PROGRAM = """
import freshet
db = freshet.connect(embedded=True)
db.table("t").create("id BIGINT").insert([{"id": n} for n in range(3)])
feed = db.create_view("v", "SELECT SUM(id) AS s FROM t").follow(0)
print(next(feed).changes[-1].row, db.sql("SELECT MAX(s) AS m FROM v").dicts(), flush=True)
print([thread.name for thread in __import__("threading").enumerate()][0])
"""


def test_a_program_needs_no_guard_and_no_close(tmp_path: Path) -> None:
    """Processes of the service must not run the program again, and it ends though nothing was closed."""
    script = tmp_path / "script.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}")
    assert run("", str(script)).startswith("{'s': 3} [{'m': 3}]")
    assert run(PROGRAM, "-").startswith("{'s': 3} [{'m': 3}]")


def test_the_client_over_http_loads_nothing_of_the_service() -> None:
    loaded = run("import freshet, sys; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "freshet" in loaded
    assert not {"service", "planner", "engine", "numba", "duckdb", "fastapi", "pandas", "polars"} & set(
        loaded
    )


def test_data_stay_in_their_directory(tmp_path: Path) -> None:
    with freshet.connect(embedded=True, data=tmp_path / "data") as db:
        db.table("t").create("id BIGINT").insert({"id": 1})
        with pytest.raises(freshet.Error, match="cannot start") as raised:
            freshet.connect(embedded=True, data=tmp_path / "data")
        assert raised.value.code == "cannot_start"
    with freshet.connect(embedded=True, data=tmp_path / "data") as db:
        assert db.table("t").rows().dicts() == [{"id": 1}]


def test_a_closed_connection_says_so() -> None:
    db = freshet.connect(embedded=True)
    db.close()
    db.close()
    with pytest.raises(freshet.UnreachableError, match="closed"):
        db.tables()
    with pytest.raises(freshet.InvalidRequestError, match="data is for an embedded service"):
        freshet.connect(data="somewhere")


def test_closing_ends_a_feed_that_waits() -> None:
    db = freshet.connect(embedded=True)
    table = db.table("t").create("id BIGINT")
    feed, found = table.follow(), list[int]()
    failed: list[BaseException] = []

    def read() -> None:
        try:
            found.extend(len(epoch) for epoch in feed)
        except freshet.UnreachableError as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    table.insert([{"id": 1}, {"id": 2}])
    db.close()
    reader.join(600)
    assert not reader.is_alive()
    assert found in ([], [2])
    assert failed


def test_closing_ends_what_is_still_under_way() -> None:
    service = EmbeddedService(None)
    begun = threading.Event()
    failed = list[BaseException]()

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    def read() -> None:
        with pytest.raises(freshet.UnreachableError, match="closed") as raised:
            service.wait(endless())
        failed.append(raised.value)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    assert begun.wait(600)
    service.close()
    reader.join(600)
    assert failed
    with pytest.raises(freshet.UnreachableError, match="closed"):
        service.wait(endless())


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100])
def test_an_answer_has_an_end_whatever_the_number_of_its_pieces(count: int) -> None:
    async def app(scope: object, receive: object, send: Callable[..., Any]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(count):
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def read() -> int:
        stream = EmbeddedStream(app, calls.newest_epoch())
        return len([piece async for piece in aiter_pieces(stream)])

    async def aiter_pieces(stream: EmbeddedStream) -> AsyncIterator[bytes]:
        while piece := await asyncio.wait_for(stream.next(), 60):
            yield piece

    assert asyncio.run(read()) == count


def test_threads_share_a_connection(embedded: Connection, name: str) -> None:
    table = embedded.table(name).create("id BIGINT")
    threads = [threading.Thread(target=lambda n=n: table.insert({"id": n})) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row["id"] for row in table.rows()) == list(range(20))


def test_an_asynchronous_connection(service: Process, name: str) -> None:
    async def work(db: freshet.AsyncConnection, suffix: str) -> list[Any]:
        async with db:
            table = await db.table(f"{name}{suffix}").create("id BIGINT, n BIGINT")
            view = await db.create_view(f"{name}{suffix}_v", f"SELECT SUM(n) AS n FROM {table.name}")
            async with view.follow() as feed:
                await asyncio.gather(*(table.insert({"id": n, "n": n}) for n in range(5)))
                async with db.changing() as changing:
                    changing.table(table.name).delete({"id": 4, "n": 4})
                numbers = [(await anext(feed)).number]
                while numbers[-1] < (changing.epoch or 0):
                    numbers.append((await anext(feed)).number)
            plan = await view.plan()
            with pytest.raises(freshet.ConflictError):
                await table.drop()
            return [
                sorted(numbers) == numbers,
                (await view.rows()).dicts(),
                (await db.sql("SELECT $1 AS x", [5])).dicts(),
                len(await view.changes()) > 0,
                view.name in [found.name for found in await db.views()],
                (await table.describe()).columns[0].name,
                "flowchart" in plan.mermaid or "graph" in plan.mermaid,
            ]

    expected = [True, [{"n": 6}], [{"x": 5}], True, True, "id", True]
    assert asyncio.run(work(freshet.connect_async(service.url), "")) == expected
    assert asyncio.run(work(freshet.connect_async(embedded=True), "e")) == expected


# The same program over HTTP and embedded

Step = Callable[[Connection, str], Any]


def steps(seed: int) -> list[tuple[str, Step]]:
    """A random program: changes, reads, SQL and mistakes."""
    chance = random.Random(seed)
    rows = [{"id": chance.randrange(6), "n": chance.choice([None, -1, 2**40])} for _ in range(30)]
    made: list[tuple[str, Step]] = []
    for row in rows:
        operation = chance.choice(["insert", "upsert", "delete"])
        kind = chance.choice(["row", "arrow", "sql", "rows", "feed", "mistake"])
        made.append((f"{operation} {kind}", _step(kind, operation, row)))
    return made


def _step(kind: str, operation: str, row: dict[str, Any]) -> Step:
    choices: dict[str, Step] = {
        "row": lambda db, t: getattr(db.table(t), operation)(row).changes,
        "arrow": lambda db, t: getattr(db.table(t), operation)(_arrow(row)).changes,
        "sql": lambda db, t: db.sql(f"SELECT * FROM {t} WHERE id = $1", [row["id"]]).dicts(),
        "rows": lambda db, t: db.view(f"{t}_v").rows(where=f"c >= {row['id']}", order_by="n").tuples(),
        "feed": lambda db, t: [(c.diff, c.row) for c in db.view(f"{t}_v").changes()],
        "mistake": lambda db, t: getattr(db.table(t), operation)({**row, "x": 1}),
    }
    return choices[kind]


def _arrow(row: dict[str, Any]) -> Any:
    schema = pa.schema([("id", pa.int64()), ("n", pa.int64())])
    return pa.Table.from_pylist([row], schema)


def outcome(step: Step, db: Connection, table: str) -> Any:
    try:
        return step(db, table)
    except freshet.Error as error:
        return type(error), error.code, error.message, error.hint


@given(st.integers(0, 10**9))
@settings(max_examples=few(16))
def test_a_program_does_the_same_embedded(service: Process, embedded: Connection, seed: int) -> None:
    with freshet.connect(service.url) as remote:
        for db in (remote, embedded):
            db.script("DROP VIEW IF EXISTS same_v; DROP TABLE IF EXISTS same")
            db.table("same").create("id BIGINT PRIMARY KEY, n BIGINT")
            db.create_view("same_v", "SELECT n, COUNT(*) AS c FROM same GROUP BY n")
        for number, (told, step) in enumerate(steps(seed)):
            results = [outcome(step, db, "same") for db in (remote, embedded)]
            assert results[0] == results[1], (number, told)
