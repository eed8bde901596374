"""The writer's thread: order, groups, limits, and its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from engine.plan.nodes import Source
from engine.schema import BIGINT, Column, Schema
from planner.relation import Relation
from service.changes.table_changes import Applied, ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Overloaded, Unavailable
from service.metrics import Metrics
from service.writing.request import Outcome, Request
from service.writing.writer import Writer, WriterLimits

SCHEMA = Schema((Column("a", BIGINT),))
TABLE = Definition(1, Relation("t", SCHEMA, Source("t", SCHEMA)), 0)


def request(size: int = 1) -> Request:
    return Request(((TABLE, TableChanges.of(ChangeOp.INSERT, SCHEMA, np.zeros((1, size), np.int64))),))


class Recorder:
    """Takes the place of the epochs: gives every request the next epoch, and records the groups."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.epoch = 0

    def patience(self) -> float | None:
        return None

    def tick(self) -> None:
        raise AssertionError("nothing is due")

    def commit(self, requests: Sequence[Request]) -> list[Outcome]:
        self.groups.append(len(requests))
        outcomes: list[Outcome] = []
        for each in requests:
            self.epoch += 1
            outcomes.append(ValueError("odd") if each.changes == 3 else Applied(self.epoch, each.changes))
        return outcomes


@pytest.fixture
def epochs() -> Recorder:
    return Recorder()


@pytest.fixture
def writer(epochs: Recorder) -> Iterator[Writer]:
    writer = Writer(
        epochs,
        WriterLimits(requests=8, changes=100, group_changes=10),
        show=lambda: None,
        after=lambda: None,
        waited=Metrics().queue_seconds,
    )
    writer.start()
    yield writer
    writer.close()


def test_a_thread_waits_for_its_epoch(writer: Writer) -> None:
    assert writer.commit(request(2)) == Applied(1, 2)
    with pytest.raises(ValueError, match="odd"):
        writer.commit(request(3))


