"""The service inside this process: its app is called directly, without a socket and without HTTP.

The app runs on an event loop in a thread of its own, so connections of both kinds can use it. Requests and
answers are ASGI's messages: an Arrow table that is read lies in the bytes that the service wrote.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode

import uvloop

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.errors import Error, UnreachableError, error_of
from service.app import create_app, end_feeds
from service.errors import start_failure
from service.process.serving import SWITCH_INTERVAL
from service.settings.settings import Settings

T = TypeVar("T")
_PIECES = 16
"""Pieces of a stream that may wait for its reader."""
_GRACE = 1.0
"""Seconds in which requests that the service's end has answered hand over their answers."""


class EmbeddedService:
    """A service over a data directory; over a temporary one, which goes with it, if `data` is None."""

    def __init__(self, data: str | Path | None) -> None:
        self._temporary = tempfile.mkdtemp(prefix="freshet-") if data is None else None
        self._app = create_app(Settings(data=Path(data or self._temporary or "")))
        self._lifespan = self._app.router.lifespan_context(self._app)
        self._loop = uvloop.new_event_loop()
        self._submitting = threading.Lock()
        self._has_ended = False
        self._thread = threading.Thread(target=self._loop.run_forever, name="freshet-embedded", daemon=True)
        self._thread.start()
        try:
            self.wait(self._lifespan.__aenter__())
        except BaseException as error:
            self._stop()
            raise _cannot_start(error) from error
        self.is_open = True
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(min(self._interval, SWITCH_INTERVAL))
        # A program may end without closing. Its threads are waited for before `atexit` has its turn.
        threading._register_atexit(self.close)  # type: ignore[attr-defined]

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        """Starts work on the service's loop; what is returned is awaited on another one."""
        return asyncio.wrap_future(self._submit(work))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work on the service's loop."""
        return self._submit(work).result()

    async def answer(self, call: ApiCall[Any]) -> ApiAnswer:
        stream = EmbeddedStream(self._app, call)
        pieces = []
        while piece := await stream.next():
            pieces.append(piece)
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return ApiAnswer(stream.status, stream.headers, body)

    def stream(self, call: ApiCall[Any]) -> EmbeddedStream:
        return EmbeddedStream(self._app, call)

    def close(self) -> None:
        """Ends the service: open feeds end, the state is written, temporary data are removed."""
        if not self.is_open:
            return
        self.is_open = False
        end_feeds(self._app)
        self.wait(self._lifespan.__aexit__(None, None, None))
        sys.setswitchinterval(self._interval)
        self._stop()

    def check(self) -> None:
        """Raises UnreachableError if the service has been closed."""
        if not self.is_open:
            raise _closed()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._submitting:
            if self._has_ended:
                work.close()
                raise _closed()
            return asyncio.run_coroutine_threadsafe(self._until_the_end(work), self._loop)

    async def _until_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except asyncio.CancelledError:
            if self._has_ended:
                raise _closed() from None
            raise

    def _stop(self) -> None:
        """Ends the loop. Nobody goes on waiting for work on it: what is still under way fails."""
        with self._submitting:
            self._has_ended = True
        asyncio.run_coroutine_threadsafe(_finish_tasks(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


class EmbeddedStream:
    """One request of ASGI and its answer, piece by piece. Belongs to the service's loop."""

    def __init__(self, app: Any, call: ApiCall[Any]) -> None:
        self._app = app
        self._call = call
        self._task: asyncio.Task[None] | None = None
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(_PIECES)
        self._is_sent = False
        self.status = 0
        self.headers: dict[str, str] = {}

    async def next(self) -> bytes:
        """The next piece, which is not empty; an empty one at the end. `status` is set from then on."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await self._pieces.get() or b""

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        try:
            await self._app(_scope(self._call), self._receive, self._send)
        except Exception:
            # The app logs its own faults, and has answered with 500.
            self.status = self.status or 500
        await self._pieces.put(None)

    async def _receive(self) -> dict[str, Any]:
        if self._is_sent:
            await asyncio.Event().wait()  # the caller stays until it has its answer
        self._is_sent = True
        return {"type": "http.request", "body": self._call.body, "more_body": False}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        elif message.get("body"):
            await self._pieces.put(message["body"])


def _scope(call: ApiCall[Any]) -> dict[str, Any]:
    headers = {"host": "localhost", "content-length": str(len(call.body)), **call.headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": "http",
        "path": unquote(call.path),
        "raw_path": call.path.encode(),
        "query_string": urlencode(call.query).encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 0),
        "server": ("localhost", 80),
    }


async def _finish_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        _, late = await asyncio.wait(others, timeout=_GRACE)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def _closed() -> UnreachableError:
    return UnreachableError("the connection is closed", "connect again", began=False, code="closed")


def _cannot_start(error: BaseException) -> Error:
    reason = start_failure(error) or str(error) or type(error).__name__
    return Error(f"the service cannot start: {reason}", code="cannot_start")


def _check(stream: EmbeddedStream, body: bytes) -> None:
    if stream.status >= 400:
        raise error_of(stream.status, ApiAnswer(stream.status, stream.headers, body).problem())


class EmbeddedSender:
    """Sends to an embedded service, and ends it when it is closed."""

    def __init__(self, service: EmbeddedService) -> None:
        self._service = service

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        self._service.check()
        return self._service.wait(self._service.answer(call))

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        self._service.check()
        stream = self._service.stream(call)
        try:
            while piece := self._service.wait(stream.next()):
                _check(stream, piece)
                yield piece
        finally:
            if self._service.is_open:
                self._service.wait(stream.close())

    def close(self) -> None:
        self._service.close()


class AsyncEmbeddedSender:
    """The same for the caller's event loop."""

    def __init__(self, service: EmbeddedService) -> None:
        self._service = service

    async def send(self, call: ApiCall[Any]) -> ApiAnswer:
        self._service.check()
        return await self._service.begin(self._service.answer(call))

    async def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]:
        self._service.check()
        stream = self._service.stream(call)
        try:
            while piece := await self._service.begin(stream.next()):
                _check(stream, piece)
                yield piece
        finally:
            if self._service.is_open:
                await self._service.begin(stream.close())

    async def close(self) -> None:
        await asyncio.to_thread(self._service.close)
