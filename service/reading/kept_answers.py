"""Answers that are kept for the pages that follow: a query need not give its rows in the same order again.

Each is kept for some time after its last page was read, unless newer ones need its room. It is for the key
that has asked, as long as that has the same rights; its name is random besides.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Generic, Protocol, TypeVar

from service.accounts.principals import ANYONE, Principal
from service.errors import HistoryGone, Invalid
from service.reading.page_cursors import are_counts, decoded, encoded, invalid_cursor


class Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=Sized)


@dataclass(frozen=True)
class AnswerPlace:
    """Row number `start` of a kept answer, as a client's cursor."""

    answer: str
    start: int

    def encode(self) -> str:
        return encoded(asdict(self))

    @classmethod
    def decode(cls, text: str) -> AnswerPlace:
        """The place in a cursor. Raises BadRequest if `encode` did not make the text."""
        try:
            place = cls(**decoded(text))
        except TypeError:
            raise invalid_cursor() from None
        if not are_counts(place.start) or not isinstance(place.answer, str):
            raise invalid_cursor()
        return place


@dataclass(frozen=True, eq=False)
class _Kept(Generic[T]):
    answer: T
    owner: Principal
    read_at: float


class KeptAnswers(Generic[T]):
    """At most `capacity` bytes, each for `seconds`. Any thread may use it."""

    def __init__(self, capacity: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[str, _Kept[T]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, answer: T, owner: Principal = ANYONE) -> str:
        """Keeps an answer of `owner` under a new name. Raises Invalid if it is larger than all may be."""
        if answer.nbytes > self._capacity:
            raise Invalid(
                f"the result has {answer.nbytes} bytes, more than is kept for its next pages",
                "leave out limit, ask for another format, or raise FRESHET_KEPT_ANSWER_BYTES",
                code="answer_too_large",
            )
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._drop_old()
            self._kept[name] = _Kept(answer, owner, self._clock())
            self._size += answer.nbytes
            while self._size > self._capacity:
                self._drop(next(iter(self._kept)))
        return name

    def get(self, name: str, asking: Principal = ANYONE) -> T:
        """The answer with this name. Raises HistoryGone if it is not kept, or not for this principal."""
        with self._lock:
            self._drop_old()
            found = self._kept.get(name)
            if found is None or not asking.has_rights_of(found.owner):
                raise HistoryGone(
                    "the result is no longer kept for its next pages",
                    "run the query again",
                    code="cursor_gone",
                )
            self._kept[name] = replace(found, read_at=self._clock())
            self._kept.move_to_end(name)
            return found.answer

    def _drop_old(self) -> None:
        """Drops what has not been read for too long. The caller holds the lock, as for `_drop`."""
        oldest = self._clock() - self._seconds
        while self._kept and next(iter(self._kept.values())).read_at < oldest:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        self._size -= self._kept.pop(name).answer.nbytes
