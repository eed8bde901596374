"""What operators share: steps, and the deltas made in them.

A dataflow runs step by step; in each step every operator runs once, inputs first. In the outermost scope an
advance is one step; inside a loop a round is one step. All changes in a step have the step's rounds, and
differ in their epochs: they travel as deltas int64[W + 2, n] of words, epoch and diff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.kernels.rounds import split_deltas
from engine.kernels.stepping.tables import NANOSECONDS, TOTAL
from engine.operators.stopwatch import Stopwatch
from engine.state.packed_times import Frontier

NO_ROUNDS = np.empty(0, np.int64)
"""The rounds of the outermost scope, as kernels take them."""

PIECE = 1 << 15
"""Rows of a piece of a large delta."""


class Stateful(Protocol):
    """State that outlives an advance, and takes its changes as a whole or not at all."""

    touched: bool

    def publish(self, frontier: Frontier) -> None:
        """Make the advance's changes part of the state; no change will come before `frontier`."""

    def abort(self) -> None:
        """Drop the advance's changes."""

    def undo(self) -> Callable[[], None]:
        """A function that brings back what is published now, instead of what was published since."""


class Meter(Protocol):
    """Counts what operators do, and stops them when it is too much.

    `sees_steps` tells whether it has to see every step, with all words, so that no rounds run in compiled
    code.
    """

    sees_steps: bool

    def begin(self, operator: Operator) -> None:
        """An operator of the outermost scope begins its step."""

    def made(self, operator: Operator) -> None:
        """An operator has ended its step."""

    def round(self, rounds: tuple[int, ...]) -> None:
        """A round of a loop begins; `rounds` has those of the loops around it too, outermost first."""

    def ran(self, rounds: int, rows: int, bytes: int) -> None:
        """A few rounds of a loop have run, and have made so much."""


class StepScope(Protocol):
    """The scope of a step, which is told of work in later rounds."""

    def schedule(self, rounds: tuple[int, ...]) -> None:
        """Note that there is work at `rounds`."""


