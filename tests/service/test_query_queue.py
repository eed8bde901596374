"""Queries wait for their turn: so many run, so many wait, and addresses take turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from service.errors import Overloaded
from service.reading.callers import Caller
from service.reading.query_errors import CallerGone
from service.reading.query_queue import QueryQueue
from service.settings.query_limits import QueryLimits


class Bench:
    """A queue, and queries that hold their turn until they are let go."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.queue = QueryQueue(QueryLimits(workers=workers, waiting=waiting))
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, caller: Caller | None = None) -> asyncio.Task[None]:
        """A query; the first letter of its name is its caller's address."""
        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._hold(name, caller or Caller(name[0])))
        await settled()
        return self._tasks[name]

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
            await settled()

    async def _hold(self, name: str, caller: Caller) -> None:
        async with self.queue.turn(caller):
            self.begun.append(name)
            await self._ends[name].wait()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def play(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(story())  # type: ignore[arg-type]


def test_addresses_take_turns() -> None:
    async def story() -> None:
        bench = Bench(2, 100)
        for name in ("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"):
            await bench.ask(name)
        assert bench.begun == ["a1", "a2"]
        assert bench.queue.waiting == 6
        await bench.end("a1", "a2", "a3", "b1", "c1", "a4", "b2", "a5")
        assert bench.begun == ["a1", "a2", "a3", "b1", "c1", "a4", "b2", "a5"]
        assert bench.queue.waiting == 0
        await bench.ask("d1")
        assert bench.begun[-1] == "d1"

    play(story)


def test_a_full_queue_refuses() -> None:
    async def story() -> None:
        bench = Bench(1, 2)
        for name in ("a1", "a2", "a3"):
            await bench.ask(name)
        refused = await bench.ask("a4")
        assert isinstance(refused.exception(), Overloaded)
        await bench.end("a1", "a2", "a3")
        assert bench.begun == ["a1", "a2", "a3"]

    play(story)


def test_without_places_to_wait_a_query_runs_or_is_refused() -> None:
    async def story() -> None:
        bench = Bench(1, 0)
        await bench.ask("a1")
        assert isinstance((await bench.ask("b1")).exception(), Overloaded)
        await bench.end("a1")
        await bench.ask("c1")
        assert bench.begun == ["a1", "c1"]

    play(story)


def test_a_newcomer_takes_the_place_of_the_last_of_the_greediest() -> None:
    async def story() -> None:
        bench = Bench(1, 3)
        tasks = {name: await bench.ask(name) for name in ("a1", "a2", "a3", "a4", "b1")}
        assert isinstance(tasks["a4"].exception(), Overloaded)
        third = await bench.ask("b2")
        assert isinstance(third.exception(), Overloaded)  # two places for a and one for b is fair
        await bench.end("a1", "a2", "b1", "a3")
        assert bench.begun == ["a1", "a2", "b1", "a3"]

    play(story)


def test_a_caller_that_leaves_leaves_the_queue() -> None:
    async def story() -> None:
        bench, caller = Bench(1, 2), Caller("b")
        await bench.ask("a1")
        gone = await bench.ask("b1", caller)
        await bench.ask("c1")
        caller.leave()
        await settled()
        assert isinstance(gone.exception(), CallerGone)
        assert bench.queue.waiting == 1
        await bench.end("a1", "c1")
        assert bench.begun == ["a1", "c1"]
        with pytest.raises(CallerGone):
            async with bench.queue.turn(caller):
                raise AssertionError("a caller that has left has no turn")
        await bench.ask("d1")
        assert bench.begun[-1] == "d1"

    play(story)


@pytest.mark.parametrize("has_come", [False, True], ids=["waiting", "when the turn has come"])
def test_a_cancelled_query_passes_its_turn_on(has_come: bool) -> None:
    async def story() -> None:
        bench = Bench(1, 5)
        await bench.ask("a1")
        cancelled = await bench.ask("b1")
        await bench.ask("c1")
        if has_come:
            bench._ends["a1"].set()
            await asyncio.sleep(0)  # a1 goes on, but b1 has not
        cancelled.cancel()
        await bench.end("a1")
        assert cancelled.cancelled()
        assert bench.begun == ["a1", "c1"]
        await bench.end("c1")
        await bench.ask("d1")
        assert bench.begun == ["a1", "c1", "d1"]

    play(story)
