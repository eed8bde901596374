"""Large changes: a request, a draft or a load, made as side advances (`service/writing/large_epochs.py`).

`begin`, `join` and `in_turn` run on the writer's thread, the rest on the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.operators.allowance import Allowance, Spending
from engine.operators.operator import Operator
from engine.runtime.execution import BadRows, Declined, KeyTaken, Scanned
from engine.runtime.side_advance import SideAdvance
from engine.runtime.side_files import SideFiles
from engine.state.snapshot import Snapshot
from service.catalog.catalog import Receipt
from service.changes.table_changes import Applied
from service.errors import Unavailable
from service.placement import Placement
from service.settings.build_settings import BuildSettings
from service.writing.commits import Deltas
from service.writing.epochs import Drafted, Epochs, pending
from service.writing.request import Load, Request
from service.writing.touched_keys import TouchedKeys

Check = Callable[[], None]
"""Raises if the work is not wanted any more."""


class LargeChange(Protocol):
    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it changes."""

    def begin(self) -> Applied | None:
        """Check that the change can still be made as it was asked for. Returns the answer if it was made
        before."""

    def compute(self, aside: SideAdvance, prefix: str, check: Check) -> None:
        """Compute the change as a side advance that has just begun; new files have the prefix.

        Raises ServiceError if it cannot be made, ViewLost if a view fails, Declined as `Executor.run`.
        """

    def catch_up(self, aside: SideAdvance, snapshot: Snapshot) -> int | None:
        """Bring the advance to a newer snapshot; returns how many differences it read, or None if the change
        has to be judged again there."""

    def join(self, aside: SideAdvance, files: SideFiles) -> Applied:
        """Make it an epoch; see `Epochs.join`."""

    def in_turn(self) -> Applied:
        """Make it an epoch in the writer's turn."""


class Checked(Spending):
    """Spending that asks before each step and round whether the work is still wanted."""

    def __init__(self, allowance: Allowance, check: Check) -> None:
        super().__init__(allowance)
        self._check = check

    def begin(self, operator: Operator) -> None:
        self._check()
        super().begin(operator)

    def round(self, rounds: tuple[int, ...]) -> None:
        self._check()
        super().round(rounds)


class DraftStale(Exception):
    """What a draft has read has changed: it has to be made again."""


def compute(
    aside: SideAdvance,
    deltas: Deltas,
    prefix: str,
    placement: Placement | None,
    spending: Spending,
) -> None:
    """Computes changes as a side advance, on Spark if `placement` says so."""
    executor = None if placement is None else placement.for_deltas(deltas)
    if executor is not None:
        try:
            return aside.compute_on(executor, deltas, {}, prefix)
        except Declined as declined:
            assert placement is not None
            placement.declined(declined.message)
    aside.compute(deltas, spending)


@dataclass(eq=False)
class LargeRequest:
    """A request, computed here, or on Spark if `placement` says so. `limits` are those of views."""

    epochs: Epochs
    request: Request
    placement: Placement | None
    limits: BuildSettings

    def __post_init__(self) -> None:
        self.tables = tuple(definition.name for definition, _ in self.request.parts)
        self._keys = TouchedKeys.of({part[0].name: part for part in self.request.parts})

    def begin(self) -> Applied | None:
        return self.epochs.begin(self.request)

    def compute(self, aside: SideAdvance, prefix: str, check: Check) -> None:
        deltas = self.epochs.net(self.request, aside.snapshot)
        compute(aside, deltas, prefix, self.placement, Checked(self.limits.build_allowance, check))

    def catch_up(self, aside: SideAdvance, snapshot: Snapshot) -> int | None:
        if self._keys.meet(snapshot, aside.known.upper - 1):
            return None
        return aside.catch_up(snapshot, Spending(self.limits.view_allowance))

    def join(self, aside: SideAdvance, files: SideFiles) -> Applied:
        known = self.begin()
        if known is not None:
            return known
        request = self.request
        return self.epochs.join(aside, files, request.changes, request.idempotency, request.receipt)

    def in_turn(self) -> Applied:
        (outcome,) = self.epochs.commit([self.request])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@dataclass(eq=False)
class LargeDraft:
    """The changes of a transaction that was made beside the writer. Raises DraftStale wherever they no longer
    fit the newest state."""

    epochs: Epochs
    draft: Drafted[Any]
    placement: Placement | None
    limits: BuildSettings
    receipt: Receipt | None = None

    def __post_init__(self) -> None:
        self.tables = tuple(self.draft.transaction.pending)

    def begin(self) -> Applied | None:
        if not self.epochs.is_current(self.draft):
            raise DraftStale
        return None

    def compute(self, aside: SideAdvance, prefix: str, check: Check) -> None:
        deltas = pending(self.draft.transaction, aside.snapshot.upper)
        compute(aside, deltas, prefix, self.placement, Checked(self.limits.build_allowance, check))

    def catch_up(self, aside: SideAdvance, snapshot: Snapshot) -> int:
        return aside.catch_up(snapshot, Spending(self.limits.view_allowance))

    def join(self, aside: SideAdvance, files: SideFiles) -> Applied:
        self.begin()
        transaction = self.draft.transaction
        applied = self.epochs.join(aside, files, transaction.changes, receipt=self.receipt)
        self.epochs.note_late(transaction.late)
        return applied._replace(late=transaction.late_rows)

    def in_turn(self) -> Applied:
        applied = self.epochs.settle(self.draft, self.receipt)
        if applied is None:
            raise DraftStale
        return applied


@dataclass(eq=False)
class LargeLoad:
    """Rows that Spark reads; then `scanned` says what it has read. `limits` are those of views."""

    epochs: Epochs
    load: Load
    placement: Placement | None
    limits: BuildSettings
    scanned: Scanned = field(default_factory=Scanned)

    def __post_init__(self) -> None:
        self.tables = (self.load.definition.name,)

    def begin(self) -> Applied | None:
        self.epochs.check_load(self.load)
        return None

    def compute(self, aside: SideAdvance, prefix: str, check: Check) -> None:
        if self.placement is None:
            raise Unavailable("the service runs without Spark", code="spark_unavailable")
        load, (table,) = self.load, self.tables
        try:
            aside.compute_on(self.placement.for_scan(load.tag), {}, {table: load.scan}, prefix)
        except (KeyTaken, BadRows) as error:
            raise self.epochs.refusal(load, error) from error
        self.scanned = aside.scanned

    def catch_up(self, aside: SideAdvance, snapshot: Snapshot) -> int:
        try:
            return aside.catch_up(snapshot, Spending(self.limits.view_allowance))
        except KeyTaken as error:
            raise self.epochs.refusal(self.load, error) from error

    def join(self, aside: SideAdvance, files: SideFiles) -> Applied:
        self.begin()
        receipt = self.load.receipt and self.load.receipt(self.scanned)
        return self.epochs.join(aside, files, self.scanned.rows, receipt=receipt)

    def in_turn(self) -> Applied:
        applied, self.scanned = self.epochs.load(self.load)
        return applied
