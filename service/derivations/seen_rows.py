"""Rows as a view sees them at one epoch, and queries over them, computed beside everything that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.codec.python import encode_row
from engine.errors import OverBudget
from engine.operators.allowance import Spending
from engine.plan.nodes import Source
from engine.runtime.hydration import Hydration
from engine.runtime.options import Options
from engine.schema import Column, Schema, Type
from engine.state.dictionary import Dictionary
from engine.state.packed_times import TOTAL, Frontier
from engine.state.reading import Rows
from engine.state.snapshot import RelationSnapshot, Snapshot
from planner.evidence.goal_plans import GoalPlan, Wanted
from service.catalog.details import Seen
from service.definitions.definition import Definition

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
        """The names that the columns of a relation, as the view sees it, have now."""
        name = self.relation(source.name)
        if name not in self.definitions:
            return source.schema.names
        now, seen = self.definitions[name].schema.names, self.sees.get(source.name)
        return now if seen is None else tuple(it for it in seen.columns.values() if it in now)

    def rows(self, source: Source, wanted: tuple[Wanted, ...] = ((),)) -> Rows:
        """The rows of a relation with its columns as the view sees them; those that no scan wants may be
        missing."""
        name = self.relation(source.name)
        words, counts = self.snapshot.rows(name, self.epoch)
        if name in self.definitions and source.name in self.sees:
            now = self.definitions[name].schema
            words = words[[now.index(column) for column in self.names(source)]]
        return self.picked((words, counts), source.schema, wanted)

    def whole(self, name: str, place: int) -> tuple[int, ...]:
        """All words of the row at a place of `rows`, of the relation that is called so now."""
        return tuple(self.snapshot.rows(name, self.epoch)[0][:, place].tolist())

    def picked(self, rows: Rows, schema: Schema, wanted: tuple[Wanted, ...]) -> Rows:
        """The rows that one of the scans wants."""
        words, counts = rows
        if any(not values for values in wanted):
            return rows
        kept = np.zeros(len(counts), bool)
        for values in wanted:
            fits = np.ones(len(counts), bool)
            for place, literal in values:
                fits &= words[place] == self.word(literal.value, schema.types[place])
            kept |= fits
        return words[:, kept], counts[kept]

    def word(self, value: object, type: Type) -> int:
        """The word of a value."""
        return encode_row([value], Schema((Column("value", type),)), self.dictionary)[0]

    def answer(self, goal: GoalPlan, known: Mapping[int, int], given: Mapping[Source, Rows]) -> Rows:
        """The rows of a goal's plan that have the `known` words; `given` are the rows of sources that are not
        relations. Raises OverBudget, BuildCancelled or another EngineError."""
        options = Options(max_rounds=self.max_rounds)
        hydration = Hydration.of("\0why", goal.plan, TOTAL, self.dictionary, options)
        deltas = {}
        for source, wanted in goal.wanted.items():
            if source.name in hydration.inputs:
                found = given.get(source)
                rows = self.picked(found, source.schema, wanted) if found else self.rows(source, wanted)
                deltas[source.name] = as_delta(rows, _EPOCH)
        size = sum(delta.shape[1] for delta in deltas.values())
        if size > MOST_ROWS:
            raise OverBudget(f"it reads {size} rows, and an explanation is computed over {MOST_ROWS} at most")
        hydration.run(deltas, self.spending)
        hydration.dataflow.publish(Frontier(TOTAL, (_EPOCH + 1,)))
        width = len(goal.columns)
        schema = goal.plan.schema
        relation = RelationSnapshot(schema, tuple(range(width)), hydration.history.trace.shown())
        words, counts = relation.rows(_EPOCH)
        kept = np.ones(len(counts), bool)
        for place, column in enumerate(goal.columns):
            if column.id in known:
                kept &= words[place] == known[column.id]
        return words[:, kept], counts[kept]


def as_delta(rows: Rows, epoch: int) -> np.ndarray:
    """Rows as a delta int64[W + 2, n] of one epoch."""
    words, counts = rows
    return np.ascontiguousarray(np.vstack((words, np.full(len(counts), epoch), counts)))
