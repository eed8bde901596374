"""Replacements: views under new queries, built and maintained beside the old ones until they are applied.

  make      on a thread of the builds: planned with all views that read these, and built as new views are
  compare   beside the writer: how the rows of each view differ, at one epoch
  apply     on the writer's thread, as one epoch (`service/running/replacing.py`)

Until it is applied, nobody sees anything of a replacement but who asks for it. If what it reads is altered,
it is planned and built again. A replacement with a name is in the catalog, and is built again after a start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import sqlalchemy as sa

from engine.errors import BuildCancelled
from engine.state.snapshot import Snapshot
from planner.suggestions import did_you_mean
from service.accounts.principals import MayRead
from service.catalog.replacement_records import (
    NewQuery,
    ReplacementRecord,
    add_replacement,
    remove_replacement,
    replacements_of,
)
from service.definitions.definition import Definition
from service.definitions.planned_replacement import (
    PlannedReplacement,
    ReplacedView,
    plan_replacement,
)
from service.errors import Conflict, Invalid, NotFound, Overloaded, Unavailable
from service.names import check_name
from service.reading.lanes import Lane
from service.reading.reads import check_epoch
from service.running.branches.branch_diff import Difference
from service.running.builds import Builds, waited
from service.running.replaced_rows import ReplacedRows
from service.running.replacing import apply
from service.running.state import State
from service.writing.writer import Writer

_PLANS = _TRIES = 5
"""Times that a replacement is planned, and that the writer tries to apply it, before its relations have to
rest."""


@dataclass(eq=False)
class Replacement:
    """`record` is that of the catalog, with the id 0 for one that is applied at once. `making` builds it; it
    begins again when what it reads was altered."""

    record: ReplacementRecord
    readable: MayRead
    making: Future[PlannedReplacement] | None = None
    planned: PlannedReplacement | None = None
    is_wanted: bool = True
    compared: dict[str, ReplacedRows] = field(default_factory=dict)
    """By view, the rows that were compared last."""

    @property
    def name(self) -> str:
        return self.record.name

    def check_wanted(self) -> None:
        if not self.is_wanted:
            raise _dropped(self.name)


class Replacements:
    """`all` has those with names, the oldest first; it is replaced as a whole, on the writer's thread."""

    def __init__(self, state: State, builds: Builds, writer: Writer) -> None:
        self.all: Mapping[str, Replacement] = {}
        self._state = state
        self._builds = builds
        self._writer = writer
        self._comparing = Lane("replacements", 2)
        self._made_now: set[Replacement] = set()

    def restore(self) -> None:
        """Begins to build what the catalog has. Call it once the writer runs."""
        with self._state.catalog.connections.reading_aside() as connection:
            records = replacements_of(connection)
        for record in records:
            self.all = {**self.all, record.name: Replacement(record, record.reads.__contains__)}
        for it in self.all.values():
            with suppress(Overloaded):
                self._making(it)

    def get(self, name: str) -> Replacement:
        """The replacement called `name`. Raises NotFound."""
        found = self.all.get(name)
        if found is None:
            hint = did_you_mean(name, self.all, "CREATE REPLACEMENT makes one")
            raise NotFound(f"there is no replacement called {name}", hint)
        return found

    def state_of(self, it: Replacement) -> tuple[str, str | None]:
        """Whether a replacement is ready, building or failed; and the reason if it has failed."""
        making = it.making
        if making is not None and making.done() and not making.cancelled():
            error = making.exception()
            if error is not None:
                return "failed", str(error)
            return ("ready" if self._is_current(it) else "outdated"), None
        return "building", None

    # Making and dropping

    async def create(
        self, name: str, queries: Sequence[NewQuery], readable: MayRead = None, *, exists_ok: bool = False
    ) -> Replacement:
        """Makes a replacement, and returns when it is built. If it cannot be built, there is none."""
        check_name(name)
        if exists_ok and name in self.all:
            return self.all[name]
        self._check_new(name)
        it = Replacement(ReplacementRecord(0, name, tuple(queries), (), time.time_ns() // 1000), readable)
        try:
            await self._made(it)
            return await self._writer.run(partial(self._store, it))
        except BaseException:
            await self._end(it)
            raise

    def _check_new(self, name: str) -> None:
        if name in self.all:
            raise Conflict(f"there is a replacement called {name} already", code="name_in_use")
        most = self._state.settings.replacements
        if len(self.all) >= most:
            raise Overloaded(
                f"there are {most} replacements",
                "apply or drop one, or raise FRESHET_REPLACEMENTS",
                code="too_many_replacements",
            )

    def _store(self, it: Replacement) -> Replacement:
        """Runs on the writer's thread."""
        self._check_new(it.name)
        planned = it.planned
        assert planned is not None
        reads = {name for view in planned.views for name in view.new.reads}
        record = it.record
        record = ReplacementRecord(0, it.name, record.queries, tuple(sorted(reads)), record.created_at)
        with self._state.catalog.changing() as changing:
            id = add_replacement(changing.connection, record)
        it.record = ReplacementRecord(**{**vars(record), "id": id})
        self.all = {**self.all, it.name: it}
        return it

    async def drop(self, *names: str, missing_ok: bool = False) -> None:
        """Drops replacements: the views stay as they are."""
        found = [self.get(name) for name in names if not missing_ok or name in self.all]
        await self._writer.run(partial(self._remove, found))
        for it in found:
            await self._end(it)

    def _remove(self, found: Sequence[Replacement]) -> None:
        with self._state.catalog.changing() as changing:
            for it in found:
                remove_replacement(changing.connection, it.record.id)
        self._forget(found)

    def _forget(self, found: Sequence[Replacement]) -> None:
        self.all = {name: it for name, it in self.all.items() if it not in found}

    async def _end(self, it: Replacement) -> None:
        """Ends what is built for a replacement, and drops its views from the engine."""
        it.is_wanted = False
        planned = it.planned
        if planned is None:
            return
        hidden = [view.hidden for view in planned.moved if view.hidden is not None]
        for name in hidden:
            self._builds.cancel(name)
        with suppress(Unavailable):  # the service ends, and its engine with it
            await self._writer.run(partial(self._drop_hidden, hidden))

    def _drop_hidden(self, hidden: Sequence[str]) -> None:
        self._state.definitions.queries.drop(hidden)
        self._state.definitions.clock.stop_unless_read()

    def close(self) -> None:
        self._comparing.close()

    # Building

    async def _made(self, it: Replacement) -> PlannedReplacement:
        """The replacement, built over what its views read now."""
        it.check_wanted()
        return await waited(self._making(it))

    def _making(self, it: Replacement) -> Future[PlannedReplacement]:
        making = it.making
        if making is None or (making.done() and not self._is_current(it)):
            making = it.making = self._builds.start(partial(self._make, it))
            self._made_now.add(it)
            making.add_done_callback(lambda _: self._made_now.discard(it))
        return making

    def cancel_dropped(self, known: Mapping[str, Definition]) -> None:
        """Cancels the building of views that are gone; the replacement is then planned again."""
        for it in tuple(self._made_now):
            for view in () if it.planned is None else it.planned.moved:
                if view.name not in known:
                    self._builds.cancel(view.hidden or "")

    def _is_current(self, it: Replacement) -> bool:
        planned, state = it.planned, self._state
        making = it.making
        if planned is None or making is None or making.cancelled() or making.exception() is not None:
            return False
        return planned.is_ready(state.engine.snapshot) and planned.is_current(state.definitions)

    def _make(self, it: Replacement) -> PlannedReplacement:
        """Plans and builds a replacement. Runs on a thread of the builds."""
        state = self._state
        for _ in range(_PLANS):
            it.check_wanted()
            planned = plan_replacement(state.definitions, it.record.queries, it.readable)
            planned = it.planned = planned.using(it.planned)
            try:
                for view in planned.moved:
                    it.check_wanted()
                    if not view.is_there(state.engine.snapshot):
                        self._builds.build(view.hidden or "", partial(planned.intended, view))
            except BuildCancelled:
                continue  # a view was dropped, or the replacement
            except Conflict as error:
                if error.code != "table_changed":
                    raise
                continue
            if not it.is_wanted:
                self._writer.call(partial(self._drop_hidden, [view.hidden or "" for view in planned.moved]))
            return planned
        raise Conflict(f"what replacement {it.name} reads keeps changing", "try again", code="table_changed")

    # Comparing

    async def compare(self, name: str, view: str | None = None, epoch: int | None = None) -> Difference:
        """How the rows of a view, by default of the only one that gets a query, differ: at an epoch, by
        default the newest. Raises NotFound if the replacement does not concern the view, Conflict while it is
        being built, HistoryGone or Invalid for an epoch that cannot be read."""
        it = self.get(name)
        state, reason = self.state_of(it)
        if state == "failed":
            hint = "drop it, or change what it reads and apply it"
            raise Conflict(f"replacement {name} has failed: {reason}", hint, code="replacement_failed")
        if state == "outdated":
            self._making(it)
        if state != "ready" or it.planned is None:
            hint = "what it reads was altered" if state == "outdated" else "try again later"
            raise Conflict(f"replacement {name} is being built", hint, code="replacement_building")
        return await self._comparing.run(self._compared, it, it.planned, view, epoch)

    def _compared(
        self, it: Replacement, planned: PlannedReplacement, view: str | None, epoch: int | None
    ) -> Difference:
        snapshot = self._state.engine.snapshot
        found = _concerned(it, planned, view)
        newest = snapshot.upper - 1
        if found.hidden is None:
            nothing = np.zeros((len(found.new.schema), 0), np.int64)
            return Difference(found.new.schema, nothing, np.zeros(0, np.int64), newest, snapshot.texts)
        if epoch is not None and epoch != newest:
            check_epoch(snapshot, found.name, epoch)
            check_epoch(snapshot, found.hidden, epoch)
        last = it.compared.get(found.name)
        if last is not None and last.view is found and epoch == last.epoch:
            rows = last
        elif last is not None and last.view is found and last.is_newest and epoch in (None, newest):
            rows = last.at(snapshot)
        else:
            rows = ReplacedRows.of(found, snapshot, epoch)
        it.compared[found.name] = rows
        return Difference(found.new.schema, rows.words, rows.counts, rows.epoch, rows.snapshot.texts)

    def _rows(
        self, it: Replacement, planned: PlannedReplacement, snapshot: Snapshot
    ) -> dict[str, ReplacedRows]:
        """The differences of all views with another plan, by their names."""
        found = {}
        for view in planned.moved:
            last = it.compared.get(view.name)
            is_same = last is not None and last.view is view and last.is_newest
            found[view.name] = last.at(snapshot) if last and is_same else ReplacedRows.of(view, snapshot)
        it.compared = found
        return found

    # Applying

    async def apply(self, name: str) -> int:
        """Applies a replacement. Returns the epoch at which its views go on under their new queries."""
        it = self.get(name)
        return await self._applied(it, lambda connection: remove_replacement(connection, it.record.id))

    async def replace(self, queries: Sequence[NewQuery], readable: MayRead = None) -> int:
        """Gives views new queries at once: a replacement without a name, made and applied."""
        name = ", ".join(query.view for query in queries)
        it = Replacement(ReplacementRecord(0, name, tuple(queries), (), 0), readable)
        try:
            return await self._applied(it, lambda connection: None)
        finally:
            await self._end(it)

    async def _applied(self, it: Replacement, also: Callable[[sa.Connection], None]) -> int:
        for _ in range(_TRIES):
            planned = await self._made(it)
            if not planned.is_ready(self._state.engine.snapshot):
                continue
            found = await self._comparing.run(self._prepared, it, planned)
            epoch = await self._writer.run(partial(self._apply, it, planned, found, also))
            if epoch is not None:
                return epoch
        raise Conflict(
            f"what replacement {it.name} reads changes faster than it can follow",
            "apply it when less changes",
            code="tables_changing",
        )

    def _prepared(self, it: Replacement, planned: PlannedReplacement) -> dict[str, ReplacedRows]:
        """The differences, near enough to the newest epoch."""
        found: dict[str, ReplacedRows] = {}
        for _ in range(_TRIES):
            snapshot = self._state.engine.snapshot
            if not planned.is_ready(snapshot):
                break
            found = self._rows(it, planned, snapshot)
            if all(rows.is_near(self._state.engine.snapshot) for rows in found.values()):
                break
        return found

    def _apply(
        self,
        it: Replacement,
        planned: PlannedReplacement,
        found: Mapping[str, ReplacedRows],
        also: Callable[[sa.Connection], None],
    ) -> int | None:
        """Applies it, on the writer's thread; None if it has to be made or compared again."""
        it.check_wanted()
        state = self._state
        snapshot = state.engine.snapshot
        if not planned.is_current(state.definitions) or not planned.is_ready(snapshot):
            return None
        if len(found) < len(planned.moved) or not all(rows.is_near(snapshot) for rows in found.values()):
            return None
        epoch = apply(state, planned, found, also)
        for view in planned.moved:
            self._builds.cancel(view.name)
        it.is_wanted = False
        self._forget([it])
        return epoch


def _concerned(it: Replacement, planned: PlannedReplacement, view: str | None) -> ReplacedView:
    """The view called `view`, or the only one that gets a query. Raises NotFound or Invalid."""
    if view is None:
        if len(planned.named) > 1:
            raise Invalid(f"replacement {it.name} is for {', '.join(sorted(planned.named))}", "name a view")
        (view,) = planned.named
    for found in planned.views:
        if found.name == view:
            return found
    concerned = ", ".join(found.name for found in planned.views)
    raise NotFound(f"replacement {it.name} does not change {view}", f"it concerns {concerned}")


def _dropped(name: str) -> Conflict:
    return Conflict(f"replacement {name} was dropped while it was built", code="replacement_dropped")
