"""Attending to clients: what runs for a client ends when the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

from service.http.access import principal_of
from service.reading.callers import Caller

T = TypeVar("T")


def caller_of(request: Request) -> Caller:
    """The request's client, who shares its turns with all others at the same address."""
    return Caller(request.client.host if request.client else "", principal_of(request))


async def attended(request: Request, caller: Caller, work: Awaitable[T]) -> T:
    """The result of the work, while the request's body has been read and its client waits.

    The caller leaves when the client disconnects or the request is cancelled. Raises ClientDisconnect then.
    """
    watching = asyncio.create_task(_watch(request, caller))
    try:
        return await work
    except asyncio.CancelledError:
        caller.leave()
        raise
    except Exception:
        if caller.is_gone:
            raise ClientDisconnect from None
        raise
    finally:
        watching.cancel()


async def _watch(request: Request, caller: Caller) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    caller.leave()
