"""Child processes of the service, forked from a server process that has loaded what they need.

A child starts in milliseconds and shares the loaded code. The server is multiprocessing's forkserver: it has
no threads, so a fork of it is safe whatever the threads of the service do.

A terminal sends Ctrl-C to all processes of the service. The server begins with that signal blocked, and its
children inherit this: the service ends them itself, and none of them prints where it was interrupted.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from engine.orphans import end_with_parent

_CONTEXT = multiprocessing.get_context("forkserver")
_LOCK = threading.Lock()
"""Guards what multiprocessing knows of its children, which is not made for threads."""
_LOADED: list[str] = ["engine.processes.without_main"]


def preload(module: str) -> None:
    """Load a module in the server too. Has an effect only before the first child."""
    if module not in _LOADED:
        _LOADED.append(module)
    _CONTEXT.set_forkserver_preload(_LOADED)


def begin() -> None:
    """Start the server, if it does not run yet, so that the first child need not wait until it has loaded its
    modules. Returns at once."""
    with _LOCK, _interrupts_blocked():
        forkserver.ensure_running()


def pipe(*, duplex: bool = True) -> tuple[Connection, Connection]:
    """The two ends of a pipe; without `duplex`, the first end receives and the second sends."""
    return _CONTEXT.Pipe(duplex)


def shared_numbers(count: int) -> Any:
    """A ctypes array of so many float64 that a child can be given, and both see."""
    return _CONTEXT.RawArray("d", count)


def start(name: str, target: Callable[..., None], *arguments: object) -> BaseProcess:
    """A new child that calls `target`, which is of a module. It ends with this process, whatever ends that.

    Its name begins with `freshet-`: see `without_main.py`.
    """
    child = _CONTEXT.Process(target=_live, args=(target, *arguments), name=name, daemon=True)
    with _LOCK, _interrupts_blocked():
        child.start()
    return child


def join(child: BaseProcess) -> None:
    """Wait for the end of a child that ends soon."""
    with _LOCK:
        child.join()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Blocks SIGINT in this thread, and for good in processes that begin meanwhile."""
    resource_tracker.ensure_running()  # when that begins, it unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _live(target: Callable[..., None], *arguments: object) -> None:
    """The life of a child, which the server of children ends with: that watches this process."""
    end_with_parent()
    target(*arguments)
