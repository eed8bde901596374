"""Threads that run kernels, which do so without Python's lock.

The threads belong to the process, as its cores do: all engines of the process share them. The thread that
asks for work takes part in it. So nothing waits for a free thread, and work that asks for more work cannot
come to a stop.

How work is divided depends on its size alone, and never on the number of threads. So neither do the results.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from time import thread_time
from typing import Generic, TypeVar

import numpy as np

from engine.kernels.compiled import loading_seconds

GRAIN = 1 << 13
"""The fewest rows of a part."""
LARGE = 4 * GRAIN
"""Work on so many rows is worth dividing."""
MOST_PARTS = 64

NICE = 5
"""How much less urgent the helping threads are, as `nice` counts it."""

Part = TypeVar("Part")
Result = TypeVar("Result")


class _Helped(threading.local):
    seconds = 0.0


_helped = _Helped()
_threads = 1
_helpers: ThreadPoolExecutor | None = None


def use(threads: int) -> None:
    """Let the process use this many threads from now on, counting the one that asks for work."""
    global _threads, _helpers
    _threads = threads
    _helpers = _pool()


def available() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_seconds() -> float:
    """The processor time that this thread's work has taken, here and in other threads.

    What kernels take to be loaded or compiled at their first call does not count.
    """
    return _own_seconds() + _helped.seconds


def parts_of(rows: int) -> list[slice]:
    """The parts of `rows` rows, which are of about the same size; one if they are few."""
    parts = min(rows // GRAIN, MOST_PARTS) if rows >= LARGE else 1
    return [slice(rows * part // parts, rows * (part + 1) // parts) for part in range(parts)]


def each(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """The function's result for each part, in the order of the parts.

    If it raises for some parts, the error is that of the first of these. Parts that have not begun by then
    are left out.
    """
    if _helpers is None or len(parts) < 2:
        return [function(part) for part in parts]
    work = _Work(function, parts)
    asked = [_submitted(work.help) for _ in range(min(_threads, len(parts)) - 1)]
    try:
        work.run()
    finally:
        _helped.seconds += sum(0.0 if one is None or one.cancel() else one.result() for one in asked)
        results, errors = work.end()
    if errors:
        raise errors[min(errors)]
    return results


class Beside(Generic[Result]):
    """Work that another thread does beside what goes on, or that waits until its result is asked for."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function: Callable[[], Result] | None = function
        self._future = _submitted(self._call)

    def result(self) -> Result:
        """What the function returns, once; its errors are raised here."""
        if self._future is None or self._future.cancel():
            return self._call()
        return self._future.result()

    def _call(self) -> Result:
        """Call the function, and forget it: a cancelled turn keeps this work until a thread is free."""
        function, self._function = self._function, None
        return function()  # type: ignore[misc]


def ahead(items: Iterator[Result]) -> Iterator[Result]:
    """The items of an iterator; another thread makes the next one while the caller is busy with the last."""
    end = object()

    def begun() -> Beside[object]:
        return Beside(lambda: next(items, end))

    coming = begun()
    while (item := coming.result()) is not end:
        coming = begun()
        yield item  # type: ignore[misc]


def joined(arrays: Sequence[np.ndarray], axis: int = 0) -> np.ndarray:
    """Matrices of 64-bit words one after the other; `axis` is 0 or 1."""
    if len(arrays) == 1:
        return arrays[0]
    ends = np.cumsum([array.shape[axis] for array in arrays])
    shape = list(arrays[0].shape)
    shape[axis] = ends[-1]
    whole = np.empty(shape, np.int64)

    def put(place: int) -> None:
        stretch = slice(ends[place] - arrays[place].shape[axis], ends[place])
        whole[(slice(None), stretch) if axis else stretch] = arrays[place]

    each(put, range(len(arrays)))
    return whole


def together(whole: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Parts of a matrix's rows, in order, moved together in place; a copy if they are less than half."""
    size = sum(map(len, parts))
    if 2 * size < len(whole):
        return joined(parts)
    end = 0
    for part in parts if size < len(whole) else ():
        whole[end : end + len(part)] = part
        end += len(part)
    return whole[:size]


class _Work:
    """Parts that several threads take one after the other."""

    def __init__(self, function: Callable, parts: Sequence) -> None:
        self._function = function
        self._parts = parts
        self._next = count()
        self.results: list = [None] * len(parts)
        self.errors: dict[int, Exception] = {}

    def run(self) -> None:
        """Take parts until there are no more, or one has failed."""
        while not self.errors and (place := next(self._next)) < len(self._parts):
            try:
                self.results[place] = self._function(self._parts[place])
            except Exception as error:
                self.errors[place] = error

    def end(self) -> tuple[list, dict[int, Exception]]:
        """The results and the errors. Turns that were cancelled keep this work until a thread is free, so it
        forgets all of them, and what it was about."""
        ended = self.results, self.errors
        self._function, self._parts, self.results, self.errors = _nothing, (), [], {}
        return ended

    def help(self) -> float:
        """As `run`; returns the seconds of processor time that it took."""
        before = _own_seconds()
        self.run()
        return _own_seconds() - before


def _nothing(part: object) -> None:
    """Work that is over."""


def _submitted(function: Callable[[], Result]) -> Future[Result] | None:
    """The function's turn on another thread; None if there is no other, or the process is about to end."""
    try:
        return None if _helpers is None else _helpers.submit(function)
    except RuntimeError:
        return None


def _own_seconds() -> float:
    return thread_time() - loading_seconds()


def _pool() -> ThreadPoolExecutor | None:
    if _threads == 1:
        return None
    return ThreadPoolExecutor(_threads - 1, "freshet-kernels", _yield_to_others)


def _yield_to_others() -> None:
    """Let the threads that ask for work, and those with small work, go first where cores are few."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + NICE)


def _after_fork() -> None:
    """Threads do not survive a fork."""
    global _helpers
    _helpers = _pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
