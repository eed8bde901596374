"""Large requests, drafts and loads: made beside the writer (`service/writing/large_epochs.py`).

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
from service.catalog.catalog import Receipt
from service.changes.table_changes import Applied
from service.errors import Overloaded, Unavailable
from service.running.heap import return_free_memory
from service.running.state import State
from service.writing.epochs import Drafted
from service.writing.large_changes import (
    Check,
    DraftStale,
    LargeChange,
    LargeDraft,
    LargeLoad,
    LargeRequest,
)
from service.writing.large_epochs import LargeEpochs
from service.writing.request import Load, Request

CHANGE_BYTES = 128
"""So many bytes count as a change, where a request has few changes with long texts."""


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
        least = self._state.settings.large_changes
        if request.changes < least and request.size // CHANGE_BYTES < least:
            return False
        return self._state.epochs.stands_alone(request)

    async def apply(self, request: Request) -> Applied:
        """The request's epoch, once it is durable and visible. Raises the error that refuses the request."""
        with self._counted(request.changes):
            return await self._submit(self._in_turn, request, lambda: None)

    def commit(self, request: Request, check: Check) -> Applied:
        """The same as `apply`, on the calling thread."""
        with self._counted(request.changes):
            return self._in_turn(request, check)

    def takes_draft(self, draft: Drafted[Any]) -> bool:
        """Whether a draft is made here: it changes many rows."""
        return draft.transaction.changes >= self._state.settings.large_changes

    async def settle(self, draft: Drafted[Any], receipt: Receipt | None = None) -> Applied | None:
        """Makes a draft's changes one epoch, with a receipt; None if what it has read has changed since."""
        state = self._state
        change = LargeDraft(state.epochs, draft, state.placement, state.settings, receipt)
        with self._counted(draft.transaction.changes):
            try:
                return await self._submit(self._make_in_turn, change, lambda: None)
            except DraftStale:
                return None

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
        return self._make_in_turn(LargeRequest(state.epochs, request, state.placement, state.settings), check)

    async def _submit(self, call: Callable[..., Applied], *arguments: object) -> Applied:
        """The result of a call on the thread of large requests."""
        try:
            made = self._thread.submit(call, *arguments)
        except RuntimeError:
            raise _closing() from None
        return await asyncio.wrap_future(made)

    def _make_in_turn(self, change: LargeChange, check: Check) -> Applied:
        with self._turn:
            return self._make(change, check)

    def _make(self, change: LargeChange, check: Check) -> Applied:
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
