"""Loops: a scope run round by round until nothing is left to do.

Everything inside a loop has one more coordinate of time, the round. A variable's value at round r + 1 is its
binding's value at round r; at round 0 it is its initial value, or empty. Differences at a round hold for all
later rounds, so a round in which nothing changes costs nothing, and what leaves the loop is the sum over all
rounds.

Rounds run in order, and only those with work: changes that enter, are fed back, or were deferred by an
operator for a later round.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush

import numpy as np

from engine.errors import LimitExceeded
from engine.kernels.rounds import split_deltas
from engine.kernels.stepping import opcodes
from engine.operators.failure_log import FailureLog
from engine.operators.linear import as_batch, negated
from engine.operators.operator import Deferred, Instruction, Operator, Step, StepScope
from engine.plan.nodes import OnLimit
from engine.scalar.program import ScalarProgram


class VariableOperator(Operator):
    """A binding's value in the round before; in the first round `initial`, an operator that has entered."""

    def __init__(self, initial: Operator | None, limit: int) -> None:
        """`limit` is the number of rounds that the loop may run."""
        super().__init__([] if initial is None else [initial])
        self.deferred: Deferred = Deferred()
        self._limit = limit

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.VARIABLE, tuple(self.inputs))

    def step(self, step: Step) -> None:
        self.out = self.deferred.take(step.rounds)
        if self.inputs and step.entering:
            initial = self.inputs[0].delta()
            if initial is not None:
                self.out.append(initial)
                if self._limit > 1:
                    self.deferred.put((*step.rounds[:-1], 1), negated(initial), step.scope)


class EnterAt(Operator):
    """A collection of the scope outside; each row enters at the round that a program computes for it."""

    def __init__(self, source: Operator, program: ScalarProgram, failures: FailureLog, loop: Loop) -> None:
        super().__init__([source])
        self._program = program
        self.failures = failures
        self._loop = loop
        self.deferred: Deferred = Deferred()

    @property
    def instruction(self) -> Instruction:
        """In all rounds but the first, it gives out what waits for the round."""
        return Instruction(opcodes.VARIABLE)

    def step(self, step: Step) -> None:
        self.out = self.deferred.take(step.rounds)
        if step.entering:
            for delta in self.inputs[0].out:
                self._enter(delta, step)

    def _enter(self, delta: np.ndarray, step: Step) -> None:
        results, failed = self._program(np.ascontiguousarray(delta[:-2]))
        rounds = np.maximum(results, 0)
        later = np.concatenate((delta[:-2], rounds, delta[-2:]))
        if failed is not None:
            self.failures.add(failed.messages, delta[-2:, failed.rows], step)
            later = np.delete(later, failed.rows, axis=1)
        for (current,), entered in split_deltas(np.ascontiguousarray(later), 1):
            if current == 0:
                self.out.append(entered)
            elif self._loop.allows(current, entered):
                self.deferred.put((*step.rounds[:-1], current), entered, step.scope)


class WithRoundOperator(Operator):
    """The differences of a collection, each with its round as one more word."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.WITH_ROUND, (self.inputs[0],))

    def step(self, step: Step) -> None:
        current = step.rounds[-1] if step.rounds else 0
        self.out = [
            np.concatenate((delta[:-2], np.full((1, delta.shape[1]), current), delta[-2:]))
            for delta in self.inputs[0].out
        ]


class Agenda:
    """Rounds with work, each once; the least is taken first, at the cost of a heap."""

    def __init__(self) -> None:
        self._rounds: list[int] = []
        self._known: set[int] = set()

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rounds)

    def __contains__(self, current: object) -> bool:
        return current in self._known

    def add(self, current: int) -> None:
        """Note that there is work at a round."""
        if current not in self._known:
            self._known.add(current)
            heappush(self._rounds, current)

    def clear(self) -> None:
        """Forget all rounds."""
        self._rounds.clear()
        self._known.clear()

    @property
    def least(self) -> int | None:
        """The least round, None if there is none."""
        return self._rounds[0] if self._rounds else None

    def take(self) -> int:
        """Remove and return the least round."""
        current = heappop(self._rounds)
        self._known.remove(current)
        return current


class Leave(Operator):
    """A binding's fixed point, in the scope outside: its differences of all rounds."""

    def __init__(self, loop: Loop, binding: int) -> None:
        super().__init__([loop])
        self._binding = binding

    def step(self, step: Step) -> None:
        loop: Loop = self.inputs[0]  # type: ignore[assignment]
        self.out = list(loop.left[self._binding])


