"""When a call is sent again, and after which pause.

A call is sent again if nothing of it can have happened, or if its repetition changes nothing: reads, and
changes with their idempotency key. Any other call whose answer is lost fails, and its error says so.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.errors import UnreachableError

T = TypeVar("T")
ApiOutcome = ApiAnswer | UnreachableError

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_PASSING = frozenset({429, 503})
"""Statuses that pass by themselves."""
_UNTOUCHED = frozenset({"not_ready", "too_many_connections", "not_leader"})
"""Codes of 503 that say that the service has done nothing."""
_FINAL = frozenset({"timeout", "closed"})
"""Codes of the client's own that another attempt would have again."""


@dataclass(frozen=True)
class Retries:
    """At most so many repetitions of a call."""

    most: int

    def pause(self, attempt: int, told: float = 0.0) -> float:
        """Seconds before repetition `attempt`, counted from 0; at least what the service has told."""
        wanted = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt, 10))
        return max(told, wanted * random.uniform(0.5, 1.0))


def conversation(call: ApiCall[T], retries: Retries) -> Generator[float, ApiOutcome, T]:
    """Yields the pause before each attempt, is sent the attempt's outcome, and returns the call's result.

    Raises the Error of the last outcome.
    """
    pause = 0.0
    for attempt in count():
        outcome = yield pause
        if attempt >= retries.most or not may_repeat(call, outcome):
            break
        pause = retries.pause(attempt, _told(outcome))
    if isinstance(outcome, UnreachableError):
        raise outcome
    return call.result(outcome)


def may_repeat(call: ApiCall[T], outcome: ApiOutcome) -> bool:
    """Whether another attempt may succeed, and can do no harm."""
    if isinstance(outcome, UnreachableError):
        return outcome.code not in _FINAL and (call.repeatable or not outcome.began)
    if outcome.status not in _PASSING:
        return False
    if call.repeatable:
        return True
    problem = outcome.problem()
    stands = bool(problem.get("index"))  # statements before the one that failed have run
    return not stands and (outcome.status == 429 or problem.get("code") in _UNTOUCHED)


def _told(outcome: ApiOutcome) -> float:
    """The seconds of Retry-After."""
    if isinstance(outcome, UnreachableError):
        return 0.0
    try:
        told = float(outcome.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
    return min(60.0, told) if told > 0 else 0.0
