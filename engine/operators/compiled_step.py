"""A small step of the outermost scope in compiled code: all operators that changes reach, in a few calls.

Operators that only Python has take their turns between calls; what they read is shown to them. A step that
meets what compiled code cannot do, such as counts that are not small or results without room, is forgotten,
and Python runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from engine.errors import OverBudget
from engine.kernels.layers import ADDRESS, ROWS, WORD
from engine.kernels.layers import WIDTH as COLUMNS
from engine.kernels.narrow.narrow_rows import as_matrix
from engine.kernels.stepping import arena, opcodes, tables
from engine.kernels.stepping.arena import address_of, copied
from engine.kernels.stepping.outermost_step import (
    CHANGE,
    CHANGED,
    NURSERY,
    UNCHANGED,
    feed,
    give_up,
    publish,
    run_reached,
    tell,
)
from engine.kernels.stepping.stepping_type import lines_of
from engine.operators.arrangement import Arrangement
from engine.operators.compiled_program import Program
from engine.operators.linear import InputOperator
from engine.operators.operator import Instruction, Meter, Operator
from engine.operators.stopwatch import Stopwatch
from engine.operators.turns import OperatorTurns
from engine.state.nurseries import Nurseries
from engine.state.packed_times import Frontier
from engine.state.trace import Trace

Turn = Callable[[Operator, Stopwatch | None, Meter | None], None]
"""Lets an operator take its turn."""
_ARENA_WORDS = 1 << 18
_MOST_WAITING = 64
_NO_DELTA = np.empty((0, 0), np.int64)
_PATIENCE = 64
"""After refusals, at most so many steps are Python's before compiled code is tried again."""


