"""Replay: one epoch of a view computed again, beside the running dataflow, with a record of each step.

The view is rendered into a dataflow of its own, hydrated with its sources as they were before the epoch, and
then given the epoch's changes. Recursions are updated by the changes alone, which the running view may have
done in another way if that cost less; the differences are the same. Nothing here touches the running engine,
so any thread may replay, and it costs nothing as long as nobody does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.errors import OverBudget
from engine.operators.allowance import Spending
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.history import History
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node
from engine.runtime.hydration import Hydration
from engine.runtime.known_columns import KnownColumns, known_columns
from engine.runtime.observation import Observed, observe, places
from engine.runtime.options import Options
from engine.schema import Column
from engine.state.dictionary import Dictionary
from engine.state.packed_times import Frontier
from engine.state.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the differences that a step has passed on: words [C, n] of `columns`, and diffs [n]."""

    columns: tuple[Column, ...]
    words: np.ndarray
    diffs: np.ndarray


@dataclass(frozen=True, eq=False)
class ReplayStep:
    """What an operator did in one step: its position in `Replay.operators`, the rounds of the loops around
    it, outermost first, and how many differences it took and passed on."""

    operator: int
    rounds: tuple[int, ...]
    taken: int
    passed: int
    sample: Sample | None


@dataclass(frozen=True, eq=False)
class Replay:
    """The steps of an epoch in their order, of those operators that had something to do.

    `is_cut` if there were more steps than were asked for. `held` keeps the texts of the samples.
    """

    operators: tuple[Observed, ...]
    steps: tuple[ReplayStep, ...]
    is_cut: bool
    held: object


@dataclass(frozen=True)
class ReplayLimits:
    """The most `steps` that are recorded, the most rows of each of them that are shown, and the most rows of
    the sources."""

    steps: int = 10_000
    shown: int = 5
    rows: int = 2_000_000


def replay(
    name: str,
    plan: Node,
    snapshot: Snapshot,
    epoch: int,
    dictionary: Dictionary,
    max_rounds: int,
    limits: ReplayLimits,
    spending: Spending,
) -> Replay:
    """Compute an epoch of a view with this plan again.

    Raises EpochError if a source cannot be read before the epoch, OverBudget if it takes more than the limits
    allow, BuildCancelled once the spending was stopped, and another EngineError if the view cannot be
    computed.
    """
    order = snapshot.frontier.order
    hydration = Hydration.of(name, plan, order, dictionary, Options(max_rounds, Rebuild.NEVER))
    dataflow, history = hydration.dataflow, hydration.history
    columns = known_columns(hydration.renderer, dataflow, plan)
    recorder = _Recorder(places(history, dataflow), columns, limits.shown)
    sources = sorted(hydration.inputs.keys() & snapshot.relations.keys())
    before = {source: _rows(snapshot, source, epoch - 1) for source in sources}
    size = sum(delta.shape[1] for delta in before.values())
    if size > limits.rows:
        raise OverBudget(
            f"{name} read {size} rows before epoch {epoch}, and a replay computes at most {limits.rows}"
        )
    changes = {source: snapshot.changes(source, epoch - 1, epoch) for source in sources}
    hydration.run(before, spending)
    dataflow.publish(Frontier(order, (epoch,)))
    metered = _Metered(spending, recorder, limits.steps)
    hydration.run(changes, metered)
    dataflow.publish(Frontier(order, (epoch + 1,)))
    operators = observe(history, dataflow)
    return Replay(operators, tuple(recorder.steps), metered.is_cut, (snapshot.texts, hydration.lease))


def _rows(snapshot: Snapshot, source: str, epoch: int) -> np.ndarray:
    """The rows of a source as differences at an epoch."""
    words, counts = snapshot.rows(source, epoch)
    times = np.full((1, len(counts)), epoch, np.int64)
    return np.ascontiguousarray(np.concatenate([words, times, counts[np.newaxis]]))


# Recording


class _Metered:
    """A meter that records what a spending allows."""

    sees_steps = True

    def __init__(self, spending: Spending, recorder: _Recorder, most: int) -> None:
        self._spending = spending
        self._recorder = recorder
        self._most = most
        self.is_cut = False

    def begin(self, operator: Operator) -> None:
        self._spending.begin(operator)

    def round(self, rounds: tuple[int, ...]) -> None:
        self._spending.round(rounds)
        self._recorder.rounds = rounds

    def ran(self, rounds: int, rows: int, bytes: int) -> None:
        self._spending.ran(rounds, rows, bytes)

    def made(self, operator: Operator) -> None:
        self._spending.made(operator)
        if len(self._recorder.steps) < self._most:
            self._recorder.record(operator)
        else:
            self.is_cut = True


class _Recorder:
    """Notes the steps of operators that have taken or passed on something. `columns` has, for an operator,
    the columns whose words are known, each with its place in a row."""

    def __init__(
        self, positions: Mapping[Operator, int], columns: Mapping[Operator, KnownColumns], shown: int
    ) -> None:
        self.steps: list[ReplayStep] = []
        self.rounds: tuple[int, ...] = ()
        self._positions = positions
        self._columns = columns
        self._shown = shown

    def record(self, operator: Operator) -> None:
        position = self._positions.get(operator)
        if position is None or isinstance(operator, EnteredArrangement):
            return
        taken, passed = sum(map(_passed, operator.inputs)), _passed(operator)
        if taken or passed:
            known = self._columns.get(operator)
            depth = 0 if known is None else known.depth
            sample = self._sample(operator, known) if passed else None
            self.steps.append(ReplayStep(position, self.rounds[:depth], taken, passed, sample))

    def _sample(self, operator: Operator, known: KnownColumns | None) -> Sample | None:
        if known is None or not known.columns or not self._shown:
            return None
        delta = _delta(operator, self._shown)
        if delta is None or max(known.words) >= len(delta) - 2:
            return None
        return Sample(known.columns, np.ascontiguousarray(delta[list(known.words)]), delta[-1].copy())


def _passed(operator: Operator) -> int:
    """The number of differences that an operator has passed on in the current step."""
    if isinstance(operator, Arrangement | EnteredArrangement):
        return operator.changed
    if isinstance(operator, Loop):
        return sum(delta.shape[1] for left in operator.left for delta in left)
    return sum(delta.shape[1] for delta in operator.out)


def _delta(operator: Operator, most: int) -> np.ndarray | None:
    """The first differences of the current step, [words + 2, n]; None if they have another form."""
    if type(operator) in (Arrangement, History):
        batch = operator.batch  # type: ignore[attr-defined]
        return None if batch is None else batch[:most].T
    if not operator.out:
        return None
    parts, room = [], most
    for delta in operator.out:
        parts.append(delta[:, :room])
        room -= parts[-1].shape[1]
    return np.concatenate(parts, axis=1)
