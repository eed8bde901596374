"""The writer: one thread that makes every change, in the order of arrival.

Requests wait in a queue. The event loop hands over what came in one of its turns together, so that it wakes
the thread once for all of that. The thread takes all waiting ones together, commits them as one group, and
acknowledges them with one call into the event loop. Jobs (definitions, transactions) run between groups, in
their turn. What the thread uses is not thread-safe, and belongs to it from the start until `close`.

The number of waiting requests and changes is limited: beyond the limits `Overloaded` is raised.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from service.changes.table_changes import Applied
from service.errors import Overloaded, Unavailable
from service.metrics import Histogram
from service.writing.epochs import Epochs
from service.writing.request import Request

T = TypeVar("T")
_log = logging.getLogger("freshet.writer")


@dataclass(eq=False, slots=True)
class _Item:
    """A request or a job, and the future that waits for it: of `loop`, or of a thread without one. So many
    `changes` count against the limits."""

    work: Request | Callable[[], Any]
    future: asyncio.Future | Future
    loop: asyncio.AbstractEventLoop | None
    changes: int = 0
    came: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True)
class WriterLimits:
    """How many requests and changes may wait, and how many changes a group may have."""

    requests: int
    changes: int
    group_changes: int


class Writer:
    def __init__(
        self,
        epochs: Epochs,
        limits: WriterLimits,
        show: Callable[[], None],
        after: Callable[[], None],
        waited: Histogram,
    ) -> None:
        """Whenever something may have changed, the thread calls `show` before it acknowledges that, and
        `after` behind it. Neither may raise. `waited` takes the seconds that each item was in the queue."""
        self._epochs = epochs
        self._limits = limits
        self._show = show
        self._after = after
        self._waited = waited
        self._queue: SimpleQueue[list[_Item | None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._arrived: list[_Item | None] = []
        """What comes into the queue at the end of the event loop's turn."""
        self._closed = False
        # Each number has one writing thread, under the lock or the GIL. Their differences are what waits.
        self._came, self._came_changes = 0, 0
        self._went, self._went_changes = 0, 0
        self._in_hand: list[_Item | None] = []
        self._oldest: float | None = None
        self._thread = threading.Thread(target=self._run, name="freshet-writer")

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether items that are put into the queue will be processed."""
        return not self._closed and self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """The number of requests and jobs that wait or are being processed."""
        return self._came - self._went

    @property
    def waiting_changes(self) -> int:
        """The number of changes of those requests."""
        return self._came_changes - self._went_changes

    @property
    def oldest_waiting(self) -> float:
        """Seconds since the oldest item that the thread has in hand came; 0 if it has none."""
        oldest = self._oldest
        return 0.0 if oldest is None else time.perf_counter() - oldest

    async def apply(self, request: Request) -> Applied:
        """The request's epoch, once it is durable and visible. Raises the error that refuses the request."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Applied] = loop.create_future()
        self._put(_Item(request, future, loop, request.changes))
        return await future

    def commit(self, request: Request) -> Applied:
        """The same as `apply`, for a thread, which it blocks."""
        future: Future[Applied] = Future()
        self._put(_Item(request, future, None, request.changes))
        return future.result()

    async def run(self, job: Callable[[], T]) -> T:
        """Calls the job on the writer's thread in its turn, in the caller's context."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(_Item(partial(copy_context().run, job), future, loop))
        return await future

    def call(self, job: Callable[[], T]) -> T:
        """Calls the job on the writer's thread in its turn. Blocks the calling thread until it is done.

        On the writer's thread itself, it calls the job at once.
        """
        if threading.current_thread() is self._thread:
            return job()
        future: Future[T] = Future()
        self._put(_Item(partial(copy_context().run, job), future, None))
        return future.result()

    def close(self) -> None:
        """Accepts nothing more, finishes what waits, and ends the thread. Blocks."""
        with self._lock:
            closed, self._closed = self._closed, True
            if not closed:
                self._arrived.append(None)
        self._hand_over()
        self._thread.join()

    def _put(self, item: _Item) -> None:
        changes = item.changes
        with self._lock:
            if self._closed:
                raise Unavailable("the service is shutting down", code="shutting_down")
            if self._came - self._went >= self._limits.requests:
                raise Overloaded(f"{self._limits.requests} requests are waiting already", "try again later")
            waiting = self._came_changes - self._went_changes
            if waiting and waiting + changes > self._limits.changes:
                raise Overloaded(f"{waiting} changes are waiting already", "try again later")
            self._came += 1
            self._came_changes += changes
            before = self._arrived[-1] if self._arrived else None
            self._arrived.append(item)
        if item.loop is None:
            self._hand_over()
        elif before is None or before.loop is not item.loop:
            item.loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        """Puts what has arrived into the queue."""
        with self._lock:
            if self._arrived:
                self._queue.put(self._arrived)
                self._arrived = []

    def _run(self) -> None:
        try:
            self._work()
        except BaseException:
            _log.critical("the writer stopped; no changes are accepted until a restart", exc_info=True)
            with self._lock:
                self._closed = True
            self._hand_over()
            left = [item for item in self._in_hand + self._taken(0) if item is not None]
            _settle(
                left,
                [Unavailable("the writer has stopped", "restart the service", code="shutting_down")]
                * len(left),
            )
            raise

    def _work(self) -> None:
        open = True
        while open:
            self._in_hand = items = self._taken(self._epochs.patience())
            open = None not in items
            for group in _groups(self._begun(items), self._limits.group_changes):
                self._oldest = group[0].came
                outcomes = self._outcomes(group)
                self._show()
                # Counted first, so that whoever has the answer finds the room.
                self._went += len(group)
                self._went_changes += sum([item.changes for item in group])
                _settle(group, outcomes)
                self._after()
            self._oldest = None
            if open and self._epochs.patience() == 0:
                self._tick()

    def _begun(self, items: Sequence[_Item | None]) -> list[_Item]:
        """The items of the queue without its end, whose waiting in it is over."""
        now = time.perf_counter()
        taken = [item for item in items if item is not None]
        for item in taken:
            self._waited.observe(now - item.came)
        return taken

    def _tick(self) -> None:
        """Makes an epoch that is due. If it fails, it is due again later."""
        try:
            self._epochs.tick()
        except Exception:
            _log.exception("an epoch that was due failed")
        else:
            self._show()
            self._after()

    def _taken(self, patience: float | None) -> list[_Item | None]:
        """All items in the queue: at least one, or none if none came within `patience` seconds."""
        items: list[_Item | None] = []
        try:
            items += self._queue.get(timeout=patience)
            while True:
                items += self._queue.get_nowait()
        except Empty:
            return items

    def _outcomes(self, group: Sequence[_Item]) -> Sequence[Any]:
        """The outcomes of a group's items: results, and exceptions to raise."""
        try:
            if isinstance(group[0].work, Request):
                return self._epochs.commit([item.work for item in group])  # type: ignore[misc]
            return [group[0].work()]
        except Exception as error:
            return [error] * len(group)


def _groups(items: Sequence[_Item], most: int) -> list[list[_Item]]:
    """Groups of consecutive requests, up to `most` changes each; a job is a group of its own."""
    groups: list[list[_Item]] = []
    room = 0
    for item in items:
        size = item.changes
        if not isinstance(item.work, Request):
            groups.append([item])
            room = 0
        elif size < room:
            groups[-1].append(item)
            room -= size
        else:
            groups.append([item])
            room = most - size
    return groups


def _settle(group: Sequence[_Item], outcomes: Sequence[Any]) -> None:
    """Delivers the outcomes: one call for each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future, Any]]] = {}
    for item, outcome in zip(group, outcomes, strict=True):
        if item.loop is not None:
            loops.setdefault(item.loop, []).append((item.future, outcome))  # type: ignore[arg-type]
        else:
            _set([(item.future, outcome)])
    for loop, settled in loops.items():
        try:
            loop.call_soon_threadsafe(_set, settled)
        except RuntimeError:
            _log.info("%d requests were answered after their event loop had closed", len(settled))


def _set(settled: Sequence[tuple[asyncio.Future | Future, Any]]) -> None:
    for future, outcome in settled:
        if future.done():
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
