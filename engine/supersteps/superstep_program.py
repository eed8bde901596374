"""A dataflow's advance as a program: what every shard does, in one order, between exchanges.

All shards are at the same place, because where they go on depends only on the place and on what
all of them said when they last exchanged. A loop is unrolled by going back:

    Begin          nothing has left the loop; round 0
    Decide         a loop into which little enters: one shard runs it whole, the others go past it
    Round          the round before is over                            <──┐
    Run            what of the body needs no exchange                     │
    Exchange                                                              │
    Check          did anything happen in this round, in any shard? ──────┤ no: to the next round in
    Run, Exchange  the other levels of the body                           │ which something waits, or out
    FeedBack       ───────────────────────────────────────────────────────┘

A loop whose body has no exchange runs whole in every shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.operators.arrangement import Arrangement
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.supersteps.levels import Level, affected, levels_of


@dataclass(frozen=True, eq=False)
class RunLevel:
    """A level's operators, in `loop`'s body or outermost; what `sends` read goes to where it is arranged."""

    operators: tuple[Operator, ...]
    sends: tuple[Arrangement, ...]
    loop: Loop | None


@dataclass(frozen=True, eq=False)
class Exchange:
    """Messages are delivered."""


@dataclass(frozen=True, eq=False)
class BeginLoop:
    """`offers`: what enters is sent to one shard too, if it is little."""

    loop: Loop
    offers: bool


@dataclass(frozen=True, eq=False)
class Decide:
    loop: Loop
    end: int


@dataclass(frozen=True, eq=False)
class Round:
    loop: Loop


@dataclass(frozen=True, eq=False)
class CheckLoop:
    loop: Loop
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class FeedBack:
    loop: Loop
    start: int


@dataclass(frozen=True, eq=False)
class WholeLoop:
    loop: Loop


@dataclass(frozen=True, eq=False)
class End:
    """Everything has happened."""


Instruction = RunLevel | Exchange | BeginLoop | Decide | Round | CheckLoop | FeedBack | WholeLoop | End


@dataclass(frozen=True, eq=False)
class SuperstepProgram:
    """`last_reads`: the last place at which an operator's changes are read; a loop's, of what has left it."""

    instructions: tuple[Instruction, ...]
    last_reads: dict[Operator, int]

    @property
    def exchanges(self) -> int:
        """How many exchanges there are if every loop runs one round."""
        return sum(isinstance(instruction, Exchange) for instruction in self.instructions)

    @property
    def has_rounds(self) -> bool:
        """Whether the number of exchanges depends on what happens."""
        return any(isinstance(instruction, Round) for instruction in self.instructions)


def compile(operators: Iterable[Operator], changed: Iterable[Operator]) -> SuperstepProgram:
    """The program of an advance in which the outermost operators `changed` have changes."""
    compiler = _Compiler()
    compiler.scope(levels_of(affected(operators, changed)), None)
    compiler.put(End())
    return SuperstepProgram(tuple(compiler.instructions), compiler.last_reads)


class _Compiler:
    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.last_reads: dict[Operator, int] = {}

    def put(self, instruction: Instruction) -> None:
        self.instructions.append(instruction)

    @property
    def place(self) -> int:
        """That of the next instruction."""
        return len(self.instructions)

    def scope(self, levels: Sequence[Level], loop: Loop | None) -> None:
        """A scope's levels; those of a body come after a `Round`."""
        for number, level in enumerate(levels):
            if number > 0 and not (loop is not None and number == 1):
                self.put(Exchange())
            above = levels[number + 1].operators if number + 1 < len(levels) else ()
            self._run(level, tuple(op for op in above if isinstance(op, Arrangement)), loop)
            if loop is not None and number == 0:
                self.put(Exchange())
                self.put(CheckLoop(loop, 0, 0))
            for inner in level.loops:
                self._loop(inner, loop)

    def _run(self, level: Level, sends: tuple[Arrangement, ...], loop: Loop | None) -> None:
        for operator in level.operators:
            if not isinstance(operator, Arrangement):
                self._reads(operator.inputs)
        self._reads(arrangement.inputs[0] for arrangement in sends)
        self.put(RunLevel(level.operators, sends, loop))

    def _reads(self, operators: Iterable[Operator]) -> None:
        for operator in operators:
            self.last_reads[operator] = self.place

    def _loop(self, loop: Loop, outer: Loop | None) -> None:
        if not has_exchanges(loop):
            self._reads(loop.inputs)
            self.put(WholeLoop(loop))
            return
        self.put(BeginLoop(loop, outer is None))
        if outer is None:
            self.put(Exchange())
            decide = self.place
            self.put(Decide(loop, 0))
        start = self.place
        self.put(Round(loop))
        check = self.place + 2
        self.scope(levels_of(loop.body), loop)
        self._reads(loop.values)
        self._reads(loop.inputs)
        self.put(FeedBack(loop, start))
        self.instructions[check] = CheckLoop(loop, start, self.place)
        if outer is None:
            self.instructions[decide] = Decide(loop, self.place)


def has_exchanges(loop: Loop) -> bool:
    """Whether rows change hands inside."""
    return any(isinstance(part, Arrangement) for part in loop.parts())