class Held:
    """Blocks the writer from inside a job."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._began, self._go = threading.Event(), threading.Event()

    async def __aenter__(self) -> None:
        self._job = asyncio.create_task(self._writer.run(self._hold))
        await asyncio.to_thread(self._began.wait, 240)

    async def __aexit__(self, *error: object) -> None:
        self._go.set()
        await self._job

    def _hold(self) -> None:
        self._began.set()
        self._go.wait(240)


async def started(*works) -> list[asyncio.Task]:
    tasks = [asyncio.create_task(work) for work in works]
    await asyncio.sleep(0)
    return tasks


def test_what_waits_goes_together_and_jobs_go_in_turn(writer: Writer, epochs: Recorder) -> None:
    async def scenario() -> None:
        async with Held(writer):
            tasks = await started(
                writer.apply(request()),
                writer.apply(request()),
                writer.run(lambda: epochs.epoch),
                writer.apply(request()),
            )
            assert writer.waiting == 5
        assert await asyncio.gather(*tasks) == [Applied(1, 1), Applied(2, 1), 2, Applied(3, 1)]
        assert epochs.groups == [2, 1]
        assert writer.waiting == 0

    asyncio.run(scenario())


def test_what_comes_in_one_turn_is_one_group(writer: Writer, epochs: Recorder) -> None:
    async def scenario() -> None:
        asked = [writer.apply(request()), writer.apply(request()), writer.run(lambda: epochs.epoch)]
        assert await asyncio.gather(*asked, writer.apply(request())) == [
            *(Applied(1, 1), Applied(2, 1), 2, Applied(3, 1)),
        ]
        assert epochs.groups == [2, 1]

    asyncio.run(scenario())


def test_threads_keep_the_order_of_what_they_find(writer: Writer, epochs: Recorder) -> None:
    async def scenario() -> None:
        (task,) = await started(writer.apply(request()))
        assert writer.commit(request()) == Applied(2, 1)  # this loop does not turn meanwhile
        assert await task == Applied(1, 1)

    asyncio.run(scenario())


def test_a_loop_that_ends_holds_up_nobody(writer: Writer) -> None:
    ended = asyncio.new_event_loop()
    left = ended.create_task(writer.apply(request()))
    ended.call_soon(ended.stop)
    ended.run_forever()  # the request has come, and the loop turns no more
    assert writer.waiting == 1
    assert asyncio.run(writer.apply(request())) == Applied(2, 1)
    left.cancel()
    ended.run_until_complete(asyncio.gather(left, return_exceptions=True))
    ended.close()


def test_a_group_has_its_limit(writer: Writer, epochs: Recorder) -> None:
    async def scenario() -> None:
        async with Held(writer):
            tasks = await started(*(writer.apply(request(size)) for size in (4, 4, 4, 50, 1)))
        await asyncio.gather(*tasks)
        assert epochs.groups == [2, 1, 1, 1]

    asyncio.run(scenario())


def test_each_is_told_its_own_outcome(writer: Writer) -> None:
    async def scenario() -> None:
        async with Held(writer):
            tasks = await started(
                writer.apply(request(1)), writer.apply(request(3)), writer.run(lambda: 1 // 0)
            )
        first, second, third = await asyncio.gather(*tasks, return_exceptions=True)
        assert first == Applied(1, 1)
        assert isinstance(second, ValueError)
        assert isinstance(third, ZeroDivisionError)

    asyncio.run(scenario())


def test_limits_of_what_waits(writer: Writer) -> None:
    async def scenario() -> None:
        async with Held(writer):
            [large] = await started(writer.apply(request(90)))
            with pytest.raises(Overloaded):
                await writer.apply(request(11))
            small = await started(*(writer.apply(request()) for _ in range(6)))
            with pytest.raises(Overloaded):
                await writer.run(lambda: None)
        await asyncio.gather(large, *small)
        # A request larger than the limit is accepted if nothing else waits.
        assert (await writer.apply(request(500))).changes == 500

    asyncio.run(scenario())


def test_one_who_no_longer_waits(writer: Writer, epochs: Recorder) -> None:
    async def scenario() -> None:
        async with Held(writer):
            gone, stays = await started(writer.apply(request()), writer.apply(request()))
            gone.cancel()
        assert await stays == Applied(2, 1)

    asyncio.run(scenario())


def test_threads_may_call(writer: Writer) -> None:
    assert writer.call(lambda: threading.current_thread().name) == "freshet-writer"
    with pytest.raises(ZeroDivisionError):
        writer.call(lambda: 1 // 0)


def test_close_finishes_what_waits(epochs: Recorder) -> None:
    async def scenario() -> None:
        writer = Writer(epochs, WriterLimits(8, 100, 10), lambda: None, lambda: None, Metrics().queue_seconds)
        writer.start()
        async with Held(writer):
            tasks = await started(writer.apply(request()), writer.apply(request()))
            closing = asyncio.create_task(asyncio.to_thread(writer.close))
            while writer.is_running:
                await asyncio.sleep(0.01)
            with pytest.raises(Unavailable):
                await writer.apply(request())
        assert await asyncio.gather(*tasks) == [Applied(1, 1), Applied(2, 1)]
        await closing
        writer.close()

    asyncio.run(scenario())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_breaks_says_so(epochs: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """One outcome too few is a fault of the service: nobody waits for ever, and nothing more is accepted."""
    monkeypatch.setattr(epochs, "commit", lambda requests: [])

    async def scenario() -> None:
        writer = Writer(epochs, WriterLimits(8, 100, 10), lambda: None, lambda: None, Metrics().queue_seconds)
        writer.start()
        async with Held(writer):
            tasks = await started(writer.apply(request()))
        while writer.is_running:
            await asyncio.sleep(0.001)
        with pytest.raises(Unavailable):
            await writer.apply(request())
        with pytest.raises(Unavailable):
            await tasks[0]
        writer.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))
