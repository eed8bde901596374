"""Counters: the numbers that GENERATED AS IDENTITY assigns.

A counter takes numbers from a reserve, and the catalog stores where the reserve ends. So no number is
assigned twice; a crash skips the rest of the reserve.
"""

from __future__ import annotations

import threading

import numpy as np
import sqlalchemy as sa

from service.catalog.catalog import Catalog
from service.catalog.database import Number, metadata

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

    def __init__(self, catalog: Catalog, relation: int, number: int) -> None:
        self._catalog = catalog
        self._relation = relation
        self._number = number
        self._lock = threading.Lock()
        self._next = self._end = 0

    def take(self, count: int) -> np.ndarray:
        """The next numbers, int64[count], ascending from 1."""
        with self._lock:
            if self._next + count > self._end:
                self._reserve(count)
            first = self._next
            self._next += count
        return np.arange(first, first + count, dtype=np.int64)

    def _reserve(self, count: int) -> None:
        here = (counters.c.relation == self._relation) & (counters.c.number == self._number)
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
