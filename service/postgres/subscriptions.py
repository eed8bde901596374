"""Subscriptions: the changes of a relation or of a query as rows, as they come.

With SNAPSHOT, which is the default, the rows as of the beginning come first; without it, the changes after
AS OF. UP TO is exclusive. The names are Materialize's, so that its clients work.

Subscriptions with the same columns that look at the same state take the same page, which is made once.

An epoch is the resume token, as for the feed over HTTP: `AS OF e` with SNAPSHOT false goes on after epoch e.
"""

from __future__ import annotations

import asyncio

import pyarrow as pa

from engine.runtime.engine import Snapshot
from service.accounts.principals import Principal
from service.definitions.definition import Definition
from service.definitions.maintained_queries import is_query_name
from service.errors import Unavailable
from service.pgformats.data_rows import columns_of
from service.pgformats.wire_types import WireColumn
from service.postgres.hall import Hall
from service.postgres.subscribe_statements import SubscribeOptions
from service.postgres.subscription_pages import SubscriptionForm, SubscriptionPage
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.running.followed_queries import FollowedQuery
from service.running.pulse import Beats
from service.running.relation_following import Following
from service.running.runtime import Runtime

_REST = 0.0005
"""Seconds of rest after it was woken: less than others, because it shares what it does."""


class Subscription(Following):
    """Changes that are taken in parts. `since` is the last epoch whose changes are in the buffer."""

    def __init__(
        self,
        hall: Hall,
        runtime: Runtime,
        options: SubscribeOptions,
        definition: Definition,
        principal: Principal,
        query: FollowedQuery | None = None,
    ) -> None:
        """Follows a relation, or the definition of a `query`, which it leaves when it is closed."""
        newest = runtime.snapshot.upper - 1
        begin = newest if options.as_of is None else options.as_of
        super().__init__(runtime, definition, principal, begin - 1 if options.snapshot else begin)
        if options.as_of is not None:
            runtime.snapshot.changes(definition.name, min(options.as_of, newest), newest)  # is it kept?
        self._hall = hall
        self._query = query
        self._last = None if options.up_to is None else options.up_to - 1
        """The last epoch whose changes are wanted."""
        self._progress = options.progress
        self._needs_snapshot = options.snapshot
        self._form = SubscriptionForm(
            definition.name, definition.schema, options.progress, runtime.dictionary
        )
        self._empty = self._form.answer(self._form.empty())
        self._buffer: list[Answer] = []
        self.columns: tuple[WireColumn, ...] = columns_of(self._empty)
        hall.feeds.enter(self)
        self._is_open = True

    @property
    def follows(self) -> str:
        name = self.definition.name
        return self.definition.sql if is_query_name(name) else name

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._hall.feeds.leave(self)
            if self._query is not None:
                self._runtime.queries.leave(self._query)

    @property
    def is_done(self) -> bool:
        """Whether UP TO has been reached and everything has been taken."""
        return self._last is not None and self.since >= self._last and not self._buffer

    async def take(self, most: int | None, seconds: float | None, caller: Caller) -> Answer:
        """The next changes, at most so many: those that are there, or the first that come within the time.

        Raises a ServiceError if the relation can no longer be followed, CallerGone if the caller leaves.
        """
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        with Beats(self._runtime.pulse, _REST) as beats, caller.ending(beats.end_wait):
            while not self._buffer and not self.is_done:
                await self._load()
                if self._buffer or self.is_done or self.is_behind:
                    continue
                if not await beats.next(deadline):
                    break
                caller.check()
        caller.check()
        return self._taken(most)

    def _taken(self, most: int | None) -> Answer:
        """What is in the buffer, at most so many rows. A single page stays the object that it is."""
        if not self._buffer:
            return self._empty
        found = self._buffer[0]
        if len(self._buffer) > 1:
            found = self._form.answer(pa.concat_tables([part.table for part in self._buffer]))
        if most is None or found.size <= most:
            self._buffer = []
            return found
        self._buffer = [self._form.answer(found.table.slice(most))]
        return self._form.answer(found.table.slice(0, most))

    async def _load(self) -> None:
        """Reads what is new into the buffer."""
        if self._runtime.closing:
            raise Unavailable("the service is shutting down", code="shutting_down")
        before = self.since
        snapshot = self.look(self._last)
        if snapshot is not None:
            page = await self._page(snapshot)
            self._needs_snapshot = False
            self.took(page.until)
            if page.answer.size:
                self._buffer.append(page.answer)
        if self._progress and self.since > before:
            self._buffer.append(self._form.report(self.since))

    async def _page(self, snapshot: Snapshot) -> SubscriptionPage:
        form, since = self._form, self.since
        if self._needs_snapshot:
            return await self._hall.lanes.feeds.run(form.snapshot, snapshot, since + 1)
        newest = snapshot.upper - 1
        limit = newest if self._last is None else min(newest, self._last)
        relation = snapshot.relations[self.definition.name]
        return await self._hall.shared.once(
            relation, (form.progress, since, limit), lambda: form.changes(snapshot, since, limit)
        )
