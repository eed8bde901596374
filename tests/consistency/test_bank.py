"""Sixteen writers move money, and no reader ever finds another total. FRESHET_TRANSFERS is their number."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.consistency.bank import ACCOUNTS, DEPOSIT, SETUP, Auditors, Teller
from tests.consistency.line import Line
from tests.seeds import SEED
from tests.service.client import Process
from tests.service.waiting import wait_until

TRANSFERS = int(os.environ.get("FRESHET_TRANSFERS", "500"))
WRITERS = 16
SETTINGS = {"FRESHET_CHECKPOINT_BYTES": "100000", "FRESHET_LOG_LEVEL": "warning"}


@pytest.fixture
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    process = Process(tmp_path_factory.mktemp("bank") / "data", SETTINGS)
    try:
        process.wait_ready()
        yield process
    finally:
        process.kill()


def work(teller: Teller, port: int) -> None:
    with Line(port) as line:
        teller.work(line)


def balances(deposits: int, moved: list[Counter[int]]) -> dict[int, int]:
    """What each account holds after all transfers."""
    return {account: deposits + sum(each[account] for each in moved) for account in range(1, ACCOUNTS + 1)}


def test_the_total_never_departs(service: Process) -> None:
    chance = random.Random(SEED)
    tellers = [Teller(random.Random(chance.random()), TRANSFERS // WRITERS) for _ in range(WRITERS)]
    with Line(service.port) as line:
        for statement in SETUP:
            line.sql(statement)
    auditors = Auditors(service.port)
    auditors.start()
    try:
        with ThreadPoolExecutor(WRITERS) as threads:
            list(threads.map(work, tellers, [service.port] * WRITERS))
        epochs = [epoch for teller in tellers for epoch in teller.epochs]
        assert len(epochs) == len(set(epochs)), "two transfers share an epoch"
        expected = balances(DEPOSIT, [teller.moved for teller in tellers])
        wait_until(lambda: auditors.seen == expected or bool(auditors.departures))
    finally:
        auditors.stop()
    assert auditors.departures == []
    with Line(service.port) as line:  # the service closes a connection that is idle
        epoch, rows = line.lines("/v1/views/both/rows")
    assert epoch == max(epochs)
    assert {row["id"]: row["balance"] for row in rows} == expected
    held = balances(DEPOSIT, [teller.held for teller in tellers])
    assert {row["id"]: row["held"] for row in rows} == held
    # Each reader has looked, and the feed of the total has spoken once: of the deposit.
    assert {"_balances", "_total", "_both", "_by_sql", "_follow"} <= auditors.looks.keys()
    assert auditors.looks["_follow_total"] == 1
    print(f"{len(epochs)} transfers, {dict(auditors.looks)} looks")
