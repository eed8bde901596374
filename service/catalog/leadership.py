"""Leadership: which of the services that share a PostgreSQL catalog may write to it.

  the lock     who leads holds a session's advisory lock, on a connection that does nothing else
  the token    a number in the catalog that grows whenever another service begins to lead
  the fence    each transaction that writes asks for its own token first, and shares a lock on that row

The lock decides who may begin to lead. It is not enough, because a service may sleep, and wake up after
another has taken its place. The fence is: the token can only change while no transaction of the last leader
is open, and then none of its transactions passes the fence any more.

A leader gives a sign of life on the connection of the lock. One that has been silent for too long is deposed:
its sessions are ended, so that neither its lock nor an open transaction is in the way.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from service.catalog.database import Number, metadata
from service.errors import Deposed

leadership = sa.Table(
    "leadership",
    metadata,
    sa.Column("token", Number, primary_key=True, autoincrement=False),
    sa.Column("instance", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("since", sa.BigInteger, nullable=False),
)
"""One row: the newest token, and who got it."""

BEAT_SECONDS = 0.5
"""The time between two signs of life."""
_GONE_SECONDS = 10
_WATCHED = {
    "connect_timeout": _GONE_SECONDS,
    "keepalives": 1,
    "keepalives_idle": _GONE_SECONDS // 2,
    "keepalives_interval": 1,
    "keepalives_count": _GONE_SECONDS // 2,
    "tcp_user_timeout": 1000 * _GONE_SECONDS,
}
"""Options of libpq: how long a connection waits for a machine that does not answer."""
_APPLICATION = "freshet {}"
_log = logging.getLogger("freshet.leadership")

_KEY = "hashtextextended('freshet ' || current_schema(), 0)"
_TRY = sa.text(f"SELECT pg_try_advisory_lock({_KEY})")
_HOLDER = f"""
    SELECT pid FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32) | objid::bigint = {_KEY}
"""
_END_SILENT = sa.text(f"""
    SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid IN ({_HOLDER}) AND clock_timestamp() - state_change > make_interval(secs => :seconds)
""")
_END_SESSIONS = sa.text("""
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()
""")
_SIGN = sa.text("SELECT 1")


@dataclass(frozen=True)
class Leader:
    """Who leads: its token, its address, and since when (microseconds since 1970, UTC)."""

    token: int
    address: str
    since: int


def read_leader(connection: sa.Connection) -> Leader:
    """Who leads, or has led last. The token is 0 if nobody ever has."""
    columns = (leadership.c.token, leadership.c.address, leadership.c.since)
    return Leader(*connection.execute(sa.select(*columns)).one())


def pass_fence(connection: sa.Connection, token: int) -> None:
    """Keeps the token as it is until the transaction ends. Raises Deposed if another service leads."""
    query = sa.select(leadership.c.token, leadership.c.address).with_for_update(read=True)
    found = connection.execute(query).one()
    if found.token != token:
        raise Deposed(found.address)


def has_leaders(url: str) -> bool:
    """Whether services may share the catalog with this URL: whether it is in PostgreSQL."""
    return sa.make_url(url).get_backend_name() == "postgresql"


class Leadership:
    """The place of one service among those that share a catalog. One thread at a time calls it."""

    def __init__(self, url: str, address: str, silence: float) -> None:
        """Connects to nothing. `address` is where clients reach this service; a leader that has given no sign
        of life for `silence` seconds is deposed."""
        self.instance = secrets.token_hex(8)
        self.address = address
        self._silence = silence
        self._database = sa.create_engine(
            url,
            isolation_level="AUTOCOMMIT",
            poolclass=sa.NullPool,
            connect_args=session_of(self.instance),
        )
        self._connection: sa.Connection | None = None
        self._ended = Event()
        self._thread: Thread | None = None

    def acquire(self, *, may_depose: bool = True) -> bool:
        """Takes the lock if nobody has it. Raises SQLAlchemyError.

        Whoever has it and is silent loses it if this one `may_depose`, so that the next try succeeds.
        """
        try:
            if self._connection is None:
                self._connection = self._database.connect()
            if self._connection.execute(_TRY).scalar_one():
                return True
            if not may_depose:
                return False
            ended = self._connection.execute(_END_SILENT, {"seconds": self._silence}).all()
        except SQLAlchemyError:
            self._disconnect()
            raise
        if ended:
            _log.warning("the leader has been silent for %g s, and its sessions were ended", self._silence)
        return False

    def take(self) -> int:
        """Ends what the last leader left open, and takes the next token. Call it while having the lock."""
        assert self._connection is not None
        last = self._connection.execute(sa.select(leadership.c.instance)).scalar_one()
        if last:
            self._connection.execute(_END_SESSIONS, {"name": _APPLICATION.format(last)})
        values = {"instance": self.instance, "address": self.address, "since": time.time_ns() // 1000}
        change = sa.update(leadership).values(token=leadership.c.token + 1, **values)
        token: int = self._connection.execute(change.returning(leadership.c.token)).scalar_one()
        return token

    def give_signs(self, lost: Callable[[], None]) -> None:
        """Begins to give signs of life; `lost` is called on another thread once the lock is lost."""
        self._thread = Thread(target=self._beat, args=(lost,), name="freshet-leadership", daemon=True)
        self._thread.start()

    def _beat(self, lost: Callable[[], None]) -> None:
        assert self._connection is not None
        while not self._ended.wait(BEAT_SECONDS):
            try:
                self._connection.execute(_SIGN)
            except SQLAlchemyError as error:
                _log.critical("the lock of the leader is lost: %s", error)
                lost()
                return

    def close(self) -> None:
        """Gives the lock back."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._disconnect()
        self._database.dispose()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


def session_of(instance: str) -> dict[str, str | int]:
    """How a service connects: its sessions have its name, by which the next leader finds and ends them.

    A connection to a machine that is gone ends by itself. Otherwise TCP would wait for a quarter of an hour:
    the leader would not notice that it leads no more, and a standby not that it may.
    """
    return {"application_name": _APPLICATION.format(instance), **_WATCHED}
