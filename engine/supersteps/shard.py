"""A shard in a superstep: it runs the program from one exchange to the next.

Its state comes in messages from itself, and the rows of its part of every arrangement in messages from all
shards. The next superstep needs only what this one sends.
"""

from __future__ import annotations

import numpy as np

from engine.errors import EngineError, LimitExceeded
from engine.operators.arrangement import Arrangement
from engine.operators.counts import mass_of, require_small_sums
from engine.operators.entered import EnteredArrangement
from engine.operators.loop import Loop
from engine.operators.operator import NO_ROUNDS, Operator, Stateful, Step
from engine.operators.running_dataflow import reason_of
from engine.plan.fingerprint import fingerprint
from engine.state.packed_times import TOTAL
from engine.state.store.key_shards import split_by_shard
from engine.supersteps import alone
from engine.supersteps.alone import Offer
from engine.supersteps.flags import Flags, ProgramPlace
from engine.supersteps.messages import Message, MessageKind, chunks
from engine.supersteps.rendered import RenderedTask
from engine.supersteps.spec import Spec
from engine.supersteps.superstep_program import (
    BeginLoop,
    CheckLoop,
    Decide,
    End,
    Exchange,
    FeedBack,
    Instruction,
    Round,
    RunLevel,
    WholeLoop,
)

DECLINED = "declined"
"""Stands in an error for the fingerprint of a failed operator: supersteps do not suit this epoch."""
EXAMPLES = 10
"""Most error messages of bad rows that are reported."""


