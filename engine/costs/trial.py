"""Trials: a plan run over drawn rows in a dataflow of its own, with what each operator did and holds.

Nothing of the running engine is touched: texts that the plan makes are in a dictionary of the trial's own.
Any thread may run a trial.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter_ns

import numpy as np

from engine.costs.text_meter import TextMeter
from engine.errors import OverBudget
from engine.kernels.index import FEWEST, SLOTS_A_KEY
from engine.kernels.narrow.narrow_rows import around, ends_in, format_for
from engine.operators.allowance import Spending
from engine.operators.arrangement import Arrangement
from engine.operators.operator import Operator
from engine.plan.nodes import Node
from engine.runtime.hydration import Hydration
from engine.runtime.kept import every_operator
from engine.runtime.observation import Observed, observe, places
from engine.runtime.options import Options
from engine.state.dictionary import Dictionary
from engine.state.layer import NARROW
from engine.state.packed_times import Frontier
from engine.state.snapshot import Snapshot
from engine.state.trace import Trace
from engine.state.trial_dictionary import TrialDictionary

_WORD = 8
_SLOT = 4
_NAME = "estimate"


@dataclass(frozen=True)
class OperatorTrial:
    """What an operator did over a share of the rows: differences `taken` and `passed`, those that it `kept`
    in batches, and the `nanoseconds` of its steps. A kept row takes `width` bytes in a large batch and
    `wide` in a small one. `texts` are the bytes of texts that nobody had before."""

    taken: int
    passed: int
    kept: int
    nanoseconds: int
    width: float
    wide: float
    texts: int = 0

    @property
    def work(self) -> int:
        return self.taken + self.passed

    def bytes(self, rows: float) -> float:
        """The bytes that so many kept rows take."""
        return rows * (self.width if rows >= NARROW else self.wide)


@dataclass(frozen=True)
class ProbedChange:
    """A change of one row: the nanoseconds that it took, and the differences that each operator passed."""

    nanoseconds: int
    passed: np.ndarray


class Trial:
    """A dataflow of a plan, over the rows of a share. `operators` are in the order of `figures`."""

    def __init__(
        self,
        plan: Node,
        snapshot: Snapshot,
        dictionary: Dictionary,
        max_rounds: int,
        share: float,
        spending: Spending,
    ) -> None:
        self.share = share
        spending.pause()
        self._dictionary = TrialDictionary(dictionary, spending.allowance.bytes, spending.check)
        self._meter = TextMeter(spending, self._dictionary)
        order, start = snapshot.frontier.order, perf_counter_ns()
        self._hydration = Hydration.of(_NAME, plan, order, self._dictionary, Options(max_rounds))
        self.rendering = perf_counter_ns() - start
        """The nanoseconds that it took to make the operators."""
        self._dataflow = self._hydration.dataflow
        self._upper = snapshot.upper
        self._places = places(self._hydration.history, self._dataflow)
        self.is_cut = False
        """Whether it was more than the allowance gave, so that its figures are too low."""

    def run(self, rows: Mapping[str, np.ndarray], since: int) -> None:
        """Compute the view, until it is done or has spent its allowance."""
        self._hydration.history.trace.since = since
        deltas = {name: delta for name, delta in rows.items() if name in self._hydration.inputs}
        try:
            self._hydration.run(deltas, self._meter)
        except OverBudget:
            self.is_cut = True
        else:
            self._publish()

    @property
    def size(self) -> int:
        """The rows of the view now, copies included; about as many, if the trial is cut."""
        history = self._hydration.history
        return history.inputs[0].emitted if self.is_cut else sum(it.total for it in history.trace.layers())

    @property
    def operators(self) -> tuple[Observed, ...]:
        return observe(self._hydration.history, self._dataflow)

    @property
    def rows(self) -> int:
        """The most rows that an operator has passed on."""
        return max((operator.emitted for operator in self._places), default=0)

    @property
    def texts(self) -> int:
        """The bytes of new texts."""
        return self._dictionary.made

    def figures(self) -> list[OperatorTrial]:
        """What each operator did and holds, in the order of `operators`."""
        found: list[OperatorTrial] = []
        inside = dict(self._inside())
        for operator, observed in zip(self._ordered(), self.operators, strict=True):
            within = inside.get(operator, ())
            figures = (
                _cut_figures(operator, observed) if self.is_cut else _figures(operator, observed, within)
            )
            found.append(replace(figures, texts=self._meter.texts_of(operator)))
        return found

    @property
    def outermost(self) -> list[Hashable]:
        """For each operator, the key of itself or of the outermost loop that it is in."""
        keys = {operator: path[0] for path, operator in every_operator(self._dataflow.operators.items())}
        return [keys.get(operator) for operator in self._ordered()]

    def _ordered(self) -> list[Operator]:
        return sorted(self._places, key=self._places.__getitem__)

    def _inside(self) -> Iterator[tuple[Operator, Sequence[Arrangement]]]:
        """What operators keep besides those that are listed: old copies in loops, and logs of failed rows."""
        for key, operator in self._dataflow.operators.items():
            kept = [
                inner
                for _, inner in every_operator([(key, operator)])
                if isinstance(inner, Arrangement) and inner not in self._places
            ]
            if kept:
                yield operator, kept

    # Single changes

    def probe(self, source: str, words: np.ndarray) -> tuple[ProbedChange, ProbedChange] | None:
        """Delete a row of a source and insert it again; None if that takes more than the allowance."""
        deleted = self._change(source, words, -1)
        inserted = None if deleted is None else self._change(source, words, 1)
        return None if deleted is None or inserted is None else (deleted, inserted)

    def _change(self, source: str, words: np.ndarray, diff: int) -> ProbedChange | None:
        delta = np.array([*words.tolist(), self._upper, diff], np.int64)[:, np.newaxis]
        before = self._emitted()
        self._upper += 1
        start = perf_counter_ns()
        try:
            self._hydration.run({source: np.ascontiguousarray(delta)}, self._meter)
        except OverBudget:
            return None
        self._publish()
        took = perf_counter_ns() - start
        return ProbedChange(took, self._emitted() - before)

    def _emitted(self) -> np.ndarray:
        return np.array([operator.emitted for operator in self._ordered()], np.int64)

    def _publish(self) -> None:
        self._dataflow.publish(Frontier(self._dataflow.order, (self._upper,)))


def _figures(operator: Operator, observed: Observed, inside: Sequence[Arrangement]) -> OperatorTrial:
    own = [operator, *inside] if isinstance(operator, Arrangement) else inside
    traces = [part.trace for part in own]
    kept = sum(trace.rows for trace in traces)
    widths = [(trace.rows, *_row_bytes(trace)) for trace in traces if trace.rows]
    width = sum(rows * narrow for rows, narrow, _ in widths) / max(kept, 1)
    wide = max((wide for _, _, wide in widths), default=0.0)
    figures = observed.figures
    return OperatorTrial(figures.rows_in, figures.rows_out, kept, figures.nanoseconds, width, wide)


def _cut_figures(operator: Operator, observed: Observed) -> OperatorTrial:
    """The figures of an operator whose trial has ended early: what it took is what it would have kept."""
    figures = observed.figures
    kept = figures.rows_in if isinstance(operator, Arrangement) else 0
    wide = _WORD * (operator.width + operator.depth + 2) if isinstance(operator, Arrangement) else 0
    return OperatorTrial(figures.rows_in, figures.rows_out, kept, figures.nanoseconds, wide / 2, wide)


def _row_bytes(trace: Trace) -> tuple[float, float]:
    """The bytes of a row in a large batch and in a small one, with its part of the index."""
    layers = [layer for layer in trace.layers() if len(layer)]
    ends = around([ends_in(layer.rows) for layer in layers])
    _, stride = format_for(ends)
    slots = sum(
        SLOTS_A_KEY * len(layer) if layer.index is None else len(layer.index.slots) for layer in layers
    )
    indexed = trace.key > 0 and trace.rows >= FEWEST
    index = _SLOT * slots / trace.rows if indexed else 0.0
    return stride + index, _WORD * ends.shape[1] + index
