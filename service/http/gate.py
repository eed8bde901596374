"""The gate: checks that every request passes before a route sees it.

It refuses callers that `service/http/origins.py` does not admit, and limits bodies: each one, and all
together at a multiple of that, so that many at once do not fill the memory. Above the mark of memory it lets
only small ones pass. The smallest are not counted, for their connection holds as much anyway. It is a bare
ASGI layer, because every request passes it.
"""

from __future__ import annotations

from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import Overloaded
from service.http.header_fields import declared_length, field_of
from service.http.origins import Origins
from service.problems import refused
from service.running.process_memory import LARGE, MemoryMark
from service.settings.budget import too_large

SMALL = 1 << 12
"""A body that has at most so many bytes, as the head says, is not counted."""
TOGETHER = 4
"""All bodies in memory together may have this many times the largest size of one."""


class Gate:
    def __init__(self, app: ASGIApp, body_limit: int, origins: Origins, memory: MemoryMark) -> None:
        self._app = app
        self._body_limit = body_limit
        self._small = min(SMALL, body_limit)
        self._origins = origins
        self._memory = memory
        self._held = 0

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        refusal = self._origins.refusal(scope)
        if refusal is not None:
            return refused(refusal)(scope, receive, send)
        length = field_of(scope, b"content-length")
        if length is not None and length.isdecimal() and int(length) <= self._small:
            return self._app(scope, receive, send)
        return self._limited(scope, receive, send)

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        received = 0

        async def limited() -> Message:
            nonlocal received
            if not received and declared_length(scope) > self._body_limit:
                raise too_large(self._body_limit)  # before the client is told to send it
            message = await receive()
            size = len(message.get("body", b""))
            received += size
            self._held += size
            if received > self._body_limit:
                raise too_large(self._body_limit)
            if received > LARGE:
                self._memory.check("a large body")
            if self._held > TOGETHER * self._body_limit:
                raise Overloaded("the bodies of other requests fill the memory", "try again later")
            return message

        try:
            await self._app(scope, limited, send)
        finally:
            self._held -= received
