"""Following a changefeed: epochs one after the other, whatever happens to the connection.

When a stream ends, the next one begins after the last epoch that was handed out. The columns are
asked for before each stream, for they may have changed meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from freshet.contract import calls
from freshet.contract.api_call import ApiCall
from freshet.contract.changefeed import Epoch, FeedPosition
from freshet.contract.descriptions import ColumnDescription
from freshet.errors import Error, OverloadedError, UnavailableError, UnreachableError
from freshet.sending.retrying import Retries

T = TypeVar("T")
_PASSING = (UnreachableError, OverloadedError, UnavailableError)


class FeedSource:
    """The relation that a feed follows. With `as_sent`, its values stay as JSON has them."""

    def __init__(self, kind: str, name: str, skip_errors: bool = False, as_sent: bool = False) -> None:
        self.kind = kind
        self.name = name
        self._skip_errors = skip_errors
        self._as_sent = as_sent

    def columns(self) -> ApiCall[tuple[ColumnDescription, ...]]:
        if self._as_sent:
            return calls.no_columns()
        return calls.columns(self.kind, self.name)

    def follow(self, since: int) -> ApiCall[None]:
        return calls.follow(self.kind, self.name, since, self._skip_errors)


class Channel(Protocol):
    """What a feed needs of a connection."""

    retries: Retries

    def run(self, call: ApiCall[T]) -> T: ...

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]: ...


class AsyncChannel(Protocol):
    """The same on an event loop."""

    retries: Retries

    async def run(self, call: ApiCall[T]) -> T: ...

    def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]: ...


class Feed:
    """An endless iterator of epochs with changes. `since` is the last one that it has handed out: a later
    feed that begins there goes on where this one ended."""

    def __init__(self, channel: Channel, source: FeedSource, since: int | None) -> None:
        self._channel = channel
        self._source = source
        self._position = FeedPosition(channel.run(calls.newest_epoch()) if since is None else since)
        self._epochs = self._follow()

    @property
    def since(self) -> int:
        return self._position.since

    def __iter__(self) -> Iterator[Epoch]:
        return self

    def __next__(self) -> Epoch:
        return next(self._epochs)

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the feed. One that another thread waits for ends with the next sign of life, in seconds."""
        self._position.is_closed = True
        with suppress(ValueError):  # another thread is in it
            self._epochs.close()

    def _follow(self) -> Generator[Epoch, None, None]:
        position, failures = self._position, 0
        while not position.is_closed:
            columns = self._channel.run(self._source.columns())
            position.begin(columns)
            failure: Error | None = None
            try:
                for piece in self._channel.stream(self._source.follow(position.since)):
                    failures = 0 if piece else failures
                    yield from position.epochs(piece)
                    if position.is_closed:
                        return
            except _PASSING as error:
                failure = error
            time.sleep(_pause(self._channel.retries, failures, failure))
            failures += 1


class AsyncFeed:
    """The same for `async for`. It begins at the newest epoch, if it is not told, when it is first asked."""

    def __init__(self, channel: AsyncChannel, source: FeedSource, since: int | None) -> None:
        self._channel = channel
        self._source = source
        self._position = FeedPosition(-1 if since is None else since)
        self._epochs = self._follow()

    @property
    def since(self) -> int:
        return self._position.since

    def __aiter__(self) -> AsyncIterator[Epoch]:
        return self

    async def __anext__(self) -> Epoch:
        return await anext(self._epochs)

    async def __aenter__(self) -> AsyncFeed:
        await self.begin()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def begin(self) -> None:
        """Looks up the newest epoch, if the feed was not told where to begin."""
        if self._position.since < 0:
            self._position.since = await self._channel.run(calls.newest_epoch())

    async def close(self) -> None:
        self._position.is_closed = True
        with suppress(RuntimeError):  # another task is in it
            await self._epochs.aclose()

    async def _follow(self) -> AsyncGenerator[Epoch, None]:
        position, failures = self._position, 0
        await self.begin()
        while not position.is_closed:
            columns = await self._channel.run(self._source.columns())
            position.begin(columns)
            failure: Error | None = None
            try:
                async for piece in self._channel.stream(self._source.follow(position.since)):
                    failures = 0 if piece else failures
                    for epoch in position.epochs(piece):
                        yield epoch
                    if position.is_closed:
                        return
            except _PASSING as error:
                failure = error
            await asyncio.sleep(_pause(self._channel.retries, failures, failure))
            failures += 1


def _pause(retries: Retries, failures: int, failure: Error | None) -> float:
    """Seconds before the next stream. Raises the failure if there have been too many without a word."""
    if failures >= retries.most:
        raise failure or UnreachableError("the service ends the feed again and again", began=True)
    return retries.pause(failures)
