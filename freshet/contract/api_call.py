"""A request of the REST contract as a value, and what came back.

Nothing here sends anything: `freshet/contract/calls.py` makes calls, senders exchange them for answers, and
the call itself knows how to read its answer. So the blocking and the asynchronous connection share all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from freshet.errors import error_of

T = TypeVar("T")


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
        except ValueError:
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
        """The result. Raises the Error of an answer that is a problem."""
        if answer.status >= 400:
            raise error_of(answer.status, answer.problem(), self.lines_before)
        return self.read(answer)
