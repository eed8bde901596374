"""Calls in processes of their own, for work that would hurt this process if it were done here.

Python's collector of cycles stops all threads while it looks at objects, and work on a long text makes
millions of them. In a process of its own such work stops nobody, and its memory and its processor time have
limits.
"""

from __future__ import annotations

import gc
import math
import os
import pickle
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from engine.processes import children

T = TypeVar("T")
_NICE = 5
_GRACE = 5
"""Seconds of processor time beyond the limit, in which the call may end by itself."""


class CallEnded(Exception):
    """The process of a call has ended without a result, for lack of memory or by a fault."""


class CallTimeout(Exception):
    """The process of a call has been stopped after too much processor time."""


@dataclass(frozen=True)
class CallLimits:
    """Bytes of memory, and seconds of processor time."""

    memory: int
    seconds: float


def apart(limits: CallLimits, call: Callable[..., T], *arguments: object) -> T:
    """The result of a call in a new process. Blocks.

    The function is one of a module; arguments, result and errors are pickled. Raises what the call raises,
    MemoryError if it wants more memory, CallTimeout if it takes more time, and CallEnded if the process dies.
    """
    ours, theirs = children.pipe(duplex=False)
    with ours:
        with theirs:
            child = children.start(f"freshet-{call.__name__}", _live, theirs, limits, call, arguments)
        try:
            outcome = ours.recv_bytes()
        except EOFError:
            children.join(child)
            raise CallTimeout if child.exitcode == -signal.SIGXCPU else CallEnded from None
        finally:
            child.kill()
            children.join(child)
    result, error = pickle.loads(outcome)
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def limit_memory(more: int) -> None:
    """Limit this process's own memory to what it has now and `more` bytes. Mapped files do not count."""
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmData:"))
    most = (int(line.split()[1]) << 10) + more
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _live(
    connection: Connection, limits: CallLimits, call: Callable[..., Any], arguments: tuple[object, ...]
) -> None:
    gc.disable()  # the process ends with the call
    os.nice(_NICE)
    limit_memory(limits.memory)
    if math.isfinite(limits.seconds):
        seconds = int(limits.seconds) + _GRACE
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _GRACE))
    connection.send_bytes(_outcome(call, arguments))


def _outcome(call: Callable[..., Any], arguments: tuple[object, ...]) -> bytes:
    """The pickled result and error, one of them None."""
    try:
        return pickle.dumps((call(*arguments), None))
    except MemoryError:
        return pickle.dumps((None, MemoryError()))
    except Exception as error:
        return pickle.dumps((None, error.with_traceback(None)))
