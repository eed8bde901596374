"""Counters: the numbers that GENERATED AS IDENTITY assigns.

A counter takes numbers from a reserve, and the catalog stores where the reserve ends. So no number is
assigned twice; a crash skips the rest of the reserve.
"""

from __future__ import annotations

import threading

import numpy as np
import sqlalchemy as sa

from planner.statements.table_rules import Identity
from service.catalog.catalog import Catalog
from service.catalog.database import Number, metadata
from service.errors import Invalid

RESERVE = 1024
"""How many numbers a counter reserves at once."""

counters = sa.Table(
    "counters",
    metadata,
    sa.Column("relation", Number, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("next", Number, nullable=False),
)


class IdentityCounter:
    """The counter `number` of a table. Any thread may take numbers from it."""

    def __init__(self, catalog: Catalog, relation: int, identity: Identity, largest: int) -> None:
        """`largest` is the largest number that its column may have."""
        self._catalog = catalog
        self._relation = relation
        self._number = identity.number
        self._start = identity.start
        self._increment = identity.increment
        self._largest = largest
        self._lock = threading.Lock()
        self._next = self._end = 0

    @property
    def first(self) -> int:
        return self._start

    def take(self, count: int) -> np.ndarray:
        """The next numbers, int64[count]. Raises Invalid if the column has no more."""
        with self._lock:
            if self._next + count > self._end:
                self._reserve(count)
            first = self._next
            self._next += count
        last = self._number_of(first + count - 1)
        if abs(last) > self._largest:
            raise Invalid("the identity column has no more numbers", code="invalid_value")
        begin = self._number_of(first)
        return begin + np.arange(count, dtype=np.int64) * self._increment

    def set(self, number: int, is_taken: bool) -> None:
        """Goes on after a number, or with it. Raises Invalid for one that is none of its numbers."""
        steps, rest = divmod(number - self._start, self._increment)
        if rest or steps < 0 or abs(number) > self._largest:
            raise Invalid(
                f"{number} is none of the numbers from {self._start} by {self._increment}",
                code="invalid_value",
            )
        with self._lock:
            self._store(int(steps) + 1 + is_taken)
            self._next = self._end = 0

    def _number_of(self, place: int) -> int:
        return self._start + (place - 1) * self._increment

    @property
    def _here(self) -> sa.ColumnElement[bool]:
        return (counters.c.relation == self._relation) & (counters.c.number == self._number)

    def _store(self, following: int) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(sa.delete(counters).where(self._here))
            row = {"relation": self._relation, "number": self._number, "next": following}
            connection.execute(sa.insert(counters).values(**row))

    def _reserve(self, count: int) -> None:
        here = self._here
        with self._catalog.transaction() as connection:
            found = connection.execute(sa.select(counters.c.next).where(here)).scalar()
            end = (found or 1) + max(count, RESERVE)
            if found is None:
                row = {"relation": self._relation, "number": self._number, "next": end}
                connection.execute(sa.insert(counters).values(**row))
            else:
                connection.execute(sa.update(counters).where(here).values(next=end))
        if found != self._end:
            self._next = found or 1
        self._end = end
