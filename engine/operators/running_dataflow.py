"""A running dataflow: operators in order, found by what they compute.

Operators are keyed by the frozen plan they stand for, so that equal subplans of all views are one operator. A
new view is hydrated in a dataflow of its own, which sees the whole kept history; `graft` then joins it to the
running one, whose operators replace equal new ones. A run steps only operators that changes reach.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from engine.errors import CountTooLarge, EngineError, OverBudget
from engine.operators import stretches
from engine.operators.arrangement import Arrangement
from engine.operators.compiled_step import CompiledStep
from engine.operators.linear import InputOperator
from engine.operators.operator import NO_ROUNDS, Meter, Operator, Stateful, Step
from engine.operators.stopwatch import Sampling, Stopwatch
from engine.operators.turns import OperatorTurns
from engine.state.layer import Layer
from engine.state.packed_times import TOTAL, Frontier, Order

FEW = 2048
"""The most rows of a step that is tried in compiled code."""


class OperatorFailed(Exception):
    """An operator raised `cause`."""

    def __init__(self, operator: Operator, cause: Exception) -> None:
        super().__init__(str(cause))
        self.operator = operator
        self.cause = cause

    @property
    def reason(self) -> EngineError:
        """Why the views that need the operator cannot be computed."""
        return reason_of(self.operator, self.cause)


def reason_of(operator: Operator, cause: Exception) -> EngineError:
    """The error of the views that need an operator which raised `cause`."""
    if isinstance(cause, EngineError):
        return cause
    if isinstance(cause, MemoryError):
        return OverBudget.of_memory()
    if isinstance(cause, OverflowError):
        return CountTooLarge.of(operator.label)
    return EngineError(f"{operator.label} failed: {cause!r}")


class RunningDataflow:
    """The outermost scope, with changes at times of `order`."""

    def __init__(self, order: Order = TOTAL) -> None:
        self.order = order
        self.operators: dict[Hashable, Operator] = {}
        """All operators by key, in an order in which they run."""
        self.steps = 0
        """Steps that operators have taken here."""
        self._changed: list[Stateful] = []
        self._undo: dict[Stateful, Callable[[], None]] = {}
        self._turns: OperatorTurns | None = None
        self._compiled: CompiledStep | None = None
        self._moved: list[Stateful] = []
        self._fed: list[InputOperator] = []
        self._ran: list[Operator] = []
        self._sampling = Sampling()

    def schedule(self, rounds: tuple[int, ...]) -> None:
        """Do nothing: the outermost scope has no rounds and runs once an advance."""

    def operator(self, key: Hashable, make: Callable[[], Operator]) -> Operator:
        """The operator with this key, made and put last if it does not exist."""
        operator = self.operators.get(key)
        if operator is None:
            operator = self.operators[key] = make()
            self._rewired()
            if isinstance(operator, InputOperator) and operator.pending is not None:
                self._fed.append(operator)
        return operator

    @property
    def turns(self) -> OperatorTurns:
        """The order of the current operators, made when it is first asked for."""
        if self._turns is None:
            self._turns = OperatorTurns(self.operators.values())
        return self._turns

    def _rewired(self) -> None:
        """Forget the order and the program of the operators, which are others now."""
        self._turns = None
        if self._compiled is not None:
            self._moved += self._compiled.close()
            self._compiled = None

    def feed(self, input: InputOperator, delta: np.ndarray) -> None:
        """Let the next run emit `delta` from `input`."""
        input.pending = delta
        self._fed.append(input)

    def step(self) -> Step:
        """The outermost scope's step of an advance that is not computed here. It may replace traces."""
        self._rewired()
        return self._new_step(None, None)

    def run(self, rows: int, meter: Meter | None = None) -> None:
        """Run the operators that the inputs' changes reach, for `rows` rows of changes, as far as the meter
        lets them, in one step or a step a stretch. Raises OperatorFailed; then call `abort`."""
        if rows <= stretches.CHANGES or not self.order.is_total or not self.turns.pair_changes:
            self._step(rows, meter, is_whole=True)
            return
        pending = {input: input.pending for input in self._fed if input.pending is not None}
        for end, deltas in stretches.divide(pending):
            for input, delta in deltas.items():
                input.pending = delta
            self._step(rows, meter, is_whole=end is None and not self._undo)
            if end is not None:
                self._settle(Frontier(self.order, (end,)))

    def _settle(self, frontier: Frontier) -> None:
        """Make the changes so far part of the state, until the advance is published or aborted."""
        for state in self._changed:
            if state not in self._undo:
                self._undo[state] = state.undo()
            state.publish(frontier)
        self._changed.clear()

    def _step(self, rows: int, meter: Meter | None, *, is_whole: bool) -> None:
        """Run one step of an advance of `rows` rows; `is_whole` if it is the only one."""
        clock = self._sampling.clock(rows)
        if is_whole and self._runs_compiled(rows, clock, meter):
            return
        step = self._new_step(clock, meter)
        for turn in self.turns.reached(input for input in self._fed if input.pending is not None):
            self._turn(turn.operator, step)
            if not turn.operator.has_changes:
                turn.operator.clear()
            for source in turn.last_reads:
                source.clear()

    def _new_step(self, clock: Stopwatch | None, meter: Meter | None, *, is_asked: bool = False) -> Step:
        return Step((), NO_ROUNDS, self, self._changed, self.order.masks, clock, meter, is_asked)

    def _asked(self, operator: Operator, clock: Stopwatch | None, meter: Meter | None) -> None:
        """Run the step of an operator that compiled code leaves to Python."""
        self._turn(operator, self._new_step(clock, meter, is_asked=True))

    def _turn(self, operator: Operator, step: Step) -> None:
        """Run an operator's step."""
        self._ran.append(operator)
        try:
            if step.meter is not None:
                step.meter.begin(operator)
            operator.step(step)
            if step.meter is not None:
                step.meter.made(operator)
        except Exception as error:
            raise OperatorFailed(operator, error) from error
        for delta in operator.out:
            operator.made += delta.shape[1]
        if step.clock is not None:
            step.clock.note(operator)

    def _runs_compiled(self, rows: int, clock: Stopwatch | None, meter: Meter | None) -> bool:
        """Run a step of few rows, which is a whole advance, in compiled code; false if it is Python's."""
        is_seen = meter is not None and meter.sees_steps
        if rows > FEW or is_seen or not self.order.is_total or not self._fed:
            return False
        if self._compiled is None:
            self._compiled = CompiledStep(self.turns)
        if meter is not None:
            meter.begin(self._fed[0])
        if not self._compiled.run(self._fed, clock, meter, self._asked):
            self._withdraw()
            return False
        for input in self._fed:
            input.pending = None
        return True

    def _withdraw(self) -> None:
        """Undo what operators have done in a step."""
        for state in self._changed:
            state.abort()
        for operator in self._ran:
            operator.clear()
            for part in operator.parts():
                part.abandon()
        self._changed.clear()
        self._ran.clear()

    def staged(self, own: Arrangement) -> tuple[Layer, ...]:
        """What the advance has added to an arrangement and not yet to its trace."""
        layers = own.staged_layers
        if own.batch is None and self._compiled is not None:
            added = self._compiled.staged(own)
            layers = layers if added is None else (*layers, Layer(added))
        return layers

    def publish(self, frontier: Frontier) -> list[Stateful]:
        """Make the staged changes part of the state; returns the changed states, and those whose rows have
        moved since the last call."""
        changed = self._changed
        for state in changed:
            state.publish(frontier)
        if self._compiled is not None:
            self.steps += self._compiled.turns
            changed += self._compiled.publish(frontier)
        if self._undo or self._moved:
            changed = list(dict.fromkeys((*self._undo, *changed, *self._moved)))
            self._moved = []
        self._end()
        return changed

    def abort(self) -> None:
        """Undo `run`, and drop what inputs have not emitted yet."""
        self._withdraw()
        if self._compiled is not None:
            self._compiled.abort()
        for undo in self._undo.values():
            undo()
        for input in self._fed:
            input.pending = None
        self._end()

    def _end(self) -> None:
        """End an advance."""
        self.steps += len(self._ran)
        self._changed, self._undo, self._ran, self._fed = [], {}, [], []

    def graft(self, other: RunningDataflow) -> dict[Operator, Operator]:
        """Take over the operators of `other` that do not exist here yet.

        Returns, for each operator of `other` that was not taken over, the operator here that replaces it.
        """
        mapping: dict[Operator, Operator] = {}
        for key, operator in other.operators.items():
            known = self.operators.get(key)
            if known is not None:
                mapping[operator] = known
            else:
                operator.rewire(mapping)
                self.operators[key] = operator
        self._rewired()
        return mapping

    def keep(self, outputs: Iterable[Operator]) -> None:
        """Drop all operators that none of `outputs` reads."""
        live = reachable(outputs)
        self.restore({key: op for key, op in self.operators.items() if op in live})

    def restore(self, operators: dict[Hashable, Operator]) -> None:
        """Run these operators, in their order."""
        self.operators = operators
        self._rewired()


def reachable(outputs: Iterable[Operator]) -> set[Operator]:
    """The operators that `outputs` read, directly or not, and `outputs` themselves."""
    found: set[Operator] = set()
    stack = list(outputs)
    while stack:
        operator = stack.pop()
        if operator not in found:
            found.add(operator)
            stack.extend(operator.inputs)
    return found
