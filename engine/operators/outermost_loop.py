"""A loop of the outermost scope: updated by changes alone, or rebuilt if that costs less.

To rebuild it, everything inside, inner loops too, is taken as empty, and the body runs over all that enters,
as if it came at the epoch of the change. What leaves is the new result minus the old one. If a value is a
reduce, neither result is stored, because both follow from what the reduce reads. The old state exists until
the advance is published, and comes back if it is aborted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from engine.kernels.arrange import arrange
from engine.kernels.collapse import collapse
from engine.kernels.layers import WORD
from engine.kernels.merge import merge
from engine.operators.arrangement import Arrangement
from engine.operators.compiled_rounds import CompiledRounds, Ran
from engine.operators.entered import EnteredArrangement
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.linear import SelectOperator
from engine.operators.loop import Agenda, EnterAt, Leave, Loop
from engine.operators.operator import NO_ROUNDS, Operator, Stateful, Step
from engine.operators.rebuild import Estimate, LoopStatistics, Rebuild, Sizes
from engine.operators.repetition import FIRST, Repetition
from engine.plan.nodes import OnLimit

MOST_CHANGES = 1024  # fewer than NARROW: compiled rounds read changes as matrices
"""Larger changes are not tried in compiled rounds: they have much to do in each round."""


class OutermostLoop(Loop):
    """A loop that can be rebuilt; `statistics` counts its updates and rebuilds."""

    def __init__(self, name: str, limit: int, on_limit: OnLimit, policy: Rebuild) -> None:
        super().__init__(name, limit, on_limit)
        self.statistics = LoopStatistics(name)
        self._policy = policy
        self._estimate = Estimate()
        self._sizes: Sizes | None = None
        self._entered: list[EnteredArrangement] = []
        self._arrangements: list[Arrangement] = []
        self._failures: list[FailureLog] = []
        self._results: list[_Result] = []
        self._repetition: Repetition
        self._compiled: CompiledRounds | None = None
        self._has_late_entries = False
        self._is_small = False

    def complete(self, widths: list[int]) -> None:
        """Finish construction once the body and the values exist; `widths` has the values' numbers of
        words."""
        self._repetition = Repetition(self, self._on_limit)
        self._has_late_entries = any(isinstance(operator, EnterAt) for operator in self.body)
        self._compiled = CompiledRounds.of(self.body, self.values, self.variables)
        inside = [part for operator in self.body for part in operator.parts()]
        self._entered = [entry for entry in self.entries if isinstance(entry, EnteredArrangement)]
        self._arrangements = [part for part in inside if isinstance(part, Arrangement)]
        self._failures = [part.failures for part in inside if hasattr(part, "failures")]
        if self._policy is not Rebuild.NEVER:
            self._results = [_result(self, binding, width) for binding, width in enumerate(widths)]

    def kept(self) -> Iterator[Operator]:
        """The operators that store results, which are not part of the loop's body."""
        for result in self._results:
            yield from result.operators()

    def begin(self) -> None:
        super().begin()
        self._repetition.begin()

    def step(self, step: Step) -> None:
        epochs = [change[:, entry.width] for entry in self._entered if (change := entry.change) is not None]
        if not epochs:
            super().step(step)
            return
        first, last = min(e.min() for e in epochs), max(e.max() for e in epochs)
        sizes = Sizes(
            sum(map(len, epochs)),
            sum(entry.rows for entry in self._entered),
            sum(part.trace.rows for part in self._arrangements),
        )
        is_seen = step.meter is not None and step.meter.sees_steps
        self._is_small = sizes.change <= MOST_CHANGES and not len(step.masks) and not is_seen
        self.statistics.per_row = self._estimate.per_row(sizes)
        obstacle = self._obstacle(sizes, first == last)
        if obstacle is not None:
            self.statistics.reason = obstacle
            self._change(sizes, step)
        elif self._policy is Rebuild.ALWAYS or self._estimate.prefers_rebuild(sizes):
            self.statistics.reason = "a large change"
            self._rebuild(int(first), sizes, step)
        elif self._try_change(sizes, step):
            self.statistics.reason = "a small change"
        else:
            self.statistics.reason = "a change with too many consequences"
            self._rebuild(int(first), sizes, step)
        for result in self._results:
            result.step(step)

    def _obstacle(self, sizes: Sizes, at_once: bool) -> str | None:
        """Why the loop cannot be rebuilt, or None; `at_once`: the changes have one epoch."""
        if self._policy is Rebuild.NEVER:
            return "never rebuilt"
        if sizes.rebuild == 0:
            return "the loop was empty"
        if not at_once:
            return "changes at several epochs"
        if any(log.trace.rows for log in self._failures):
            return "some of its rows have failed"
        return None

    def _change(self, sizes: Sizes, step: Step) -> None:
        super().step(step)
        if sizes.held:
            self._estimate.learn(sizes, self._brought_about())
        self.statistics.incremental += 1

    def _try_change(self, sizes: Sizes, step: Step) -> bool:
        """Run the change; if it brings about too much, undo it and return false."""
        self._sizes = sizes
        try:
            self._change(sizes, step)
            return True
        except _TooMuch:
            self._estimate.learn(sizes, self._brought_about())
            states: list[Stateful] = [*self._arrangements, *self._failures]
            for state in states:
                state.abort()
            for operator in self.parts():
                operator.abandon()
            self.statistics.given_up += 1
            return False
        finally:
            self._sizes = None

    def _rounds(self, agenda: Agenda, outer: Step) -> int:
        ran = None
        if 0 in agenda and self._has_late_entries:
            return super()._rounds(agenda, outer)
        if self._is_small and self._compiled is not None:
            limit = min(self._limit, FIRST) if self._repetition.is_watched else self._limit
            most = sys.maxsize
            if self._sizes is not None:
                most = self._estimate.most(self._sizes) - self._brought_about()
            ran = self._compiled.run(agenda, limit, most, outer, self)
        if ran is None:
            self._is_small = False
            return super()._rounds(agenda, outer)
        self._is_small = ran.may_go_on
        self._account(ran, outer)
        self._check_brought_about()
        return ran.rounds

    def _account(self, ran: Ran, outer: Step) -> None:
        """Take what compiled rounds have made into the loop's and its operators' figures."""
        for left, delta in zip(self.left, ran.left, strict=True):
            if delta is not None:
                left.append(delta)
        for operator, made in zip(self.body, ran.made, strict=True):
            operator.made += made
        if outer.clock is not None:
            outer.clock.share(self.body, [made + ran.rounds for made in ran.made])
        if outer.meter is not None:
            outer.meter.ran(ran.rounds, sum(ran.made), WORD * ran.words)

    def _round(self, current: int, outer: Step) -> None:
        super()._round(current, outer)
        self._repetition.look(current + 1, self._agenda.get((), ()))
        self._check_brought_about()

    def _check_brought_about(self) -> None:
        """Give up a change that has brought about too much."""
        if self._sizes is not None and self._estimate.is_too_much(self._sizes, self._brought_about()):
            raise _TooMuch

    def _brought_about(self) -> int:
        return sum(part.staged for part in self._arrangements)

    def _rebuild(self, epoch: int, sizes: Sizes, step: Step) -> None:
        self._is_small = False
        for part in self._arrangements:
            part.start_over(step)
        for entry in self._entered:
            entry.begin_rebuild(epoch)
        self.schedule((0,))
        super().step(step)
        for entry in self._entered:
            entry.end_rebuild()
        for left, result in zip(self.left, self._results, strict=True):
            new = result.new(left, epoch)
            old = result.old(epoch)
            old[:, -1] = -old[:, -1]  # numpy 2.4 negates every second one in place if rows have 64 bytes
            rows = merge(new, old, result.width, epoch)
            left[:] = [np.ascontiguousarray(rows.T)] if len(rows) else []
        self._estimate.fade(sizes)
        self.statistics.rebuilt += 1

    def clear(self) -> None:
        super().clear()
        for result in self._results:
            result.clear()


