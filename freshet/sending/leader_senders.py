"""Senders for several services over one catalog, of which one leads: every call goes to that one.

They ask `/readyz?role=leader` of each address before the first call, and again after an answer that was lost
or that says `not_leader`. A sender does not repeat calls, so a call that meets a take-over fails, and
`freshet/sending/retrying.py` decides whether it is sent again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.errors import Error, UnreachableError
from freshet.sending.senders import AsyncHttpSender, HttpSender

_NOT_LEADER = "not_leader"


class LeaderSender:
    """Sends to the one of `services` that leads."""

    def __init__(self, services: Sequence[HttpSender]) -> None:
        self._services = services
        self._leader: HttpSender | None = None

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        leader = self._found()
        try:
            answer = leader.send(call)
        except UnreachableError:
            self._leader = None
            raise
        if is_elsewhere(answer):
            self._leader = None
        return answer

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        try:
            yield from self._found().stream(call)
        except Error:
            self._leader = None
            raise

    def close(self) -> None:
        for service in self._services:
            service.close()

    def _found(self) -> HttpSender:
        """The service that leads. Raises UnreachableError if none does."""
        leader = self._leader or next((service for service in self._services if service.leads()), None)
        if leader is None:
            raise nobody_leads(self._services)
        self._leader = leader
        return leader


class AsyncLeaderSender:
    """The same on an event loop."""

    def __init__(self, services: Sequence[AsyncHttpSender]) -> None:
        self._services = services
        self._leader: AsyncHttpSender | None = None

    async def send(self, call: ApiCall[Any]) -> ApiAnswer:
        leader = await self._found()
        try:
            answer = await leader.send(call)
        except UnreachableError:
            self._leader = None
            raise
        if is_elsewhere(answer):
            self._leader = None
        return answer

    async def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]:
        leader = await self._found()
        try:
            async for piece in leader.stream(call):
                yield piece
        except Error:
            self._leader = None
            raise

    async def close(self) -> None:
        for service in self._services:
            await service.close()

    async def _found(self) -> AsyncHttpSender:
        leader = self._leader
        for service in self._services:
            if leader is None and await service.leads():
                leader = service
        if leader is None:
            raise nobody_leads(self._services)
        self._leader = leader
        return leader


def is_elsewhere(answer: ApiAnswer) -> bool:
    """Whether a service refuses a change because another one leads."""
    return answer.status == 503 and answer.problem().get("code") == _NOT_LEADER


def nobody_leads(services: Sequence[HttpSender | AsyncHttpSender]) -> UnreachableError:
    """The error of a call for which no service was found. It was not sent."""
    return UnreachableError(
        f"no service leads at {', '.join(service.url for service in services)}",
        "a standby takes the leader's place within seconds; see /readyz?role=leader of each",
        began=False,
    )
