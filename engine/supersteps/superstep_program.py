"""A dataflow's advance as a program: what every shard does between exchanges, in one order.

All shards are at the same place, because the next place depends only on the current one and on the flags that
all shards exchanged. A loop is a jump back:

  Begin          nothing has left the loop; round 0
  Decide         if few rows enter, one shard runs the whole loop and the others skip it
  Round          starts a round                                    <──┐
  Run            the part of the body that needs no exchange          │
  Exchange                                                            │
  Check          did anything happen in this round, in any shard? ────┤ no: go to the next round
  Run, Exchange  the other levels of the body                         │ with work, or leave
  FeedBack       ─────────────────────────────────────────────────────┘

A loop whose body has no exchange runs as a whole in every shard.
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
    """Run a level's operators, in `loop`'s body or outermost, and send the inputs of `sends` to their
    shards."""

    operators: tuple[Operator, ...]
    sends: tuple[Arrangement, ...]
    loop: Loop | None


@dataclass(frozen=True, eq=False)
class Exchange:
    """Deliver all messages."""


@dataclass(frozen=True, eq=False)
class BeginLoop:
    """Enter a loop. With `offers`, shards also send what enters to one shard, if they have few rows."""

    loop: Loop
    offers: bool


@dataclass(frozen=True, eq=False)
class Decide:
    """Run the whole loop in one shard and go to `end` if few rows enter it; go on otherwise."""

    loop: Loop
    end: int


@dataclass(frozen=True, eq=False)
class Round:
    """Start a round."""

    loop: Loop


@dataclass(frozen=True, eq=False)
class CheckLoop:
    """Go on if something happened in this round; else to the next round with work, or to `end`."""

    loop: Loop
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class FeedBack:
    """Feed the values back to the next round, and go to `start`."""

    loop: Loop
    start: int


@dataclass(frozen=True, eq=False)
class WholeLoop:
    """Run all rounds of a loop without exchanges."""

    loop: Loop


@dataclass(frozen=True, eq=False)
class End:
    """The epoch is computed."""


Instruction = RunLevel | Exchange | BeginLoop | Decide | Round | CheckLoop | FeedBack | WholeLoop | End


@dataclass(frozen=True, eq=False)
class SuperstepProgram:
    """Instructions; `last_reads` has the last place that reads an operator's changes, or what left a loop."""

    instructions: tuple[Instruction, ...]
    last_reads: dict[Operator, int]

    @property
    def exchanges(self) -> int:
        """The number of exchanges if every loop runs one round."""
        return sum(isinstance(instruction, Exchange) for instruction in self.instructions)

    @property
    def has_rounds(self) -> bool:
        """Whether the number of exchanges depends on the data."""
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
        """The place of the next instruction."""
        return len(self.instructions)

    def scope(self, levels: Sequence[Level], loop: Loop | None) -> None:
        """Compile a scope's levels; those of a body come after a `Round`."""
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
    """Whether the loop's body arranges rows, so that they change shards."""
    return any(isinstance(part, Arrangement) for part in loop.parts())
