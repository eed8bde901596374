"""What operators share: a step of the computation, and the changes made in it.

A dataflow is run a step at a time, each operator once a step, inputs first. At the
outermost scope an advance is one step; inside a loop a step is one round. All changes in
a step have the step's rounds, and differ in their epochs: they travel as deltas
int64[W + 2, n] of words, epoch and diff.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.state.packed_times import Frontier


class Stateful(Protocol):
    """What keeps differences between advances, and changes them all or not at all."""

    touched: bool

    def publish(self, frontier: Frontier) -> None:
        """Make the advance's changes part of the state; nothing will come before `frontier`."""

    def abort(self) -> None:
        """Forget the advance's changes."""


class Timer(Protocol):
    """What takes the time of steps."""

    def note(self, operator: Operator) -> None:
        """The operator's step is over."""


class StepScope(Protocol):
    """Where a step belongs: it is told of work for rounds to come."""

    def schedule(self, rounds: tuple[int, ...]) -> None: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its rounds, outermost first, as a tuple and as a kernel takes them; `masks` are the
    coordinates of times as words, none where they are totally ordered. With a `clock` it is timed."""

    rounds: tuple[int, ...]
    array: np.ndarray
    scope: StepScope
    changed: list[Stateful]
    masks: np.ndarray
    clock: Timer | None = None

    @property
    def entering(self) -> bool:
        """Whether collections of the scope outside enter now."""
        return not self.rounds or self.rounds[-1] == 0

    def touch(self, state: Stateful) -> None:
        """Note that `state` has changes to publish or abort."""
        if not state.touched:
            state.touched = True
            self.changed.append(state)


class Operator:
    """A node of the running dataflow; `out` holds the deltas it made in the current step.

    `deferred` is what waits for later rounds, of operators that have such a thing.
    """

    deferred: Deferred | None = None
    made = 0
    """Differences that it has passed to its readers since it was made."""
    received = 0
    """Differences that an executor has computed for it."""
    nanoseconds = 0
    """The time of its steps, without that of operators inside it (`engine.operators.stopwatch`)."""

    def __init__(self, inputs: Iterable[Operator]) -> None:
        self.inputs = list(inputs)
        self.out: list[np.ndarray] = []

    @property
    def kind(self) -> str:
        """What EXPLAIN and messages call it: `Join`, `Arrangement`, `Loop` and so on."""
        return type(self).__name__.removesuffix("Operator")

    def step(self, step: Step) -> None:
        """Read the inputs' deltas of this step and set `out`."""
        raise TypeError(f"{type(self).__name__} does not say how it steps")

    def delta(self) -> np.ndarray | None:
        """All of `out` as one delta, or None."""
        out = self.out
        if not out:
            return None
        if len(out) > 1:
            self.out = out = [np.ascontiguousarray(np.concatenate(out, axis=1))]
        return out[0]

    def parts(self) -> Iterator[Operator]:
        """The operator itself and those inside of it."""
        yield self

    def clear(self) -> None:
        """Let go of the step's deltas."""
        self.out = []

    def abandon(self) -> None:
        """Forget work that waits for later rounds, after an advance that was aborted."""

    def rewire(self, mapping: dict[Operator, Operator]) -> None:
        """Read from other operators that stand for the same collections."""
        self.inputs = [mapping.get(operator, operator) for operator in self.inputs]


class Deferred:
    """Deltas and keys that wait for their rounds."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, ...], list[np.ndarray]] = {}

    def put(self, rounds: tuple[int, ...], item: np.ndarray, scope: StepScope) -> None:
        waiting = self._waiting.get(rounds)
        if waiting is None:
            self._waiting[rounds] = [item]
            scope.schedule(rounds)
        else:
            waiting.append(item)

    def take(self, rounds: tuple[int, ...]) -> list[np.ndarray]:
        return self._waiting.pop(rounds, [])

    def items(self) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        """All that waits, with its rounds."""
        for rounds, waiting in self._waiting.items():
            for item in waiting:
                yield rounds, item

    @property
    def rounds(self) -> Iterable[tuple[int, ...]]:
        """The rounds that something waits for."""
        return self._waiting.keys()

    def clear(self) -> None:
        self._waiting.clear()
