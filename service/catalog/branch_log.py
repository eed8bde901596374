"""The log of a branch: in the catalog's database, beside the log of the service.

It makes a branch's epochs durable as `Catalog` makes those of the service durable, and has the same methods
for whoever commits epochs. It is kept as long as the branch. Any thread may call it: each transaction has a
connection of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import sqlalchemy as sa

from service.catalog.branch_records import BranchRecord, branch_log
from service.catalog.catalog import Catalog, CommittedEpochs, Receipt, answers_to, write_answers
from service.changes.table_changes import Applied, Idempotency


class BranchLog:
    def __init__(self, catalog: Catalog, record: BranchRecord) -> None:
        self._catalog = catalog
        self._record = record
        self._branch = record.id
        self._own = branch_log.c.branch == record.id

    def append(
        self,
        commit: CommittedEpochs,
        payload: bytes,
        keys: Sequence[tuple[Idempotency, Applied]] = (),
        receipts: Sequence[tuple[Receipt, Applied]] = (),
    ) -> None:
        """Makes a commit durable, with its payload and its requests' idempotency keys and receipts."""
        rows = [row | {"branch": self._branch} for row in commit.rows(payload)]
        own = [(replace(key, key=self._key(key.key)), applied) for key, applied in keys]
        with self._catalog.transaction() as connection:
            connection.execute(sa.insert(branch_log), rows)
            write_answers(connection, commit, own, receipts)

    def answered(self, keys: Sequence[str]) -> dict[str, tuple[bytes, Applied]]:
        """For those of the keys that were used: the digest of the request and its answer."""
        with self._catalog.connections.reading_aside() as connection:
            found = answers_to(connection, [self._key(key) for key in keys])
        return {key: found[self._key(key)] for key in keys if self._key(key) in found}

    def _key(self, key: str) -> str:
        """A key of the branch among those of all: no client's key has this beginning."""
        return f"\n{self._branch}\n{key}"

    def following(self, last: int, until: int) -> Receipt:
        """Records that the commit up to epoch `last` has epochs of the parent up to its epoch `until`."""

        def write(connection: sa.Connection, applied: Applied) -> None:
            commit = sa.update(branch_log).where(self._own, branch_log.c.last == last)
            connection.execute(commit.values(followed=until))

        return write

    def followed(self) -> list[tuple[int, int, int]]:
        """The first and the last epoch of each commit of epochs of the parent, in order, with the parent's
        epoch that the last one is."""
        columns = branch_log.c.first, branch_log.c.last, branch_log.c.followed
        query = sa.select(*columns).where(
            self._own, branch_log.c.part == 0, branch_log.c.followed.is_not(None)
        )
        with self._catalog.connections.reading_aside() as connection:
            return [(*row,) for row in connection.execute(query.order_by(branch_log.c.last))]

    def newest_of_mine(self) -> CommittedEpochs | None:
        """The last commit."""
        query = sa.select(branch_log.c.first, branch_log.c.last, branch_log.c.committed_at).where(self._own)
        with self._catalog.transaction() as connection:
            row = connection.execute(query.order_by(branch_log.c.last.desc()).limit(1)).first()
        return None if row is None else CommittedEpochs(*row)

    def payloads(self) -> Iterator[bytes]:
        """The payloads of all commits, in order."""
        query = sa.select(branch_log.c.last, branch_log.c.payload).where(self._own)
        query = query.order_by(branch_log.c.last, branch_log.c.part).execution_options(yield_per=1000)
        with self._catalog.connections.reading_aside() as connection:
            for _, parts in groupby(connection.execute(query), lambda row: row.last):
                yield b"".join(part.payload for part in parts)

    def epoch_at(self, at: int) -> int:
        """The newest epoch committed at or before `at` (microseconds since 1970, UTC); 0 if there is none."""
        query = sa.select(sa.func.max(branch_log.c.last)).where(self._own, branch_log.c.committed_at <= at)
        with self._catalog.connections.reading_aside() as connection:
            newest: int | None = connection.execute(query).scalar()
        if newest is None and at >= self._record.created_at:
            return self._record.beginning
        return newest or 0

    def times(self, since: int = 0) -> list[tuple[int, int]]:
        """The first epoch of every commit from epoch `since` on, and of the branch if it is not before that,
        in order, with its time in microseconds."""
        return self._with_beginning(since, self._times(branch_log.c.last >= since))

    def times_between(self, since: int, until: int) -> list[tuple[int, int]]:
        """The same, of the commits with epochs from `since` to `until`."""
        return self._with_beginning(
            since, self._times(branch_log.c.last >= since, branch_log.c.first <= until)
        )

    def _with_beginning(self, since: int, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
        beginning = self._record.beginning
        return found if since > beginning else [(beginning, self._record.created_at), *found]

    def _times(self, *which: sa.ColumnElement[bool]) -> list[tuple[int, int]]:
        query = sa.select(branch_log.c.first, branch_log.c.committed_at)
        query = query.where(self._own, branch_log.c.part == 0, *which).order_by(branch_log.c.last)
        with self._catalog.connections.reading_aside() as connection:
            return [(first, at) for first, at in connection.execute(query)]
