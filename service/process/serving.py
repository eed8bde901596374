"""Serving, until SIGTERM or SIGINT.

One process: the state is in its memory. On a signal it takes no more requests, ends
changefeeds, lets the others finish, finishes what the writer has, writes a checkpoint
and closes the database.

A service in whose place another leads ends at once with exit code 75: it may not change anything any more,
and what it has acknowledged is in the log. Started again, it is a standby.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from types import FrameType

import uvicorn
from fastapi import FastAPI

from engine.processes.without_pandas import leave_pandas_out
from service.app import create_app, end_feeds
from service.http.protocol import LimitedProtocol
from service.process.certificates import Certificate
from service.process.compiling import Compiling
from service.process.deadline import end_by, leave, leave_deposed
from service.process.listening import BACKLOG, listen, listen_for_postgres
from service.running.heap import limit_arenas
from service.settings.mistaken_variables import mistaken_variables
from service.settings.settings import Settings
from service.telemetry.log_lines import configure

_log = logging.getLogger("freshet.settings")
SWITCH_INTERVAL = 0.0005
"""Seconds after which a thread asks a running one for the interpreter. The writer and the event loop take
turns many times an epoch: Python's default of 5 ms would be most of an answer's time."""

GC_THRESHOLD = (50_000, 4, 100)
"""The collector of cycles runs seldom, for a body of many rows makes many objects and no cycles; and it looks
at few objects at a time, for all threads wait meanwhile."""


TICK = 1.0
"""Seconds between looks at the clock, for the date in the heads of answers."""


class _Server(uvicorn.Server):
    """A server that tells the app of a signal before it waits for open requests, and then ends in peace.

    It is woken when it has to end, so it need not look often.
    """

    app: FastAPI
    _woken: asyncio.Event | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens. With TLS, the handshake has the time of a head: a connection counts only after it."""
        if self.config.ssl is not None:
            loop = asyncio.get_running_loop()
            seconds = self.app.state.settings.head_seconds
            loop.create_server = partial(  # type: ignore[method-assign]
                loop.create_server, ssl_handshake_timeout=seconds
            )
        await super().startup(sockets)

    async def main_loop(self) -> None:
        self._woken, self._loop = asyncio.Event(), asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), TICK)

    def end(self) -> None:
        """Ends the service. Safe in a signal handler."""
        self.should_exit = True
        if self._woken is not None:
            self._loop.call_soon_threadsafe(self._woken.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            end_by(self.app.state.settings.shutdown_seconds)
        end_feeds(self.app)
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.end()


def certificate_of(settings: Settings) -> Certificate | None:
    """The certificate that the settings name; None without one. Raises ValueError if it cannot be used."""
    if not settings.tls_certificate:
        return None
    return Certificate(settings.tls_certificate, settings.tls_key)


def serve() -> None:
    """Reads the settings, serves, and ends the process; one sentence says why it cannot begin."""
    try:
        settings = Settings.from_environment()
        certificate = certificate_of(settings)
        listening = listen(settings.host, settings.port)
    except ValueError as error:
        sys.exit(f"freshet: {error}")
    configure(settings.log_level, settings.log_format.lower())
    for mistake in mistaken_variables(os.environ):
        _log.warning("%s", mistake)
    try:
        postgres = listen_for_postgres(settings)
    except ValueError as error:
        sys.exit(f"freshet: {error}")
    limit_arenas()
    leave_pandas_out()
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.enable()
    gc.set_threshold(*GC_THRESHOLD)
    gc.freeze()
    failed: list[bool] = []

    def stop() -> None:
        failed.append(True)
        server.end()

    app = create_app(
        settings,
        on_failure=stop,
        on_deposed=leave_deposed,
        postgres=postgres,
        certificate=None if certificate is None else lambda: certificate.context,
    )
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=LimitedProtocol.with_limits(settings.connection_limits),
        ws="none",
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_seconds // 2,
        backlog=BACKLOG,
    )
    config.load()
    if certificate is not None:
        config.ssl = certificate.context
        certificate.reload_on(signal.SIGHUP)
    server = _Server(config)
    server.app = app
    compiling = Compiling()
    compiling.begin()
    server.run([listening])
    compiling.end()
    leave(1 if failed else 0)
