"""Temporal rows, which come and go as time passes: read from traces sorted by their moments.

The clock's history is a few steps `(epoch, time)`, whose times never fall. A row whose moment is m comes (or
goes) at the first epoch whose time is m or later, or at its own epoch if that is later: the times join as
those of any two relations do. So

  a new row comes or goes at once, as far as the clock has advanced;
  a tick from T0 to T1 costs the rows of the trace whose moments lie in (T0, T1].

This is the bilinear rule of a join of rows with the steps of the clock. Inside a loop the steps happen at
round 0; what they change at later rounds is deferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.casts import DAY
from engine.kernels.lookup import find_ranges
from engine.kernels.narrow.narrow_rows import Batch, as_matrix, table_of
from engine.kernels.words import NULL
from engine.operators.arrangement import Arrangement, ArrangementReader
from engine.operators.linear import consolidated
from engine.operators.operator import Deferred, Operator, Step
from engine.state.distinct import numbered

NEVER = 2**63 - 1
"""The epoch of an event that the clock has not reached."""

LONG_AGO = -1
"""An epoch before all epochs."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of the clock: its times, rising, and for each the least epoch at that time or later."""

    times: np.ndarray
    epochs: np.ndarray

    @staticmethod
    def of(batches: Iterable[Batch]) -> Steps:
        """The steps in batches `[time | epoch | diff]` of the clock's relation.

        Retractions do not matter: a later time replaced each retracted one.
        """
        shown = [batch[batch[:, 2] > 0] for batch in batches]
        steps = np.concatenate(shown) if shown else np.empty((0, 3), np.int64)
        steps = steps[np.argsort(steps[:, 0], kind="stable")]
        epochs = np.minimum.accumulate(steps[::-1, 1])[::-1]
        return Steps(np.ascontiguousarray(steps[:, 0]), np.ascontiguousarray(epochs))

    @property
    def last(self) -> int:
        """The newest time; NULL, which is before all others, if there is none."""
        return int(self.times[-1]) if len(self.times) else NULL

    def after(self, time: int) -> Steps:
        """The same steps, if everything up to `time` was reached at LONG_AGO."""
        return Steps(np.insert(self.times, 0, time), np.insert(self.epochs, 0, LONG_AGO))

    def reached(self, moments: np.ndarray) -> np.ndarray:
        """The first epoch at which the clock shows each moment or later."""
        return np.append(self.epochs, NEVER)[np.searchsorted(self.times, moments)]


@dataclass(frozen=True, eq=False)
class Moments:
    """How an arrangement by a moment is read: `columns` are the words of the operator's columns, `since` and
    `until` the words of the moments."""

    columns: np.ndarray
    since: int | None
    until: int | None

    def events(self, rows: np.ndarray, epochs: np.ndarray, steps: Steps) -> tuple[np.ndarray, np.ndarray]:
        """The epochs at which rows that the input has from `epochs` on come and go; NEVER for both if a row
        would go before it comes."""
        come, go = epochs, np.full(len(rows), NEVER)
        if self.since is not None:
            moments = rows[:, self.since]
            come = np.where(moments == NULL, epochs, np.maximum(epochs, steps.reached(moments)))
        if self.until is not None:
            moments = rows[:, self.until]
            go = np.where(moments == NULL, NEVER, np.maximum(epochs, steps.reached(moments)))
        are_seen = come < go
        return np.where(are_seen, come, NEVER), np.where(are_seen, go, NEVER)


@dataclass(frozen=True)
class Quiet:
    """A time without events: no row comes or goes while the clock shows `low` or more, but less than `high`.

    It holds as long as the arrangements of the rows have these `versions`.
    """

    low: int
    high: int
    versions: tuple[tuple[int, int], ...]

    def covers(self, clock: np.ndarray) -> bool:
        """Whether the clock goes from one such time to others, in its batch of a step."""
        return clock[0, -1] < 0 and self.low <= clock[0, 0] and clock[-1, 0] < self.high


