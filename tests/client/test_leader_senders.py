"""Connections with several addresses: calls go to the service that leads, whichever that is by now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

import freshet
from freshet.async_connection import AsyncConnection
from freshet.connection import Connection
from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.errors import UnreachableError, error_of
from freshet.sending import retrying
from freshet.sending.leader_senders import AsyncLeaderSender, LeaderSender
from freshet.sending.retrying import Retries
from tests.ports import free_port

NOT_LEADER = {"code": "not_leader", "detail": "this service is a standby"}


@dataclass
class Service:
    """A service of a test: it leads or follows, or is dead, or dies with the next call."""

    url: str
    role: str
    asked: int = 0
    sent: list[str] = field(default_factory=list)

    def leads(self) -> bool:
        self.asked += 1
        return self.role in ("leader", "dying")

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        if self.role == "dead":
            raise UnreachableError("refused", began=False)
        self.sent.append(call.method)
        if self.role == "dying":
            self.role = "dead"
            raise UnreachableError("lost", began=True)
        if self.role == "standby" and call.method != "GET":
            return ApiAnswer(503, {}, orjson.dumps(NOT_LEADER))
        return ApiAnswer(200, {}, orjson.dumps({"epoch": 1, "changes": 1, "tables": [], "results": []}))

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        if self.role != "leader":
            raise error_of(503, NOT_LEADER)
        yield b"x"

    def close(self) -> None:
        self.role = "closed"


class AsyncService:
    """The same on an event loop."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.url = service.url

    async def leads(self) -> bool:
        return self._service.leads()

    async def send(self, call: ApiCall[Any]) -> ApiAnswer:
        return self._service.send(call)

    async def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]:
        for piece in self._service.stream(call):
            yield piece

    async def close(self) -> None:
        self._service.close()


class Blocking:
    """The blocking connection and the other one, as one interface of this test."""

    def __init__(self, services: list[Service], retries: int) -> None:
        self._connection = Connection(LeaderSender(services), Retries(retries))  # type: ignore[arg-type]

    def insert(self) -> None:
        self._connection.table("t").insert({"a": 1})

    def sql(self) -> None:
        self._connection.script("DELETE FROM t")

    def read(self) -> None:
        self._connection.tables()

    def stream(self) -> list[bytes]:
        return list(self._connection.stream(feed_call()))

    def close(self) -> None:
        self._connection.close()


class Awaited:
    def __init__(self, services: list[Service], retries: int) -> None:
        sender = AsyncLeaderSender([AsyncService(each) for each in services])  # type: ignore[misc]
        self._connection = AsyncConnection(sender, Retries(retries))

    def insert(self) -> None:
        asyncio.run(self._connection.table("t").insert({"a": 1}))  # type: ignore[arg-type]

    def sql(self) -> None:
        asyncio.run(self._connection.script("DELETE FROM t"))  # type: ignore[arg-type]

    def read(self) -> None:
        asyncio.run(self._connection.tables())  # type: ignore[arg-type]

    def stream(self) -> list[bytes]:
        async def pieces() -> list[bytes]:
            return [piece async for piece in self._connection.stream(feed_call())]

        return asyncio.run(pieces())

    def close(self) -> None:
        asyncio.run(self._connection.close())


def feed_call() -> ApiCall[None]:
    return ApiCall("GET", "/v1/tables/t/changes", lambda answer: None)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "_FIRST_PAUSE", 0.0)


@pytest.fixture(params=[Blocking, Awaited])
def kind(request: pytest.FixtureRequest) -> type[Blocking | Awaited]:
    return request.param


def services(*roles: str) -> list[Service]:
    return [Service(f"http://{place}", role) for place, role in enumerate(roles)]


def test_every_call_goes_to_the_leader_which_is_asked_for_once(kind: type[Blocking | Awaited]) -> None:
    standby, leader = services("standby", "leader")
    connection = kind([standby, leader], 0)
    connection.insert()
    connection.sql()
    connection.read()
    assert connection.stream() == [b"x"]
    assert (standby.sent, leader.sent) == ([], ["POST", "POST", "GET"])
    assert (standby.asked, leader.asked) == (1, 1)
    connection.close()
    assert {standby.role, leader.role} == {"closed"}


def test_a_change_that_meets_a_take_over_is_sent_to_the_new_leader(kind: type[Blocking | Awaited]) -> None:
    """It was under way as the leader died. The statement was, too, and nobody knows what became of it."""
    for act in ("insert", "read"):
        first, second = services("dying", "leader")
        getattr(kind([first, second], 1), act)()
        assert (len(first.sent), len(second.sent)) == (1, 1)
    first, second = services("dying", "leader")
    connection = kind([first, second], 5)
    with pytest.raises(freshet.UnreachableError):
        connection.sql()
    assert second.sent == []
    connection.sql()
    assert second.sent == ["POST"]


def test_a_leader_that_was_replaced_is_left(kind: type[Blocking | Awaited]) -> None:
    """It refuses a statement, so that one was not begun."""
    first, second = services("leader", "standby")
    connection = kind([first, second], 1)
    connection.sql()
    first.role, second.role = "standby", "leader"
    connection.sql()
    assert second.sent == ["POST"]
    first.role, second.role = "leader", "standby"
    with pytest.raises(freshet.UnavailableError):
        connection.stream()
    assert connection.stream() == [b"x"]


def test_while_nobody_leads_a_call_waits(kind: type[Blocking | Awaited]) -> None:
    first, second = services("dead", "standby")
    with pytest.raises(freshet.UnreachableError, match="no service leads at http://0, http://1") as refused:
        kind([first, second], 3).sql()
    assert not refused.value.began
    assert (first.asked, second.asked, second.sent) == (4, 4, [])


def test_addresses() -> None:
    away = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    with (
        freshet.connect(away, retries=0) as db,
        pytest.raises(freshet.UnreachableError, match="no service leads"),
    ):
        db.tables()
    with (
        freshet.connect(away[:1], retries=0) as db,
        pytest.raises(freshet.UnreachableError, match="cannot be reached"),
    ):
        db.tables()
    for connect in (freshet.connect, freshet.connect_async):
        with pytest.raises(freshet.InvalidRequestError, match="no address"):
            connect([])
