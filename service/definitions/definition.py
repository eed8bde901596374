"""A definition: what a table or a view is. It is immutable; an alteration replaces it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.kernels.words import NULL
from engine.plan.nodes import Node, Source
from engine.plan.successor import Successor
from engine.schema import Schema
from planner import PlannedQuery
from planner.relation import Relation, Watermark
from planner.statements.table_rules import TableRules
from service.catalog.details import NO_DETAILS, Details
from service.catalog.records import DefinitionRecord
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.access_paths import AccessPath, paths_of
from service.definitions.filling import NO_RULES, Fault, Filling, null_fault
from service.errors import Invalid


def table_relation(name: str, schema: Schema, key: tuple[int, ...] | None, rules: TableRules) -> Relation:
    """A table as the planner knows it."""
    source = Source(name, schema, rules.append_only)
    return Relation(name, schema, source, key, watermark=rules.watermark)


@dataclass(frozen=True)
class Definition:
    """A table or a view. `created` is the newest epoch at its creation. Only views have SQL and a plan.

    An `id` is never used again, so the log's changes of a dropped table never reach another of the same
    name. The log knows an altered table by its `layout` instead of its id. Only tables have a `filling`.
    `kept_from` is the plan of before an alteration in which a view has kept its state.
    """

    id: int
    relation: Relation
    created: int
    sql: str = ""
    dialect: str = ""
    planned: PlannedQuery | None = None
    failure: str | None = None
    details: Details = NO_DETAILS
    layout: int = 0
    filling: Filling | None = None
    kept_from: Node | None = None

    def is_same(self, other: Definition) -> bool:
        """Whether it means the same as a definition that was made from the catalog at another time."""
        return (self.record(), self.relation, self.failure) == (
            other.record(),
            other.relation,
            other.failure,
        )

    @cached_property
    def name(self) -> str:
        return self.relation.name

    @property
    def maintained(self) -> Node:
        """What the engine maintains for a view: its plan, from the epoch on at which it was replaced."""
        plan = self.relation.plan
        return Successor(plan, self.planned_since) if self.planned_since else plan

    @property
    def planned_since(self) -> int:
        """The epoch from which on its rows are those of its plan; before, it had another query."""
        former = self.details.former
        return former[-1].until if former else 0

    def goes_on_from(self, old: Definition) -> bool:
        """Whether it is the same view, maybe under another query, with the same columns and one history."""
        if (self.id, self.schema) != (old.id, old.schema) or not self.is_view:
            return False
        if old.maintained in (self.maintained, self.kept_from):
            return True
        since = [query for query in self.details.former if query.until > old.planned_since]
        was = (old.sql, old.dialect, old.details.sees, old.details.lists)
        return bool(since) and (since[0].sql, since[0].dialect, since[0].sees, since[0].lists) == was

    @property
    def logged(self) -> int:
        """The number under which the log and the saved state have the table."""
        return self.layout or self.id

    @cached_property
    def loose(self) -> Schema:
        """The schema with every column nullable, for changes that are not checked yet."""
        return Schema(tuple(replace(column, nullable=True) for column in self.relation.schema.columns))

    @cached_property
    def fillable(self) -> Schema:
        """The schema in which columns that the table fills by itself are nullable."""
        rules = self.details.rules
        filled = rules.defaults.keys() | rules.generated.keys() | rules.identities.keys()
        columns = self.relation.schema.columns
        return Schema(tuple(replace(c, nullable=c.nullable or c.name in filled) for c in columns))

    def without(self, places: Collection[int]) -> Schema:
        """The schema in which the fillable columns at these places, which are left out, are nullable."""
        columns = zip(self.relation.schema.columns, self.fillable.columns, strict=True)
        return Schema(tuple(given if i not in places else left for i, (given, left) in enumerate(columns)))

    @cached_property
    def strict(self) -> Schema:
        """The schema with NOT NULL also for columns that an alteration has made NOT NULL."""
        required = self.details.rules.required
        columns = self.relation.schema.columns
        return Schema(tuple(replace(c, nullable=c.nullable and c.name not in required) for c in columns))

    @cached_property
    def schema(self) -> Schema:
        return self.relation.schema

    @property
    def watermark(self) -> Watermark | None:
        return self.relation.watermark

    @cached_property
    def paths(self) -> tuple[AccessPath, ...]:
        """The access paths to its rows, its own order first."""
        return paths_of(self.relation, self.details.rules, self.details.indexes)

    @property
    def period(self) -> tuple[int, int] | None:
        """The places of the columns of its rows' periods of valid time, if they have any."""
        return self.relation.period

    @property
    def key_schema(self) -> Schema:
        """The columns of the primary key; none without one."""
        return Schema(tuple(self.schema.columns[i] for i in self.relation.key or ()))

    @cached_property
    def is_view(self) -> bool:
        return self.relation.is_view

    @property
    def reads(self) -> frozenset[str]:
        """The relations that a view reads."""
        return frozenset(seen.relation for seen in self.details.sees.values())

    @property
    def query(self) -> tuple[Hashable, ...]:
        """The query of a view, and what its names mean; the name of a table."""
        sees = self.details.sees.items()
        seen = frozenset((name, it.relation, frozenset(it.columns.items())) for name, it in sees)
        return self.is_view, self.sql or self.name, self.dialect, seen

    def left_out(self) -> list[object]:
        """The row, in JSON values, of an insert that names no column."""
        return [None] * len(self.schema) if self.filling is None else self.filling.left_out()

    @property
    def no_changes(self) -> TableChanges:
        """An empty set of changes."""
        return TableChanges.of(ChangeOp.INSERT, self.schema, np.zeros((len(self.schema), 0), np.int64))

    def defaults(self) -> np.ndarray:
        """The row of an insert that names no column, int64[W]."""
        return np.full(len(self.schema), NULL, np.int64) if self.filling is None else self.filling.defaults()

    def admitted(self, changes: TableChanges) -> TableChanges:
        """The changes with generated columns computed. Raises Conflict or Invalid if they do not fit."""
        changes.check(self.name, self.schema, self.relation.key)
        if self.filling is not None:
            changes = self.filling.completed(changes)
        for error, bad in self.faults(changes):
            raise Invalid(f"change {int(bad.argmax())} {error.message}", error.hint, code=error.code)
        return changes

    def faults(self, changes: TableChanges, before: TableRules = NO_RULES) -> Iterator[Fault]:
        """The faults of complete changes: NULLs first, then CHECKs. Rows that are there already were taken
        under the rules `before`, when the time was another."""
        for column, null in changes.nulls(self.relation.key):
            yield null_fault(column, self.name), null
        if self.filling is not None:
            yield from self.filling.faults(changes, before)

    def record(self) -> DefinitionRecord:
        """The record that the catalog stores."""
        schema = None if self.is_view else self.schema
        key = None if self.is_view else self.relation.key
        texts = (self.sql, self.dialect)
        return DefinitionRecord(
            self.id, self.name, schema, key, *texts, self.created, self.details, self.layout
        )
