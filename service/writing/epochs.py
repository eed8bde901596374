"""Epochs: in which groups changes of tables are made, and at which epochs.

A group of requests is resolved against the newest state. Each request that can be made gets an epoch of its
own; one pass of the engine and one commit of the log make all of them. A request that cannot be made is
refused alone. If a commit fails for a group, its requests are tried one by one, so that only the cause fails.
What a view may use is for one epoch: a group for which a view needs more is divided, so that no view fails
because many requests came at once.

All of this runs on the writer's thread (`service/writing/writer.py`), except what says otherwise.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from engine.errors import PassTooLarge
from engine.runtime.engine import Engine, Snapshot
from engine.runtime.execution import BadRows, Declined, KeyTaken, Scanned
from engine.runtime.side_advance import Outdated, SideAdvance
from engine.runtime.side_files import SideFiles
from engine.state.watched_snapshot import WatchedSnapshot
from service.catalog.catalog import CommittedEpochs, Receipt
from service.changes.table_changes import Applied, Idempotency, differences
from service.clock import Clock
from service.definitions.definitions import Definitions
from service.definitions.readable import Readable
from service.errors import Invalid, ServiceError, Unavailable
from service.metrics import Metrics
from service.placement import Placement
from service.writing.commits import Commits, Deltas, Made
from service.writing.request import Load, Outcome, Request, replaced
from service.writing.resolver import Resolver
from service.writing.transaction import Transaction

T = TypeVar("T")

_log = logging.getLogger("freshet.epochs")
_PARTS = 32
"""Into so many parts a group is divided that is too much for one pass."""


@dataclass(frozen=True, eq=False)
class Drafted(Generic[T]):
    """A transaction whose work is done and whose changes are not made, what it has read, and the result."""

    snapshot: WatchedSnapshot
    transaction: Transaction
    result: T


class Epochs:
    def __init__(
        self,
        engine: Engine,
        definitions: Definitions,
        commits: Commits,
        metrics: Metrics,
        clock: Clock,
        placement: Placement | None = None,
    ) -> None:
        self._engine = engine
        self._definitions = definitions
        self._commits = commits
        self._metrics = metrics
        self._clock = clock
        self._placement = placement
        self._resolver = Resolver(engine, definitions)

    # Groups of requests

    def commit(self, requests: Sequence[Request]) -> list[Outcome]:
        """The outcome of each request, in order: its epoch, or the error that refused it."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(requests):
            rest = requests[len(outcomes) :]
            group = rest[: self._together(rest)]
            try:
                outcomes += self._commit_with_keys(group) if group else [self._commit_alone(rest[0])]
            except Exception as error:  # what was committed before it stands
                outcomes += [error] * max(len(group), 1)
        return outcomes

    def _together(self, requests: Sequence[Request]) -> int:
        """How many of the first requests can be committed as one group; 0 if the first goes alone.

        A request goes alone if other rows follow its changes. One with the key of an earlier request waits
        until that one has been answered.
        """
        seen: set[str] = set()
        for place, request in enumerate(requests):
            key = None if request.idempotency is None else request.idempotency.key
            if key in seen or self._resolver.is_followed(request):
                return place
            if key is not None:
                seen.add(key)
        return len(requests)

    def _commit_with_keys(self, requests: Sequence[Request]) -> list[Outcome]:
        """Commits a group. Requests whose keys were answered before get their first answers again."""
        answers = self._commits.answers([it.idempotency for it in requests if it.idempotency is not None])
        repeats = {
            place: _again(answers[request.idempotency.key], request)
            for place, request in enumerate(requests)
            if request.idempotency is not None and request.idempotency.key in answers
        }
        fresh = iter(
            self._commit([request for place, request in enumerate(requests) if place not in repeats])
        )
        return [repeats[place] if place in repeats else next(fresh) for place in range(len(requests))]

    def _commit(self, requests: Sequence[Request]) -> list[Outcome]:
        started = time.perf_counter()
        resolution = self._resolver.group(requests)
        self._metrics.resolve_seconds.observe(time.perf_counter() - started)
        alive, refused = resolution.alive, resolution.refused
        for error in refused.values():
            self._refused(error)
        first = self._engine.snapshot.upper
        epochs = first - 1 + np.cumsum(alive)
        accepted = int(alive.sum())
        outcomes: list[Outcome] = [
            refused[i] if i in refused else _applied(int(epochs[i]), request, resolution.late_of(i))
            for i, request in enumerate(requests)
        ]
        if not accepted:
            return outcomes
        deltas = {
            table: net.delta(epochs[net.request]) for table, net in resolution.nets.items() if len(net.diffs)
        }
        made = Made.of(
            (outcome, request.idempotency, request.receipt)
            for request, outcome in zip(requests, outcomes, strict=True)
            if isinstance(outcome, Applied)
        )
        try:
            self._commits.install(deltas, first, first + accepted - 1, made, started)
        except PassTooLarge as error:
            _log.info("a group of %d requests is divided: %s", accepted, error)
            return self._commit_parts(requests, -(-len(requests) // _PARTS))
        except Unavailable as error:
            return [error if alive[i] else outcomes[i] for i in range(len(requests))]
        except Exception as error:
            if accepted == 1:
                return [error if alive[i] else outcomes[i] for i in range(len(requests))]
            _log.warning("a group of %d requests failed; taking them one by one", accepted, exc_info=True)
            return self._commit_parts(requests, 1)
        self.note_late({table: part.words for table, part in resolution.late.items()})
        return outcomes

    def _commit_parts(self, requests: Sequence[Request], size: int) -> list[Outcome]:
        parts = (requests[start : start + size] for start in range(0, len(requests), size))
        return [outcome for part in parts for outcome in self._commit(part)]

    def _commit_alone(self, request: Request) -> Outcome:
        """Commits, as a transaction, a request whose changes other rows follow."""
        known = self._answered(request) or self._resolver.changed(request)
        if known is not None:
            return known
        snapshot = self._engine.snapshot
        transaction = Transaction(snapshot, self._definitions.known, self._engine.dictionary)
        try:
            transaction.apply({definition.name: part for definition, part in request.parts})
            transaction.check_references()
            applied = _applied(snapshot.upper, request, transaction.late_rows)
            made = Made.of([(applied, request.idempotency, request.receipt)])
            self._commits.install(pending(transaction, applied.epoch), applied.epoch, applied.epoch, made)
        except Exception as failure:
            if isinstance(failure, ServiceError):
                self._refused(failure)
            return failure
        self.note_late(transaction.late)
        return applied

    def _answered(self, request: Request) -> Outcome | None:
        """The outcome of a request that was answered before."""
        key = request.idempotency
        return None if key is None else self._commits.answers([key]).get(key.key)

    def note_late(self, late: Mapping[str, np.ndarray]) -> None:
        """Report rows int64[W, n], by table, that were left out because they came too late."""
        for table, words in late.items():
            self._metrics.late.add(words.shape[1])
            schema = self._definitions.all[table].schema
            self._metrics.late_rows.add(table, schema, words, self._engine.dictionary)

    def _refused(self, error: ServiceError) -> None:
        self._metrics.refused.add(1, error.code)

    # Transactions

    def transact(self, work: Callable[[Transaction], T], receipt: Receipt | None = None) -> tuple[Applied, T]:
        """Calls `work` and makes the changes that it applies one epoch, with a receipt in its transaction;
        none if there are no changes."""
        draft = self.draft(Readable(self._engine.snapshot, self._definitions.known), work)
        return self._make(draft.transaction, receipt), draft.result

    def draft(self, readable: Readable, work: Callable[[Transaction], T]) -> Drafted[T]:
        """Calls `work`, on any thread, and keeps what it would change for `settle`."""
        snapshot = WatchedSnapshot(readable.snapshot)
        transaction = Transaction(snapshot, readable.known, self._engine.dictionary)
        result = work(transaction)
        if transaction.changes:
            transaction.check_references()
        return Drafted(snapshot, transaction, result)

    def settle(self, draft: Drafted[T], receipt: Receipt | None = None) -> Applied | None:
        """Makes the changes of a draft one epoch, with a receipt in its transaction; None if what the work
        has read has changed meanwhile."""
        return self._make(draft.transaction, receipt) if self.is_current(draft) else None

    def is_current(self, draft: Drafted[T]) -> bool:
        """Whether a draft that changes something would be the same over the newest state."""
        transaction = draft.transaction
        if not transaction.changes:
            return True
        is_known = transaction.known is self._definitions.known
        return is_known and draft.snapshot.is_still_so(self._engine.snapshot)

    def _make(self, transaction: Transaction, receipt: Receipt | None = None) -> Applied:
        """Makes the changes of a transaction one epoch."""
        if not transaction.changes:
            self.note_late(transaction.late)
            return Applied(transaction.snapshot.upper - 1, 0, transaction.late_rows)
        epoch = self._engine.snapshot.upper
        applied = Applied(epoch, transaction.changes, transaction.late_rows)
        self._commits.install(pending(transaction, epoch), epoch, epoch, Made.of([(applied, None, receipt)]))
        self.note_late(transaction.late)
        return applied

    # Epochs of the clock

    def patience(self) -> float | None:
        """Seconds until an epoch is due by the clock alone; 0 if one is due now, None if none will be."""
        return self._clock.patience()

    def tick(self) -> None:
        """Makes an epoch that is due."""
        self._clock.tried()
        self._make_time_pass()

    def be_on_time(self) -> None:
        """Makes an epoch of the time alone if views read it, so that the next one may do without."""
        if self._clock.is_running:
            self._make_time_pass()

    def _make_time_pass(self) -> None:
        epoch = self._engine.snapshot.upper
        self._commits.install({}, epoch, epoch, Made(0))

    # Loads

    def check_load(self, load: Load) -> None:
        """Raises Conflict if the table is another by now, Declined if only the process can check it."""
        definition = load.definition
        if self._resolver.is_replaced(definition):
            raise replaced(definition)
        if definition.details.rules.judges:
            raise Declined(f"table {definition.name} has constraints, which only the process can check")

    def load(self, load: Load) -> tuple[Applied, Scanned]:
        """Makes the rows of a scan one epoch. Returns what was read; on an error nothing is changed.

        Raises Conflict if a key exists, Invalid if a row is bad, Declined if Spark cannot compute one of the
        table's views.
        """
        if self._placement is None:
            raise Unavailable("the service runs without Spark", code="spark_unavailable")
        self.check_load(load)
        self._commits.settle_doubt()
        started = time.perf_counter()
        epoch = self._engine.snapshot.upper
        at = self._clock.now()
        try:
            executor = self._placement.for_scan(load.tag)
            timed = self._clock.with_time({}, epoch, at)
            stage = self._engine.stage(timed, epoch + 1, executor, {load.definition.name: load.scan})
        except (KeyTaken, BadRows) as error:
            raise self.refusal(load, error) from error
        applied = Applied(epoch, stage.scanned.rows)
        made = Made.of([(applied, None, load.receipt and load.receipt(stage.scanned))])
        self._commits.finish(stage, {}, CommittedEpochs(epoch, epoch, at), made, started)
        return applied, stage.scanned

    def refusal(self, load: Load, error: KeyTaken | BadRows) -> ServiceError:
        """The error of a load with a row that does not fit its table, or has the key of another."""
        if isinstance(error, BadRows):
            return Invalid(error.message, error.hint, code="bad_rows")
        return self._resolver.key_taken(load.definition, error.key)

    # Large epochs: `service/writing/large_epochs.py`

    def begin(self, request: Request) -> Applied | None:
        """Checks that a request can be made aside. Returns the answer if it was made before."""
        error = self._resolver.changed(request)
        if error is not None:
            raise error
        if not self.stands_alone(request):
            raise Outdated("the table has got a constraint that other rows have to be asked for")
        outcome = self._answered(request)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def stands_alone(self, request: Request) -> bool:
        """Whether no constraint compares the request's rows with others. Any thread may ask."""
        return self._resolver.stands_alone(request)

    def net(self, request: Request, snapshot: Snapshot) -> Deltas:
        """The deltas of a request that stands alone, at epoch `snapshot.upper`. Raises Conflict. Any thread
        may call it."""
        try:
            nets = self._resolver.alone(request, snapshot)
        except ServiceError as error:
            self._refused(error)
            raise
        return {table: net.delta(snapshot.upper) for table, net in nets.items()}

    @property
    def next_alone(self) -> int:
        """The epoch of a change that is made next, after that of the time if views read it."""
        return self._engine.snapshot.upper + self._clock.is_running

    def join(
        self,
        aside: SideAdvance,
        files: SideFiles,
        changes: int,
        idempotency: Idempotency | None = None,
        receipt: Receipt | None = None,
    ) -> Applied:
        """Makes a side advance the epoch `files.epoch`, and those before it epochs without changes.

        Call it after `be_on_time`. Raises what `Engine.join` raises; nothing is then changed.
        """
        self._commits.settle_doubt()
        started = time.perf_counter()
        at = self._clock.newest if self._clock.is_running else self._clock.now()
        commit = CommittedEpochs(self._engine.snapshot.upper, files.epoch, at)
        applied = Applied(commit.last, changes)
        stage = self._engine.join(aside, files)
        self._commits.finish(stage, {}, commit, Made.of([(applied, idempotency, receipt)]), started)
        return applied


def pending(transaction: Transaction, epoch: int) -> Deltas:
    """The changes of a transaction as differences of an epoch."""
    return {
        table: differences(words, epoch, counts)
        for table, (words, counts) in transaction.pending.items()
        if len(counts)
    }


def _applied(epoch: int, request: Request, late: int) -> Applied:
    return Applied(epoch, request.changes - late, late)


def _again(answer: Outcome, request: Request) -> Outcome:
    """The first answer to a request: what it did not change was late."""
    if not isinstance(answer, Applied):
        return answer
    return answer._replace(late=request.changes - answer.changes)
