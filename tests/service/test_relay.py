"""The relay: every follower gets every change once, whatever the others do, and all share the work."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

import pytest

from engine.runtime.engine import Snapshot
from service.accounts.principals import ANYONE, Principal
from service.definitions.definition import Definition
from service.errors import Conflict, NotFound, Unauthenticated, Unavailable
from service.reading.callers import Caller
from service.reading.query_errors import CallerGone
from service.running.relay import Relay
from service.running.runtime import Runtime
from tests.seeds import each_seed, few
from tests.service.test_feeds import House

_MOST = 3
"""Changes in a page, unless one epoch has more."""


@dataclass(frozen=True)
class Rows:
    """Changes: (epoch, diff, a)."""

    until: int
    changes: tuple[tuple[int, int, int], ...]


def changes(snapshot: Snapshot, since: int, until: int) -> tuple[tuple[int, int, int], ...]:
    delta = snapshot.changes("v", since, until)
    return tuple(zip(delta[-2].tolist(), delta[-1].tolist(), delta[0].tolist(), strict=True))


@dataclass(eq=False)
class RowLine:
    """Pages of a view's changes, which take as long to be made as a step of the event loop."""

    definition: Definition
    last: int | None = None
    speaks: bool = False
    made: list[tuple[int, int]] = field(default_factory=list)
    fails: Exception | None = None

    @property
    def key(self) -> object:
        return id(self)

    async def page(self, snapshot: Snapshot, since: int) -> Rows:
        if self.fails is not None:
            raise self.fails
        newest = snapshot.upper - 1
        limit = newest if self.last is None else min(newest, self.last)
        until = snapshot.relations["v"].stretch(since, limit, _MOST)
        self.made.append((since, until))
        await asyncio.sleep(0)
        return Rows(until, changes(snapshot, since, until))

    def silence(self, until: int) -> Rows | None:
        return Rows(until, ()) if self.speaks else None


@dataclass(eq=False)
class Taker:
    """A follower that can take `room` pages before it has to be let go."""

    since: int = 0
    principal: Principal = ANYONE
    room: int = 1_000_000
    taken: list[tuple[int, int, int]] = field(default_factory=list)
    pages: int = 0
    last: int | None = None
    fails: Exception | None = None
    follows: str = "v"

    def take(self, until: int, page: Rows | None) -> bool:
        if self.fails is not None:
            raise self.fails
        assert until >= self.since
        self.since = until
        if page is not None:
            self.taken += page.changes
            self.pages += 1
            self.room -= 1
        return self.room > 0 and (self.last is None or until < self.last)


class RelayHouse(House):
    def __init__(self) -> None:
        super().__init__()
        self.relay: Relay[Rows] = Relay(cast(Runtime, self))
        self.line = RowLine(self.definition)

    def carry(self, taker: Taker, caller: Caller | None = None) -> asyncio.Task[None]:
        return asyncio.create_task(self.relay.carry(self.line, taker, caller or Caller()))

    @property
    def is_empty(self) -> bool:
        """Whether nobody is carried, and nothing waits."""
        return not self.relay._groups and not self.pulse._waiters


async def turns(number: int = 20) -> None:
    """Lets the event loop take so many steps."""
    for _ in range(number):
        await asyncio.sleep(0)


async def until_all_have(takers: list[Taker], epoch: int) -> None:
    async with asyncio.timeout(60):
        while any(taker.since < epoch for taker in takers):
            await asyncio.sleep(0.001)


async def ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await turns()


def test_all_at_one_epoch_share_a_look_and_a_page() -> None:
    async def scenario() -> None:
        house = RelayHouse()
        takers = [Taker() for _ in range(50)]
        tasks = [house.carry(taker) for taker in takers]
        await turns()
        for epoch in range(1, 6):
            house.change((epoch, "x", 1))
            await until_all_have(takers, epoch)
        expected = [(epoch, 1, epoch) for epoch in range(1, 6)]
        assert all(taker.taken == expected for taker in takers)
        assert house.line.made == [(epoch - 1, epoch) for epoch in range(1, 6)]
        await ended(tasks)
        assert house.is_empty

    asyncio.run(scenario())


def test_who_cannot_take_more_is_let_go_and_rejoins() -> None:
    async def scenario() -> None:
        house = RelayHouse()
        quick, slow = Taker(), Taker(room=1)
        task, let_go = house.carry(quick), house.carry(slow)
        await turns()
        house.change((1, "x", 1))
        await let_go
        for epoch in (2, 3):
            house.change((epoch, "x", 1))
            await until_all_have([quick], epoch)
        assert (quick.since, slow.since) == (3, 1)
        slow.room = 10
        again = house.carry(slow)
        await until_all_have([slow], 3)
        house.change((4, "x", -1))
        await until_all_have([quick, slow], 4)
        assert slow.taken == quick.taken
        ((group,),) = house.relay._groups.values()
        assert len(group._seats) == 2
        assert house.line.made.count((3, 4)) == 1
        await ended([task, again])

    asyncio.run(scenario())


def test_one_that_fails_is_alone() -> None:
    async def scenario() -> None:
        house = RelayHouse()
        good, bad = Taker(), Taker(fails=ValueError("full"))
        task, failing = house.carry(good), house.carry(bad)
        await turns()
        house.change((1, "x", 1))
        with pytest.raises(ValueError, match="full"):
            await failing
        assert good.taken == [(1, 1, 1)]
        await ended([task])

    asyncio.run(scenario())


