"""A recursion unrolled: computed round by round, with each round an epoch of an engine of its own.

So it is known when each row came, and what was there in the round before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.errors import OverBudget
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.runtime.options import Options
from engine.schema import Schema
from engine.state.reading import Rows
from planner.evidence.goal_plans import variable_source
from planner.ir import RecursiveBinding
from service.derivations.prepared_program import PreparedProgram, PreparedRecursion
from service.derivations.seen_rows import SeenRows, as_delta


@dataclass(eq=False)
class Unrolled:
    """The rows of `variables` by round. `values` are those to which the recursion is restricted, by the
    numbers of its parameters, and `outer` the rows of recursions around it."""

    recursion: PreparedRecursion
    prepared: PreparedProgram
    rows: SeenRows
    values: Mapping[int, object]
    outer: Mapping[Source, Rows]
    variables: Mapping[int, Source] = field(init=False)
    bindings: tuple[RecursiveBinding, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.bindings = self.recursion.bindings
        self.variables = {
            b.variable: variable_source(b.variable, map(b.value.attribute, b.outputs)) for b in self.bindings
        }
        self._engine = Engine(Options(self.rows.max_rounds), dictionary=self.rows.dictionary)
        self._run()

    @property
    def rounds(self) -> int:
        """The number of the last round in which something came or went."""
        return self._engine.snapshot.upper - 1

    def state(self, variable: int, round: int) -> Rows:
        """The rows of a variable after a round."""
        return self._engine.snapshot.rows(self.variables[variable].name, round)

    def came(self, variable: int, words: np.ndarray, round: int) -> np.ndarray:
        """The rounds int64[n] since which rows int64[W, n] that are there after a round have been there all
        the time. A later round may take them away again."""
        history = self.history(variable)
        history = history[:, history[-2] <= round]
        found = np.zeros(words.shape[1], np.int64)
        for place, row in enumerate(words.T):
            same = history[-2:, (history[:-2] == row[:, np.newaxis]).all(axis=0)]
            order = np.argsort(same[0], kind="stable")
            rounds, counts = same[0][order], np.cumsum(same[1][order])
            gone = np.flatnonzero(counts <= 0)
            found[place] = rounds[gone[-1] + 1 if len(gone) else 0]
        return found

    def history(self, variable: int) -> np.ndarray:
        """All that came and went, as a delta int64[W + 2, n] with rounds in place of epochs."""
        return self._engine.history_of(self.variables[variable].name)[0]

    def _run(self) -> None:
        engine, spending = self._engine, self.rows.spending
        variables = {**self.variables, **{int(s.name[1:]): s for s in self.outer}}
        plans = self.prepared.rounds(self.recursion, variables)
        own = {source: no_rows(source) for source in self.variables.values()}
        for source, delta in self.rows.deltas(plans, self.values, {**self.outer, **own}, 0).items():
            schema = Schema(tuple(source.schema.columns[place] for place in plans[0].sources[source]))
            engine.create_source(source.name, schema, kept=None if source in own else (delta, 0))
        views = {f"\0round {b.variable}": (b, plan) for b, plan in zip(self.bindings, plans, strict=True)}
        for name, (_, plan) in views.items():
            engine.create_view(name, plan.plan.bound(self.values), meter=spending)
        changes = {
            self.variables[b.variable].name: as_delta(engine.snapshot.rows(name), 1)
            for name, (b, _) in views.items()
        }
        limit = self.recursion.fixpoint.limit or self.rows.max_rounds
        while any(delta.shape[1] for delta in changes.values()) and self.rounds < limit:
            epoch = engine.snapshot.upper
            stage = engine.stage({n: d for n, d in changes.items() if d.shape[1]}, epoch + 1)
            if stage.failed:
                reason = next(iter(stage.failed.values()))
                stage.abort()
                raise OverBudget(reason)
            stage.publish()
            spending.round(())
            changes = {}
            for name, (b, _) in views.items():
                delta = engine.snapshot.changes(name, epoch - 1, epoch)
                delta[-2] = epoch + 1
                changes[self.variables[b.variable].name] = delta


def no_rows(source: Source) -> Rows:
    """No rows of a source."""
    return np.empty((len(source.schema), 0), np.int64), np.empty(0, np.int64)
