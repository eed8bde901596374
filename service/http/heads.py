"""HEAD for every GET: the same status and headers, without a body.

The app answers as for GET until its headers are there. Then it is stopped, as for a client that has left: an
endless stream costs no more than its beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """A bare ASGI layer, because every request passes it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            return self._head(scope, receive, send)
        return self._app(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = asyncio.Event()

        async def head(message: Message) -> None:
            if message["type"] == "http.response.start" and not begun.is_set():
                await send(message)
                await send({"type": "http.response.body"})
                begun.set()

        answering = asyncio.ensure_future(self._app({**scope, "method": "GET"}, receive, head))
        beginning = asyncio.ensure_future(begun.wait())
        try:
            await asyncio.wait((answering, beginning), return_when=asyncio.FIRST_COMPLETED)
            if begun.is_set():
                answering.cancel()
            await asyncio.wait((answering,))
            if not answering.cancelled():
                answering.result()
        finally:
            beginning.cancel()
            answering.cancel()
