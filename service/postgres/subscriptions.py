"""Subscriptions: the changes of a relation or of a query as rows, as they come.

With SNAPSHOT, which is the default, the rows as of the beginning come first; without it, the changes after
AS OF. UP TO is exclusive. The names are Materialize's, so that its clients work.

A cursor takes the changes in parts, when it is asked for them. Subscriptions with the same columns that look
at the same state take the same page, which is made once. How a COPY sends them is in `copied_changes.py`.

An epoch is the resume token, as for the feed over HTTP: `AS OF e` with SNAPSHOT false goes on after epoch e.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pyarrow as pa

from engine.runtime.engine import Snapshot
from service.accounts.principals import Principal
from service.definitions.definition import Definition
from service.definitions.maintained_queries import is_query_name
from service.pgformats.data_rows import columns_of
from service.pgformats.wire_types import WireColumn
from service.postgres.hall import Hall
from service.postgres.subscribe_statements import SubscribeOptions
from service.postgres.subscription_pages import SubscriptionForm, SubscriptionPage
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.running.followed_queries import FollowedQuery
from service.running.pulse import Beats
from service.running.relation_following import Following, check_going_on
from service.running.view_timeline import ViewTimeline

_REST = 0.0005
"""Seconds of rest after it was woken: less than others, because it shares what it does."""


class Subscription(Following):
    """Changes that are taken in parts. `since` is the last epoch whose changes are in the buffer."""

    def __init__(
        self,
        hall: Hall,
        timeline: ViewTimeline,
        options: SubscribeOptions,
        definition: Definition,
        principal: Principal,
        query: FollowedQuery | None = None,
    ) -> None:
        """Follows a relation of a timeline, or the definition of a `query`, which it leaves at its end."""
        newest = timeline.snapshot.upper - 1
        begin = newest if options.as_of is None else options.as_of
        super().__init__(timeline, definition, principal, begin - 1 if options.snapshot else begin)
        if options.as_of is not None:
            timeline.snapshot.changes(definition.name, min(options.as_of, newest), newest)  # is it kept?
        self._hall = hall
        self.timeline = timeline
        self._query = query
        self.last = None if options.up_to is None else options.up_to - 1
        """The last epoch whose changes are wanted."""
        self._needs_snapshot = options.snapshot
        self.form = SubscriptionForm(
            definition.name, definition.schema, options.progress, timeline.dictionary
        )
        self._empty = self.form.answer(self.form.empty())
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
            if self._query is not None and self._hall.runtime is not None:
                self.timeline.queries.leave(self._query)

    @property
    def is_done(self) -> bool:
        """Whether UP TO has been reached and everything has been taken."""
        return self.last is not None and self.since >= self.last and not self._buffer

    @property
    def has_own(self) -> bool:
        """Whether there is something for this subscription alone: its snapshot, or what is in the buffer."""
        return self._needs_snapshot or bool(self._buffer)

    def keep(self, answer: Answer) -> None:
        """Puts changes that are taken into the buffer."""
        if answer.size:
            self._buffer.append(answer)

    async def take(self, most: int | None, seconds: float | None, caller: Caller) -> Answer:
        """The next changes, at most so many: those that are there, or the first that come within the time.

        Raises a ServiceError if the relation can no longer be followed, CallerGone if the caller leaves.
        """
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        await self._read(lambda: bool(self._buffer) or self.is_done, deadline, caller)
        return self._taken(most)

    async def take_own(self, most: int, caller: Caller) -> Answer:
        """The next rows of what there is for this subscription alone. Raises what `take` raises."""
        await self._read(lambda: not self._needs_snapshot, None, caller)
        return self._taken(most)

    async def _read(self, is_enough: Callable[[], bool], deadline: float | None, caller: Caller) -> None:
        """Reads what comes into the buffer until it is enough, or the loop's clock says that it is late."""
        with Beats(self.timeline.pulse, _REST) as beats, caller.ending(beats.end_wait):
            while not is_enough():
                await self._load()
                if is_enough() or self.is_behind:
                    continue
                if not await beats.next(deadline):
                    break
                caller.check()
        caller.check()

    def _taken(self, most: int | None) -> Answer:
        """What is in the buffer, at most so many rows. A single page stays the object that it is."""
        if not self._buffer:
            return self._empty
        found = self._buffer[0]
        if len(self._buffer) > 1:
            found = self.form.answer(pa.concat_tables([part.table for part in self._buffer]))
        if most is None or found.size <= most:
            self._buffer = []
            return found
        self._buffer = [self.form.answer(found.table.slice(most))]
        return self.form.answer(found.table.slice(0, most))

    async def _load(self) -> None:
        """Reads what is new into the buffer."""
        check_going_on(self.timeline)
        before = self.since
        snapshot = self.look(self.last)
        if snapshot is not None:
            page = await self._page(snapshot)
            self._needs_snapshot = False
            self.took(page.until)
            self.keep(page.answer)
        elif self.since > before and (report := self.form.silence(self.since)) is not None:
            self.keep(report.answer)

    async def _page(self, snapshot: Snapshot) -> SubscriptionPage:
        form, since = self.form, self.since
        if self._needs_snapshot:
            return await self._hall.lanes.feeds.run(form.snapshot, snapshot, since + 1)
        limit = limit_of(snapshot, self.last)
        relation = snapshot.relations[form.name]
        return await self._hall.shared.once(
            relation, (form.progress, since, limit), lambda: form.changes(snapshot, since, limit)
        )


def limit_of(snapshot: Snapshot, last: int | None) -> int:
    """The newest epoch, or the last one that is wanted."""
    newest = snapshot.upper - 1
    return newest if last is None else min(newest, last)
