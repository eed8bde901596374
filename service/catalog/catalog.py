"""The catalog database: definitions, the log of epochs, idempotency keys and the manifest of the state.

It is one SQL database, reached through SQLAlchemy Core: SQLite in the data directory, or PostgreSQL.
SQLite runs in WAL mode and syncs on every commit, so a commit that has returned survives a crash.
`migrations/` creates and upgrades the schema at start.

One thread at a time calls what changes the database or reads the log. Any thread may call `epoch_at`, and
take a `snapshot` of all tables.

A commit of the log holds the epochs `first` to `last`, all committed at the same time. Its payload is split
into parts, because databases limit the size of a value. Nearly always there is one part: one row, one
statement, one wait for the disk. After a checkpoint covers a commit, `commits` keeps only its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

import migrations
from service.catalog import manifests
from service.catalog.database import Number, metadata
from service.catalog.manifests import Saved
from service.catalog.records import Definer, DefinitionRecord, Layout, layouts_of, records_of
from service.changes.table_changes import Applied, Idempotency
from service.errors import ServiceError

PART = 64 << 20
"""Largest size of one part of a payload, in bytes."""

commits = sa.Table(
    "commits",
    metadata,
    sa.Column("last", Number, primary_key=True, autoincrement=False),
    sa.Column("first", Number, nullable=False),
    sa.Column("committed_at", sa.BigInteger, nullable=False, index=True),
)
log = sa.Table(
    "log",
    metadata,
    sa.Column("last", Number, primary_key=True, autoincrement=False),
    sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("first", Number, nullable=False),
    sa.Column("committed_at", sa.BigInteger, nullable=False),
    sa.Column("payload", sa.LargeBinary, nullable=False),
)
idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("epoch", Number, nullable=False),
    sa.Column("changes", Number, nullable=False),
    sa.Column("used_at", sa.BigInteger, nullable=False, index=True),
)

Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread, or in its place, and returns the result."""
Receipt = Callable[[sa.Connection, Applied], None]
"""Writes what a request's author records in the transaction that makes the changes durable: both or neither.

It runs on the writer's thread. If it raises, nothing is committed."""


@dataclass(frozen=True)
class CommittedEpochs:
    """Epochs `first` to `last`, committed together `at` microseconds since 1970, UTC."""

    first: int
    last: int
    at: int