class Shard:
    """One shard. `place` is the next instruction, and `said` the flags of all shards, None in the first
    superstep."""

    def __init__(self, rendered: RenderedTask, spec: Spec, number: int, said: Flags | None) -> None:
        self.rendered = rendered
        """The shard's operators, with its state."""
        self.number = number
        """The shard's number."""
        self.place = ProgramPlace() if said is None else said.place
        """The next instruction."""
        self.error = None if said is None else said.error
        """Why the epoch cannot be computed: fingerprint, message and hint; None if it can."""
        self.offers: list[Offer] = []
        """What all shards offered to a small loop."""
        self.scanned: tuple[int, int, tuple[str, ...]] = (0, 0, ())
        """The totals of the scans."""
        self.program = rendered.program()
        """What all shards run."""
        self._said = said
        self._spec = spec
        self._changed: list[Stateful] = []
        self._sent: list[Message] = []
        self._active = False
        self._entering = 0

    @property
    def has_ended(self) -> bool:
        """Whether the program is at its end."""
        return isinstance(self._instruction, End)

    @property
    def _instruction(self) -> Instruction:
        return self.program.instructions[self.place.instruction]

    def advance(self) -> list[Message]:
        """Run to the next exchange or to the end; returns the messages to all shards, this one included."""
        while not self.has_ended:
            instruction = self._instruction
            if isinstance(instruction, Exchange):
                self._go(self.place.instruction + 1)
                break
            self._follow(instruction)
        return self._sent

    def flags(self) -> Flags:
        """The shard's flags at an exchange."""
        following: int | None = None
        if self.place.rounds:
            waiting = self._waiting()
            current = self.place.rounds[-1]
            self._active = self._active or current in waiting
            following = min((number for number in waiting if number > current), default=None)
        return Flags(self.place, self._active, following, self._entering, self.error)

    def take(self, arrangement: Arrangement, parts: list[np.ndarray]) -> None:
        """Merge the parts that all shards sent into the arrangement's new batch.

        It may come before its level runs, since nobody reads it before.
        """
        try:
            require_small_sums(parts, arrangement.width + arrangement.depth + 1)
            merged = arrangement.trace.merge_all(parts, 0)
            arrangement.take(merged, self.step_of(None), mass_of(merged))
        except Exception as error:
            self._fail(arrangement, error)

    def enter(self) -> None:
        """Let open loops see what entered them before the exchange."""
        for loop in self._open_loops():
            step = self.step_of(loop)
            for entry in loop.entries:
                if isinstance(entry, EnteredArrangement):
                    entry.step(step)

    def run(self, run: RunLevel) -> list[Message]:
        """Run one level on its own; returns the messages to other shards."""
        self._run(run)
        sent, self._sent = self._sent, []
        return sent

    def count(self, rows: int, skipped: int, examples: tuple[str, ...]) -> None:
        """Add to the totals of the scans."""
        taken, left, shown = self.scanned
        self.scanned = taken + rows, left + skipped, (*shown, *examples)[:EXAMPLES]

    # The program

    def _follow(self, instruction: Instruction) -> None:
        here = self.place.instruction
        match instruction:
            case RunLevel():
                self._run(instruction)
                self._go(here + 1)
            case WholeLoop(loop=loop):
                self._step(loop, self.step_of(self.rendered.loops.get(loop)))
                self._go(here + 1)
            case BeginLoop(loop=loop, offers=offers):
                loop.begin()
                self.place = ProgramPlace(here + 1, (*self.place.rounds, 0), (*self.place.done, 0))
                if offers:
                    self._offer(loop)
            case Decide(loop=loop, end=end):
                self._decide(loop, end)
            case Round(loop=loop):
                self._begin_round(loop)
                self._go(here + 1)
            case CheckLoop(loop=loop, start=start, end=end):
                self._check(loop, start, end)
            case FeedBack(loop=loop, start=start):
                self._feed_back(loop)
                self._go(start, self.place.rounds[-1] + 1)

    def _go(self, instruction: int, current: int | None = None) -> None:
        """Go to an instruction, and to round `current` of the innermost loop if it is given."""
        place = self.place
        rounds = place.rounds if current is None else (*place.rounds[:-1], current)
        self.place = ProgramPlace(instruction, rounds, place.done)

    def _leave(self, end: int) -> None:
        self.place = ProgramPlace(end, self.place.rounds[:-1], self.place.done[:-1])

    def _run(self, run: RunLevel) -> None:
        step = self.step_of(run.loop)
        for operator in run.operators:
            if not isinstance(operator, Arrangement):
                self._step(operator, step)
                self._active |= bool(operator.out) or _enters(operator)
        for arrangement in run.sends:
            self._send(arrangement, step)

    def _send(self, arrangement: Arrangement, step: Step) -> None:
        delta = arrangement.inputs[0].delta()
        if delta is None or self.error is not None:
            return
        try:
            batch = arrangement.arrange(delta, step)
        except Exception as error:
            self._fail(arrangement, error)
            return
        if len(batch):
            self._active = True
        rows = arrangement.export_rows(batch)
        number = self.rendered.numbers[arrangement]
        parts = split_by_shard(rows, self.rendered.words[arrangement], self._spec.shards)
        for to, part in enumerate(parts):
            for piece in chunks(part):
                self._sent.append(Message(to, MessageKind.ROWS, number, piece))
                if arrangement in self.rendered.foreign:
                    others = (other for other in range(self._spec.shards) if other != to)
                    self._sent += [Message(other, MessageKind.WIDE, number, piece) for other in others]

    def _step(self, operator: Operator, step: Step) -> None:
        """One step of an operator; for a loop, all of its rounds."""
        if self.error is not None:
            return
        try:
            if isinstance(operator, Loop):
                Loop.step(operator, step)
            else:
                operator.step(step)
        except Exception as error:
            self._fail(operator, error)

    def _fail(self, operator: Operator, error: Exception) -> None:
        name = fingerprint(*self.rendered.paths[operator])
        if isinstance(error, LimitExceeded):
            # Changes of several shards may cancel; only a process with all of them can tell.
            self.error = (DECLINED, error.message, "")
        else:
            reason = reason_of(operator, error)
            self.error = (name, reason.message, reason.hint)

    # Loops

    def step_of(self, loop: Loop | None) -> Step:
        """The step of a loop's body, or of the outermost scope."""
        if loop is None:
            return Step((), NO_ROUNDS, self.rendered.dataflow, self._changed, TOTAL.masks)
        rounds = self.place.rounds[: self._open_loops().index(loop) + 1]
        return Step(rounds, np.array(rounds, np.int64), loop, self._changed, TOTAL.masks)

    def _begin_round(self, loop: Loop) -> None:
        done = self.place.done
        self.place = ProgramPlace(self.place.instruction, self.place.rounds, (*done[:-1], done[-1] + 1))
        self._active = False
        for operator in loop.body:
            for part in operator.parts():
                part.clear()
                if isinstance(part, Arrangement) and part.batch is not None:
                    part.end_step(indexed=False)
                if part in self.rendered.foreign:
                    self.rendered.foreign[part].end_step()

    def _check(self, loop: Loop, start: int, end: int) -> None:
        said = self._agreement()
        done = self.place.done[-1]
        if said.active:
            if loop.most is not None and done > loop.most:
                self._fail(loop, loop.still_changes(loop.most))
            if done > self._spec.limits.rounds:
                self.error = (DECLINED, f"a recursion takes more than {self._spec.limits.rounds} rounds", "")
            self._go(self.place.instruction + 1)
        elif said.next is not None:
            self._go(start, said.next)
        else:
            self._leave(end)

    def _feed_back(self, loop: Loop) -> None:
        if self.error is not None:
            return
        try:
            loop.feed_back(self.step_of(loop))
        except EngineError as error:
            self._fail(loop, error)

    def _waiting(self) -> set[int]:
        """The rounds of the innermost open loop that have deferred work."""
        loop = self._open_loops()[-1]
        prefix = self.place.rounds[:-1]
        depth = len(prefix)
        return {
            rounds[depth]
            for part in (part for operator in loop.body for part in operator.parts())
            if part.deferred is not None
            for rounds in part.deferred.rounds
            if rounds[:depth] == prefix
        }

    def _open_loops(self) -> list[Loop]:
        """The loops around the current instruction, outermost first."""
        depth = 0
        found: list[Loop] = []
        for instruction in self.program.instructions[: self.place.instruction]:
            if isinstance(instruction, BeginLoop):
                found[depth:] = [instruction.loop]
                depth += 1
            elif isinstance(instruction, FeedBack):
                depth -= 1
        return found[: len(self.place.rounds)]

    # Loops that few rows enter

    def _offer(self, loop: Loop) -> None:
        entering = list(alone.entering(loop))
        self._entering = sum(offer.size for offer in entering)
        if self._entering <= self._spec.limits.solo:
            numbers = self.rendered.numbers
            for offer in entering:
                about = (numbers[offer.source], offer.is_batch)
                self._sent.append(Message(0, MessageKind.OFFER, about, offer.exported()))

    def _decide(self, loop: Loop, end: int) -> None:
        entering = self._agreement().entering
        if entering > self._spec.limits.solo:
            self._go(self.place.instruction + 1)
            return
        if entering and self.number == 0:
            with alone.entered(loop, self.offers):
                self._step(loop, self.step_of(None))
        self._leave(end)

    def _agreement(self) -> Flags:
        if self._said is None:
            raise RuntimeError("no flags have been exchanged yet")
        return self._said


def _enters(operator: Operator) -> bool:
    return isinstance(operator, EnteredArrangement) and operator.batch is not None
