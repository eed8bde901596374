"""Operators that treat every difference on its own: times pass through unchanged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.kernels.narrow.narrow_rows import Batch, as_matrix
from engine.kernels.parallel import threads
from engine.kernels.parallel.divided_sort import arrange_delta
from engine.kernels.stepping import opcodes
from engine.operators.failure_log import FailureLog
from engine.operators.operator import NO_ROUNDS, PIECE, Instruction, Operator, Step, WaitingOperator
from engine.scalar.program import ScalarProgram
from engine.scalar.row_failures import Failures


class InputOperator(Operator):
    """The input for rows of a source or of a constant; the next step emits `pending`."""

    def __init__(self) -> None:
        super().__init__([])
        self.pending: np.ndarray | None = None
        """The delta that the next step emits."""

    @property
    def label(self) -> str:
        return "the source"

    def step(self, step: Step) -> None:
        self.out = [] if self.pending is None or not self.pending.shape[1] else [self.pending]
        self.pending = None


class Enter(Operator):
    """A collection of the scope outside, entering a loop at round 0."""

    def step(self, step: Step) -> None:
        self.out = self.inputs[0].out if step.entering else []


class ConcatOperator(Operator):
    """The sum of collections."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.CONCAT, many=tuple(self.inputs))

    def step(self, step: Step) -> None:
        self.out = [delta for operator in self.inputs for delta in operator.out]


class ConsolidateOperator(Operator):
    """The collection with equal rows and times of a step added up."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.CONSOLIDATE, (self.inputs[0],))

    def step(self, step: Step) -> None:
        delta = self.inputs[0].delta()
        self.out = [] if delta is None else [consolidated(delta)]


def as_batch(delta: np.ndarray) -> Batch:
    """A delta as a batch of the same columns: sorted, with equal rows and times added up."""
    return arrange_delta(delta, np.arange(len(delta) - 1), NO_ROUNDS)


def consolidated(delta: np.ndarray) -> np.ndarray:
    """The delta, sorted, with equal rows and times added up."""
    return np.ascontiguousarray(as_matrix(as_batch(delta)).T)


class LinearOperator(WaitingOperator):
    """An operator that treats every row on its own, as `of` says.

    If it is `pulled`, because sums are the only reader of its rows, large deltas wait until these ask for
    them, some rows at a time; so they never lie in memory as a whole.
    """

    def step(self, step: Step) -> None:
        self.out = []
        self.waits = self.is_pulled and step.may_wait and self.inputs[0].is_large
        if not self.waits:
            self.out = [made for delta in self.inputs[0].out if (made := self.of(delta, step)).shape[1]]

    def of(self, delta: np.ndarray, step: Step) -> np.ndarray:
        """What follows from a delta, of which each word's line has its words side by side."""
        raise TypeError(f"{type(self).__name__} does not define of")

    def pieces(self, step: Step) -> Iterator[np.ndarray]:
        if not self.waits:
            yield from super().pieces(step)
            return
        for piece in self.inputs[0].pieces(step):
            made = self.of(piece, step)
            self.made += made.shape[1]
            if made.shape[1]:
                yield made


class NegateOperator(LinearOperator):
    """The collection with the sign of every diff inverted."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.NEGATE, (self.inputs[0],))

    def of(self, delta: np.ndarray, step: Step) -> np.ndarray:
        return negated(delta)


def negated(delta: np.ndarray) -> np.ndarray:
    """The delta with the sign of every diff inverted."""
    result = delta.copy()
    np.negative(result[-1], out=result[-1])
    return result


class SelectOperator(LinearOperator):
    """Some columns of the input, in a given order."""

    def __init__(self, source: Operator, columns: tuple[int, ...], width: int) -> None:
        super().__init__([source])
        self._rows = np.array([*columns, width, width + 1], np.int64)

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.SELECT, (self.inputs[0],), first=self._rows)

    @property
    def reads(self) -> frozenset[int]:
        return frozenset(self._rows[:-2].tolist())

    def of(self, delta: np.ndarray, step: Step | None = None) -> np.ndarray:
        return delta[self._rows]


class ProgramOperator(LinearOperator):
    """An operator that computes expressions of each row; a row that fails becomes an error."""

    operation: int
    """How compiled code runs it, unless only Python has the program."""

    def __init__(self, source: Operator, program: ScalarProgram, failures: FailureLog) -> None:
        super().__init__([source])
        self._program = program
        self.failures = failures

    @property
    def instruction(self) -> Instruction:
        code = self._program.registers
        if code is None:
            return Instruction(opcodes.PYTHON, (self.inputs[0],))
        return Instruction(self.operation, (self.inputs[0],), first=code.lines, second=code.results)

    def _report(self, failed: Failures, delta: np.ndarray, step: Step) -> None:
        self.failures.add(failed.messages, delta[-2:, failed.rows], step)


class MapOperator(ProgramOperator):
    """Each row becomes the row of a program's results."""

    operation = opcodes.MAP

    @property
    def reads(self) -> frozenset[int]:
        return self._program.reads

    def of(self, delta: np.ndarray, step: Step) -> np.ndarray:
        result = np.empty((len(self._program) + 2, delta.shape[1]), np.int64)
        failed = self._program.fill(delta[:-2], result[:-2])
        result[-2:] = delta[-2:]
        if failed is None:
            return result
        self._report(failed, delta, step)
        return np.ascontiguousarray(np.delete(result, failed.rows, axis=1))


