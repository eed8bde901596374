"""kill -9 while large requests are computed: each is there as a whole, or not at all.

FRESHET_KILLS sets how often the service is killed.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable

import httpx

from tests.seeds import SEED
from tests.service.client import Process
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_KILLS", "1"))
LARGE = 30
SETTINGS = {"FRESHET_LARGE_CHANGES": str(LARGE), "FRESHET_CHECKPOINT_COMMITS": "20"}
SCRIPT = """
CREATE TABLE t (id BIGINT PRIMARY KEY, batch BIGINT);
CREATE VIEW v AS SELECT batch, count(*) AS n FROM t GROUP BY batch;
"""


class Sender:
    """Sends batches of rows with new keys, until the service is gone. `answered` are those it confirmed."""

    def __init__(self, size: int, batches: range) -> None:
        self.answered: set[int] = set()
        self._size = size
        self._batches = iter(batches)

    def work(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=60) as http:
            for batch in self._batches:
                rows = [{"insert": {"id": 1000 * batch + i, "batch": batch}} for i in range(self._size)]
                try:
                    answer = http.post("/v1/tables/t/deltas", json=rows)
                except httpx.TransportError:
                    return
                assert answer.status_code == 200, answer.text
                self.answered.add(batch)

    def check(self, counts: dict[int, int]) -> None:
        """AssertionError unless all that was confirmed is there."""
        assert all(counts.get(batch) == self._size for batch in self.answered)


def test_kills(start: Callable[..., Process]) -> None:
    chance = random.Random(SEED)
    large = [Sender(LARGE, range(first, 10**6, 10)) for first in (1, 2)]
    senders = [*large, Sender(1, range(0, 10**6, 10))]
    for kill in range(KILLS + 1):
        service = start(**SETTINGS)
        service.wait_ready()
        with httpx.Client(base_url=service.url, timeout=60) as http:
            if kill == 0:
                assert http.post("/v1/sql", json={"sql": SCRIPT}).status_code == 200
            check(http, senders)
        if kill == KILLS:
            break
        threads = [threading.Thread(target=sender.work, args=(service.url,)) for sender in senders]
        for thread in threads:
            thread.start()
        before = sum(len(sender.answered) for sender in large)
        wait_until(lambda before=before: sum(len(sender.answered) for sender in large) > before)
        time.sleep(chance.uniform(0, 0.5))
        service.kill()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    assert all(sender.answered for sender in senders)


def check(http: httpx.Client, senders: list[Sender]) -> None:
    """The table has whole batches, all that were confirmed, and the view counts them."""
    pages = [
        http.get(f"/v1/{kind}/rows", headers={"Accept": "application/json"}, params={"limit": 100_000})
        for kind in ("tables/t", "views/v")
    ]
    rows, groups = (page.json()["rows"] for page in pages)
    counts = Counter(row["batch"] for row in rows)
    assert {row["batch"]: row["n"] for row in groups} == counts
    assert all(count == (LARGE if batch % 10 else 1) for batch, count in counts.items())
    for sender in senders:
        sender.check(counts)
