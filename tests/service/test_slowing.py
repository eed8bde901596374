"""Wrong keys wait: longer each time, each address for itself, and never too many of them."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from service.accounts.slowing import (
    FIRST_SECONDS,
    FORGOTTEN_SECONDS,
    LONGEST_SECONDS,
    WAITING,
    WAITING_EACH,
    Slowing,
)
from service.errors import Overloaded
from service.http import authorization
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key


class Nights:
    """Sleeps that are noted, and end when `morning` comes."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.now = 0.0
        self.morning = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.morning.wait()


def test_it_grows_and_is_forgotten() -> None:
    async def run() -> list[float]:
        nights = Nights()
        nights.morning.set()
        slowing = Slowing(nights.sleep, lambda: nights.now)
        for _ in range(60):
            await slowing.failed("a")
        await slowing.failed("b")
        nights.now += FORGOTTEN_SECONDS + 1
        await slowing.failed("a")
        return nights.slept

    slept = asyncio.run(run())
    assert slept[:4] == [FIRST_SECONDS * factor for factor in (1, 2, 4, 8)]
    assert slept[10:60] == [LONGEST_SECONDS] * 50
    assert slept[60:] == [FIRST_SECONDS, FIRST_SECONDS]


def test_few_wait_from_one_address_and_not_many_in_all() -> None:
    async def run() -> None:
        nights = Nights()
        slowing = Slowing(nights.sleep, lambda: nights.now)
        tasks = [
            asyncio.create_task(slowing.failed(str(address)))
            for address in range(WAITING // WAITING_EACH)
            for _ in range(WAITING_EACH)
        ]
        await asyncio.sleep(0)
        assert len(nights.slept) == WAITING
        with pytest.raises(Overloaded):
            await slowing.failed("0")
        with pytest.raises(Overloaded):
            await slowing.failed("another")
        tasks[0].cancel()
        await asyncio.sleep(0)
        nights.morning.set()
        await slowing.failed("another")
        await asyncio.gather(*tasks[1:])
        assert not slowing._waiting

    asyncio.run(run())


def test_only_failures_wait(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """While five wrong keys wait, a right one is answered, a missing one is refused, and a sixth gets 429."""
    go = threading.Event()

    async def held(seconds: float) -> None:
        while not go.is_set():
            await asyncio.sleep(0.01)

    monkeypatch.setattr(authorization, "Slowing", partial(Slowing, held))
    with Client(settings) as client:
        key = make_key(client, "boss", "admin")["key"]
        wrong = bearer(key[:-4] + "0000")

        async def scenario() -> None:
            tasks = [asyncio.create_task(client.http.get("/v1/tables", headers=wrong)) for _ in range(7)]
            while sum(task.done() for task in tasks) < 2:
                await asyncio.sleep(0.01)
            done = [task for task in tasks if task.done()]
            assert sorted(code(task.result()) for task in done) == [(429, "too_many_attempts")] * 2
            assert (await client.http.get("/v1/tables", headers=bearer(key))).status_code == 200
            assert code(await client.http.get("/v1/tables")) == (401, "key_missing")
            assert [task for task in tasks if task.done()] == done
            go.set()
            answers = [await task for task in tasks if task not in done]
            assert {code(answer) for answer in answers} == {(401, "key_invalid")}

        client.run(scenario())
