"""A timeline: a sequence of epochs that can be read and changed, over one set of definitions.

The service has one, `Runtime`, and each branch of it is another (`service/running/branches`). Reads use the
newest published snapshot, from any thread. Every change is awaited: it waits in the queue of the timeline's
writer, and is durable before it is visible.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from engine.runtime.engine import Snapshot
from engine.runtime.observation import Observed
from engine.schema import Type
from engine.state.dictionary import Dictionary
from planner.parsing.vocabulary import Vocabulary
from planner.relation import Relation
from service.catalog.catalog import Receipt
from service.changes.table_changes import Applied, Idempotency, TableChanges
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.reading.lanes import Lane
from service.running.branches.branch_state import Parting
from service.running.pulse import Pulse
from service.running.state import State
from service.running.view_build import ViewBuild
from service.telemetry.exchange import current
from service.writing.epochs import Drafted
from service.writing.request import Request
from service.writing.transaction import Transaction
from service.writing.writer import Writer

T = TypeVar("T")
Part = tuple[Definition, TableChanges]
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


class EpochTimes(Protocol):
    """Tells when epochs were committed, in microseconds since 1970, UTC."""

    def epoch_at(self, at: int) -> int:
        """The newest epoch committed at or before `at`; 0 if there is none."""

    def times_between(self, since: int, until: int) -> list[tuple[int, int]]:
        """The first epoch of each commit from `since` to `until`, in order, with its time."""


class Timeline:
    """`pulse` beats whenever a new epoch or definition can be read."""

    name = ""
    """The name of the branch that it is; empty for the service's own."""
    beginning = 0
    """The epoch with which it begins."""
    closing = False
    """Whether it is about to end, so that endless responses end."""

    def __init__(self, state: State, past: Lane, judging: Lane) -> None:
        """The lanes ask for times of epochs, and judge rows."""
        self.settings = state.settings
        self.metrics = state.metrics
        self.accounts = state.accounts
        self.pulse = Pulse()
        self._state = state
        self._past = past
        self._judging = judging
        self._readable = Readable(state.engine.snapshot, state.definitions.known)

    @property
    def _writer(self) -> Writer:
        """Who makes its changes."""
        raise NotImplementedError

    @property
    def _times(self) -> EpochTimes:
        return self._state.catalog

    def part(self, epoch: int | None = None, newest: int | None = None) -> Parting:
        """What a branch of it begins with: see `Parting.of`. Runs on the writer's thread."""
        return Parting.of(self._state, epoch, newest)

    def call(self, job: Callable[[], T]) -> T:
        """Calls a job on the writer's thread, in its turn. Blocks; any thread may ask."""
        return self._writer.call(job)

    # Reading: any thread.

    @property
    def readable(self) -> Readable:
        """The newest published state with its definitions. Whoever needs both takes it once."""
        return self._readable

    @property
    def snapshot(self) -> Snapshot:
        """The newest published state. It is immutable; its newest epoch is `snapshot.upper - 1`."""
        return self._readable.snapshot

    @property
    def dictionary(self) -> Dictionary:
        return self._state.engine.dictionary

    @property
    def newest_time(self) -> int:
        """When the newest epoch was committed, in microseconds since 1970, UTC; 0 before the first one."""
        return self._state.commits.newest_at

    def catalog(self) -> Mapping[str, Relation]:
        """Every table and view, as the planner takes them. Immutable; each DDL statement replaces it."""
        return self._readable.known.relations

    def definitions(self) -> Mapping[str, Definition]:
        """Every table and view with its id, SQL, plan and the epoch of its creation."""
        return self._readable.known.all

    def types(self) -> Mapping[str, Type]:
        """The named types. Immutable; each statement about types replaces it."""
        return self._state.types.all

    def vocabulary(self) -> Vocabulary:
        """The named types and the functions. The same object until one of them changes."""
        return self._state.vocabulary

    def schemas(self) -> Mapping[str, int]:
        """The numbers of the schemas by name. Immutable; each statement about schemas replaces it."""
        return self._state.definitions.schemas.all

    def schema_comments(self) -> Mapping[int, str]:
        """The comments on schemas by their numbers. Immutable, and replaced in the same way."""
        return self._state.definitions.schemas.comments

    def definition(self, name: str, *, view: bool | None = None) -> Definition:
        """The table or view called `name`: see `Readable.definition`."""
        return self._readable.definition(name, view=view)

    def failure(self, name: str) -> str | None:
        """Why the view has failed; None for a healthy one, and for a table."""
        definition = self.definition(name)
        if not definition.is_view:
            return None
        return definition.failure or self.snapshot.failure(name)

    def size(self, name: str) -> int:
        """The approximate row count of a table or a view."""
        return self._state.engine.rows(name)

    def observe(self, view: str) -> tuple[Observed, ...]:
        """What each operator of a view holds and has done, taken between two epochs. Blocks."""
        return self._writer.call(partial(self._state.engine.observe, view))

    def sharing(self, keys: Collection[Hashable]) -> Mapping[Hashable, tuple[str, ...]]:
        """Of these keys, those of running operators, each with the views that need it."""
        return self._state.engine.sharing(keys)

    @property
    def builds(self) -> Mapping[str, ViewBuild]:
        """The views that are being built."""
        return {}

    def must_lead(self) -> None:
        """Raises NotLeader in a standby, which makes no changes."""

    async def epoch_at(self, time: datetime) -> int:
        """The newest epoch committed at or before `time` (aware); 0 if there is none."""
        microseconds = (time - _1970) // timedelta(microseconds=1)
        found = await self._past.run(self._times.epoch_at, microseconds)
        return min(found, self._readable.newest)

    async def times_between(self, since: int, until: int) -> list[tuple[int, int]]:
        """The first epochs of the commits from `since` to `until`, in order, with their times in microseconds
        since 1970, UTC. Times of epochs that cannot be read any more may be missing."""
        return await self._past.run(self._times.times_between, since, until)

    async def asked_catalog(self, ask: Callable[[Connection], T]) -> T:
        """What a reader of the catalog's database says, beside the writer."""
        return await self._past.run(self._asked_catalog, ask)

    def _asked_catalog(self, ask: Callable[[Connection], T]) -> T:
        with self._state.catalog.connections.reading_aside() as connection:
            return ask(connection)

    # Changing rows: awaited; runs on the writer's thread in the order of the calls.

    async def apply(
        self, changes: Mapping[str, TableChanges], idempotency: Idempotency | None = None, size: int = 0
    ) -> Applied:
        """Applies changes, by table, as one epoch. Conflict, Invalid or NotFound: nothing was applied.

        `size` is about how many bytes they take, if that is known.
        """
        parts = self._parts(changes)
        if any(definition.details.rules.judges for definition, _ in parts):
            request = await self._judging.run(_checked, parts, idempotency, None, size)
        else:
            request = _checked(parts, idempotency, size=size)
        return self._followed(await self._apply(request))

    def _apply(self, request: Request) -> Awaitable[Applied]:
        """Makes a request that has been checked."""
        return self._writer.apply(request)

    def _request(self, changes: Mapping[str, TableChanges], receipt: Receipt) -> Request:
        """A request for the changes, checked against the current definitions of the tables."""
        return _checked(self._parts(changes), None, receipt)

    def _parts(self, changes: Mapping[str, TableChanges]) -> list[Part]:
        """The changes with the current definitions of their tables."""
        return [(self.definition(table, view=False), part) for table, part in changes.items()]

    def draft(self, work: Callable[[Transaction], T]) -> Drafted[T]:
        """Calls `work` over the newest state beside the writer; `settle` then makes its changes."""
        self.must_lead()
        return self._state.epochs.draft(self._readable, work)

    async def settle(self, draft: Drafted[T], receipt: Receipt | None = None) -> Applied | None:
        """Makes a draft's changes one epoch, with a receipt in its transaction; None if what it has read has
        changed since."""
        applied = await self._settle(draft, receipt)
        return None if applied is None else self._followed(applied)

    async def _settle(self, draft: Drafted[T], receipt: Receipt | None) -> Applied | None:
        return await self._writer.run(partial(self._state.epochs.settle, draft, receipt))

    async def transact(
        self, work: Callable[[Transaction], T], receipt: Receipt | None = None
    ) -> tuple[Applied, T]:
        """Calls `work` on the writer's thread. What it applies becomes one epoch; if it raises, nothing does.

        Work that applies nothing makes no epoch: `Applied` then has the newest epoch and 0 changes.
        """
        applied, result = await self._writer.run(partial(self._state.epochs.transact, work, receipt))
        return self._followed(applied), result

    def _followed(self, applied: Applied) -> Applied:
        """Notes in the journey of the current request, if it has one, what the writer did for it."""
        if self.metrics.commits is not None:
            exchange = current.get()
            if exchange is not None and exchange.journey is not None:
                exchange.journey.committed(applied.epoch, self.metrics.commits)
        return applied


def _checked(
    parts: Iterable[Part],
    idempotency: Idempotency | None,
    receipt: Receipt | None = None,
    size: int = 0,
) -> Request:
    """A request for changes, each checked against the definition of its table."""
    admitted = tuple([(definition, definition.admitted(part)) for definition, part in parts])
    return Request(admitted, idempotency, receipt, size)
