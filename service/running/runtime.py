"""The running service without its interfaces: what the REST routes and SQL scripts both call.

A process opens one `Runtime` over one data directory with `Runtime.open`. Reads use the engine's snapshot,
from any thread. Every change is awaited: it waits in the writer's queue and runs on the writer's thread
(`service/writing/writer.py`); it is durable before it is visible, and visible before it is acknowledged.
Names are the catalog's: callers fold case before they call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from engine.kernels.parallel import threads
from engine.runtime.execution import Scanned
from engine.runtime.observation import Held, Observed
from engine.runtime.upkeep import Upkeep
from engine.schema import Schema
from engine.spark.sessions import Sessions
from planner.parsing.namespace import DEFAULT, Namespace
from planner.statements.alterations import Action
from planner.statements.view_budgets import ANY
from service.accounts.principals import MayRead
from service.catalog.catalog import Receipt
from service.catalog.details import NO_DETAILS, Details
from service.catalog.leadership import Leader
from service.catalog.replacement_records import NewQuery
from service.changes.index_names import table_of_index
from service.changes.table_changes import Applied, TableChanges
from service.clock import Time, system_time
from service.definitions.definition import Definition
from service.definitions.intended_view import (
    intend_again,
)
from service.definitions.maintained_queries import is_query_name
from service.definitions.readable import Readable
from service.errors import MaintainsNoQueries, NotLeader
from service.metrics import Metrics
from service.placement import Placement
from service.reading.callers import Caller
from service.reading.lanes import Lane
from service.running.branches.open_branches import OpenBranches
from service.running.builds import Builds
from service.running.followed_queries import FollowedQueries
from service.running.instance import Deposing
from service.running.kept_queries import kept_queries
from service.running.leading import Leading
from service.running.log_follower import LogFollower
from service.running.pinned_state import PinnedState, pinned
from service.running.process_memory import MemoryMark
from service.running.replacements import Replacement, Replacements
from service.running.schema_objects import SchemaObjects
from service.running.state import State, recover
from service.running.view_build import ViewBuild
from service.running.view_comparison import ViewComparison
from service.running.view_costs import ViewCosts
from service.running.view_timeline import ViewTimeline
from service.settings.settings import Settings
from service.writing.epochs import Drafted
from service.writing.large_changes import Check
from service.writing.request import Load, Request
from service.writing.writer import Writer

T = TypeVar("T")


class Runtime(ViewTimeline):
    """The service's own timeline; `memory` is the mark of the process."""

    def __init__(
        self, state: State, memory: MemoryMark, on_lead: Callable[[Runtime], None] = lambda runtime: None
    ) -> None:
        super().__init__(state, Lane("past", 2), Lane("judging", 2))
        self.memory = memory
        self.costs = ViewCosts(memory)
        self._on_lead = on_lead
        self._led: Leading | None = None
        self._following: LogFollower | None = None
        if state.instance.leads:
            self._lead(state)
        else:
            self._show_followed(state)
            self._following = LogFollower(state, self._show_followed, self._take_over)
            self._following.start()

    @classmethod
    def open(
        cls,
        settings: Settings,
        metrics: Metrics,
        memory: MemoryMark,
        sessions: Sessions | None = None,
        time: Time = system_time,
        on_deposed: Deposing = lambda: None,
        on_lead: Callable[[Runtime], None] = lambda runtime: None,
    ) -> Runtime:
        """Recovers the data directory and starts the writer. Blocks until everything is readable.

        With `sessions`, which stay the caller's, large work runs on Spark. `time` is the clock.
        `on_deposed` is as for `recover`. A standby calls `on_lead` on a thread of its own once it has taken
        over.
        """
        threads.use(settings.kernel_threads)
        return cls(recover(settings, metrics, sessions, time, on_deposed), memory, on_lead)

    def end_feeds(self) -> None:
        """Tells those who follow the pulse that the service is about to stop."""
        self.closing = True
        self.pulse.beat()

    def stop_following(self) -> None:
        """Stays a standby from now on, if it is one. Blocks."""
        if self._following is not None:
            self._following.stop()

    def close(self) -> None:
        """Finishes waiting requests, writes a checkpoint and releases the data directory. Blocks."""
        self.end_feeds()
        self.stop_following()
        self._past.close()
        self._judging.close()
        self.costs.close()
        if self._led is not None:
            self._branches.close()
            self._led.close()
        self._state.close()

    # The leader and its standby

    def _lead(self, state: State) -> None:
        """Begins to make changes."""
        self._state = state
        self._led = Leading.of(state, self._show, self._after)
        self._branches = OpenBranches(state, self, self._past, self._judging)
        self._branches.restore()
        self._show()
        self._led.writer.start()
        self._led.replacements.restore()
        self._objects = SchemaObjects(state, self._led, self.memory, self.definitions)
        self._objects.drop_left_over()

    def _take_over(self, state: State) -> None:
        """Begins to make changes in the place of the last leader. Runs on the thread that followed it."""
        self._lead(state)
        self.pulse.beat()
        self._on_lead(self)

    @property
    def _leading(self) -> Leading:
        """What makes changes. Raises NotLeader in a standby."""
        if self._led is None:
            raise NotLeader(self.leader.address)
        return self._led

    @property
    def _writer(self) -> Writer:
        return self._leading.writer

    @property
    def branches(self) -> OpenBranches:
        """The branches. Raises NotLeader in a standby, which has none."""
        self.must_lead()
        return self._branches

    @property
    def objects(self) -> SchemaObjects:
        """Schemas, and what they have beside tables and views. Raises NotLeader in a standby."""
        self.must_lead()
        return self._objects

    @property
    def leads(self) -> bool:
        """Whether the service makes changes."""
        return self._led is not None

    @property
    def follows(self) -> bool:
        """Whether it began as a standby, whatever it is now."""
        return self._following is not None

    @property
    def token(self) -> int | None:
        """The leader's token if this service leads others; None for one that has the catalog for itself."""
        return self._state.catalog.connections.token

    @property
    def leader(self) -> Leader:
        """Who leads. Blocks."""
        return self._state.catalog.leader()

    def lag(self) -> int:
        """The number of epochs in the catalog that cannot be read here yet. Blocks."""
        return 0 if self.leads else max(0, self._state.catalog.newest_epoch() - self.snapshot.upper + 1)

    def _show_followed(self, state: State) -> None:
        """Lets readers see what a standby has followed."""
        self._state = state
        self._readable = Readable(state.engine.snapshot, state.definitions.known, state.definitions.set_aside)
        self.pulse.beat()

    def _show(self) -> None:
        """Lets readers see what the writer has done."""
        state, builds = self._state, self._leading.builds
        if state.definitions.set_aside:
            builds.bring_back(state.definitions.set_aside)
            state.definitions.set_aside = set()
        self._leading.indexes.consider()
        state.definitions.queries.drop_outdated(state.definitions.relations)
        self._leading.pivoted.consider()
        building = builds.all.keys() | builds.returning.keys()
        self._readable = Readable(state.engine.snapshot, state.definitions.known, building)

    def _after(self) -> None:
        self.pulse.beat()
        self._leading.checkpoints.consider(self._leading.writer.call)

    @property
    def is_running(self) -> bool:
        """Whether changes can be made."""
        return self._led is not None and self._led.writer.is_running

    @property
    def placement(self) -> Placement | None:
        """Where advances have run; None without Spark."""
        return self._state.placement

    # Reading: any thread.

    @property
    def waiting(self) -> int:
        """The number of requests that wait for the writer or are being processed."""
        return 0 if self._led is None else self._led.writer.waiting

    @property
    def waiting_changes(self) -> int:
        """The number of their changes."""
        return 0 if self._led is None else self._led.writer.waiting_changes

    @property
    def oldest_waiting(self) -> float:
        """Seconds since the request came that the writer has in hand; 0 if it has none."""
        return 0.0 if self._led is None else self._led.writer.oldest_waiting

    def observe(self, view: str) -> tuple[Observed, ...]:
        """What each operator of a view holds and has done, taken between two epochs. Blocks."""
        observe = partial(self._state.engine.observe, view)
        if self._led is None and self._following is not None:
            return self._following.call(observe)
        return tuple(map(_without_queries, super().observe(view)))

    def held(self) -> Held:
        """How much memory the engine holds, by kind. Costs a look at each operator."""
        return self._state.engine.held()

    def upkeep(self) -> Mapping[str, Upkeep]:
        """What each table and view has cost and holds, the indexes of constraints with their tables. Costs a
        look at each operator."""
        found = self._state.engine.upkeep()
        for name in [name for name in found if table_of_index(name)]:
            table = table_of_index(name) or ""
            found[table] = found.get(table, Upkeep()) + found.pop(name)
        return found

    @property
    def log(self) -> tuple[int, int]:
        """The bytes and commits of the log since the last checkpoint."""
        return self._state.commits.log_bytes, self._state.commits.log_commits

    def must_lead(self) -> None:
        """Raises NotLeader in a standby, which makes no changes."""
        _ = self._leading

    # Changing: awaited; runs on the writer's thread in the order of the calls.

    async def create_table(
        self,
        name: str,
        schema: Schema,
        key: tuple[int, ...] | None,
        *,
        exists_ok: bool = False,
        details: Details = NO_DETAILS,
        or_replace: bool = False,
    ) -> Definition:
        """Creates an empty table, with `or_replace` in the place of one of its name. `key` has the columns of
        its primary key; without one it is a bag."""
        create = self._state.definitions.create_table
        made = partial(create, name, schema, key, exists_ok, details, or_replace)
        return await self._leading.writer.run(made)

    async def drop_table(self, *names: str, missing_ok: bool = False, cascade: bool = False) -> None:
        """Drops tables. Raises Conflict if views or foreign keys use them, unless `cascade` drops those."""
        await self._drop(names, view=False, missing_ok=missing_ok, cascade=cascade)

    async def alter_table(
        self, name: str, actions: Sequence[Action], *, missing_ok: bool = False
    ) -> tuple[str, ...]:
        """Alters a table by all of the actions or none. Its history changes with it, and so do its views, as
        far as they cannot keep their state: large ones are built again beside the writer before this returns.
        Returns notices, which say why."""
        views = [view.name for view in self._readable.known.dependants(name)]
        leading = self._leading
        alter = partial(leading.alterations.alter_table, name, actions, missing_ok)
        notices = await leading.writer.run(alter)
        await leading.builds.returned(views)
        return tuple(notices)

    async def _replace(self, queries: Sequence[NewQuery], readable: MayRead) -> int:
        return await self._leading.replacements.replace(queries, readable)

    async def _listed(self, query: NewQuery, readable: MayRead) -> NewQuery:
        return await self._leading.pivoted.listed(query, readable)

    async def create_replacement(
        self,
        name: str,
        queries: Sequence[NewQuery],
        readable: MayRead = None,
        *,
        names: Namespace = DEFAULT,
        exists_ok: bool = False,
    ) -> Replacement:
        """Builds views under new queries beside the old ones, and returns when that is done."""
        self.memory.check("a replacement")
        kept = await self._kept(queries, readable, names)
        return await self._leading.replacements.create(name, kept, readable, exists_ok=exists_ok)

    async def replace_views(
        self, queries: Sequence[NewQuery], readable: MayRead = None, *, names: Namespace = DEFAULT
    ) -> int:
        """Gives views new queries at one epoch, which is returned."""
        self.memory.check("a replacement")
        kept = await self._kept(queries, readable, names)
        await self._check_budget(kept, readable, ANY)
        return await self._replace(kept, readable)

    async def _kept(self, queries: Sequence[NewQuery], readable: MayRead, names: Namespace) -> list[NewQuery]:
        """New queries of views as they are kept, with the values that they leave to the data."""
        kept = await self._judging.run(kept_queries, queries, self.vocabulary(), names)
        return [await self._listed(query, readable) for query in kept]

    async def rebuild_view(self, name: str) -> Definition:
        """Builds a view that has failed again; a view that has not failed stays as it is."""
        definition = self.definition(name, view=True)
        if self.failure(name) is None:
            return definition
        self.memory.check("a view")
        return await self._leading.builds.make(
            name, partial(intend_again, self._state.definitions, name, False)
        )

    def check_view(self, name: str, caller: Caller) -> ViewComparison:
        """Compares a view with a new computation of it, at the newest epoch. Blocks; the writer goes on."""
        self.memory.check("a check")
        return self._leading.checks.check(name, caller)

    @property
    def _builds(self) -> Builds:
        return self._leading.builds

    @property
    def builds(self) -> Mapping[str, ViewBuild]:
        return super().builds if self.leads else {}

    def notice(self, view: str) -> str | None:
        """Why the columns of a view are not those of its data, if it leaves them to the data."""
        return None if self._led is None else self._led.pivoted.notices.get(view)

    @property
    def replacements(self) -> Replacements:
        """The replacements of views. Raises NotLeader in a standby, which has none."""
        return self._leading.replacements

    @property
    def queries(self) -> FollowedQueries:
        if self._led is None:
            raise MaintainsNoQueries(self.leader.address)
        return self._led.queries

    def _cancel_dropped(self) -> None:
        self._leading.cancel_dropped(self._readable.known.all)

    async def rename_view(self, name: str, to: str, *, missing_ok: bool = False) -> None:
        """Renames a view. Large views that have to be built again for it are there when this returns."""
        views = [to, *(view.name for view in self._readable.known.dependants(name))]
        leading = self._leading
        await leading.writer.run(partial(leading.alterations.rename_view, name, to, missing_ok))
        await leading.builds.returned(views)

    async def comment(self, name: str, column: str | None, text: str | None, view: bool | None) -> None:
        """Sets the comment on a table, a view or one of its columns. Removes it if there is no text."""
        await self._leading.writer.run(partial(self._leading.alterations.comment, name, column, text, view))

    def _apply(self, request: Request) -> Awaitable[Applied]:
        leading = self._leading
        return (leading.large if leading.large.takes(request) else leading.writer).apply(request)

    def commit(
        self, changes: Mapping[str, TableChanges], receipt: Receipt, check: Check = lambda: None
    ) -> Applied:
        """Like `apply`, for a thread that may block, with a receipt in the epoch's transaction.

        `check` raises if the changes are not wanted any more, which is asked while they are computed.
        """
        leading = self._leading
        request = self._request(changes, receipt)
        if leading.large.takes(request):
            return leading.large.commit(request, check)
        return leading.writer.commit(request)

    def record(self, write: Callable[[Connection], T]) -> T:
        """Calls `write` with the catalog in one transaction. Blocks; not for the writer's thread."""
        return self._leading.writer.call(partial(self._recorded, write))

    def transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that does not wait for the writer, for data that no epoch depends on."""
        return self._state.catalog.transaction()

    def pinned(self) -> AbstractContextManager[PinnedState]:
        """All that the service stores, as it is at the newest epoch; the writer goes on meanwhile."""
        return pinned(self._state.catalog, self._state.directory, self._leading.writer.call)

    def _recorded(self, write: Callable[[Connection], T]) -> T:
        with self._state.catalog.changing() as changing:
            return write(changing.connection)

    def load(self, load: Load, check: Check = lambda: None) -> tuple[Applied, Scanned]:
        """Loads rows that Spark reads as one epoch, beside the writer. Returns what was read. Blocks.

        Raises Conflict if a key exists, Invalid if a row is bad, Declined if Spark cannot compute one of the
        table's views; nothing is then changed. `check` is as for `commit`.
        """
        return self._leading.large.load(load, check)

    async def _settle(self, draft: Drafted[T], receipt: Receipt | None) -> Applied | None:
        if self._leading.large.takes_draft(draft):
            return await self._leading.large.settle(draft, receipt)
        return await super()._settle(draft, receipt)


def _without_queries(operator: Observed) -> Observed:
    """What an operator holds and has done, without the queries that share it, which have no names."""
    return replace(operator, shared=tuple(name for name in operator.shared if not is_query_name(name)))
