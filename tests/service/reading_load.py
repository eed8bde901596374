"""Readers of a service that dies: what they see at an epoch belongs together, and never changes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from freshet import Connection, Error
from tests.service.door import Door
from tests.service.mixed_load import Row, is_gone, rows

PAUSE = 0.05
"""Seconds between two readings."""


class Reader:
    """Reads the newest epoch of one service, again and again, whether it leads or follows."""

    def __init__(self) -> None:
        self.seen: dict[int, list[Row]] = {}
        """The items by the epoch at which they were read."""
        self.is_stopped = False

    def work(self, door: Door) -> None:
        with door.connect(retries=0) as db:
            while not self.is_stopped:
                try:
                    self._read(db)
                except Error as error:
                    if not is_gone(error):
                        raise
                time.sleep(PAUSE)

    def _read(self, db: Connection) -> None:
        epoch = db.status()["epoch"]
        items = rows(db.table("items"), epoch)
        assert rows(db.view("groups"), epoch) == grouped(items), epoch
        assert self.seen.setdefault(epoch, items) == items, epoch


def grouped(items: Iterable[Row]) -> list[Row]:
    """What the view `groups` says of items."""
    counts: Counter[int] = Counter()
    totals: Counter[int] = Counter()
    for _, writer, value in items:
        counts[writer] += 1
        totals[writer] += value
    return sorted((writer, n, totals[writer]) for writer, n in counts.items())


def check_seen(db: Connection, readers: Iterable[Reader], most: int) -> int:
    """Compares what readers saw with each other, and of the last `most` epochs with the rows now. Returns the
    number of epochs that were read."""
    seen: dict[int, list[Row]] = {}
    for reader in readers:
        for epoch, items in reader.seen.items():
            assert seen.setdefault(epoch, items) == items, epoch
    for epoch in sorted(seen)[-most:]:
        assert rows(db.table("items"), epoch) == seen[epoch], epoch
    return len(seen)