class FilterOperator(ProgramOperator):
    """The rows for which a program's one result is true.

    If it is `marking`, because its readers pass over rows that are not kept, it makes no large deltas: they
    read its source's, with marks.
    """

    operation = opcodes.FILTER
    is_marking = False
    """Whether all readers take deltas with marks; known once the operators have an order."""
    _marks: np.ndarray | None = None

    def step(self, step: Step) -> None:
        if not (self.is_marking and step.may_wait and self.inputs[0].out):
            super().step(step)
            return
        self.out = []
        (delta,) = self.inputs[0].out  # a source has one
        keep = self._judged(delta, step)
        count = int(np.count_nonzero(keep))
        if count >= threads.LARGE and count < len(keep):
            self._marks = keep
            self.made += count
        elif count:
            self.out = [_kept_of(delta, keep, self.wanted)]

    def delta_with_marks(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        return super().delta_with_marks() if self._marks is None else (self.inputs[0].delta(), self._marks)

    @property
    def has_changes(self) -> bool:
        return self._marks is not None or super().has_changes

    def clear(self) -> None:
        super().clear()
        self._marks = None

    @property
    def reads(self) -> frozenset[int] | None:
        return None if self.wanted is None else self.wanted | self._program.reads

    def of(self, delta: np.ndarray, step: Step) -> np.ndarray:
        wanted = None if step.meter is not None and step.meter.sees_steps else self.wanted
        return _kept_of(delta, self._judged(delta, step), wanted)

    def _judged(self, delta: np.ndarray, step: Step) -> np.ndarray:
        """For which rows of a delta the result is true, asked a piece at a time."""
        keep = np.empty(delta.shape[1], np.bool_)
        for first in range(0, len(keep), PIECE):  # of which the results stay in the cache until they are read
            part = slice(first, first + PIECE)
            keep[part] = self._holds(delta[:, part], step)
        return keep

    def _holds(self, delta: np.ndarray, step: Step) -> np.ndarray:
        """For which rows of a piece the result is true."""
        words, failed = self._program(delta[:-2])
        keep: np.ndarray = words[0] == 1
        if failed is not None:
            self._report(failed, delta, step)
            keep[failed.rows] = False
        return keep


def _kept_of(delta: np.ndarray, keep: np.ndarray, wanted: frozenset[int] | None) -> np.ndarray:
    """The rows of a delta for which `keep` is true. Of a large one, only `wanted` words are copied, a part of
    the rows at a time; the others have any value."""
    if keep.all():
        return delta
    if len(keep) < threads.LARGE:
        return delta.take(np.flatnonzero(keep), axis=1)
    lines = range(len(delta)) if wanted is None else sorted({*wanted, len(delta) - 2, len(delta) - 1})
    parts = threads.parts_of(len(keep))
    ends = np.cumsum([np.count_nonzero(keep[part]) for part in parts]).tolist()
    chosen = np.empty((len(delta), ends[-1]), np.int64)

    def copy(number: int) -> None:
        part = parts[number]
        places = np.flatnonzero(keep[part])
        own = slice(ends[number] - len(places), ends[number])
        for line in lines:
            np.take(delta[line, part], places, out=chosen[line, own], mode="clip")  # which needs no buffer

    threads.each(copy, range(len(parts)))
    return chosen
