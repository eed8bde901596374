"""A request of the REST contract as a value, and what came back.

Nothing here sends anything: `freshet/contract/calls.py` makes calls, senders exchange them for answers, and
the call itself knows how to read its answer. So the blocking and the asynchronous connection share all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from freshet.errors import UnexpectedAnswerError, error_of

T = TypeVar("T")
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, RecursionError)
"""What reading raises if an answer has another form than the contract says."""


@contextmanager
def answered_by_freshet(status: int) -> Iterator[None]:
    """Turns what reading an answer raises into an UnexpectedAnswerError. A redirection is not followed: the
    key is for the address that was given."""
    if not 200 <= status < 300:
        raise UnexpectedAnswerError(status, "it redirects, and redirections are not followed")
    try:
        yield
    except _UNREADABLE as error:
        raise UnexpectedAnswerError(status, type(error).__name__) from error


@dataclass(frozen=True)
class ApiAnswer:
    """An answer of any status. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body's value; integers of any size stay exact."""
        return json.loads(self.body)

    def problem(self) -> dict[str, Any]:
        """The members of the problem document; none if the answer, of a proxy for instance, is no such."""
        try:
            found = self.json()
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class ApiCall(Generic[T]):
    """`read` turns a successful answer into the call's result.

    A call is `repeatable` if sending it twice has the effect of sending it once.
    """

    method: str
    path: str
    read: Callable[[ApiAnswer], T]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    repeatable: bool = False
    lines_before: int = 0

    def result(self, answer: ApiAnswer) -> T:
        """The result. Raises the Error of an answer that is a problem, or that no Freshet gives."""
        if answer.status >= 400:
            raise error_of(answer.status, answer.problem(), self.lines_before)
        with answered_by_freshet(answer.status):
            return self.read(answer)
