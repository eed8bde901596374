"""One connection: bytes in and out, its timers, and the session that it serves. Belongs to the event loop.

Answers are gathered, and written when the session waits: for a message, or for the client to read. While it
waits for a message, point reads that come are answered at once, without waking it.

What a client sends ahead is kept up to a budget; then nothing more is read from it. What it does not read is
kept up to the transport's limit; then its statement waits. A client that leaves ends what runs for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import cast

from service.accounts.principals import Principal
from service.concealing import conceal
from service.errors import Invalid, Problem, ServiceError, Unavailable
from service.pgcatalog.shown_sessions import Encryption, SessionWork
from service.postgres import backend_messages as out
from service.postgres import frontend_messages as f
from service.postgres.client_session import ClientSession
from service.postgres.copying import run_copy
from service.postgres.hall import Hall
from service.postgres.message_decoder import MessageDecoder, TooLong
from service.postgres.own_statements import run_own
from service.postgres.postgres_session import PostgresSession
from service.postgres.reads_at_once import ReadsAtOnce
from service.postgres.sqlstates import error_fields, problem_for, sqlstate_of
from service.postgres.startup import authenticate, greet, introduce
from service.sql.open_sessions import CancelKey
from service.sql.system_catalogs import user_of
from service.stepped_timer import IdleTimer, patient
from service.telemetry.exchange import begin_session

_log = logging.getLogger("freshet.postgres")
_AHEAD = 1 << 20
"""Bytes that have arrived ahead of the statement that runs, above which nothing more is read."""
_PEEKED = 1_000
"""The most messages that wait."""
_GATHERED = 1 << 16
"""Bytes of answers that are written even if more follow at once."""
_GREETED = 2
"""Times the limit of connections, above which a client is refused before it says anything."""
_END = 2.0
"""Seconds in which a client can read the last error."""


class PostgresConnection(asyncio.Protocol):
    """`ended` is called when the connection has ended."""

    def __init__(self, hall: Hall, ended: Callable[[PostgresConnection], None]) -> None:
        self._hall = hall
        self._ended = ended
        self._decoder = MessageDecoder(hall.settings.postgres_message_bytes)
        self._waiting: deque[f.Startup | f.Frontend] = deque()
        self._ahead = 0
        """Bytes that have arrived since a message was waited for."""
        self._failure: Exception | None = None
        self._more = asyncio.Event()
        self._is_idle = False
        """Whether the session waits for a message."""
        self._idle: IdleTimer | None = None
        """Ends the session if it is asked nothing for too long."""
        self._answers: list[bytes] = []
        self._answered = 0
        """The bytes of the answers that are gathered."""
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._is_lost = False
        self._is_paused = False
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._session: ClientSession | None = None
        self._reads: ReadsAtOnce | None = None
        self.address = ""
        self._port: int | None = None
        self.is_secure = False
        self._end_reason: ServiceError = _shutting_down()

    # The transport's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple):
            self.address, self._port = peer[0], peer[1]
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        if self._failure is not None or self._is_lost:
            return
        self._decoder.feed(data)
        self._ahead += len(data)
        if self._is_idle and self._reads is not None and self._can_write.is_set():
            self._read_at_once(self._reads)
        if self._decoder.held:
            self._decode()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        if self._session is not None:
            self._session.runs.leave()
        self._more.set()
        self._can_write.set()

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    # Messages in

    def _decode(self) -> None:
        """Turns the bytes that have arrived into messages, as far as the budget goes."""
        try:
            while len(self._waiting) < _PEEKED and (message := self._decoder.next()) is not None:
                self._waiting.append(message)
                if isinstance(message, f.SslRequest):
                    break  # what follows in plain text is not part of the encrypted session
        except (f.Malformed, TooLong) as error:
            self._failure = error
        if self._waiting or self._failure is not None:
            self._is_idle = False
            self._more.set()
        is_full = len(self._waiting) >= _PEEKED or (self._ahead > _AHEAD and bool(self._waiting))
        if is_full and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def _read_at_once(self, reads: ReadsAtOnce) -> None:
        """Answers the point reads that come before all other messages."""
        answers = reads.answers(self._decoder)
        if answers and self._transport is not None:
            if self._idle is not None:
                self._idle.again()
            self._ahead = 0
            self._transport.write(answers)  # whoever waits for a message has written all others

    async def next(self) -> f.Startup | f.Frontend | None:
        """The next message; None at the end. Raises Malformed and TooLong."""
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._is_lost:
                return None
            self._more.clear()
            self._decode()
            if self._waiting or self._failure is not None:
                continue
            self._ahead = 0
            if self._is_paused and self._transport is not None:
                self._is_paused = False
                self._transport.resume_reading()
            self._flush()
            self._is_idle = True
            try:
                await self._more.wait()
            finally:
                self._is_idle = False
        return self._waiting.popleft()

    def fail(self, error: Exception) -> None:
        """Ends the wait for a message with an error."""
        self._failure = error
        self._more.set()

    def peek(self, place: int = 0) -> f.Frontend | None:
        return self._waiting[place] if place < len(self._waiting) else None  # type: ignore[return-value]

    def known(self) -> None:
        self._decoder.is_known = True

    # Messages out

    def write(self, data: bytes) -> None:
        self._answers.append(data)
        self._answered += len(data)
        if self._answered >= _GATHERED:
            self._flush()

    def send(self, data: bytes) -> bool:
        self._answers.append(data)
        self._flush()
        return self._can_write.is_set() and not self._is_lost

    def _flush(self) -> None:
        """Writes what was gathered."""
        if not self._answers:
            return
        if self._transport is not None and not self._is_lost:
            self._transport.write(b"".join(self._answers))
        self._answers, self._answered = [], 0

    async def drain(self) -> None:
        """Waits until the client has read most of what was written."""
        self._flush()
        if not self._can_write.is_set():
            seconds = self._hall.settings.read_seconds
            try:
                async with patient(seconds):
                    await self._can_write.wait()
            except TimeoutError:
                _log.info("%s: the client did not read for %d seconds", self.address, seconds)
                self.abort()
        if self._is_lost:
            raise ConnectionResetError

    async def secure(self) -> None:
        """Goes on over TLS. Raises Malformed if the client has sent more than its request for it."""
        if self._waiting or self._decoder.held:
            raise f.Malformed("plain text follows the request for TLS")
        assert self._transport is not None and self._hall.certificate is not None
        self._flush()
        self._transport.pause_reading()
        self._transport.write(b"S")
        loop = asyncio.get_running_loop()
        transport = await loop.start_tls(
            self._transport, self, self._hall.certificate(), server_side=True, ssl_handshake_timeout=10
        )
        assert transport is not None
        self._transport = cast(asyncio.Transport, transport)
        self.is_secure = True

    # The course of a connection

    def end(self) -> None:
        """Ends the connection, whatever it does; because the service ends, if nothing else was said."""
        if self._session is not None:
            self._session.runs.leave()
        if self._task is not None:
            self._task.cancel()

    # What others see and do

    @property
    def principal(self) -> Principal:
        return self._principal

    @property
    def work(self) -> SessionWork:
        session = self._session
        assert session is not None
        record, block, settings = session.record, session.runs.block, session.settings
        began = record.query_began if record.is_active else None
        return SessionWork(
            user_of(self._principal, settings.values),
            settings.get("application_name"),
            self.address,
            self._port,
            self._encryption,
            record.began,
            began if block is None else block.began,
            record.query_began,
            record.changed,
            session.state,
            conceal(record.query),
        )

    @property
    def _encryption(self) -> Encryption | None:
        used = None if self._transport is None else self._transport.get_extra_info("ssl_object")
        if used is None or (cipher := used.cipher()) is None:
            return None
        return Encryption(used.version() or "", cipher[0], cipher[2])

    def cancel(self) -> None:
        if self._session is not None:
            self._session.runs.cancel()

    def terminate(self) -> None:
        self._end_reason = Unavailable(
            "the session was ended by pg_terminate_backend", "connect anew", code="session_terminated"
        )
        self.end()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def _serve(self) -> None:
        hall = self._hall
        hall.open += 1
        hall.metrics.postgres_connections.add()
        key: CancelKey | None = None
        try:
            session = await self._started()
            if session is not None:
                self._session = session
                key = hall.sessions.register(self)
                session.runs.temporary.number = key.pid
                begin_session(key.pid, self._principal.id)
                introduce(session, self._start, self._principal, key)
                serving = PostgresSession(session, self._timed())
                self._reads = ReadsAtOnce(session, serving)
                await serving.serve()
        except (ConnectionError, TimeoutError):
            pass
        except asyncio.CancelledError:
            self._last_words(self._end_reason)
        except (f.Malformed, TooLong, ServiceError) as error:
            self._last_words(error)
        except Exception as error:
            _log.error("%s: a connection failed", self.address, exc_info=error)
            self._last_words(error)
        finally:
            if key is not None:
                hall.sessions.forget(key)
            if self._idle is not None:
                self._idle.cancel()
            if self._session is not None:
                self._session.close()
                hall.clear_up(self._session.runs.temporary)
            hall.open -= 1
            self._close()
            self._ended(self)

    async def _started(self) -> ClientSession | None:
        """The session of a client that has shown who it is; None if it wanted none."""
        hall = self._hall
        most = hall.settings.postgres_connections
        if hall.open > _GREETED * most:
            raise _too_many()
        async with patient(hall.settings.head_seconds):
            start = await greet(self, self, hall)
            if start is None:
                return None
            if hall.open > most:
                raise _too_many()
            runtime = hall.runtime
            if runtime is None:
                raise Unavailable("the service is not ready: it is recovering its state", "try again soon")
            if start.parameters.get("replication", "off") not in ("false", "off", "no", "0"):
                raise Invalid(
                    "replication is not supported", "use DECLARE ... FOR SUBSCRIBE", code="unsupported_sql"
                )
            principal = await authenticate(start, self, self, runtime.accounts, hall, self.address)
        self._start, self._principal = start, principal
        self.known()
        session = ClientSession(
            hall, self, self.address, run_own, lambda of, piece: run_copy(of, piece, self)
        )
        session.runs.principal = principal
        if principal.id and runtime.accounts.is_use_due(principal.id):
            await hall.lanes.jobs.run(runtime.accounts.note_use, principal.id)
        return session

    def _timed(self) -> _TimedInlet:
        assert self._session is not None
        inlet = _TimedInlet(self, self._session)
        self._idle = inlet.idle
        return inlet

    def _last_words(self, error: Exception) -> None:
        """Tells the client why the connection ends."""
        problem: Problem = problem_for(error)
        self._hall.metrics.postgres_errors.add(1, problem.code)
        self.write(out.error(error_fields(problem, "FATAL", sqlstate=sqlstate_of(problem))))

    def _close(self) -> None:
        """Closes the connection; cuts it if the client does not read."""
        transport = self._transport
        self._flush()
        if transport is not None and not self._is_lost:
            transport.close()
            asyncio.get_running_loop().call_later(_END, self._cut)

    def _cut(self) -> None:
        if not self._is_lost:
            self.abort()


def _shutting_down() -> Unavailable:
    return Unavailable("the service is shutting down", code="shutting_down")


def _too_many() -> Unavailable:
    return Unavailable(
        "the service has too many connections open",
        "close some, or raise FRESHET_POSTGRES_CONNECTIONS",
        code="too_many_connections",
    )


class _TimedInlet:
    """Messages of a client that may not be idle for too long."""

    def __init__(self, connection: PostgresConnection, session: ClientSession) -> None:
        self._connection = connection
        self._session = session
        self.idle = IdleTimer(asyncio.get_running_loop(), self._late)

    def peek(self, place: int = 0) -> f.Frontend | None:
        return self._connection.peek(place)

    async def next(self) -> f.Frontend | None:
        connection = self._connection
        if connection.peek() is None:
            self.idle.begin(self._patience()[0])
        try:
            return await connection.next()  # type: ignore[return-value]
        finally:
            self.idle.end()

    def _late(self) -> None:
        if self._connection.peek() is not None:
            return  # something has just come
        seconds, what = self._patience()
        fact = f"the session was idle {what}for {seconds:g} seconds"
        self._connection.fail(Unavailable(fact, "connect anew", code="idle_session"))

    def _patience(self) -> tuple[float | None, str]:
        """Seconds until an idle client is let go, and where it is idle."""
        session = self._session
        is_inside = session.runs.block is not None
        name = "idle_in_transaction_session_timeout" if is_inside else "idle_session_timeout"
        own = session.settings.milliseconds(name) / 1000
        limits = session.hall.settings
        most = limits.postgres_block_seconds if is_inside else limits.postgres_idle_seconds
        found = min((seconds for seconds in (own, float(most)) if seconds), default=None)
        return found, "inside a block " if is_inside else ""
