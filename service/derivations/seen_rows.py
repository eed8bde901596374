"""Rows as a view sees them at one epoch, and queries over them, computed beside everything that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import OverBudget
from engine.operators.allowance import Spending
from engine.plan.nodes import Source
from engine.runtime.hydration import Hydration
from engine.runtime.options import Options
from engine.state.dictionary import Dictionary
from engine.state.packed_times import TOTAL, Frontier
from engine.state.reading import Rows
from engine.state.snapshot import RelationSnapshot, Snapshot
from planner.evidence.goal_plans import GoalPlan
from service.catalog.details import Seen
from service.definitions.definition import Definition
from service.derivations.picked_columns import NOTHING, Picked, Picking, SourceRows, add

MOST_ROWS = 2_000_000
"""The most rows of its sources that a query is computed over."""
_EPOCH = 1


@dataclass(frozen=True, eq=False)
class SeenRows:
    """The relations that a view `sees`, at an epoch of the snapshot, with their `definitions`."""

    definitions: Mapping[str, Definition]
    snapshot: Snapshot
    epoch: int
    sees: Mapping[str, Seen]
    dictionary: Dictionary
    max_rounds: int
    spending: Spending

    def relation(self, name: str) -> str:
        """The name by which a relation is known now."""
        return self.sees[name].relation if name in self.sees else name

    def names(self, source: Source) -> tuple[str, ...]:
        """The names that the columns of a relation, as the view sees it, have now; without its places'."""
        name = self.relation(source.name)
        if name not in self.definitions:
            return source.schema.names[:-1]
        now, seen = self.definitions[name].schema.names, self.sees.get(source.name)
        return now if seen is None else tuple(it for it in seen.columns.values() if it in now)

    def rows(self, source: Source) -> SourceRows:
        """The rows of a relation with its columns as the view sees them, and their places."""
        name = self.relation(source.name)
        words, counts = self.snapshot.rows(name, self.epoch)
        lines: tuple[int, ...] = tuple(range(len(source.schema) - 1))
        if name in self.definitions and source.name in self.sees:
            now = self.definitions[name].schema
            lines = tuple(now.index(column) for column in self.names(source))
        return SourceRows(words, counts, (*lines, None))

    def whole(self, name: str, place: int) -> tuple[int, ...]:
        """All words of the row at a place, of the relation that is called so now."""
        return tuple(self.snapshot.rows(name, self.epoch)[0][:, place].tolist())

    def answer(
        self,
        goal: GoalPlan,
        values: Mapping[int, object],
        known: Mapping[int, int],
        given: Mapping[Source, Rows],
    ) -> Rows:
        """The rows of a goal's plan, with `values` for its parameters, that have the `known` words; `given`
        are the rows of sources that are not relations. Raises OverBudget, BuildCancelled or another
        EngineError."""
        plan, options = goal.plan.bound(values), Options(max_rounds=self.max_rounds)
        hydration = Hydration.of("\0why", plan, TOTAL, self.dictionary, options)
        deltas = {source.name: its for source, its in self.deltas([goal], values, given, _EPOCH).items()}
        hydration.run({name: its for name, its in deltas.items() if name in hydration.inputs}, self.spending)
        hydration.dataflow.publish(Frontier(TOTAL, (_EPOCH + 1,)))
        width = len(goal.columns)
        relation = RelationSnapshot(plan.schema, tuple(range(width)), hydration.history.trace.shown())
        words, counts = relation.rows(_EPOCH)
        kept = np.ones(len(counts), bool)
        for place, column in enumerate(goal.columns):
            if column.id in known:
                kept &= words[place] == known[column.id]
        return words[:, kept], counts[kept]

    def deltas(
        self,
        goals: Sequence[GoalPlan],
        values: Mapping[int, object],
        given: Mapping[Source, Rows],
        epoch: int,
    ) -> dict[Source, np.ndarray]:
        """The rows that goals with the same sources can use, as deltas int64[W + 2, n] of an epoch. Raises
        OverBudget if they are too many."""
        sources = goals[0].sources
        rows = {it: SourceRows.of(given[it]) if it in given else self.rows(it) for it in sources}
        picked: Picked = {}
        for goal in goals:
            for source, kept in Picking(goal.scans, rows, values, self.dictionary).picked().items():
                add(picked, source, kept)
        size = sum(len(rows[it].counts) if kept is None else len(kept) for it, kept in picked.items())
        if size > MOST_ROWS:
            raise OverBudget(f"it reads {size} rows, and an explanation is computed over {MOST_ROWS} at most")
        return {
            source: rows[source].delta(positions, picked.get(source, NOTHING), epoch)
            for source, positions in sources.items()
        }


def as_delta(rows: Rows, epoch: int) -> np.ndarray:
    """Rows as a delta int64[W + 2, n] of one epoch."""
    words, counts = rows
    return np.ascontiguousarray(np.vstack((words, np.full(len(counts), epoch), counts)))
