"""The catalog database: definitions, the log of epochs, idempotency keys and the manifest of the state.

It is one SQL database, reached through SQLAlchemy Core: SQLite in the data directory, or PostgreSQL.
SQLite runs in WAL mode and syncs on every commit, so a commit that has returned survives a crash.
`migrations/` creates and upgrades the schema at start. Several services may share a PostgreSQL catalog; the
one that leads writes to it (`service/catalog/connections.py`).

One thread at a time calls what changes the database or reads the log. Any thread may call `epoch_at` and
`times_between`, and take a `snapshot` of all tables.

A commit of the log holds the epochs `first` to `last`, all committed at the same time. Its payload is split
into parts, because databases limit the size of a value. Nearly always there is one part: one row, one
statement, one wait for the disk. After a checkpoint covers a commit, `commits` keeps only its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from service.catalog import manifests
from service.catalog.connections import Connections
from service.catalog.database import Number, metadata
from service.catalog.leadership import Leader, leadership, read_leader
from service.catalog.manifests import Saved
from service.catalog.records import (
    Definer,
    DefinitionRecord,
    Layout,
    layouts_of,
    note_change,
    records_of,
    revision_of,
)
from service.changes.table_changes import Applied, Idempotency

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

    def rows(self, payload: bytes) -> list[dict[str, object]]:
        """The rows of a log with this commit: one for each part of its payload."""
        about = {"last": self.last, "first": self.first, "committed_at": self.at}
        starts = range(0, len(payload), PART)
        return [about | {"part": part, "payload": payload[at : at + PART]} for part, at in enumerate(starts)]


class Catalog:
    def __init__(self, url: str, instance: str = "", *, follows: bool = False) -> None:
        """Connects, and brings the schema up to date unless it follows another service. `instance` is the
        name of this one among those that share the catalog."""
        self.connections = Connections(url, instance, follows=follows)
        self.transaction = self.connections.transaction
        """A transaction on a connection of its own, for any thread, and for data that no epoch depends on."""
        self.witness: Callable[[sa.Connection], None] = lambda connection: None
        """Called at the end of each transaction that changes definitions."""

    def close(self) -> None:
        self.connections.close()

    @contextmanager
    def snapshot(self, call: Call = lambda job: job()) -> Iterator[sa.Connection]:
        """A connection that reads all tables as they are at one moment, whatever is committed meanwhile. Any
        thread may use it. `call` runs the job that takes the snapshot."""
        with self.connections.repeatable() as connection:
            call(partial(_begin_reading, connection))
            yield connection

    # Definitions

    @contextmanager
    def changing(self) -> Iterator[Definer]:
        """A transaction that commits when its block ends and rolls back when the block raises."""
        with self.connections.writing() as connection:
            definer = Definer(connection)
            yield definer
            if definer.has_changed:
                note_change(connection)
            self.witness(connection)

    def revision(self) -> int:
        """A number that grows with each change of definitions."""
        with self.connections.reading() as connection:
            return revision_of(connection)

    def records(self) -> list[DefinitionRecord]:
        """Every definition, in the order of creation."""
        with self.connections.reading() as connection:
            return records_of(connection)

    def layouts(self) -> list[Layout]:
        """The layouts that tables had before they were altered, oldest first."""
        with self.connections.reading() as connection:
            return layouts_of(connection)

    # The log

    def append(
        self,
        commit: CommittedEpochs,
        payload: bytes,
        keys: Sequence[tuple[Idempotency, Applied]] = (),
        receipts: Sequence[tuple[Receipt, Applied]] = (),
    ) -> None:
        """Makes a commit durable, with its payload and its requests' idempotency keys and receipts."""
        rows = commit.rows(payload)
        if len(rows) == 1 and not keys and not receipts:
            self._append_row(rows[0])
            return
        with self.connections.writing() as connection:
            connection.execute(_INSERT_LOG, rows)
            write_answers(connection, commit, keys, receipts)

    def _append_row(self, row: Mapping[str, object]) -> None:
        """Inserts a row of the log in one statement, which passes the fence itself."""
        token, statement = self.connections.token, self.connections.statement
        self.connections.check_leads()
        with statement.begin():
            if token is None:
                statement.execute(_INSERT_LOG, row)
                return
            inserted = statement.execute(_INSERT_LOG_AS_LEADER, {**row, "mine": token}).first()
        if inserted is None:
            raise self.connections.refused()

    def newest(self) -> CommittedEpochs | None:
        """The last commit that is or was in the log."""
        with self.connections.reading() as connection:
            return newest_commit(connection)

    def newest_of_mine(self) -> CommittedEpochs | None:
        """The same, of a log that only this service has written to since it leads. Raises NotLeader."""
        with self.connections.writing() as connection:
            return newest_commit(connection)

    def newest_epoch(self) -> int:
        """The newest epoch in the log, as any thread may ask; 0 if there is none."""
        with self.connections.reading_aside() as connection:
            newest = newest_commit(connection)
        return 0 if newest is None else newest.last

    def leader(self) -> Leader:
        """Who leads the services that share the catalog, as any thread may ask."""
        with self.connections.reading_aside() as connection:
            return read_leader(connection)

    def payloads(self, since: int = 0) -> Iterator[bytes]:
        """The payloads of the log from epoch `since` on, in order."""
        # yield_per is set on the query: on the connection it would turn every later statement into a cursor.
        query = sa.select(log.c.last, log.c.payload).where(log.c.last >= since)
        query = query.order_by(log.c.last, log.c.part).execution_options(yield_per=1000)
        with self.connections.reading() as connection:
            rows = connection.execute(query)
            for _, parts in groupby(rows, lambda row: row.last):
                yield b"".join(part.payload for part in parts)

    def epoch_at(self, at: int) -> int:
        """The newest epoch committed at or before `at` (microseconds since 1970, UTC); 0 if there is none."""
        # Times never decrease from epoch to epoch, so each table can be searched by its sort column.
        searches = ((log, log.c.last), (commits, commits.c.committed_at))
        with self.connections.reading_aside() as connection:
            for table, sorted_by in searches:
                query = sa.select(table.c.last).where(table.c.committed_at <= at)
                newest = query.order_by(sorted_by.desc(), table.c.last.desc()).limit(1)
                epoch = connection.execute(newest).scalar()
                if epoch is not None:
                    return epoch
        return 0

    def times(self, since: int = 0) -> list[tuple[int, int]]:
        """The first epoch of every known commit from epoch `since` on, in order, with its time in
        microseconds."""
        with self.connections.reading() as connection:
            return _times(connection, since)

    def times_between(self, since: int, until: int) -> list[tuple[int, int]]:
        """The same, of the commits with epochs from `since` to `until`. Any thread may ask."""
        with self.connections.reading_aside() as connection:
            return _times(connection, since, until)

    # Idempotency keys

    def answered(self, keys: Sequence[str]) -> dict[str, tuple[bytes, Applied]]:
        """For those of the keys that were used: the digest of the request and its answer."""
        with self.connections.reading() as connection:
            return answers_to(connection, keys)

    # The state

    def saved(self) -> Saved | None:
        """The manifest of the state, if there is one."""
        with self.connections.reading() as connection:
            return manifests.read_manifest(connection)

    def saved_by_me(self) -> Saved | None:
        """The same. As long as this service leads, the manifest stays until it publishes another. Raises
        NotLeader."""
        with self.connections.writing() as connection:
            return manifests.read_manifest(connection)

    def covered(self) -> int:
        """The first epoch after those that the manifest covers; 0 without one."""
        with self.connections.reading() as connection:
            return connection.execute(sa.select(manifests.manifests.c.upper)).scalar() or 0

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
        with self.connections.writing() as connection:
            if not manifests.replace_manifest(connection, saved):
                return False
            covered = log.c.last < saved.manifest.upper
            times = sa.select(log.c.last, log.c.first, log.c.committed_at).where(covered, log.c.part == 0)
            connection.execute(sa.insert(commits).from_select(["last", "first", "committed_at"], times))
            connection.execute(sa.delete(log).where(covered))
            connection.execute(sa.delete(commits).where(commits.c.last < since))
            old = idempotency_keys.c.used_at < keys_before
            connection.execute(sa.delete(idempotency_keys).where(old))
            if commit is not None:
                times_of = {"last": commit.last, "first": commit.first, "committed_at": commit.at}
                connection.execute(sa.insert(commits), times_of)
                write_answers(connection, commit, keys, receipts)
        return True