class Catalog:
    def __init__(self, url: str) -> None:
        """Connects and brings the schema up to date."""
        self._database = sa.create_engine(url)
        if self._database.dialect.name == "sqlite":
            sa.event.listen(self._database, "connect", _prepare_sqlite)
        self._connection = self._database.connect()
        self._statement = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
        self.witness: Callable[[sa.Connection], None] = lambda connection: None
        """Called at the end of each transaction that changes definitions."""
        migrate(self._connection)

    def close(self) -> None:
        self._connection.close()
        self._statement.close()
        self._database.dispose()

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """A transaction on a connection of its own, for any thread, and for data that no epoch depends on."""
        with self._database.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self, call: Call = lambda job: job()) -> Iterator[sa.Connection]:
        """A connection that reads all tables as they are at one moment, whatever is committed meanwhile. Any
        thread may use it. `call` runs the job that takes the snapshot."""
        with self._database.connect() as connection:
            if connection.dialect.name != "sqlite":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            call(partial(_begin_reading, connection))
            yield connection

    # Definitions

    @contextmanager
    def changing(self) -> Iterator[Definer]:
        """A transaction that commits when its block ends and rolls back when the block raises."""
        with self._connection.begin():
            yield Definer(self._connection)
            self.witness(self._connection)

    def records(self) -> list[DefinitionRecord]:
        """Every definition, in the order of creation."""
        with self._connection.begin():
            return records_of(self._connection)

    def layouts(self) -> list[Layout]:
        """The layouts that tables had before they were altered, oldest first."""
        with self._connection.begin():
            return layouts_of(self._connection)

    # The log

    def append(
        self,
        commit: CommittedEpochs,
        payload: bytes,
        keys: Sequence[tuple[Idempotency, Applied]] = (),
        receipts: Sequence[tuple[Receipt, Applied]] = (),
    ) -> None:
        """Makes a commit durable, with its payload and its requests' idempotency keys and receipts."""
        rows = [
            {
                "last": commit.last,
                "part": part,
                "first": commit.first,
                "committed_at": commit.at,
                "payload": payload[at : at + PART],
            }
            for part, at in enumerate(range(0, len(payload), PART))
        ]
        if len(rows) == 1 and not keys and not receipts:
            with self._statement.begin():
                self._statement.execute(_INSERT_LOG, rows[0])
            return
        with self._connection.begin():
            self._connection.execute(_INSERT_LOG, rows)
            self._write_answers(commit, keys, receipts)

    def newest(self) -> CommittedEpochs | None:
        """The last commit that is or was in the log."""
        with self._connection.begin():
            return newest_commit(self._connection)

    def payloads(self) -> Iterator[bytes]:
        """The payloads of the log, in order."""
        # yield_per is set on the query: on the connection it would turn every later statement into a cursor.
        query = sa.select(log.c.last, log.c.payload).order_by(log.c.last, log.c.part)
        with self._connection.begin():
            rows = self._connection.execute(query.execution_options(yield_per=1000))
            for _, parts in groupby(rows, lambda row: row.last):
                yield b"".join(part.payload for part in parts)

    def epoch_at(self, at: int) -> int:
        """The newest epoch committed at or before `at` (microseconds since 1970, UTC); 0 if there is none."""
        # Times never decrease from epoch to epoch, so each table can be searched by its sort column.
        searches = ((log, log.c.last), (commits, commits.c.committed_at))
        with self._database.connect() as connection:
            for table, sorted_by in searches:
                query = sa.select(table.c.last).where(table.c.committed_at <= at)
                newest = query.order_by(sorted_by.desc(), table.c.last.desc()).limit(1)
                epoch = connection.execute(newest).scalar()
                if epoch is not None:
                    return epoch
        return 0

    def times(self) -> list[tuple[int, int]]:
        """The first epoch of every known commit, in order, with its time in microseconds."""
        found: list[tuple[int, int]] = []
        with self._connection.begin():
            for table in (commits, log):
                query = sa.select(table.c.first, table.c.committed_at).order_by(table.c.last)
                query = query.where(log.c.part == 0) if table is log else query
                found += [(first, at) for first, at in self._connection.execute(query)]
        return found

    # Idempotency keys

    def answered(self, keys: Sequence[str]) -> dict[str, tuple[bytes, Applied]]:
        """For those of the keys that were used: the digest of the request and its answer."""
        query = sa.select(idempotency_keys).where(idempotency_keys.c.key.in_(keys))
        with self._connection.begin():
            rows = self._connection.execute(query).all()
        return {row.key: (row.digest, Applied(row.epoch, row.changes)) for row in rows}

    # The state

    def saved(self) -> Saved | None:
        """The manifest of the state, if there is one."""
        with self._connection.begin():
            return manifests.read_manifest(self._connection)

    def publish(
        self,
        saved: Saved,
        keys_before: int,
        since: int = 0,
        commit: CommittedEpochs | None = None,
        keys: Sequence[tuple[Idempotency, Applied]] = (),
        receipts: Sequence[tuple[Receipt, Applied]] = (),
    ) -> bool:
        """Replaces the manifest, and removes the part of the log that the new one covers.

        Returns False and changes nothing if the catalog has a later manifest. It also removes the times of
        epochs before `since`, which nobody can read any more, and idempotency keys last used before
        `keys_before` (microseconds). `commit` has no payload in the log, because the manifest holds its data;
        `keys` and `receipts` belong to its requests.
        """
        with self._connection.begin():
            if not manifests.replace_manifest(self._connection, saved):
                return False
            covered = log.c.last < saved.manifest.upper
            times = sa.select(log.c.last, log.c.first, log.c.committed_at).where(covered, log.c.part == 0)
            self._connection.execute(sa.insert(commits).from_select(["last", "first", "committed_at"], times))
            self._connection.execute(sa.delete(log).where(covered))
            self._connection.execute(sa.delete(commits).where(commits.c.last < since))
            old = idempotency_keys.c.used_at < keys_before
            self._connection.execute(sa.delete(idempotency_keys).where(old))
            if commit is not None:
                times_of = {"last": commit.last, "first": commit.first, "committed_at": commit.at}
                self._connection.execute(sa.insert(commits), times_of)
                self._write_answers(commit, keys, receipts)
        return True

    def _write_answers(
        self,
        commit: CommittedEpochs,
        keys: Sequence[tuple[Idempotency, Applied]],
        receipts: Sequence[tuple[Receipt, Applied]],
    ) -> None:
        """Records the answers to a commit's requests. Call it inside the commit's transaction."""
        if keys:
            self._connection.execute(_INSERT_KEY, [_key_row(commit, *key) for key in keys])
        for receipt, applied in receipts:
            receipt(self._connection, applied)


_INSERT_LOG = sa.insert(log)
_INSERT_KEY = sa.insert(idempotency_keys)


def _begin_reading(connection: sa.Connection) -> None:
    """Begins a transaction whose reads all see what is committed now."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")  # without it, the driver has no transaction around reads
    connection.execute(sa.select(commits.c.last).limit(1))  # the first read takes the snapshot


def newest_commit(connection: sa.Connection) -> CommittedEpochs | None:
    """The last commit that is or was in the log, in the connection's transaction."""
    for table in (log, commits):
        query = sa.select(table.c.first, table.c.last, table.c.committed_at)
        row = connection.execute(query.order_by(table.c.last.desc()).limit(1)).first()
        if row is not None:
            return CommittedEpochs(*row)
    return None


def migrate(connection: sa.Connection) -> None:
    """Brings the schema up to date."""
    with connection.begin():
        upgrade(connection)


def upgrade(connection: sa.Connection, revision: str = "head") -> None:
    """Brings the schema to a revision, in the connection's transaction."""
    config = Config()
    (place,) = migrations.__path__[:1]
    config.set_main_option("script_location", place.replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        raise ServiceError(
            f"the database was made by a newer release: {error}", "start that release instead"
        ) from None


def _prepare_sqlite(connection: object, record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA busy_timeout = 10000")
    cursor.close()


def _key_row(commit: CommittedEpochs, idempotency: Idempotency, applied: Applied) -> dict[str, object]:
    return {
        "key": idempotency.key,
        "digest": idempotency.digest,
        "epoch": applied.epoch,
        "changes": applied.changes,
        "used_at": commit.at,
    }
