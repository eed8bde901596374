"""Operators that treat every difference on its own: times pass through unchanged."""

from __future__ import annotations

import numpy as np

from engine.kernels.narrow.narrow_rows import as_matrix
from engine.kernels.parallel import threads
from engine.kernels.parallel.divided_sort import arrange_delta
from engine.kernels.stepping import opcodes
from engine.operators.failure_log import FailureLog
from engine.operators.operator import Instruction, Operator, Step
from engine.scalar import ScalarProgram

_NO_ROUNDS = np.empty(0, np.int64)


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


class NegateOperator(Operator):
    """The collection with the sign of every diff inverted."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.NEGATE, (self.inputs[0],))

    def step(self, step: Step) -> None:
        self.out = [negated(delta) for delta in self.inputs[0].out]


def negated(delta: np.ndarray) -> np.ndarray:
    """The delta with the sign of every diff inverted."""
    result = delta.copy()
    np.negative(result[-1], out=result[-1])
    return result


class ConsolidateOperator(Operator):
    """The collection with equal rows and times of a step added up."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.CONSOLIDATE, (self.inputs[0],))

    def step(self, step: Step) -> None:
        delta = self.inputs[0].delta()
        self.out = [] if delta is None else [consolidated(delta)]


def consolidated(delta: np.ndarray) -> np.ndarray:
    """The delta, sorted, with equal rows and times added up."""
    order = np.arange(len(delta) - 1)
    return np.ascontiguousarray(as_matrix(arrange_delta(delta, order, _NO_ROUNDS)).T)


class SelectOperator(Operator):
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

    def step(self, step: Step) -> None:
        self.out = [self.of(delta) for delta in self.inputs[0].out]

    def of(self, delta: np.ndarray) -> np.ndarray:
        """The delta with the selected columns."""
        return delta[self._rows]


class MapOperator(Operator):
    """Each row becomes the row of a program's results; a row that fails becomes an error."""

    def __init__(self, source: Operator, program: ScalarProgram, failures: FailureLog) -> None:
        super().__init__([source])
        self._program = program
        self.failures = failures

    @property
    def instruction(self) -> Instruction:
        return _instruction(opcodes.MAP, self.inputs[0], self._program)

    @property
    def reads(self) -> frozenset[int]:
        return self._program.reads

    def step(self, step: Step) -> None:
        self.out = []
        for delta in self.inputs[0].out:
            result = np.empty((len(self._program) + 2, delta.shape[1]), np.int64)
            failed = self._program.fill(np.ascontiguousarray(delta[:-2]), result[:-2])
            result[-2:] = delta[-2:]
            if failed is not None:
                self.failures.add(failed.messages, delta[-2:, failed.rows], step)
                result = np.ascontiguousarray(np.delete(result, failed.rows, axis=1))
            self.out.append(result)


class FilterOperator(Operator):
    """The rows for which a program's one result is true; a row that fails becomes an error."""

    def __init__(self, source: Operator, program: ScalarProgram, failures: FailureLog) -> None:
        super().__init__([source])
        self._program = program
        self.failures = failures

    @property
    def instruction(self) -> Instruction:
        return _instruction(opcodes.FILTER, self.inputs[0], self._program)

    @property
    def reads(self) -> frozenset[int] | None:
        return None if self.wanted is None else self.wanted | self._program.reads

    def step(self, step: Step) -> None:
        self.out = []
        wanted = None if step.meter is not None and step.meter.sees_steps else self.wanted
        for delta in self.inputs[0].out:
            words, failed = self._program(np.ascontiguousarray(delta[:-2]))
            keep = words[0] == 1
            if failed is not None:
                self.failures.add(failed.messages, delta[-2:, failed.rows], step)
                keep[failed.rows] = False
            if keep.all():
                self.out.append(delta)
            elif keep.any():
                self.out.append(_chosen(delta, keep, wanted))


def _instruction(operation: int, source: Operator, program: ScalarProgram) -> Instruction:
    """How compiled code runs an operator of a program: by `operation`, unless only Python has the program."""
    code = program.registers
    if code is None:
        return Instruction(opcodes.PYTHON, (source,))
    return Instruction(operation, (source,), first=code.lines, second=code.results)


def _chosen(delta: np.ndarray, keep: np.ndarray, wanted: frozenset[int] | None) -> np.ndarray:
    """The rows of a delta for which `keep` is true. Of a large one, each `wanted` word is copied on its
    own; the others are 0, which takes no memory."""
    places = np.flatnonzero(keep)
    if len(keep) < threads.LARGE:
        return delta.take(places, axis=1)
    chosen = np.zeros((len(delta), len(places)), np.int64)

    def copy(line: int) -> None:
        np.take(delta[line], places, out=chosen[line], mode="clip")  # which needs no buffer

    threads.each(copy, range(len(delta)) if wanted is None else list({*wanted, -2, -1}))
    return chosen
