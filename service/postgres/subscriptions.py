"""SUBSCRIBE: the changes of a relation as rows, as they come.

    SUBSCRIBE [TO] name [WITH (SNAPSHOT [= bool], PROGRESS [= bool])] [AS OF epoch] [UP TO epoch]

Each row is a change: `mz_timestamp` is its epoch, `mz_diff` how many copies of the row came or went, then the
columns of the relation. With SNAPSHOT, which is the default, the rows as of the beginning come first; without
it, the changes after AS OF. With PROGRESS, a row whose `mz_progressed` is true says that every change before
its `mz_timestamp` has been sent. UP TO is exclusive. The names are Materialize's, so that its clients work.

An epoch is the resume token, as for the feed over HTTP: `AS OF e` with SNAPSHOT false goes on after epoch e.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from engine.runtime.engine import Snapshot
from engine.scalar.duck_literals import type_name
from planner.errors import InvalidQuery
from planner.parsing.script import Piece
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.errors import NotFound, Unauthenticated, Unavailable
from service.postgres.backend_messages import WireColumn
from service.postgres.data_rows import columns_of
from service.postgres.hall import Hall
from service.postgres.token_reader import TokenReader
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.reading.given_tables import arrow_table
from service.reading.reads import check_health
from service.running.runtime import Runtime

_PAGE = 1024
"""The most changes that are read at once, unless one epoch has more."""


@dataclass(frozen=True)
class SubscribeOptions:
    relation: str
    snapshot: bool = True
    progress: bool = False
    as_of: int | None = None
    up_to: int | None = None


def subscribe_options(piece: Piece) -> SubscribeOptions:
    """What a SUBSCRIBE says. Raises InvalidSyntax and InvalidQuery, with the place."""
    reader = TokenReader(piece)
    reader.took("TO")
    if reader.took("("):
        raise InvalidQuery(
            "SUBSCRIBE follows a table or a view, not a query",
            "CREATE VIEW name AS the query, and SUBSCRIBE TO name",
            *piece.place(reader.place),
        )
    relation = reader.name()
    while reader.took("."):
        relation = f"{relation}.{reader.name()}"
    switches = {"SNAPSHOT": True, "PROGRESS": False}
    as_of = up_to = None
    while not reader.is_done:
        if reader.took("WITH", "("):
            while not reader.took(")"):
                name = reader.took_any(*switches)
                if name is None:
                    raise reader.failure("write WITH (SNAPSHOT = true, PROGRESS = false)")
                reader.took("=")
                switches[name] = reader.took_any("FALSE", "OFF") is None
                if switches[name]:
                    reader.took_any("TRUE", "ON")
                reader.took(",")
        elif reader.took("AS", "OF"):
            reader.took("AT", "LEAST")
            as_of = reader.integer()
        elif reader.took("UP", "TO"):
            up_to = reader.integer()
        else:
            raise reader.failure("after the name come WITH (...), AS OF epoch and UP TO epoch")
    return SubscribeOptions(relation, switches["SNAPSHOT"], switches["PROGRESS"], as_of, up_to)


class Subscription:
    """Changes that are taken in parts. `since` is the last epoch whose changes are in the buffer."""

    def __init__(self, hall: Hall, runtime: Runtime, options: SubscribeOptions, principal: Principal) -> None:
        principal.require(Privilege.SELECT, options.relation)
        self._hall = hall
        self._runtime = runtime
        self._options = options
        self.principal = principal
        self._definition = runtime.definition(options.relation)
        newest = runtime.snapshot.upper - 1
        self.since = newest if options.as_of is None else options.as_of
        self._needs_snapshot = options.snapshot
        self._buffer: list[pa.Table] = []
        self._has_reported = False
        if options.as_of is not None:
            runtime.snapshot.changes(self._definition.name, min(options.as_of, newest), newest)  # is it kept?
        hall.feeds.enter(self)
        self._is_open = True
        self._empty = self._table(np.zeros((len(self._definition.schema) + 2, 0), np.int64))
        self.columns: tuple[WireColumn, ...] = columns_of(self.answer(self._empty))

    @property
    def follows(self) -> str:
        return self._definition.name

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._hall.feeds.leave(self)

    @property
    def is_done(self) -> bool:
        """Whether UP TO has been reached and everything has been taken."""
        up_to = self._options.up_to
        return up_to is not None and self.since >= up_to - 1 and not self._buffer and not self._needs_snapshot

    async def take(self, most: int | None, seconds: float | None, caller: Caller) -> Answer:
        """The next changes, at most so many: those that are there, or the first that come within the time.

        Raises a ServiceError if the relation can no longer be followed, CallerGone if the caller leaves.
        """
        loop = asyncio.get_running_loop()
        deadline = None if seconds is None else loop.time() + seconds
        pulse = self._runtime.pulse
        beat = pulse.waiter()

        def woken() -> None:
            loop.call_soon_threadsafe(beat.set)

        try:
            with caller.ending(woken):
                while not await self._load() and not self.is_done and not self._buffer:
                    try:
                        async with asyncio.timeout_at(deadline):
                            await beat.wait()
                    except TimeoutError:
                        break
                    caller.check()
                    fresh = pulse.waiter()
                    beat = fresh
        finally:
            pulse.drop(beat)
        caller.check()
        return self.answer(self._taken(most))

    def answer(self, table: pa.Table) -> Answer:
        types = ["DECIMAL(20,0)", *(["BOOLEAN"] if self._options.progress else []), "BIGINT"]
        types += [type_name(type) for type in self._definition.schema.types]
        return Answer(tuple(table.column_names), tuple(types), table)

    def _taken(self, most: int | None) -> pa.Table:
        if not self._buffer:
            return self._empty
        table = pa.concat_tables(self._buffer) if len(self._buffer) > 1 else self._buffer[0]
        if most is None or table.num_rows <= most:
            self._buffer = []
            return table
        self._buffer = [table.slice(most)]
        return table.slice(0, most)

    async def _load(self) -> bool:
        """Reads what is new into the buffer; whether there was anything."""
        if self._buffer:
            return True
        if self._runtime.closing:
            raise Unavailable("the service is shutting down", code="shutting_down")
        if not self._runtime.accounts.is_current(self.principal):
            raise Unauthenticated("the key or its rights have changed", "connect anew", code="key_invalid")
        readable = self._runtime.readable
        if readable.known.all.get(self._definition.name) is not self._definition:
            raise NotFound(f"{self._definition.name} was dropped or altered", "subscribe to it anew")
        snapshot = readable.snapshot
        newest = snapshot.upper - 1
        if snapshot.is_aside(self._definition.name) or (self._needs_snapshot and newest < self.since):
            return False
        limit = newest if self._options.up_to is None else min(newest, self._options.up_to - 1)
        if not self._needs_snapshot and limit <= self.since:
            return False
        check_health(self._definition, snapshot, newest)
        rows, since = await self._hall.lanes.feeds.run(self._read, snapshot, limit)
        self.since, self._needs_snapshot = since, False
        if self._options.progress:
            rows = pa.concat_tables([rows, self._progress()])
        if rows.num_rows:
            self._buffer.append(rows)
        return rows.num_rows > 0

    def _read(self, snapshot: Snapshot, limit: int) -> tuple[pa.Table, int]:
        name = self._definition.name
        if self._needs_snapshot:
            words, counts = snapshot.rows(name, self.since)
            epochs = np.full(words.shape[1], self.since, np.int64)
            return self._table(np.concatenate([words, epochs[np.newaxis], counts[np.newaxis]])), self.since
        until = snapshot.relations[name].stretch(self.since, limit, _PAGE)
        return self._table(snapshot.changes(name, self.since, until)), until

    def _table(self, delta: np.ndarray) -> pa.Table:
        """Changes int64[W + 2, n] as a table of the columns that clients get."""
        schema, rows = self._definition.schema, delta.shape[1]
        ones = np.ones(rows, np.int64)
        columns = [pa.array(delta[-2]).cast(pa.decimal128(20, 0))]
        names = ["mz_timestamp"]
        if self._options.progress:
            columns.append(pa.array(np.zeros(rows, np.bool_)))
            names.append("mz_progressed")
        columns.append(pa.array(delta[-1]))
        table = arrow_table((np.ascontiguousarray(delta[:-2]), ones), schema, self._runtime.dictionary)
        plain = [column.combine_chunks() for column in table.columns]
        return pa.Table.from_arrays([*columns, *plain], [*names, "mz_diff", *schema.names])

    def _progress(self) -> pa.Table:
        """The row that says up to which epoch everything has been sent."""
        empty = self._empty.schema
        values = [pa.array([self.since + 1]).cast(pa.decimal128(20, 0)), pa.array([True])]
        nulls = [pa.nulls(1, field.type) for field in list(empty)[2:]]
        return pa.Table.from_arrays([*values, *nulls], schema=empty)
