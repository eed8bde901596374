"""The gate stops bodies: each at its limit, however many pieces it comes in, and all together at theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from starlette.types import Message, Receive, Scope, Send

from service.errors import Overloaded, TooLarge
from service.http.gate import TOGETHER, Gate
from service.http.origins import Origins
from service.running.process_memory import MemoryMark

LIMIT = 100
SCOPE = {"type": "http", "method": "POST", "http_version": "1.1", "headers": [(b"host", b"localhost")]}


class Sender:
    """A client that sends a body in pieces of these sizes, and an app that receives them all."""

    def __init__(self, *sizes: int) -> None:
        self._sizes = sizes
        self.received = 0
        self.has_all = asyncio.Event()
        self.may_end = asyncio.Event()

    async def send(self, gate: Gate, declared: bool = False) -> None:
        """Sends the body, with its length in the head if that is `declared`."""
        pieces = iter(self._sizes)
        headers = [*SCOPE["headers"], (b"content-length", b"%d" % sum(self._sizes))]
        scope = {**SCOPE, "sender": self} | ({"headers": headers} if declared else {})

        async def receive() -> Message:
            return {"type": "http.request", "body": b"x" * next(pieces), "more_body": True}

        async def ignore(message: Message) -> None: ...

        await gate(scope, receive, ignore)

    async def app(self, receive: Receive) -> None:
        for _ in self._sizes:
            self.received += len((await receive())["body"])
        self.has_all.set()
        await self.may_end.wait()


async def route(scope: Scope, receive: Receive, send: Send) -> None:
    await scope["sender"].app(receive)


def gate() -> Gate:
    return Gate(route, LIMIT, Origins("127.0.0.1", (), ()), MemoryMark(0))


async def alone(gate: Gate, sizes: Sequence[int]) -> int:
    sender = Sender(*sizes)
    sender.may_end.set()
    await sender.send(gate)
    return sender.received


@pytest.mark.parametrize("sizes", [(100,), (40, 60), (1,) * 100, (100, 0)])
def test_a_body_up_to_the_limit_passes(sizes: Sequence[int]) -> None:
    assert asyncio.run(alone(gate(), sizes)) == LIMIT


@pytest.mark.parametrize("sizes", [(101,), (40, 61), (1,) * 101, (100, 1)])
def test_a_body_beyond_the_limit_is_refused_however_it_comes(sizes: Sequence[int]) -> None:
    with pytest.raises(TooLarge):
        asyncio.run(alone(gate(), sizes))


def test_small_bodies_whose_heads_say_so_are_not_counted() -> None:
    async def run() -> None:
        shared = gate()
        senders = [Sender(50, 50) for _ in range(TOGETHER + 1)]
        tasks = [asyncio.create_task(sender.send(shared, declared=True)) for sender in senders]
        for sender in senders:
            await sender.has_all.wait()
            sender.may_end.set()
        await asyncio.gather(*tasks)
        with pytest.raises(TooLarge):
            await Sender(60, 60).send(shared, declared=True)

    asyncio.run(run())


def test_bodies_together_have_a_limit_until_they_are_done() -> None:
    async def run() -> None:
        shared = gate()
        senders = [Sender(50, 50) for _ in range(TOGETHER)]
        tasks = [asyncio.create_task(sender.send(shared)) for sender in senders]
        for sender in senders:
            await sender.has_all.wait()
        with pytest.raises(Overloaded):
            await alone(shared, (1,))
        senders[0].may_end.set()
        await tasks[0]
        assert await alone(shared, (LIMIT,)) == LIMIT
        for sender in senders:
            sender.may_end.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())
