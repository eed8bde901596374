"""Restoring definitions at start: from the catalog into a new engine, with the saved state.

Tables come first, then views; then the log is read, and then what was not saved is computed. A view whose
plan the engine can no longer run stays defined, with the reason in its `failure`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from engine.errors import EngineError, OverBudget, StoreError
from engine.plan.nodes import Node, Source
from engine.runtime.spill import SavedState
from engine.schema import Schema
from planner import PlannerError
from planner.relation import Relation
from service.catalog.records import DefinitionRecord
from service.definitions.definition import Definition, table_relation
from service.definitions.definitions import Definitions
from service.definitions.known_relations import reading_order
from service.definitions.layouts import History, Layouts

_log = logging.getLogger("freshet.definitions")


class Restoring:
    """`layouts` are those that the log may refer to. Create it after the engine resumed the saved state."""

    def __init__(self, definitions: Definitions) -> None:
        self._of = definitions
        self.layouts = Layouts(definitions.catalog.layouts(), definitions.engine)

    def tables(self, state: SavedState | None, is_saved: Callable[[int], bool]) -> list[Definition]:
        """Restores the catalog's tables, with the rows that `state` has of them.

        `is_saved` tells whether the saved state includes a number of the log. Returns the tables with indexes
        that were not saved; they are computed after the log is read.
        """
        records = [record for record in self._of.catalog.records() if record.schema is not None]
        histories = self.layouts.histories(records, state, is_saved)
        for record in records:
            schema = record.schema or Schema(())
            relation = table_relation(record.name, schema, record.key, record.details.rules)
            self._of.put(self._of.table(record.id, relation, record.created, record.details, record.layout))
        rest = []
        for definition in list(self._of.all.values()):
            relation = definition.relation
            saved = state if is_saved(definition.logged) else None
            kept = self._recomputed(definition, histories.get(definition.name))
            layout = (relation.schema, relation.key)
            self._of.engine.create_source(definition.name, *layout, state=saved, kept=kept)
            maps = (
                saved is not None and self._map(index, plan, saved)
                for index, plan in self._of.indexes(definition).items()
            )
            if not all(list(maps)):
                rest.append(definition)
            self._map_lookups(definition, saved)
        return rest

    def _map_lookups(self, definition: Definition, saved: SavedState | None) -> None:
        """Restores the indexes that only serve to find rows, as far as they are saved."""
        for index, plan in self._of.lookups(definition).items():
            if saved is not None and index not in self._of.engine.snapshot.relations:
                self._map(index, plan, saved)

    def hydrate_lookups(self) -> None:
        """Computes the indexes that only serve to find rows and are not there, of what can be read."""
        there = self._of.engine.snapshot.relations
        for definition in self._of.all.values():
            for index, plan in self._of.lookups(definition).items():
                if index not in there and definition.name in there:
                    self._of.compute(index, plan)

    def _recomputed(self, table: Definition, history: History | None) -> History | None:
        if history is None or table.filling is None:
            return history
        return table.filling.recomputed(history[0]), history[1]

    def views(self, state: SavedState | None, is_saved: Callable[[int], bool]) -> list[Definition]:
        """Plans the catalog's views and restores those that are saved. Returns the others."""
        rest: list[Definition] = []
        records = [record for record in self._of.catalog.records() if record.schema is None]
        for record in in_order_of_reading(records):
            definition = self._of.put(restored_view(self._of, record))
            if definition.planned is None:
                continue
            plan = definition.maintained
            self._of.clock.start_for(plan, state)
            if state is None or not is_saved(record.id) or not self._map(record.name, plan, state):
                rest.append(definition)
            else:
                self._map_lookups(definition, state)
        return rest

    def current(self, number: int, delta: np.ndarray) -> tuple[str, np.ndarray] | None:
        """The table of a number in the log, and `delta` in its current layout; None if the table is gone."""
        relation = self.layouts.relations.get(number)
        for table in self._of.all.values():
            if relation is None and not table.is_view and table.logged == number:
                return table.name, delta
            if table.id == relation and table.filling is not None:
                return table.name, table.filling.recomputed(self.layouts.shifted(number, delta))
        return None

    def hydrate(self, definition: Definition) -> None:
        """Computes a view of the catalog, or the indexes of a table, over the history of what it reads.

        A view that takes too long is set aside.
        """
        if not definition.is_view:
            for index, plan in self._of.indexes(definition).items():
                if index not in self._of.engine.snapshot.relations:
                    self._of.compute(index, plan)
            return
        hydrate_view(self._of, definition)

    def _map(self, name: str, plan: Node, state: SavedState) -> bool:
        """Whether the view was restored from its files. If one is damaged, the view is computed instead."""
        try:
            return self._of.engine.restore_view(name, plan, state)
        except StoreError as error:
            _log.error("view %s is computed again: %s", name, error.message)
            return False


def restored_view(of: Definitions, record: DefinitionRecord) -> Definition:
    """A view of the catalog. If it can no longer be planned, `failure` has the reason."""
    texts = (record.sql, record.dialect)
    try:
        return of.view(record.id, record.name, *texts, record.created, record.details)
    except PlannerError as error:
        nothing = Relation(record.name, Schema(()), Source(record.name, Schema(())), None, True)
        return Definition(record.id, nothing, record.created, *texts, None, error.message, record.details)


def hydrate_view(of: Definitions, view: Definition) -> None:
    """Computes a view over the history of what it reads. One that takes too long is set aside."""
    try:
        of.compute_view(view)
    except OverBudget as error:
        of.put(of.compute_later(view, error.message))
    except EngineError as error:
        of.put(replace(view, failure=error.message))


def in_order_of_reading(records: Sequence[DefinitionRecord]) -> list[DefinitionRecord]:
    """Records of views, each after those that it reads, otherwise in the order of creation."""
    among = {record.name: record for record in records}
    return reading_order(among, lambda record: [seen.relation for seen in record.details.sees.values()])
