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

from engine.kernels.stepping import arena as arenas
from engine.kernels.stepping import loop_rounds, opcodes, tables
from engine.kernels.stepping.arena import ADDRESS, COLUMNS, LINES, READER, ROUND, address_of, copied
from engine.kernels.stepping.loop_rounds import (
    BINDING,
    FED_BACK,
    LEFT_AT,
    LEFT_COLUMNS,
    LEFT_LINES,
    MOST_WAITING,
    VALUE,
    begin,
    run_rounds,
)
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.failure_log import FailureLog
from engine.operators.loop import Agenda
from engine.operators.operator import Instruction, Operator, Step, StepScope
from engine.operators.topk import OrderedArrangement

_ARENA_WORDS = 1 << 19
MOST_ROUNDS = 64
"""The most rounds of a call."""
_MOST_BINDINGS = MOST_WAITING // MOST_ROUNDS


class _Room(threading.local):
    """The arrays of a call, of which nothing is needed after it. Memory that is not written costs nothing."""

    def __init__(self) -> None:
        self.arena = np.empty(_ARENA_WORDS, np.int64)
        self.waiting = np.empty((MOST_WAITING, arenas.WAITING), np.int64)
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
        places = {operator: place for place, operator in enumerate(body)}
        constants: list[int] = []
        self._body = tuple(body)
        self._code = np.zeros((len(body), opcodes.LINE), np.int64)
        for line, instruction in zip(self._code, instructions, strict=True):
            reads = [places[operator] for operator in instruction.reads]
            first = [places[operator] for operator in instruction.many] or list(instruction.first)
            second = list(instruction.second)
            at = len(constants)
            line[:] = [
                instruction.operation,
                *(*reads, opcodes.NOTHING, opcodes.NOTHING)[:2],
                instruction.number,
                *(at, len(first), at + len(first), len(second)),
            ]
            constants += [*first, *second]
        self._constants = np.array(constants, np.int64)
        self._bindings = np.zeros((len(values), BINDING), np.int64)
        self._bindings[:, VALUE] = [places[value] for value in values]
        self._bindings[:, FED_BACK] = [opcodes.NOTHING if it is None else places[it] for it in variables]
        self._arrangements = np.zeros((len(body), tables.NUMBERS), np.int64)
        self._state = np.zeros(loop_rounds.STATE, np.int64)
        self._outs = np.zeros((len(body), arenas.WAITING), np.int64)
        self._masses = np.zeros(len(body), np.float64)
        self._made = np.zeros(len(body), np.int64)
        self._own = [(place, it) for place, it in enumerate(body) if isinstance(it, Arrangement)]
        self._entered = [(place, it) for place, it in enumerate(body) if isinstance(it, EnteredArrangement)]
        self._logs: list[FailureLog] = [it.failures for it in body if hasattr(it, "failures")]
        self._deferring = [(place, it.deferred) for place, it in enumerate(body) if it.deferred is not None]
        for place, arrangement in self._own:
            self._arrangements[place, tables.OWN] = 1
            self._arrangements[place, tables.DIFFS] = arrangement.trace.diffs
        for place, reader in enumerate(body):
            if isinstance(reader, Arrangement | EnteredArrangement):
                self._arrangements[place, [tables.WIDTH, tables.DEPTH]] = reader.width, reader.depth

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

        What waits afterwards is deferred, and `scope` puts its rounds onto the agenda. Returns None, and
        changes nothing, if not even one round can be run here. Raises what operators of Python's raise.
        """
        room, state = _room, self._state
        self._describe()
        held = self._list_waiting(room)
        if 2 * len(held) > len(room.waiting):
            return None
        begin(state, 0 in agenda, limit, MOST_ROUNDS, most_staged, len(held))
        logged = [len(log.staged) for log in self._logs]
        if not self._call(room, held, outer, scope):
            for log, kept in zip(self._logs, logged, strict=True):
                log.withdraw(kept)
            return None
        agenda.clear()
        _, _, waits, *_, rounds, _, words = state.tolist()
        self._defer(room.waiting[:waits], scope)
        made = self._stage(outer)
        deltas = [_left(binding) for binding in self._bindings.tolist()]
        return Ran(rounds, made, words, deltas, rounds == MOST_ROUNDS)

    def _call(self, room: _Room, held: list[np.ndarray], outer: Step, scope: Rounds) -> bool:
        """Run rounds, with the turns of operators of Python's; false if what was done has to be forgotten.
        `held` are matrices that must not go."""
        state, outs = self._state, self._outs
        left = np.empty((MOST_ROUNDS * len(self._bindings), 3), np.int64)
        while True:
            try:
                run_rounds(
                    self._code,
                    self._constants,
                    self._bindings,
                    self._arrangements,
                    self._masses,
                    self._made,
                    outs,
                    left,
                    room.waiting,
                    room.taken,
                    room.arena,
                    state,
                )
            except (OverflowError, MemoryError):
                return False
            if state[arenas.STATUS] != arenas.ASKING:
                break
            place = state[loop_rounds.PLACE]
            held.append(self._turn(int(place), outs, scope.round(int(state[loop_rounds.NOW]), outer)))
            outs[place, ADDRESS : COLUMNS + 1] = address_of(held[-1]), *held[-1].shape
            self._made[place] += held[-1].shape[1]
            state[loop_rounds.WORDS] += held[-1].size
            state[loop_rounds.PLACE] += 1
            state[arenas.STATUS] = arenas.RUNNING
        is_done = state[arenas.STATUS] != arenas.REFUSED and state[loop_rounds.ROUNDS] > 0
        return is_done and self._is_light()

    def _turn(self, place: int, outs: np.ndarray, step: Step) -> np.ndarray:
        """The delta that an operator of Python's makes of its source's."""
        operator = self._body[place]
        source = operator.inputs[0]
        _, _, address, lines, columns = outs[self._code[place, opcodes.LEFT]].tolist()
        if step.meter is not None:
            step.meter.ran(0, 0, 0)
        source.out = [copied(address, lines, columns)]
        operator.step(step)
        delta = operator.delta()
        source.out, operator.out = [], []
        return np.empty((0, 0), np.int64) if delta is None else np.ascontiguousarray(delta)

    def _describe(self) -> None:
        """Tell the tables that the call reads."""
        for place, own in self._own:
            if own.batch is not None:
                own.end_step()
            table = own.before()
            tables.describe(self._arrangements, place, table, own.published, len(table), False)
        for place, entered in self._entered:
            source = entered.arrangement
            before = source.before()
            is_changed = source.batch is not None
            tables.describe(self._arrangements, place, before, source.published, len(before), is_changed)

    def _list_waiting(self, room: _Room) -> list[np.ndarray]:
        """List what operators have deferred; returns the matrices, to be kept until the call has ended."""
        found: list[np.ndarray] = []
        for place, deferred in self._deferring:
            for rounds, item in deferred.items():
                if len(found) < len(room.waiting):
                    matrix = np.ascontiguousarray(item)
                    room.waiting[len(found)] = (rounds[-1], place, address_of(matrix), *matrix.shape)
                    found.append(matrix)
        return found

    def _is_light(self) -> bool:
        """Whether no count can have become too large."""
        masses = self._masses.tolist()
        return all(arrangement.stays_light(masses[place]) for place, arrangement in self._own)

    def _defer(self, waiting: np.ndarray, scope: Rounds) -> None:
        """Let operators defer what waits, and nothing else."""
        for _, deferred in self._deferring:
            deferred.clear()
        readers = dict(self._deferring)
        for line in waiting.tolist():
            matrix = copied(line[ADDRESS], line[LINES], line[COLUMNS])
            readers[line[READER]].put((line[ROUND],), matrix, scope)

    def _stage(self, step: Step) -> list[int]:
        """Stage what the call has added to arrangements; returns how many differences each operator made."""
        made: list[int] = self._made.tolist()
        for place, own in self._own:
            line = self._arrangements[place].tolist()
            made[place] = line[tables.STAGED]
            if isinstance(own, OrderedArrangement):
                own.passed += line[tables.PASSED]
            if made[place]:
                columns = own.width + own.depth + 1 + own.trace.diffs
                rows = copied(line[tables.RESULT], line[tables.SIZE], columns)
                own.take_steps(rows, made[place], float(self._masses[place]), step)
        return made


def _left(binding: list[int]) -> np.ndarray | None:
    """The delta of a binding that leaves the loop."""
    if binding[LEFT_COLUMNS] == 0:
        return None
    return copied(binding[LEFT_AT], binding[LEFT_LINES], binding[LEFT_COLUMNS])  # type: ignore[no-any-return]
