"""Commits: how epochs that are decided become durable and visible, in this order.

  stage    the engine computes their effect on every view
  log      one transaction of the database takes their changes, answers and receipts
  publish  readers see them

A commit that fails leaves everything as it was. If the database does not confirm one, the log is asked for
it, because a database may have kept what it could not confirm. As long as the log cannot answer, or holds an
epoch that was not published, no more is accepted. All of this runs on the writer's thread.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from engine.runtime.engine import Engine, Snapshot, Stage
from service.catalog.branch_log import BranchLog
from service.catalog.catalog import Catalog, CommittedEpochs, Receipt
from service.catalog.manifests import Saved
from service.changes.payload import encode_payload
from service.changes.table_changes import Applied, Idempotency
from service.clock import Clock
from service.definitions.assertions import check_stage
from service.definitions.definitions import Definitions
from service.errors import Invalid, NotLeader, Unavailable
from service.metrics import Metrics
from service.placement import Placement
from service.telemetry.journey import CommitRecord
from service.writing.request import Outcome

Deltas = dict[str, np.ndarray]

_log = logging.getLogger("freshet.commits")
_REASON = "see the service's log for the reason"


@dataclass(frozen=True, eq=False)
class Made:
    """What a commit makes of requests: the number of their changes, and what its transaction keeps."""

    changes: int
    keys: tuple[tuple[Idempotency, Applied], ...] = ()
    receipts: tuple[tuple[Receipt, Applied], ...] = ()

    @classmethod
    def of(cls, requests: Iterable[tuple[Applied, Idempotency | None, Receipt | None]]) -> Made:
        made = tuple(requests)
        return cls(
            sum(applied.changes for applied, _, _ in made),
            tuple((key, applied) for applied, key, _ in made if key is not None),
            tuple((receipt, applied) for applied, _, receipt in made if receipt is not None),
        )


class Commits:
    def __init__(
        self,
        engine: Engine,
        catalog: Catalog | BranchLog,
        definitions: Definitions,
        metrics: Metrics,
        clock: Clock,
        placement: Placement | None = None,
    ) -> None:
        """`catalog` has the log; only with a `placement` it has to take manifests too."""
        self._engine = engine
        self._catalog = catalog
        self._definitions = definitions
        self._metrics = metrics
        self._clock = clock
        self._placement = placement
        self._doubt: int | None = None
        self.log_bytes = 0
        """Bytes of the log since the last checkpoint."""
        self.log_commits = 0
        """Commits of the log since the last checkpoint."""
        self.newest_at = 0
        """When the newest epoch was committed, in microseconds since 1970, UTC; 0 before the first one."""

    def resume(self, newest: CommittedEpochs | None, log_bytes: int, log_commits: int) -> None:
        """Continues after the log's newest epoch."""
        self.newest_at = 0 if newest is None else newest.at
        self._clock.resume(self.newest_at)
        self.log_bytes = log_bytes
        self.log_commits = log_commits

    def answers(self, keys: Sequence[Idempotency]) -> dict[str, Outcome]:
        """By key, for those that were used before: the first answer again, or an error if the request is
        another."""
        answered = self._catalog.answered([key.key for key in keys]) if keys else {}
        return {key.key: _repeat(key, *answered[key.key]) for key in keys if key.key in answered}

    def install(self, deltas: Deltas, first: int, last: int, made: Made, taken: float | None = None) -> None:
        """Stages, logs and publishes epochs `first` to `last`, or raises and leaves everything as it was.

        `taken` is when the writer took them from its queue, by `time.perf_counter`. Raises PassTooLarge if
        the epochs are too many for one pass.
        """
        self.settle_doubt()
        started = time.perf_counter()
        commit = CommittedEpochs(first, last, self._clock.now())
        stage = self._stage(self._clock.with_time(deltas, first, commit.at), last + 1, first == last)
        self.finish(stage, deltas, commit, made, started, taken)

    def _stage(self, deltas: Mapping[str, np.ndarray], upper: int, gives_up: bool) -> Stage:
        placement = self._placement
        if placement is None:
            return self._engine.stage(deltas, upper, gives_up=gives_up)
        executor = placement.for_deltas(deltas)
        stage = self._engine.stage(deltas, upper, executor, gives_up=gives_up)
        if stage.declined:
            placement.declined(stage.declined)
        return stage

    def finish(
        self,
        stage: Stage,
        deltas: Mapping[str, np.ndarray],
        commit: CommittedEpochs,
        made: Made,
        started: float,
        taken: float | None = None,
    ) -> None:
        """Logs and publishes a stage: its changes, or its manifest if its state is all in files.

        `started` is when it began to be computed, and `taken` as for `install`.
        """
        staged = time.perf_counter()
        before = self._engine.snapshot
        payload = b""
        try:
            if assertions := self._definitions.known.assertions:
                changed = None if stage.manifest is not None else deltas.keys()
                check_stage(assertions, self._engine, stage, changed)
            if stage.manifest is None:
                payload = self._payload(deltas)
                append = self._catalog.append
                self._confirmed(commit, lambda: append(commit, payload, made.keys, made.receipts))
            else:
                assert isinstance(self._catalog, Catalog)  # a branch's engine makes no manifests
                saved = Saved(stage.manifest, self._definitions.known.newest)
                publish = self._catalog.publish
                self._confirmed(commit, lambda: publish(saved, 0, 0, commit, made.keys, made.receipts))
        except BaseException:
            stage.abort()
            raise
        logged = time.perf_counter()
        self._publish(stage, commit)
        published = time.perf_counter()
        metrics = self._metrics
        if metrics.commits is not None:
            tables, views = self._moved(before, self._engine.snapshot)
            moments = (started if taken is None else taken, started, staged, logged, published)
            metrics.commits.add(
                CommitRecord(commit.first, commit.last, *moments, made.changes, tables, views)
            )
        metrics.stage_seconds.observe(staged - started)
        metrics.commit_seconds.observe(logged - staged)
        metrics.publish_seconds.observe(published - logged)
        metrics.group.observe(commit.last - commit.first + 1)
        metrics.epochs.add(commit.last - commit.first + 1)
        metrics.changes.add(made.changes)
        metrics.log_bytes.add(len(payload))
        if stage.manifest is None:
            self.log_bytes += len(payload)
            self.log_commits += 1
        else:
            self.log_bytes = self.log_commits = 0

    def _moved(self, before: Snapshot, after: Snapshot) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tables and the views that two snapshots have differently."""
        old, new = before.relations, after.relations
        moved = [it for it in self._definitions.all.values() if old.get(it.name) is not new.get(it.name)]
        return (
            tuple(definition.name for definition in moved if not definition.is_view),
            tuple(definition.name for definition in moved if definition.is_view),
        )

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
        self.newest_at = commit.at
        self._clock.showed(commit.at)
        self._definitions.set_aside |= stage.over_budget
        for view, reason in stage.failed.items():
            if view in stage.over_budget:
                _log.warning("view %s is built again beside the writer: %s", view, reason)
            else:
                _log.error("view %s has failed: %s", view, reason)

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
        """Whether the log holds the epoch. Raises Unavailable if the log cannot be reached, or if another
        service writes to it now: then nobody can tell whose epoch it is."""
        try:
            newest = self._catalog.newest_of_mine()
        except SQLAlchemyError as error:
            _log.warning("the log cannot be reached: %s", error)
            raise Unavailable("the log cannot be reached", _REASON, code="log_unavailable") from error
        except NotLeader as error:
            # A client takes not_leader for a promise that nothing was done.
            raise Unavailable(
                "another service leads, and may have taken over the epoch",
                "look there whether the change was made; with an Idempotency-Key, send it there again",
                code="log_unavailable",
            ) from error
        return newest is not None and newest.last >= epoch

    def settle_doubt(self) -> None:
        """Raises Unavailable unless it is certain that the log has no commit that was not published."""
        if self._doubt is not None:
            if self._is_logged(self._doubt):
                raise Unavailable(
                    f"the log holds epoch {self._doubt}, which was not published",
                    "restart the service",
                    code="log_unavailable",
                )
            self._doubt = None


def _repeat(idempotency: Idempotency, digest: bytes, applied: Applied) -> Outcome:
    """The first answer again if the request is the same; an error otherwise."""
    if digest != idempotency.digest:
        return Invalid(
            f"Idempotency-Key {idempotency.text!r} was used with another request",
            code="idempotency_key_reused",
        )
    return applied