class _TooMuch(Exception):
    """A change brought about as many rows as a rebuild costs."""


class _Result(Protocol):
    """A binding's result before and after a rebuild: batches of `width` words at one epoch, no rounds."""

    width: int

    def new(self, left: list[np.ndarray], epoch: int) -> np.ndarray:
        """The result after the rebuild, in which the deltas `left` have left the loop."""

    def old(self, epoch: int) -> np.ndarray:
        """The result before the rebuild; the caller may change the array."""

    def step(self, step: Step) -> None:
        """The loop has run its step."""

    def clear(self) -> None:
        """Release the step's deltas."""

    def operators(self) -> tuple[Operator, ...]:
        """The operators that store the result, in an order in which they run."""


class _Reduced:
    """A result that is a reduce, or some columns of one: it follows from the reduce's input over all
    rounds."""

    def __init__(self, loop: Loop, reduce: GroupOperator, select: SelectOperator | None, width: int) -> None:
        self.width = width
        self._scope = loop
        self._reduce = reduce
        self._select = select

    def new(self, left: list[np.ndarray], epoch: int) -> np.ndarray:
        return self._of(self._reduce.source.after_starting_over(epoch))

    def old(self, epoch: int) -> np.ndarray:
        return self._of(self._reduce.source.before_starting_over(epoch))

    def _of(self, source: Arrangement) -> np.ndarray:
        delta = self._reduce.of_all(source, self._scope)
        return _batch(delta if self._select is None else self._select.of(delta), self.width)

    def step(self, step: Step) -> None: ...

    def clear(self) -> None: ...

    def operators(self) -> tuple[Operator, ...]:
        return ()


class _Kept:
    """A result that does not follow from any state of the loop, so it is stored."""

    def __init__(self, loop: Loop, binding: int, width: int) -> None:
        self.width = width
        self._leave = Leave(loop, binding)
        self._arrangement = Arrangement(self._leave, tuple(range(width)), width, 0)

    def new(self, left: list[np.ndarray], epoch: int) -> np.ndarray:
        nothing = np.empty((self.width + 2, 0), np.int64)
        return _batch(np.ascontiguousarray(np.concatenate([nothing, *left], axis=1)), self.width)

    def old(self, epoch: int) -> np.ndarray:
        trace = self._arrangement.trace
        return collapse(trace.merge_all(trace.batches(), epoch), self.width, 0, epoch)

    def step(self, step: Step) -> None:
        self._leave.step(step)
        self._arrangement.step(step)

    def clear(self) -> None:
        self._leave.clear()

    def operators(self) -> tuple[Operator, ...]:
        return self._leave, self._arrangement


def _result(loop: Loop, binding: int, width: int) -> _Result:
    value = loop.values[binding]
    select = value if isinstance(value, SelectOperator) else None
    reduce = value if select is None else select.inputs[0]
    # A reduce with a failure log would log its failures twice.
    if isinstance(reduce, GroupOperator) and not hasattr(reduce, "failures"):
        return _Reduced(loop, reduce, select, width)
    return _Kept(loop, binding, width)


def _batch(delta: np.ndarray, width: int) -> np.ndarray:
    return arrange(delta, np.arange(width + 1), NO_ROUNDS)