class CompiledStep:
    """The operators of a dataflow as a program. What a step has made is there until it ends."""

    def __init__(self, turns: OperatorTurns) -> None:
        body = turns.operators
        self._program = Program(body, _instructions(body), turns.readers)
        self._operators = self._program.operators
        self._own = {
            place: own
            for place, own in self._program.own.items()
            if self._program.code[place, opcodes.OPERATION] != opcodes.PYTHON
        }
        self._operators[:, tables.OWN] = 0
        for own in self._own.values():
            own.trace.settle()  # another dataflow may have begun it, with a nursery of its own
        # Tables of compiled code have the addresses of these, and of the arrays below.
        self._spines = [own.trace.spine for own in self._own.values()]
        self._by_trace = {own.trace: own for own in self._own.values()}
        for place, spine in zip(self._own, self._spines, strict=True):
            self._operators[place, [tables.OWN, tables.SPINE_AT]] = 1, spine.ctypes.data
        for operator, line in zip(body, self._operators, strict=True):
            operator.show_counts(line)
        self._queue = np.zeros(len(body), np.int64)
        self._waiting = np.empty((_MOST_WAITING, arena.WAITING), np.int64)
        self._taken = np.empty_like(self._waiting)
        self._arena = np.empty(_ARENA_WORDS, np.int64)
        self._state = np.zeros(arena.STATE, np.int64)
        self._numbers = memoryview(self._state)  # type: ignore[arg-type]
        self._nurseries = Nurseries()
        self._changed = np.empty((len(body), CHANGE), np.int64)
        self._arrays = lines_of(
            *(self._program.code, self._operators, self._waiting, self._taken, self._program.constants),
            *(self._state[:0], self._arena, self._state),
            *(self._queue, self._nurseries.current, self._nurseries.cursor, self._changed),
        )
        self._lent: list[Arrangement] = []
        self._kept: list[np.ndarray] = []
        self._shown: list[Operator] = []
        self._refusals = self._skipped = 0

    def close(self) -> list[Arrangement]:
        """Leave the operators to themselves; returns the arrangements whose rows have moved."""
        for operator in self._program.body:
            operator.show_counts(None)
        return self._owners(self._nurseries.close())

    def _owners(self, traces: Iterable[Trace]) -> list[Arrangement]:
        """The arrangements that have these traces."""
        return [own for trace in traces if (own := self._by_trace.get(trace)) is not None]

    def run(
        self, fed: Sequence[InputOperator], clock: Stopwatch | None, meter: Meter | None, turn: Turn
    ) -> bool:
        """Run the operators that the pending deltas of `fed` reach; those of Python's have their `turn`, with
        the clock and the meter.

        Returns false if Python has to run the step; what these turns did has to be undone then.
        """
        if self._skipped < min(self._refusals, _PATIENCE):
            self._skipped += 1
            return False
        if not self._call(fed, clock, meter, turn) or (meter is not None and not self._is_within(meter)):
            self.abort()
            self._refusals, self._skipped = 2 * self._refusals + 1, 0
            return False
        self._refusals = 0
        if self._shown:
            self._hide()
        if clock is not None:
            self._numbers[arena.ELAPSED] = clock.lap()
        return True

    @property
    def turns(self) -> int:
        """How many operators had their turns in the step."""
        return self._numbers[arena.TAIL]

    def publish(self, frontier: Frontier) -> list[Arrangement]:
        """Insert what the step has added to arrangements into their traces; returns those that have
        changed, as far as somebody shows their rows, and those whose rows have moved."""
        found = publish(self._arrays, frontier.since)
        changed: list[Arrangement] = []
        for place, is_inserted, passed in self._changed[:found].tolist():
            own = self._own[place]
            if is_inserted:
                self._nurseries.take_in(own.trace)
                own.inserted(passed)
            else:
                if own.batch is None:
                    own.batch = self._batch(own, self._operators[place].tolist())
                own.publish(frontier)
            changed.append(own)
        nursery = self._nurseries.current
        left = self._nurseries.end_advance()
        if left:
            changed += self._owners(left)
        if self._nurseries.current is not nursery:
            self._arrays[NURSERY, 0] = address_of(self._nurseries.current[None])
        if self._lent or self._kept:
            self._forget()
        return changed

    def staged(self, own: Arrangement) -> np.ndarray | None:
        """The rows that the step has added to an arrangement; None without any."""
        place = self._program.places.get(own)
        if place is None or place not in self._queue[: self.turns]:
            return None
        line = self._operators[place].tolist()
        return self._batch(own, line) if line[tables.CURRENT] else None

    def abort(self) -> None:
        """Forget the step."""
        give_up(self._arrays)
        self._forget()

    def _forget(self) -> None:
        """Forget what operators of Python's have been shown, and what they have made."""
        self._hide()
        for own in self._lent:
            own.reset()
        self._lent.clear()
        self._kept.clear()

    def _hide(self) -> None:
        """Clear what operators of Python's have been shown, or have made."""
        for operator in self._shown:
            operator.clear()
        self._shown.clear()

    def _call(
        self, fed: Sequence[InputOperator], clock: Stopwatch | None, meter: Meter | None, turn: Turn
    ) -> bool:
        """Run the step; false if it has to be forgotten."""
        place, delta = opcodes.NOTHING, _NO_DELTA
        for input in fed:
            if input.pending is not None:
                if place != opcodes.NOTHING:
                    feed(self._arrays, place, delta)
                place, delta = self._program.places[input], input.pending
        try:
            status = run_reached(self._arrays, place, delta)
            while status == arena.ASKING:
                self._answer(int(self._queue[self._numbers[arena.HEAD]]), clock, meter, turn)
                status = run_reached(self._arrays, opcodes.NOTHING, _NO_DELTA)
        except (OverflowError, MemoryError):
            return False
        return status == arena.DONE  # type: ignore[no-any-return]

    def _answer(self, place: int, clock: Stopwatch | None, meter: Meter | None, turn: Turn) -> None:
        """Let an operator of Python's have its turn, and tell its changes."""
        operator = self._program.body[place]
        for source in operator.inputs:
            self._show(source)
        self._shown.append(operator)
        turn(operator, clock, meter)
        delta = operator.delta()
        if delta is not None:
            self._kept.append(np.ascontiguousarray(delta))
            tell(self._operators, place, self._kept[-1])
        if isinstance(operator, Arrangement):
            if operator.batch is not None:
                operator.show(as_matrix(operator.batch))
            self._operators[place, tables.CURRENT] = operator.batch is not None
        self._numbers[arena.ANSWER] = CHANGED if operator.has_changes else UNCHANGED

    def _show(self, source: Operator) -> None:
        """Let operators of Python's see the changes of one that compiled code has run."""
        line = self._operators[self._program.places[source]].tolist()
        if isinstance(source, Arrangement):
            if line[tables.CURRENT] and source.batch is None:
                source.show(self._batch(source, line))
                self._lent.append(source)
        elif line[tables.OUT_COLUMNS] and not source.out:
            source.out = [copied(line[tables.OUT], line[tables.OUT_LINES], line[tables.OUT_COLUMNS])]
            self._shown.append(source)

    def _batch(self, own: Arrangement, line: list[int]) -> np.ndarray:
        """The rows that the step has added to an arrangement."""
        added = own.trace.table[line[tables.BEFORE]].tolist()
        return copied(added[ADDRESS], added[ROWS], added[COLUMNS])

    def _is_within(self, meter: Meter) -> bool:
        """Whether all operators together have made no more than the meter lets one of them make."""
        made = int(self._operators[self._queue[: self.turns], tables.MADE].sum())
        try:
            meter.ran(0, made, WORD * self._numbers[arena.WORDS])
        except OverBudget:
            return False
        return True


def _instructions(body: Iterable[Operator]) -> list[Instruction]:
    """How compiled code runs each operator. Python runs those without an instruction, and those that look
    something up in an arrangement of Python's, whose rows may have a form of their own."""
    found: dict[Operator, Instruction] = {}
    pythons = Instruction(opcodes.PYTHON)
    for operator in body:
        if isinstance(operator, InputOperator):
            found[operator] = Instruction(opcodes.INPUT)
        elif any(
            isinstance(it, Arrangement) and found[it].operation == opcodes.PYTHON for it in operator.inputs
        ):
            found[operator] = pythons
        else:
            found[operator] = operator.instruction or pythons
    return list(found.values())
