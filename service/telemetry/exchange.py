"""An exchange: a request and its answer, as metrics, logs and traces see them.

The outermost layer begins one for each request. `current` carries it to whatever works for the request, into
threads too; the layers inside note in it what they find out.
"""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from service.telemetry.journey import Journey

_SANE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}")
_process = os.urandom(6).hex()
_numbers = count(1)


@dataclass(eq=False, slots=True)
class HttpExchange:
    """`route` is the template of the path, `key` the id of the caller's key, `code` that of the error in the
    answer; each is empty if there is none. `status` is 0 until the answer begins."""

    id: str
    method: str
    path: str
    route: str
    journey: Journey | None = None
    began: float = field(default_factory=perf_counter)
    key: str = ""
    code: str = ""
    status: int = 0
    seconds: float = 0.0

    def answered(self, status: int) -> None:
        """Notes that the answer begins."""
        self.status = status
        self.seconds = perf_counter() - self.began


current: ContextVar[HttpExchange | None] = ContextVar("freshet_exchange", default=None)


def request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """The id that the request's X-Request-Id gives it if that is sane; a new one otherwise."""
    given = [value for name, value in headers if name == b"x-request-id"]
    if len(given) == 1 and _SANE.fullmatch(given[0]) and not given[0].startswith(b"fr_"):
        return given[0].decode()
    return new_id()


def new_id() -> str:
    """An id for a request that has none."""
    return f"{_process}-{next(_numbers):x}"


def begin_session(number: int, key: str) -> None:
    """Gives what follows in this context the id of a session of PostgreSQL's protocol."""
    current.set(HttpExchange(f"pg-{number}", "", "", "", key=key))


def note_problem(code: str) -> None:
    """Notes the code of the error that the current request is answered with."""
    exchange = current.get()
    if exchange is not None:
        exchange.code = code


def note_key(id: str) -> None:
    """Notes the id of the key that came with the current request."""
    exchange = current.get()
    if exchange is not None:
        exchange.key = id


def reached(phase: str) -> None:
    """Notes that a phase of the current request has ended, if the request is traced."""
    exchange = current.get()
    if exchange is not None and exchange.journey is not None:
        exchange.journey.reached(phase)