@dataclass(slots=True)  # frozen, it would take six times as long to make, in every round
class Step:
    """One step, which nobody changes: its rounds, outermost first, as a tuple and as an array for kernels.

    `masks` are the coordinates of times as bits of words, empty if times are totally ordered. A `clock` times
    the step, and a `meter` limits it. If it `is_asked`, compiled code waits for what an operator makes.
    """

    rounds: tuple[int, ...]
    array: np.ndarray
    scope: StepScope
    changed: list[Stateful]
    masks: np.ndarray
    clock: Stopwatch | None = None
    meter: Meter | None = None
    is_asked: bool = False

    @property
    def may_wait(self) -> bool:
        """Whether operators may leave large deltas to those who read them, so that nobody else sees them."""
        return not self.is_asked and (self.meter is None or not self.meter.sees_steps)

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
    """A node of the running dataflow; `out` holds its deltas of the current step.

    `deferred` holds work for later rounds, in operators that have such work.
    """

    deferred: Deferred | None = None
    pairs_changes = False
    """Whether a step may cost the product of its changes and its epochs."""
    made = 0
    """Differences that Python's steps have passed to readers."""
    line: np.ndarray | None = None
    """What compiled code counts of it (`engine.kernels.stepping.tables`), if compiled code runs it."""
    received = 0
    """Differences that an executor computed for the operator."""
    wanted: frozenset[int] | None = None
    """The words of its deltas that somebody reads, None for all; other words may have any value. It is
    known once the operators have an order (`engine.operators.turns`)."""
    taken = 0
    """Nanoseconds of its steps that Python has measured."""
    is_pulled = False
    """Whether its only reader asks for `pieces`; known once the operators have an order."""
    waits = False
    """Whether the step's deltas are made when they are asked for, by `pieces`."""

    def __init__(self, inputs: Iterable[Operator]) -> None:
        self.inputs = list(inputs)
        """The operators that it reads."""
        self.out: list[np.ndarray] = []
        """The deltas of the current step."""

    @property
    def kind(self) -> str:
        """Its name in EXPLAIN and messages: `Join`, `Arrangement`, `Loop` and so on."""
        return type(self).__name__.removesuffix("Operator")

    @property
    def label(self) -> str:
        """Its name at the beginning of an error's message."""
        return f"the view's {self.kind}"

    @property
    def emitted(self) -> int:
        """Differences passed to readers since the operator was made, those of compiled code too."""
        return self.made if self.line is None else self.made + int(self.line[TOTAL])

    @property
    def nanoseconds(self) -> int:
        """Time spent in its steps, without those of operators inside it (`engine.operators.stopwatch`)."""
        return self.taken if self.line is None else self.taken + int(self.line[NANOSECONDS])

    def show_counts(self, line: np.ndarray | None) -> None:
        """Let compiled code count in a line; None if it no longer runs the operator."""
        self.made, self.taken, self.line = self.emitted, self.nanoseconds, line

    @property
    def reads(self) -> frozenset[int] | None:
        """The words of its inputs' deltas that decide what it emits in words that somebody reads; None for
        all."""
        return None

    @property
    def has_changes(self) -> bool:
        """Whether its readers have something to read in the current step."""
        return bool(self.out)

    @property
    def instruction(self) -> Instruction | None:
        """How compiled code runs the operator; None if only Python can."""
        return None

    def step(self, step: Step) -> None:
        """Read the inputs' deltas of this step and set `out`."""
        raise TypeError(f"{type(self).__name__} does not define step")

    def delta(self) -> np.ndarray | None:
        """All of `out` as one delta, or None."""
        out = self.out
        if not out:
            return None
        if len(out) > 1:
            self.out = out = [np.ascontiguousarray(np.concatenate(out, axis=1))]
        return out[0]

    def delta_with_marks(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """A delta, or None, and for which of its rows, bool[n], the step has them; None for all."""
        return self.delta(), None

    @property
    def is_large(self) -> bool:
        """Whether a delta of the step has more rows than a piece."""
        return any(delta.shape[1] > PIECE for delta in self.out)

    def pieces(self, step: Step) -> Iterator[np.ndarray]:
        """The deltas of the step, large ones some rows at a time."""
        for delta in self.out:
            yield from pieces_of(delta)

    def parts(self) -> Iterator[Operator]:
        """The operator itself and those inside it."""
        yield self

    def clear(self) -> None:
        """Release the step's deltas."""
        self.out = []

    def abandon(self) -> None:
        """Drop work for later rounds, after an advance was aborted."""
        if self.deferred is not None:
            self.deferred.clear()

    def rewire(self, mapping: dict[Operator, Operator]) -> None:
        """Replace inputs by other operators for the same collections."""
        self.inputs = [mapping.get(operator, operator) for operator in self.inputs]


class WaitingOperator(Operator):
    """An operator whose large deltas may wait until its reader asks for `pieces`: it `waits` until the step
    is over."""

    @property
    def is_large(self) -> bool:
        return self.waits or super().is_large

    @property
    def has_changes(self) -> bool:
        return self.waits or super().has_changes

    def clear(self) -> None:
        super().clear()
        self.waits = False


def pieces_of(delta: np.ndarray) -> Iterator[np.ndarray]:
    """A delta some rows at a time."""
    for first in range(0, delta.shape[1], PIECE):
        yield delta[:, first : first + PIECE]


@dataclass(frozen=True)
class Instruction:
    """An operator as compiled code runs it: an operation (`engine.kernels.stepping.opcodes`), the operators
    that it reads, a number, and two ranges of numbers. If it reads `many`, the first range has their places.
    """

    operation: int
    reads: tuple[Operator, ...] = ()
    number: int = 0
    first: Iterable[int] = ()
    second: Iterable[int] = ()
    many: tuple[Operator, ...] = ()


class Deferred:
    """Deltas and keys that wait for their rounds."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, ...], list[np.ndarray]] = {}

    def put(self, rounds: tuple[int, ...], item: np.ndarray, scope: StepScope) -> None:
        """Keep `item` for its rounds, and tell `scope` of the work."""
        waiting = self._waiting.get(rounds)
        if waiting is None:
            self._waiting[rounds] = [item]
            scope.schedule(rounds)
        else:
            waiting.append(item)

    def put_all(self, lines: np.ndarray, depth: int, scope: StepScope) -> None:
        """Keep lines [W + d + 2, n], which have `depth` rounds before their epochs, each for its rounds."""
        if lines.shape[1]:
            for rounds, delta in split_deltas(lines, depth):
                self.put(rounds, delta, scope)

    def take(self, rounds: tuple[int, ...]) -> list[np.ndarray]:
        """Remove and return all that waits for these rounds."""
        return self._waiting.pop(rounds, [])

    def waiting(self, rounds: tuple[int, ...]) -> list[np.ndarray]:
        """All that waits for these rounds."""
        return self._waiting.get(rounds, [])

    def items(self) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        """All that waits, with its rounds."""
        for rounds, waiting in self._waiting.items():
            for item in waiting:
                yield rounds, item

    @property
    def rounds(self) -> Iterable[tuple[int, ...]]:
        """The rounds for which something waits."""
        return self._waiting.keys()

    def clear(self) -> None:
        """Drop all that waits."""
        self._waiting.clear()
