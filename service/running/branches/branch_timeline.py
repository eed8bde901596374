"""The timeline of a branch: its epochs, made by a writer of its own and durable in a log of its own.

It can make views of its own, which are built on the threads of the service. A live one has the epochs of its
parent too (`live_following.py`). What a branch holds besides its parent's state is limited. A view that needs
more for an epoch than it may fails on the branch alone.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from engine.runtime.building import Building
from planner.errors import Unsupported
from planner.statements.view_budgets import ViewBudget
from service.accounts.principals import MayRead
from service.catalog.branch_epochs import epochs_of
from service.catalog.branch_log import BranchLog
from service.catalog.branch_records import BranchRecord, MergedEpochs
from service.catalog.catalog import Receipt
from service.catalog.replacement_records import NewQuery
from service.changes.table_changes import Applied
from service.definitions.definition import Definition
from service.definitions.known_relations import in_order
from service.definitions.readable import Readable
from service.errors import Conflict
from service.metrics import Metrics
from service.reading.lanes import Lane
from service.reading.reads import Reader
from service.running.branches.branch_state import Parting, branch_state
from service.running.branches.followed_epochs import FollowedEpochs
from service.running.branches.live_following import LiveFollowing
from service.running.builds import Builds
from service.running.followed_queries import FollowedQueries
from service.running.timeline import EpochTimes, T
from service.running.view_timeline import ViewTimeline
from service.writing.epochs import Drafted
from service.writing.request import Request
from service.writing.transaction import Transaction
from service.writing.writer import Writer, WriterLimits

_READ_CACHE_PART = 8
"""A branch keeps readings of this part of the bytes that the service keeps."""
_REPLACED = "drop the view and create it again, if it was made on the branch; or SET branch = main"
_SPARE = 1_000_000
"""Epochs that a branch leaves unused: more than are made between two looks."""
_LOOK_SECONDS = 1.0
"""Between two looks at what the branch holds."""


class BranchTimeline(ViewTimeline):
    def __init__(
        self,
        record: BranchRecord,
        parting: Parting,
        parent: ViewTimeline,
        merges: Sequence[MergedEpochs],
        past: Lane,
        judging: Lane,
    ) -> None:
        """Goes on from where its parent was, with the epochs of its log. `merges` are those made so far."""
        metrics = Metrics()
        state = branch_state(record, parting, metrics)
        super().__init__(state, past, judging)
        self.name = record.name
        self.beginning = record.beginning
        self.record = record
        self._last = epochs_of(record.id).end - 1
        self.parent = parent
        self.parting = parting
        self.merges = tuple(merges)
        """What was merged into the parent. Replaced as a whole."""
        self.reader = Reader(self.dictionary, self.settings.read_cache_bytes // _READ_CACHE_PART)
        self.metrics = metrics
        self.memory, self.costs = parent.memory, parent.costs
        self._log = BranchLog(state.catalog, record)
        self.followed = FollowedEpochs(record.epoch, self._log.followed() if record.live else ())
        """Which of its epochs are its parent's."""
        self.following: LiveFollowing | None = None
        """What follows its parent, if it is live."""
        self._departed: tuple[float, int] | None = None
        limits = self.settings
        self._own_writer = Writer(
            state.epochs,
            WriterLimits(limits.queue_requests, limits.queue_changes, limits.group_changes),
            self._show,
            self.pulse.beat,
            metrics.queue_seconds,
        )
        call, threads = self._own_writer.call, parent._builds.threads
        self._own_builds = Builds(state, call, threads, self._check_room)
        self._own_queries = FollowedQueries(state, self._own_builds, self._own_writer, parent.queries)
        self._show()
        self._own_writer.start()
        if record.live:
            self.following = LiveFollowing(self, state, self._log, self.followed, record.beginning)
            self.following.start()

    @property
    def _writer(self) -> Writer:
        return self._own_writer

    @property
    def _builds(self) -> Builds:
        return self._own_builds

    @property
    def queries(self) -> FollowedQueries:
        return self._own_queries

    @property
    def _times(self) -> EpochTimes:
        return self._log

    def _show(self) -> None:
        """Lets readers see what the writer has done."""
        engine, of = self._state.engine, self._state.definitions
        there = engine.snapshot.relations
        for view in of.set_aside & there.keys():
            reason = engine.snapshot.failure(view)
            engine.explain_failure(view, reason or "it needs too much for an epoch of a branch")
        self._own_builds.bring_back(of.set_aside - there.keys())
        of.set_aside = set()
        of.queries.drop_outdated(of.relations)
        building = self._own_builds.all.keys() | self._own_builds.returning.keys()
        self._readable = Readable(engine.snapshot, of.known, building)

    @property
    def follows(self) -> int | None:
        """The newest epoch of its parent that a live branch has."""
        return None if self.following is None else self.followed.newest

    # What it holds

    @property
    def departed(self) -> int:
        """The bytes that it holds besides its parent's state, as they were a moment ago."""
        if self._departed is None or time.monotonic() - self._departed[0] > _LOOK_SECONDS:
            return self.measured()
        return self._departed[1]

    def measured(self) -> int:
        """The same as they are now. Costs a look at each operator."""
        size = self._state.engine.departed(self.parting.fork)
        self._departed = time.monotonic(), size
        return size

    def check_size(self) -> None:
        """Raises Conflict if the branch holds as much as it may, or has used up its epochs."""
        if self.readable.newest + _SPARE > self._last:
            raise Conflict(
                f"branch {self.name} has used up the numbers of its epochs",
                "merge it, and make another branch",
                code="branch_too_large",
            )
        self._check_bytes(self.departed, "holds")

    def _check_room(self, building: Building) -> None:
        """Raises Conflict if the branch would hold more than it may with what was built."""
        self._check_bytes(self._state.engine.departed(self.parting.fork, building), "would hold")

    def _check_bytes(self, held: int, holds: str) -> None:
        most = self.settings.branch_bytes
        if held > most:
            raise Conflict(
                f"branch {self.name} {holds} {held} bytes of its own, and may hold {most}",
                "merge it, drop it, or raise FRESHET_BRANCH_BYTES",
                code="branch_too_large",
            )

    # Its own views

    @property
    def own_views(self) -> list[Definition]:
        """The views that were made on it, each after those that it reads."""
        inherited = self.record.newest_relation
        return in_order(view for view in self.definitions().values() if view.id > inherited)

    async def _check_budget(self, queries: Sequence[NewQuery], readable: MayRead, budget: ViewBudget) -> None:
        self.check_size()
        await super()._check_budget(queries, readable, budget)

    async def _replace(self, queries: Sequence[NewQuery], readable: MayRead) -> int:
        raise Unsupported("a replacement of a view on a branch is not supported", _REPLACED)

    def _apply(self, request: Request) -> Awaitable[Applied]:
        self.check_size()
        return super()._apply(request)

    async def _settle(self, draft: Drafted[T], receipt: Receipt | None) -> Applied | None:
        if draft.transaction.changes:
            self.check_size()
        return await super()._settle(draft, receipt)

    async def transact(
        self, work: Callable[[Transaction], T], receipt: Receipt | None = None
    ) -> tuple[Applied, T]:
        self.check_size()
        return await super().transact(work, receipt)

    def close(self) -> None:
        """Ends the building of views, finishes waiting requests, and takes no more. Blocks."""
        self.closing = True
        self.pulse.beat()
        if self.following is not None:
            self.following.stop()
        self._own_builds.close()
        self._own_writer.close()