class TemporalOperator(Operator):
    """The rows whose moments include the clock's time."""

    def __init__(
        self,
        clock: Operator,
        by_since: tuple[Operator, Moments] | None,
        by_until: tuple[Operator, Moments] | None,
        by_time: bool = True,
    ) -> None:
        """Takes the rows arranged by the moments at which they come, at which they go, or both. `by_time`
        says that the clock goes on by itself."""
        given = [side for side in (by_since, by_until) if side is not None]
        super().__init__([clock, *(rows for rows, _ in given)])
        self._moments = tuple(moments for _, moments in given)
        self._signs = tuple(sign for sign, side in ((1, by_since), (-1, by_until)) if side is not None)
        self.deferred: Deferred = Deferred()
        self._quiet = Quiet(0, 0, ())
        self._by_time = by_time

    @property
    def _versions(self) -> tuple[tuple[int, int], ...]:
        return tuple(side.version for side in self.inputs[1:])  # type: ignore[attr-defined]

    @property
    def clock(self) -> ArrangementReader:
        """The arrangement of the clock's relation."""
        return self.inputs[0]  # type: ignore[return-value]

    def step(self, step: Step) -> None:
        self.out = self.deferred.take(step.rounds) if step.rounds else []
        rows: ArrangementReader = self.inputs[1]  # type: ignore[assignment]
        clock = self.clock.batch
        ticked = clock is not None
        if rows.batch is None and (
            clock is None or (self._quiet.covers(as_matrix(clock)) and self._quiet.versions == self._versions)
        ):
            return
        shown = self.clock.batches()  # type: ignore[attr-defined]
        if ticked:
            self._tick(Steps.of(shown[:-1]).last, Steps.of(shown[-1:]), step)
        if rows.batch is not None:
            batch = as_matrix(rows.batch)
            come, go = self._moments[0].events(batch, batch[:, -2], Steps.of(shown))
            self._change(batch, come, 1, self._moments[0], step)
            self._change(batch, go, -1, self._moments[0], step)

    def _tick(self, before: int, steps: Steps, step: Step) -> None:
        """Let rows whose moments lie after `before` come and go, by the new steps of the clock.

        All rows count as older than these steps, whatever their epochs say: compaction may have advanced
        those to the first new epoch.
        """
        for side, moments, sign in zip(self.inputs[1:], self._moments, self._signs, strict=True):
            batches = _before(side)  # type: ignore[arg-type]
            for batch, low, high in zip(
                batches, _up_to(batches, before), _up_to(batches, steps.last), strict=True
            ):
                rows = batch[low:high]
                come, go = moments.events(rows, np.full(len(rows), LONG_AGO), steps.after(before))
                self._change(rows, come if sign > 0 else go, sign, moments, step)

    def _change(self, rows: np.ndarray, epochs: np.ndarray, sign: int, moments: Moments, step: Step) -> None:
        """Emit what happens to rows at `epochs`, now or at the rounds of the rows."""
        happens = epochs < NEVER
        if not happens.any():
            return
        rows, epochs = rows[happens], epochs[happens]
        words, depth = len(moments.columns), len(step.rounds)
        rounds = np.maximum(rows[:, -2 - depth : -2], step.array)
        lines = np.vstack((rows[:, moments.columns].T, rounds.T, epochs, sign * rows[:, -1]))
        is_later = (rounds > step.array).any(axis=1)
        kept = [*range(words), words + depth, words + depth + 1]
        if not is_later.all():
            self.out.append(np.ascontiguousarray(lines[kept][:, ~is_later]))
        if is_later.any():
            self.deferred.put_all(np.ascontiguousarray(lines[:, is_later]), depth, step.scope)

    def due(self, now: int) -> int | None:
        """The least moment after `now` at which a row comes or goes; None if none does.

        It is found once, for as long as no row changes and the moment has not come.
        """
        if not self._by_time:
            return None
        quiet, versions = self._quiet, self._versions
        if quiet.versions != versions or not quiet.low <= now < quiet.high:
            found = (_next(side, now) for side in self.inputs[1:])  # type: ignore[arg-type]
            high = min((moment for moment in found if moment is not None), default=NEVER)
            quiet = self._quiet = Quiet(now, high, versions)
        return None if quiet.high == NEVER else quiet.high


class TodayOperator(Operator):
    """The clock's time as a date."""

    def step(self, step: Step) -> None:
        delta = self.inputs[0].delta()
        self.out = []
        if delta is not None:
            dates = consolidated(np.vstack((delta[0] // DAY, delta[1:])))
            self.out = [dates] if dates.shape[1] else []

    def due(self, now: int) -> int | None:
        """The next midnight."""
        return (now // DAY + 1) * DAY


def _before(side: ArrangementReader) -> list[Batch]:
    """The batches without the current step's, which comes last."""
    batches = side.batches()  # type: ignore[attr-defined]
    return batches if side.batch is None else batches[:-1]


def _up_to(batches: Sequence[Batch], word: int) -> list[int]:
    """How many rows of each batch begin with this word or a lesser one."""
    _, highs = find_ranges(table_of(batches), np.array([[word]], np.int64))
    return highs[:, 0].tolist()  # type: ignore[no-any-return]


def _next(side: Arrangement, now: int) -> int | None:
    """The least moment after `now` for which the arrangement has rows that do not cancel."""
    batches = side.trace.batches()
    starts = _up_to(batches, now)
    while True:
        heads = [
            int(batch[start : start + 1, 0][0])
            for batch, start in zip(batches, starts, strict=True)
            if start < len(batch)
        ]
        if not heads:
            return None
        ends = _up_to(batches, now := min(heads))
        rows = [batch[start:end] for batch, start, end in zip(batches, starts, ends, strict=True)]
        starts = ends
        words = np.concatenate([part[:, : side.width] for part in rows])
        diffs = np.concatenate([part[:, -1] for part in rows])
        _, number = numbered(words.T)
        if np.bincount(number, weights=diffs).any():
            return now