def test_a_principal_whose_rights_change_is_let_go_alone() -> None:
    async def scenario() -> None:
        house = RelayHouse()
        revoked: set[str] = set()
        house.accounts.is_current = lambda principal: principal.name not in revoked
        first, second = (Taker(principal=replace(ANYONE, name=name)) for name in ("first", "second"))
        tasks = [house.carry(first), house.carry(second)]
        await turns()
        revoked.add("first")
        house.pulse.beat()  # without an epoch
        with pytest.raises(Unauthenticated):
            await tasks[0]
        house.change((1, "x", 1))
        await until_all_have([second], 1)
        assert (first.taken, second.taken) == ([], [(1, 1, 1)])
        await ended(tasks[1:])

    asyncio.run(scenario())


@pytest.mark.parametrize("how", ["dropped", "closing", "no page"])
def test_what_ends_the_line_ends_all(how: str) -> None:
    async def scenario() -> None:
        house = RelayHouse()
        tasks = [house.carry(Taker()) for _ in range(3)]
        await turns()
        if how == "dropped":
            house.definition = cast(Definition, SimpleNamespace(goes_on_from=lambda old: False))
        house.closing = how == "closing"
        house.line.fails = Conflict("no") if how == "no page" else None
        error = {"dropped": NotFound, "closing": Unavailable, "no page": Conflict}[how]
        house.change((1, "x", 1))
        for task in tasks:
            with pytest.raises(error):
                await task
        await turns()
        assert house.is_empty

    asyncio.run(scenario())


def test_a_caller_that_leaves_ends_its_own() -> None:
    async def scenario() -> None:
        house, caller = RelayHouse(), Caller()
        staying, leaving = Taker(), Taker()
        tasks = [house.carry(staying), house.carry(leaving, caller)]
        await turns()
        await asyncio.to_thread(caller.leave)
        with pytest.raises(CallerGone):
            await tasks[1]
        house.change((1, "x", 1))
        await until_all_have([staying], 1)
        assert not leaving.taken
        await ended(tasks[:1])
        assert house.is_empty

    asyncio.run(scenario())


def test_silence_is_told_once_to_all_who_want_it() -> None:
    async def scenario() -> None:
        house = RelayHouse()
        house.line.speaks = True
        takers = [Taker() for _ in range(3)]
        tasks = [house.carry(taker) for taker in takers]
        await turns()
        house.change((1, "x", 1))
        await until_all_have(takers, house.engine.snapshot.upper - 1)
        before = [taker.pages for taker in takers]
        house.change()
        await until_all_have(takers, house.engine.snapshot.upper - 1)
        assert [taker.pages for taker in takers] == [pages + 1 for pages in before]
        await ended(tasks)

    asyncio.run(scenario())


@each_seed(few(20))
def test_everybody_gets_every_change_once(seed: int) -> None:
    """Followers come, are let go, come back, leave, and end at their last epoch, while rows come and go."""
    rng = random.Random(seed)

    async def follow(house: RelayHouse, taker: Taker) -> None:
        """As a COPY does: it goes on whenever it was let go."""
        while taker.last is None or taker.since < taker.last:
            await house.relay.carry(house.line, taker, Caller())
            await turns(rng.randrange(3) if rng.random() < 0.9 else 30)
            taker.room = rng.choice((1, 2, 1_000))

    async def scenario() -> None:
        house = RelayHouse()
        there: Counter[int] = Counter()
        followers: dict[Taker, asyncio.Task[None]] = {}
        begun: dict[Taker, int] = {}
        for _ in range(60):
            rows = []
            for _ in range(rng.choice((0, 1, 1, 2, 5))):
                a = rng.randrange(4)
                diff = -1 if there[a] and rng.random() < 0.5 else 1
                there[a] += diff
                rows.append((a, "x", diff))
            house.change(*rows)
            newest = house.engine.snapshot.upper - 1
            if rng.random() < 0.4:
                since = rng.choice((newest, newest, rng.randint(0, newest)))
                taker = Taker(since=since, room=rng.choice((1, 3, 1_000)))
                begun[taker] = since
                followers[taker] = asyncio.create_task(follow(house, taker))
            if followers and rng.random() < 0.1:
                left = rng.choice(list(followers))
                await ended([followers.pop(left)])
            await turns(rng.choice((0, 1, 3, 20)))
            for taker in begun:
                assert tuple(taker.taken) == changes(house.engine.snapshot, begun[taker], taker.since)
        await until_all_have(list(followers), newest)
        await turns()
        for taker in followers:
            assert tuple(taker.taken) == changes(house.engine.snapshot, begun[taker], newest)
        await ended(list(followers.values()))
        assert house.is_empty

    asyncio.run(scenario())


@each_seed(few(4))
def test_the_last_epoch_ends_each_follower(seed: int) -> None:
    async def scenario() -> None:
        house = RelayHouse()
        house.line.last = 4
        takers = [Taker(last=4) for _ in range(5)]
        tasks = [house.carry(taker) for taker in takers]
        for epoch in range(1, 8):
            house.change((epoch, "x", 1))
            await turns(random.Random(seed + epoch).choice((0, 1, 30)))
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        assert all(taker.taken == [(epoch, 1, epoch) for epoch in range(1, 5)] for taker in takers)
        await turns()
        assert house.is_empty

    asyncio.run(scenario())
