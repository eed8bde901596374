"""The rounds of a loop in compiled code, if all its operators have an `Instruction`.

Operators that only Python has take their turns between calls, if they have one input and no state but a log.
A call runs rounds until nothing is left to do or there is much to do: then Python goes on between two rounds
from what the call hands over. A call that meets what it cannot do, such as counts that are not small or an
error, is forgotten, and Python runs the same rounds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from engine.kernels.stepping import arena, loop_rounds, opcodes, tables
from engine.kernels.stepping.arena import address_of, copied
from engine.kernels.stepping.stepping_type import ARENA, TAKEN, WAITING, lines_of
from engine.operators.compiled_program import Program
from engine.operators.entered import EnteredArrangement
from engine.operators.failure_log import FailureLog
from engine.operators.loop import Agenda
from engine.operators.operator import Instruction, Operator, Step, StepScope
from engine.operators.topk import OrderedArrangement

_ARENA_WORDS = 1 << 19
_MOST_WAITING = 1 << 12
"""The most matrices that wait for rounds; a call stops when there are half as many."""
MOST_ROUNDS = 64
"""The most rounds of a call."""
_MOST_BINDINGS = _MOST_WAITING // MOST_ROUNDS


class _Room(threading.local):
    """The arrays of a call, of which nothing is needed after it. Memory that is not written costs nothing."""

    def __init__(self) -> None:
        self.arena = np.empty(_ARENA_WORDS, np.int64)
        self.waiting = np.empty((_MOST_WAITING, arena.WAITING), np.int64)
        self.taken = np.empty_like(self.waiting)


_room = _Room()


class Rounds(StepScope, Protocol):
    """A scope that runs in rounds."""

    def round(self, current: int, outer: Step) -> Step:
        """The step of round `current` within a step of the scope outside."""


class Ran(NamedTuple):
    """What a call has done: `rounds` rounds, in which each operator `made` differences and all of them made
    deltas of `words`; `left` has what leaves the loop, for each binding. It `may_go_on` if only the number of
    rounds has stopped it."""

    rounds: int
    made: list[int]
    words: int
    left: list[np.ndarray | None]
    may_go_on: bool


class CompiledRounds:
    """A loop's operators as a program. `body` is in an order in which they run."""

    def __init__(
        self,
        body: Sequence[Operator],
        instructions: Sequence[Instruction],
        values: Sequence[Operator],
        variables: Sequence[Operator | None],
    ) -> None:
        self._program = Program(body, instructions)
        places = self._program.places
        self._body = self._program.body
        self._operators = self._program.operators
        self._own = self._program.own
        self._bindings = np.zeros((len(values), loop_rounds.BINDING), np.int64)
        fed_back = [opcodes.NOTHING if it is None else places[it] for it in variables]
        self._bindings[:, loop_rounds.VALUE] = [places[value] for value in values]
        self._bindings[:, loop_rounds.FED_BACK] = fed_back
        self._leaving = np.empty((MOST_ROUNDS * len(values), 3), np.int64)
        self._state = np.zeros(arena.STATE, np.int64)
        nothing = self._state[:0]  # the room's arrays, which each call tells
        self._arrays = lines_of(
            *(self._program.code, self._operators, nothing, nothing, self._program.constants),
            *(self._state[arena.CURRENT_ROUND : arena.CURRENT_ROUND + 1], nothing, self._state),
            *(self._bindings, self._leaving),
        )
        self._entered = [(place, it) for place, it in enumerate(body) if isinstance(it, EnteredArrangement)]
        self._logs: list[FailureLog] = [it.failures for it in body if hasattr(it, "failures")]
        self._deferring = {place: it.deferred for place, it in enumerate(body) if it.deferred is not None}

    @staticmethod
    def of(
        body: Sequence[Operator], values: Sequence[Operator], variables: Sequence[Operator | None]
    ) -> CompiledRounds | None:
        """The program of a loop's body; None if an operator has no instruction."""
        found = [operator.instruction for operator in body]
        instructions = [instruction for instruction in found if instruction is not None]
        if len(instructions) < len(body) or len(values) > _MOST_BINDINGS:
            return None
        return CompiledRounds(body, instructions, values, variables)

    def run(self, agenda: Agenda, limit: int, most_staged: int, outer: Step, scope: Rounds) -> Ran | None:
        """Run rounds of an agenda before round `limit` - 1, until more than `most_staged` rows are staged.

        Only the first `MOST_ROUNDS` rounds of the agenda are run. What waits afterwards is deferred, and
        `scope` puts its rounds onto the agenda. Returns None, and changes nothing, if not even one round can
        be run here. Raises what operators of Python's raise.
        """
        room = _room
        self._describe()
        enters = 0 in agenda
        rounds = [agenda.take() for _ in range(min(MOST_ROUNDS, len(agenda)))]
        held = self._list_waiting(room, rounds)
        marks = [log.marked() for log in self._logs]
        is_cut = agenda.least is not None and agenda.least < limit - 1
        before = limit if agenda.least is None else min(limit, agenda.least + 1)
        loop_rounds.begin(self._state, enters, before, MOST_ROUNDS, most_staged, len(held))
        if 2 * len(held) > len(room.waiting) or not self._call(room, held, outer, scope):
            for log, mark in zip(self._logs, marks, strict=True):
                log.withdraw(mark)
            for current in rounds:
                agenda.add(current)
            return None
        state = self._state.tolist()
        for deferred in self._deferring.values():
            for current in rounds:
                deferred.take((current,))
        self._defer(room.waiting[: state[arena.WAITS]], scope)
        made = self._stage(outer)
        left = [_left(binding) for binding in self._bindings.tolist()]
        done = state[arena.ROUNDS]
        return Ran(done, made, state[arena.WORDS], left, is_cut or done == MOST_ROUNDS)

    def _call(self, room: _Room, held: list[np.ndarray], outer: Step, scope: Rounds) -> bool:
        """Run rounds, with the turns of operators of Python's; false if what was done has to be forgotten.
        `held` are matrices that must not go."""
        state = self._state
        self._arrays[[WAITING, TAKEN, ARENA]] = lines_of(room.waiting, room.taken, room.arena)
        while True:
            try:
                loop_rounds.run_rounds(self._arrays)
            except (OverflowError, MemoryError):
                return False
            if state[arena.STATUS] != arena.ASKING:
                break
            held.append(self._turn(int(state[arena.PLACE]), outer, scope))
        has_run = state[arena.STATUS] != arena.REFUSED and state[arena.ROUNDS] > 0
        return has_run and all(own.stays_light(self._mass(place)) for place, own in self._own.items())

    def _turn(self, place: int, outer: Step, scope: Rounds) -> np.ndarray:
        """Run an operator of Python's, and tell its delta, which is returned and must not go."""
        operator = self._body[place]
        source = operator.inputs[0]
        line = self._operators[self._program.code[place, opcodes.LEFT]].tolist()
        if outer.meter is not None:
            outer.meter.ran(0, 0, 0)
        source.out = [copied(line[tables.OUT], line[tables.OUT_LINES], line[tables.OUT_COLUMNS])]
        operator.step(scope.round(int(self._state[arena.CURRENT_ROUND]), outer))
        delta = operator.delta()
        source.out, operator.out = [], []
        found = np.empty((0, 0), np.int64) if delta is None else np.ascontiguousarray(delta)
        self._operators[place, : tables.MADE] = address_of(found), *found.shape
        self._operators[place, tables.MADE] += found.shape[1]
        self._state[[arena.WORDS, arena.PLACE]] += found.size, 1
        self._state[arena.STATUS] = arena.RUNNING
        return found

    def _mass(self, place: int) -> float:
        """What the counts of the rows that the call has added to an arrangement amount to, at most."""
        return float(self._operators[place, tables.MASS])

    def _describe(self) -> None:
        """Tell the tables that the call reads."""
        for place, own in self._own.items():
            if own.batch is not None:
                own.end_step()
            table = own.before()
            tables.describe(self._operators, place, table, own.published, len(table), False)
        for place, entered in self._entered:
            source = entered.arrangement
            table = source.before()
            is_changed = source.batch is not None
            tables.describe(self._operators, place, table, source.published, len(table), is_changed)

    def _list_waiting(self, room: _Room, rounds: Sequence[int]) -> list[np.ndarray]:
        """List what operators have deferred for some rounds; returns the matrices, to be kept until the call
        has ended."""
        found: list[np.ndarray] = []
        for place, deferred in self._deferring.items():
            for current in rounds:
                for item in deferred.waiting((current,)):
                    if len(found) < len(room.waiting):
                        matrix = np.ascontiguousarray(item)
                        room.waiting[len(found)] = current, place, address_of(matrix), *matrix.shape
                        found.append(matrix)
        return found

    def _defer(self, waiting: np.ndarray, scope: Rounds) -> None:
        """Let operators defer what waits."""
        for current, reader, address, lines, columns in waiting.tolist():
            self._deferring[reader].put((current,), copied(address, lines, columns), scope)

    def _stage(self, step: Step) -> list[int]:
        """Stage what the call has added to arrangements; returns how many differences each operator made."""
        made: list[int] = self._operators[:, tables.MADE].tolist()
        for place, own in self._own.items():
            line = self._operators[place].tolist()
            made[place] = line[tables.STAGED]
            if isinstance(own, OrderedArrangement):
                own.passed += line[tables.PASSED]
            if made[place]:
                columns = own.width + own.depth + 1 + own.trace.diffs
                rows = copied(line[tables.RESULT], line[tables.SIZE], columns)
                own.take_steps(rows, made[place], self._mass(place), step)
        return made


def _left(binding: list[int]) -> np.ndarray | None:
    """The delta of a binding that leaves the loop."""
    *_, address, lines, columns = binding
    return copied(address, lines, columns) if columns else None