class Loop(Operator):
    """The running scope of a recursion. Its inputs are the outside operators that its body reads."""

    def __init__(self, name: str, limit: int, on_limit: OnLimit) -> None:
        """`variables` has None for a binding that is not fed back.

        `most` limits the rounds that one advance runs, whatever their numbers: for loops that rows enter
        late, whose round numbers say nothing about work.
        """
        super().__init__([])
        self.name = name
        self.body: list[Operator] = []
        """The operators inside, in an order in which they run."""
        self.keys: list[Hashable] = []
        """The key of each operator of the body."""
        self.entries: list[Operator] = []
        """The operators of the body that bring outside collections in."""
        self.variables: list[VariableOperator | None] = []
        """For each binding, the operator that reads it; None if it is not fed back."""
        self.values: list[Operator] = []
        """The operators of the body with the bindings' values."""
        self.left: list[list[np.ndarray]] = []
        """For each binding, the deltas that have left the loop in the current step."""
        self.most: int | None = None
        """The most rounds of one advance, None without such a limit."""
        self._limit = limit
        self._on_limit = on_limit
        self._agenda: dict[tuple[int, ...], Agenda] = {}
        self._outer: StepScope | None = None

    @property
    def label(self) -> str:
        return f"the recursion {self.name}"

    @property
    def has_changes(self) -> bool:
        """Whether something has left the loop in the current step."""
        return any(self.left)

    def schedule(self, rounds: tuple[int, ...]) -> None:
        """Note that there is work at `rounds`, perhaps in a later round of the scope outside."""
        agenda = self._agenda.get(rounds[:-1])
        if agenda is None:
            agenda = self._agenda[rounds[:-1]] = Agenda()
            if len(rounds) > 1 and self._outer is not None:
                self._outer.schedule(rounds[:-1])
        agenda.add(rounds[-1])

    def step(self, step: Step) -> None:
        self.begin()
        self._outer = step.scope
        if any(operator.has_changes for operator in self.inputs):
            self._agenda.setdefault(step.rounds, Agenda()).add(0)
        agenda = self._agenda.get(step.rounds)
        done = 0
        while agenda:
            if self.most is not None and done >= self.most:
                raise self.still_changes(self.most)
            done += self._rounds(agenda, step)
        self._agenda.pop(step.rounds, None)

    def _rounds(self, agenda: Agenda, outer: Step) -> int:
        """Run the first of the rounds with work, or a few; returns their number."""
        self._round(agenda.take(), outer)
        return 1

    def _round(self, current: int, outer: Step) -> None:
        step = self.round(current, outer)
        clock, meter = step.clock, step.meter
        if meter is not None:
            meter.round(step.rounds)
        for operator in self.body:
            operator.step(step)
            for delta in operator.out:
                operator.made += delta.shape[1]
            if meter is not None:
                meter.made(operator)
            if clock is not None:
                clock.note(operator)
        self.feed_back(step)

    def begin(self) -> None:
        """Start a step of the scope outside: nothing has left the loop yet."""
        self.left = [[] for _ in self.values]

    def round(self, current: int, outer: Step) -> Step:
        """The step of round `current` within a step of the scope outside."""
        rounds = (*outer.rounds, current)
        array = np.array(rounds, np.int64)
        return Step(rounds, array, self, outer.changed, outer.masks, outer.clock, outer.meter)

    def feed_back(self, step: Step) -> None:
        """End a round: the changes of bindings leave the loop, and become those of variables in the next
        round.

        If the limit is an error, the changes of all bindings count, also of those that are not fed back.
        """
        following = (*step.rounds[:-1], step.rounds[-1] + 1)
        for variable, value, left in zip(self.variables, self.values, self.left, strict=True):
            delta = value.delta()
            if delta is None:
                continue
            left.append(delta)
            if self.allows(following[-1], delta) and variable is not None:
                variable.deferred.put(following, delta, self)

    def allows(self, current: int, delta: np.ndarray) -> bool:
        """Whether a change may happen at round `current`; raises LimitExceeded if the limit is an error."""
        if current < self._limit:
            return True
        if self._on_limit is OnLimit.ERROR and len(as_batch(delta)):  # some rows do not cancel
            raise self.still_changes(self._limit)
        return False

    def still_changes(self, rounds: int) -> LimitExceeded:
        """The error of a loop that has run `rounds` rounds without reaching a fixed point."""
        return LimitExceeded(
            f"the recursion {self.name} still changes after {rounds} rounds",
            "it may have no fixed point: use UNION instead of UNION ALL, or add a condition or a limit",
        )

    def parts(self) -> Iterator[Operator]:
        yield self
        for operator in self.body:
            yield from operator.parts()

    def clear(self) -> None:
        self.out = []
        self.left = [[] for _ in self.values]
        for operator in self.body:
            operator.clear()

    def abandon(self) -> None:
        self._agenda.clear()

    def rewire(self, mapping: dict[Operator, Operator]) -> None:
        super().rewire(mapping)
        for entry in self.entries:
            entry.rewire(mapping)
