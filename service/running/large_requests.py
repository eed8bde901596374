"""Large requests and loads, which are made beside the writer (`service/writing/large_epochs.py`).

Requests wait for each other, because each may need all cores; loads on Spark wait for nobody. As many changes
may wait here as may wait for the writer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from engine.runtime.execution import Scanned
from service.changes.table_changes import Applied
from service.errors import Overloaded, Unavailable
from service.running.heap import return_free_memory
from service.running.state import State
from service.writing.large_changes import Check, LargeLoad, LargeRequest
from service.writing.large_epochs import LargeEpochs
from service.writing.request import Load, Request


class LargeRequests:
    def __init__(self, state: State, call: Callable[[Callable[[], Any]], Any]) -> None:
        self._state = state
        self._epochs = LargeEpochs(state.engine, state.epochs, state.directory, state.settings.shards, call)
        self._thread = ThreadPoolExecutor(1, "freshet-large")
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False

    def takes(self, request: Request) -> bool:
        """Whether a request is made here: it is large, and no constraint compares its rows with others."""
        is_large = request.changes >= self._state.settings.large_changes
        return is_large and self._state.epochs.stands_alone(request)

    async def apply(self, request: Request) -> Applied:
        """The request's epoch, once it is durable and visible. Raises the error that refuses the request."""
        with self._counted(request.changes):
            try:
                made = self._thread.submit(self._in_turn, request, lambda: None)
            except RuntimeError:
                raise _closing() from None
            return await asyncio.wrap_future(made)

    def commit(self, request: Request, check: Check) -> Applied:
        """The same as `apply`, on the calling thread."""
        with self._counted(request.changes):
            return self._in_turn(request, check)

    def load(self, load: Load, check: Check) -> tuple[Applied, Scanned]:
        """Makes what Spark reads one epoch; see `Runtime.load`."""
        state = self._state
        change = LargeLoad(state.epochs, load, state.placement, state.settings)
        return self._make(change, check), change.scanned

    def close(self) -> None:
        """Gives up what has not been made, and waits for its end. Call it while the writer still runs."""
        self._closed = True
        self._thread.shutdown(cancel_futures=True)

    def _in_turn(self, request: Request, check: Check) -> Applied:
        state = self._state
        with self._turn:
            change = LargeRequest(state.epochs, request, state.placement, state.settings)
            return self._make(change, check)

    def _make(self, change: LargeRequest | LargeLoad, check: Check) -> Applied:
        def checked() -> None:
            check()
            if self._closed:
                raise _closing()

        try:
            return self._epochs.make(change, checked)
        finally:
            return_free_memory()

    @contextmanager
    def _counted(self, changes: int) -> Iterator[None]:
        """Counts changes as waiting. Raises Overloaded if there are too many."""
        with self._lock:
            if self._waiting and self._waiting + changes > self._state.settings.queue_changes:
                raise Overloaded(f"{self._waiting} changes are waiting already", "try again later")
            self._waiting += changes
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= changes


def _closing() -> Unavailable:
    return Unavailable("the service is shutting down", code="shutting_down")