_INSERT_LOG = sa.insert(log)
_LEADS = (
    sa.select(*(sa.bindparam(column.name, type_=column.type) for column in log.columns))
    .select_from(leadership)
    .where(leadership.c.token == sa.bindparam("mine"))
    .with_for_update(read=True)
)
_INSERT_LOG_AS_LEADER = (
    sa.insert(log).from_select([column.name for column in log.columns], _LEADS).returning(log.c.last)
)
_INSERT_KEY = sa.insert(idempotency_keys)


def _begin_reading(connection: sa.Connection) -> None:
    """Begins a transaction whose reads all see what is committed now."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")  # without it, the driver has no transaction around reads
    connection.execute(sa.select(commits.c.last).limit(1))  # the first read takes the snapshot


def _times(connection: sa.Connection, since: int, until: int | None = None) -> list[tuple[int, int]]:
    """First epochs of commits and their times, in order, in the connection's transaction."""
    found: list[tuple[int, int]] = []
    for table in (commits, log):
        query = sa.select(table.c.first, table.c.committed_at).where(table.c.last >= since)
        query = query.where(log.c.part == 0) if table is log else query
        query = query if until is None else query.where(table.c.first <= until)
        found += [(first, at) for first, at in connection.execute(query.order_by(table.c.last))]
    return found


def newest_commit(connection: sa.Connection) -> CommittedEpochs | None:
    """The last commit that is or was in the log, in the connection's transaction."""
    for table in (log, commits):
        query = sa.select(table.c.first, table.c.last, table.c.committed_at)
        row = connection.execute(query.order_by(table.c.last.desc()).limit(1)).first()
        if row is not None:
            return CommittedEpochs(*row)
    return None


def answers_to(connection: sa.Connection, keys: Sequence[str]) -> dict[str, tuple[bytes, Applied]]:
    """`Catalog.answered`, in the connection's transaction."""
    query = sa.select(idempotency_keys).where(idempotency_keys.c.key.in_(keys))
    rows = connection.execute(query).all()
    return {row.key: (row.digest, Applied(row.epoch, row.changes)) for row in rows}


def write_answers(
    connection: sa.Connection,
    commit: CommittedEpochs,
    keys: Sequence[tuple[Idempotency, Applied]],
    receipts: Sequence[tuple[Receipt, Applied]],
) -> None:
    """Records the answers to a commit's requests. Call it inside the commit's transaction."""
    if keys:
        connection.execute(_INSERT_KEY, [_key_row(commit, *key) for key in keys])
    for receipt, applied in receipts:
        receipt(connection, applied)


def _key_row(commit: CommittedEpochs, idempotency: Idempotency, applied: Applied) -> dict[str, object]:
    return {
        "key": idempotency.key,
        "digest": idempotency.digest,
        "epoch": applied.epoch,
        "changes": applied.changes,
        "used_at": commit.at,
    }
