"""Epochs: how changes of tables become durable and visible.

A group of requests is resolved against the newest state. Each request that can be made gets an epoch of its
own. One pass of the engine computes the effect on every view; one commit of the log makes the epochs durable;
publishing makes them visible. A request that cannot be made is refused alone. If the engine fails on a group,
its requests are tried one by one, so that only the cause fails. What a view may use is for one epoch: a group
for which a view needs more is divided, so that no view fails because many requests came at once.

All of this runs on the writer's thread (`service/writing/writer.py`). If a commit fails, the service asks the
log for it, because a database may have kept what it could not confirm. As long as the log cannot answer, or
holds an epoch that was not published, no more changes are accepted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from engine.errors import PassTooLarge
from engine.runtime.branch import Branch, Outdated
from engine.runtime.branch_files import BranchFiles
from engine.runtime.engine import Engine, Snapshot, Stage
from engine.runtime.execution import BadRows, Declined, KeyTaken, RowScan, Scanned
from engine.state.watched_snapshot import WatchedSnapshot
from service.catalog.catalog import Catalog, CommittedEpochs, Receipt
from service.catalog.manifests import Saved
from service.changes.constraints import Broken
from service.changes.payload import encode_payload
from service.changes.resolve import Net, TableBatch, conflict_of, key_conflict, named_key
from service.changes.table_changes import Applied, ChangeOp, Idempotency, TableChanges
from service.clock import Clock
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.readable import Readable
from service.errors import Conflict, Invalid, ServiceError, Unavailable
from service.metrics import Metrics
from service.placement import Placement
from service.writing.transaction import Transaction

T = TypeVar("T")
Outcome = Applied | Exception
Deltas = dict[str, np.ndarray]

_log = logging.getLogger("freshet.epochs")
_REASON = "see the service's log for the reason"
_PARTS = 32
"""Into so many parts a group is divided that is too much for one pass."""


@dataclass(frozen=True, eq=False)
class Request:
    """Checked changes of tables, with the definitions they were checked against; one epoch or none.

    The `receipt` is written in the transaction of the epoch's commit.
    """

    parts: tuple[tuple[Definition, TableChanges], ...]
    idempotency: Idempotency | None = None
    receipt: Receipt | None = None

    @property
    def changes(self) -> int:
        return sum(len(changes) for _, changes in self.parts)


@dataclass(frozen=True, eq=False)
class Load:
    """Rows that Spark reads into a table, as one epoch. `definition` is the one that was checked; `tag`
    names the load for cancellation.

    The `receipt`, for the rows that were read, is written in the transaction of the epoch's commit.
    """

    definition: Definition
    scan: RowScan
    tag: str
    receipt: Callable[[Scanned], Receipt] | None = None


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
        catalog: Catalog,
        definitions: Definitions,
        metrics: Metrics,
        clock: Clock,
        placement: Placement | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._placement = placement
        self._catalog = catalog
        self._definitions = definitions
        self._metrics = metrics
        self._doubt: int | None = None
        self.log_bytes = 0
        """Bytes of the log since the last checkpoint."""
        self.log_commits = 0
        """Commits of the log since the last checkpoint."""

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

        A request goes alone if other rows follow its deletions. One with the key of an earlier request waits
        until that one has been answered.
        """
        seen: set[str] = set()
        for place, request in enumerate(requests):
            key = None if request.idempotency is None else request.idempotency.key
            if key in seen or self._is_followed(request):
                return place
            if key is not None:
                seen.add(key)
        return len(requests)

    def transact(self, work: Callable[[Transaction], T]) -> tuple[Applied, T]:
        """Calls `work` and makes the changes that it applies one epoch; none if there are no changes."""
        draft = self.draft(Readable(self._engine.snapshot, self._definitions.known), work)
        return self._make(draft.transaction), draft.result

    def draft(self, readable: Readable, work: Callable[[Transaction], T]) -> Drafted[T]:
        """Calls `work`, on any thread, and keeps what it would change for `settle`."""
        snapshot = WatchedSnapshot(readable.snapshot)
        transaction = Transaction(snapshot, readable.known, self._engine.dictionary)
        result = work(transaction)
        if transaction.changes:
            transaction.check_references()
        return Drafted(snapshot, transaction, result)

    def settle(self, draft: Drafted[T]) -> Applied | None:
        """Makes the changes of a draft one epoch; None if what the work has read has changed meanwhile."""
        transaction = draft.transaction
        if transaction.changes:
            is_known = transaction.known is self._definitions.known
            if not is_known or not draft.snapshot.is_still_so(self._engine.snapshot):
                return None
        return self._make(transaction)

    def _make(self, transaction: Transaction) -> Applied:
        """Makes the changes of a transaction one epoch."""
        if not transaction.changes:
            return Applied(transaction.snapshot.upper - 1, 0)
        epoch = self._engine.snapshot.upper
        self._install(_pending(transaction, epoch), epoch, epoch, transaction.changes)
        return Applied(epoch, transaction.changes)

    def patience(self) -> float | None:
        """Seconds until an epoch is due by the clock alone; 0 if one is due now, None if none will be."""
        return self._clock.patience()

    def tick(self) -> None:
        """Makes an epoch that is due."""
        self._clock.tried()
        epoch = self._engine.snapshot.upper
        self._install({}, epoch, epoch, 0)

    def load(self, load: Load) -> tuple[Applied, Scanned]:
        """Makes the rows of a scan one epoch. Returns what was read; on an error nothing is changed.

        Raises Conflict if a key exists, Invalid if a row is bad, Declined if Spark cannot compute one of the
        table's views.
        """
        if self._placement is None:
            raise Unavailable("the service runs without Spark", code="spark_unavailable")
        definition = load.definition
        self.check_load(load)
        self._settle_doubt()
        started = time.perf_counter()
        epoch = self._engine.snapshot.upper
        at = self._clock.now()
        try:
            executor = self._placement.for_scan(load.tag)
            timed = self._clock.with_time({}, epoch, at)
            stage = self._engine.stage(timed, epoch + 1, executor, {definition.name: load.scan})
        except KeyTaken as error:
            raise self.key_taken(definition, error) from error
        except BadRows as error:
            raise bad_rows(error) from error
        applied = Applied(epoch, stage.scanned.rows)
        receipts = [] if load.receipt is None else [(load.receipt(stage.scanned), applied)]
        self._finish(stage, {}, CommittedEpochs(epoch, epoch, at), applied.changes, (), receipts, started)
        return applied, stage.scanned

    # Large epochs: `service/writing/large_epochs.py`

    def begin(self, request: Request) -> Applied | None:
        """Checks that a request can be made on a branch. Returns the answer if it was made before."""
        error = self._changed(request)
        if error is not None:
            raise error
        if not self.stands_alone(request):
            raise Outdated("the table has got a constraint that other rows have to be asked for")
        idempotency = request.idempotency
        answered = {} if idempotency is None else self._catalog.answered([idempotency.key])
        if idempotency is None or idempotency.key not in answered:
            return None
        outcome = _repeat(idempotency, *answered[idempotency.key])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def check_load(self, load: Load) -> None:
        """Raises Conflict if the table is another by now, Declined if only the process can check it."""
        definition = load.definition
        if self._is_replaced(definition):
            raise replaced(definition)
        if definition.details.rules.judges:
            raise Declined(f"table {definition.name} has constraints, which only the process can check")

    def stands_alone(self, request: Request) -> bool:
        """Whether no constraint compares the request's rows with others."""
        return not self._definitions.known.bonds.of(definition.name for definition, _ in request.parts)

    def net(self, request: Request, snapshot: Snapshot) -> Deltas:
        """The deltas of a request that stands alone, at epoch `snapshot.upper`. Raises Conflict. Any thread
        may call it."""
        alive = np.ones(1, np.bool_)
        batches = {
            definition.name: self._batch(definition, snapshot, [(0, part)])
            for definition, part in request.parts
            if len(part)
        }
        found = ((batch.conflict(alive), table) for table, batch in batches.items())
        conflicts = [(conflict[1:], table) for conflict, table in found if conflict is not None]
        if conflicts:
            (at, op), table = min(conflicts)
            error = conflict_of(table, op, at, self._named(table, batches[table].row(at)))
            self._metrics.refused.add(1, (("code", error.code),))
            raise error
        nets = {table: batch.net(alive) for table, batch in batches.items()}
        return {
            table: _delta(net.words, np.full(len(net.diffs), snapshot.upper), net.diffs)
            for table, net in nets.items()
        }

    @property
    def next_alone(self) -> int:
        """The epoch of a change that is made next, after that of the time if views read it."""
        return self._engine.snapshot.upper + self._clock.is_running

    def be_on_time(self) -> None:
        """Makes an epoch of the time alone if views read it, so that the next one may do without."""
        if self._clock.is_running:
            epoch = self._engine.snapshot.upper
            self._install({}, epoch, epoch, 0)

    def join(
        self,
        branch: Branch,
        files: BranchFiles,
        changes: int,
        idempotency: Idempotency | None,
        receipts: Sequence[Receipt],
    ) -> Applied:
        """Makes a branch the epoch `files.epoch`, and those before it epochs without changes.

        Call it after `be_on_time`. Raises what `Engine.join` raises; nothing is then changed.
        """
        self._settle_doubt()
        started = time.perf_counter()
        at = self._clock.newest if self._clock.is_running else self._clock.now()
        commit = CommittedEpochs(self._engine.snapshot.upper, files.epoch, at)
        applied = Applied(commit.last, changes)
        stage = self._engine.join(branch, files)
        keys = [] if idempotency is None else [(idempotency, applied)]
        self._finish(stage, {}, commit, changes, keys, [(it, applied) for it in receipts], started)
        return applied

    def key_taken(self, definition: Definition, error: KeyTaken) -> Conflict:
        """The error of a load for a key that another row has."""
        key = np.array(error.key, np.int64)
        return key_conflict(definition.name, definition.key_schema, key, self._engine.dictionary)

    def _commit_with_keys(self, requests: Sequence[Request]) -> list[Outcome]:
        """Commits a group. Requests whose keys were answered before get their first answers again."""
        keys = [request.idempotency.key for request in requests if request.idempotency is not None]
        answered = self._catalog.answered(keys) if keys else {}
        repeats = {
            place: _repeat(request.idempotency, *answered[request.idempotency.key])
            for place, request in enumerate(requests)
            if request.idempotency is not None and request.idempotency.key in answered
        }
        fresh = iter(
            self._commit([request for place, request in enumerate(requests) if place not in repeats])
        )
        return [repeats[place] if place in repeats else next(fresh) for place in range(len(requests))]

    def _commit(self, requests: Sequence[Request]) -> list[Outcome]:
        started = time.perf_counter()
        alive, refused, nets = self._resolve(requests)
        self._metrics.resolve_seconds.observe(time.perf_counter() - started)
        for error in refused.values():
            self._metrics.refused.add(1, (("code", error.code),))
        first = self._engine.snapshot.upper
        epochs = first - 1 + np.cumsum(alive)
        accepted = int(alive.sum())
        outcomes: list[Outcome] = [
            refused[i] if i in refused else Applied(int(epochs[i]), request.changes)
            for i, request in enumerate(requests)
        ]
        if not accepted:
            return outcomes
        deltas = {t: _delta(n.words, epochs[n.request], n.diffs) for t, n in nets.items() if len(n.diffs)}
        applied = [(r, o) for r, o in zip(requests, outcomes, strict=True) if isinstance(o, Applied)]
        keys = [(r.idempotency, o) for r, o in applied if r.idempotency is not None]
        receipts = [(r.receipt, o) for r, o in applied if r.receipt is not None]
        changes = sum(o.changes for _, o in applied)
        try:
            self._install(deltas, first, first + accepted - 1, changes, keys, receipts)
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
        return outcomes

    def _commit_parts(self, requests: Sequence[Request], size: int) -> list[Outcome]:
        parts = (requests[start : start + size] for start in range(0, len(requests), size))
        return [outcome for part in parts for outcome in self._commit(part)]

    def _resolve(
        self, requests: Sequence[Request]
    ) -> tuple[np.ndarray, dict[int, ServiceError], dict[str, Net]]:
        """Which requests can be made, the errors of the others, and the net effect of the former by table."""
        alive = np.ones(len(requests), np.bool_)
        refused: dict[int, ServiceError] = {}
        parts: dict[str, list[tuple[int, TableChanges]]] = {}
        for place, request in enumerate(requests):
            error = self._changed(request)
            if error is not None:
                refused[place] = error
                alive[place] = False
                continue
            for definition, changes in request.parts:
                if len(changes):
                    parts.setdefault(definition.name, []).append((place, changes))
        known, snapshot = self._definitions.known, self._engine.snapshot
        batches = {table: self._batch(known.all[table], snapshot, named) for table, named in parts.items()}
        bonded = bool(known.bonds.of(batches))
        while True:
            conflicts = [
                (*found, table)
                for table, batch in batches.items()
                if (found := batch.conflict(alive)) is not None
            ]
            place, at, op, table = min(conflicts, default=(len(requests), 0, ChangeOp.INSERT, ""))
            if bonded:
                # A later request may conflict only because of an earlier one that is now refused.
                sure = alive & (np.arange(len(requests)) < place)
                broken = self._broken({table: batch.net(sure) for table, batch in batches.items()})
                if broken is not None:
                    refused[broken.request] = broken.error
                    alive[broken.request] = False
                    continue
            if not conflicts:
                return alive, refused, {table: batch.net(alive) for table, batch in batches.items()}
            start = sum(len(changes) for other, changes in parts[table] if other < place)
            refused[place] = conflict_of(table, op, at - start, self._named(table, batches[table].row(at)))
            alive[place] = False

    def _named(self, table: str, row: np.ndarray) -> str:
        relation = self._definitions.all[table].relation
        return named_key(relation.schema, relation.key, row, self._engine.dictionary)

    def _broken(self, nets: Mapping[str, Net]) -> Broken | None:
        snapshot, dictionary = self._engine.snapshot, self._engine.dictionary
        return self._definitions.known.bonds.broken(nets, snapshot, dictionary)

    def _is_followed(self, request: Request) -> bool:
        """Whether a foreign key makes other rows follow the request's deletions."""
        actions = self._definitions.known.bonds.actions
        return any(part.removes.any() and actions(definition.name) for definition, part in request.parts)

    def _commit_alone(self, request: Request) -> Outcome:
        """Commits, as a transaction, a request whose deletions other rows follow."""
        idempotency = request.idempotency
        if idempotency is not None:
            answered = self._catalog.answered([idempotency.key])
            if idempotency.key in answered:
                return _repeat(idempotency, *answered[idempotency.key])
        error = self._changed(request)
        if error is not None:
            return error
        snapshot = self._engine.snapshot
        transaction = Transaction(snapshot, self._definitions.known, self._engine.dictionary)
        applied = Applied(snapshot.upper, request.changes)
        keys = [] if idempotency is None else [(idempotency, applied)]
        receipts = [] if request.receipt is None else [(request.receipt, applied)]
        try:
            transaction.apply({definition.name: part for definition, part in request.parts})
            transaction.check_references()
            deltas = _pending(transaction, applied.epoch)
            self._install(deltas, applied.epoch, applied.epoch, applied.changes, keys, receipts)
        except Exception as failure:
            if isinstance(failure, ServiceError):
                self._metrics.refused.add(1, (("code", failure.code),))
            return failure
        return applied

    def _changed(self, request: Request) -> ServiceError | None:
        """The error if a table is no longer the one that the request was made for."""
        for definition, _ in request.parts:
            if self._is_replaced(definition):
                return replaced(definition)
        return None

    def _is_replaced(self, definition: Definition) -> bool:
        now = self._definitions.all.get(definition.name)
        return now is None or now.filling is not definition.filling or now.id != definition.id

    def _batch(
        self, definition: Definition, snapshot: Snapshot, parts: list[tuple[int, TableChanges]]
    ) -> TableBatch:
        table, key = definition.name, definition.relation.key
        request = np.repeat([place for place, _ in parts], [len(changes) for _, changes in parts])
        changes = TableChanges.concat([changes for _, changes in parts])
        return TableBatch(changes, request, key, lambda keys: snapshot.lookup(table, keys))

    def _install(
        self,
        deltas: Deltas,
        first: int,
        last: int,
        changes: int,
        keys: Sequence[tuple[Idempotency, Applied]] = (),
        receipts: Sequence[tuple[Receipt, Applied]] = (),
    ) -> None:
        """Stages, logs and publishes epochs `first` to `last`, or raises and leaves everything as it was.

        Raises PassTooLarge if the epochs are too many for one pass.
        """
        self._settle_doubt()
        started = time.perf_counter()
        commit = CommittedEpochs(first, last, self._clock.now())
        stage = self._stage(self._clock.with_time(deltas, first, commit.at), last + 1, first == last)
        self._finish(stage, deltas, commit, changes, keys, receipts, started)

    def _stage(self, deltas: Mapping[str, np.ndarray], upper: int, gives_up: bool) -> Stage:
        placement = self._placement
        if placement is None:
            return self._engine.stage(deltas, upper, gives_up=gives_up)
        rows = sum(delta.shape[1] for delta in deltas.values())
        stage = self._engine.stage(deltas, upper, placement.executor(rows), gives_up=gives_up)
        if stage.declined:
            placement.declined(stage.declined)
        return stage

    def _finish(
        self,
        stage: Stage,
        deltas: Mapping[str, np.ndarray],
        commit: CommittedEpochs,
        changes: int,
        keys: Sequence[tuple[Idempotency, Applied]],
        receipts: Sequence[tuple[Receipt, Applied]],
        started: float,
    ) -> None:
        """Logs and publishes a stage: its changes, or its manifest if its state is all in files."""
        times = [started, time.perf_counter()]
        payload = b""
        try:
            if stage.manifest is None:
                payload = self._payload(deltas)
                self._confirmed(commit, lambda: self._catalog.append(commit, payload, keys, receipts))
            else:
                saved = Saved(stage.manifest, self._definitions.known.newest)
                publish = self._catalog.publish
                self._confirmed(commit, lambda: publish(saved, 0, 0, commit, keys, receipts))
        except BaseException:
            stage.abort()
            raise
        times.append(time.perf_counter())
        self._publish(stage, commit)
        times.append(time.perf_counter())
        self._definitions.set_aside |= stage.over_budget
        for view, reason in stage.failed.items():
            if view in stage.over_budget:
                _log.warning("view %s is built again beside the writer: %s", view, reason)
            else:
                _log.error("view %s has failed: %s", view, reason)
        metrics = self._metrics
        metrics.stage_seconds.observe(times[1] - times[0])
        metrics.commit_seconds.observe(times[2] - times[1])
        metrics.publish_seconds.observe(times[3] - times[2])
        metrics.group.observe(commit.last - commit.first + 1)
        metrics.epochs.add(commit.last - commit.first + 1)
        metrics.changes.add(changes)
        metrics.log_bytes.add(len(payload))
        if stage.manifest is None:
            self.log_bytes += len(payload)
            self.log_commits += 1
        else:
            self.log_bytes = self.log_commits = 0

    def _payload(self, deltas: Mapping[str, np.ndarray]) -> bytes:
        definitions = self._definitions.all
        parts = {definitions[t].logged: (definitions[t].schema, delta) for t, delta in deltas.items()}
        return encode_payload(parts, self._engine.dictionary)

    def _publish(self, stage: Stage, commit: CommittedEpochs) -> None:
        try:
            stage.publish()
        except BaseException:
            self._doubt = commit.last
            raise
        self._clock.showed(commit.at)

    def _confirmed(self, commit: CommittedEpochs, write: Callable[[], object]) -> None:
        """Writes the commit. If the database does not confirm it, asks whether the log has it."""
        try:
            write()
        except IntegrityError as error:
            self._doubt = commit.last
            raise Unavailable(
                f"the log has an epoch {commit.last} of another process",
                "let only one service use a database",
                code="log_unavailable",
            ) from error
        except SQLAlchemyError as error:
            _log.exception("the log did not confirm epochs %d to %d", commit.first, commit.last)
            self._doubt = commit.last
            if not self._is_logged(commit.last):
                self._doubt = None
                raise Unavailable("the log cannot be written", _REASON, code="log_unavailable") from error
            self._doubt = None

    def _is_logged(self, epoch: int) -> bool:
        """Whether the log holds the epoch. Raises Unavailable if the log cannot be reached."""
        try:
            newest = self._catalog.newest()
        except SQLAlchemyError as error:
            _log.warning("the log cannot be reached: %s", error)
            raise Unavailable("the log cannot be reached", _REASON, code="log_unavailable") from error
        return newest is not None and newest.last >= epoch

    def _settle_doubt(self) -> None:
        """Raises Unavailable unless it is certain that the log has no commit that was not published."""
        if self._doubt is not None:
            if self._is_logged(self._doubt):
                raise Unavailable(
                    f"the log holds epoch {self._doubt}, which was not published",
                    "restart the service",
                    code="log_unavailable",
                )
            self._doubt = None

    def resume(self, newest: CommittedEpochs | None, log_bytes: int, log_commits: int) -> None:
        """Continues after the log's newest epoch."""
        self._clock.resume(0 if newest is None else newest.at)
        self.log_bytes = log_bytes
        self.log_commits = log_commits


def bad_rows(error: BadRows) -> Invalid:
    """The error of a load with a row that does not fit its table."""
    return Invalid(error.message, error.hint, code="bad_rows")


def replaced(definition: Definition) -> Conflict:
    """The error for changes of a table that is no longer the one they were made for."""
    return Conflict(
        f"table {definition.name} has been dropped, altered or created again", code="table_changed"
    )


def _pending(transaction: Transaction, epoch: int) -> Deltas:
    """The changes of a transaction as differences of an epoch."""
    return {
        table: _delta(words, np.full(len(counts), epoch, np.int64), counts)
        for table, (words, counts) in transaction.pending.items()
        if len(counts)
    }


def _delta(words: np.ndarray, epochs: np.ndarray, diffs: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.vstack((words, epochs, diffs)))


def _repeat(idempotency: Idempotency, digest: bytes, applied: Applied) -> Outcome:
    """The first answer again if the request is the same; an error otherwise."""
    if digest != idempotency.digest:
        return Invalid(
            f"Idempotency-Key {idempotency.key!r} was used with another request",
            code="idempotency_key_reused",
        )
    return applied
