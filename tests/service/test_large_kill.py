"""kill -9 while large requests are computed: each is there as a whole, or not at all.

The client sends what was under way again, once the service has started again. `FRESHET_KILLS` sets how often
the service is killed.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable

from freshet import Connection
from tests.seeds import SEED
from tests.service.client import Process
from tests.service.door import Door
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_KILLS", "1"))
LARGE = 30
SETTINGS = {"FRESHET_LARGE_CHANGES": str(LARGE), "FRESHET_CHECKPOINT_COMMITS": "20"}
SCRIPT = """
CREATE TABLE t (id BIGINT PRIMARY KEY, batch BIGINT);
CREATE VIEW v AS SELECT batch, count(*) AS n FROM t GROUP BY batch;
"""


class Sender:
    """Sends batches of rows with new keys, until it is stopped. `answered` are those it was acknowledged."""

    def __init__(self, size: int, batches: range) -> None:
        self.answered: set[int] = set()
        self.is_stopped = False
        self._size = size
        self._batches = iter(batches)

    def work(self, door: Door) -> None:
        with door.connect() as db:
            while not self.is_stopped:
                batch = next(self._batches)
                db.table("t").insert([{"id": 1000 * batch + i, "batch": batch} for i in range(self._size)])
                self.answered.add(batch)


def test_kills(start: Callable[..., Process]) -> None:
    chance = random.Random(SEED)
    large = [Sender(LARGE, range(first, 10**6, 10)) for first in (1, 2)]
    senders = [*large, Sender(1, range(0, 10**6, 10))]
    service = start(**SETTINGS)
    service.wait_ready()
    door = Door.guarded([service.url])
    with door.connect() as db:
        db.script(SCRIPT)
        for _ in range(KILLS):
            threads = begun(senders, door)
            before = sum(len(sender.answered) for sender in large)
            wait_until(lambda before=before: sum(len(sender.answered) for sender in large) > before)
            time.sleep(chance.uniform(0, 0.5))
            service.kill()
            service = start(**SETTINGS, FRESHET_PORT=str(service.port))
            service.wait_ready()
            for sender, thread in zip(senders, threads, strict=True):
                sender.is_stopped = True
                thread.join(600)
                assert not thread.is_alive()
            check(db, senders)
    assert all(sender.answered for sender in senders)


def begun(senders: list[Sender], door: Door) -> list[threading.Thread]:
    threads = [threading.Thread(target=sender.work, args=(door,), daemon=True) for sender in senders]
    for sender, thread in zip(senders, threads, strict=True):
        sender.is_stopped = False
        thread.start()
    return threads


def check(db: Connection, senders: list[Sender]) -> None:
    """The table has the batches that were acknowledged, whole, and the view counts them."""
    counts = Counter(batch for _, batch in db.table("t").rows().tuples())
    assert dict(db.view("v").rows().tuples()) == counts
    assert counts == {batch: LARGE if batch % 10 else 1 for sender in senders for batch in sender.answered}
