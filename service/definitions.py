"""The definitions of tables and views: created, dropped and looked up by name.

`Definitions` belongs to the writer's thread, which alone changes it; `all` is an
immutable mapping, replaced as a whole, that any thread may read. What the engine has
made is undone if the catalog database cannot be told, and dropped once it has been, so
that both have a relation or neither has.

A view whose plan the engine can no longer run when the service starts stays defined,
with the reason in `failure`; dropping it works as ever.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from engine.errors import EngineError, NameInUse, StoreError
from engine.plan import Node, Source
from engine.runtime import Engine
from engine.schema import Schema
from engine.spill import SavedState
from planner import PlannedQuery, PlannerError, plan_query
from planner.catalog import Relation
from service.catalog import Catalog, Record
from service.errors import Conflict, Invalid, NotFound
from service.names import check_columns, check_name
from service.placement import Placement

_log = logging.getLogger("freshet.definitions")


@dataclass(frozen=True)
class Definition:
    """A table or a view. `created` is the newest epoch at its creation; what is about SQL is a view's.

    `id` is never used again, so that what the log says of a dropped table is not taken for its namesake's.
    """

    id: int
    relation: Relation
    created: int
    sql: str = ""
    dialect: str = ""
    planned: PlannedQuery | None = None
    failure: str | None = None

    @property
    def name(self) -> str:
        return self.relation.name

    @cached_property
    def loose(self) -> Schema:
        """The schema with every column nullable: what a change may leave out, until it is checked."""
        return Schema(tuple(replace(column, nullable=True) for column in self.relation.schema.columns))

    @property
    def schema(self) -> Schema:
        return self.relation.schema

    @property
    def key_schema(self) -> Schema:
        """The columns of the primary key; none without one."""
        return Schema(tuple(self.schema.columns[i] for i in self.relation.key or ()))

    @property
    def is_view(self) -> bool:
        return self.relation.is_view


class Definitions:
    def __init__(self, engine: Engine, catalog: Catalog, placement: Placement | None = None) -> None:
        self._engine = engine
        self._placement = placement
        self._catalog = catalog
        self.all: Mapping[str, Definition] = MappingProxyType({})
        self.relations: Mapping[str, Relation] = MappingProxyType({})

    def get(self, name: str, *, view: bool | None = None) -> Definition:
        """The definition called `name`; NotFound if there is none, or none of the kind that `view` says."""
        found = self.all.get(name)
        if found is None or (view is not None and found.is_view != view):
            what = {None: "table or view", True: "view", False: "table"}[view]
            hint = "" if found is None else f"{name} is a {'view' if found.is_view else 'table'}"
            raise NotFound(f"there is no {what} called {name}", hint)
        return found

    def create_table(
        self, name: str, schema: Schema, key: tuple[int, ...] | None, exists_ok: bool = False
    ) -> Definition:
        check_name(name)
        check_columns(schema.names)
        if name in self.all and exists_ok and not self.all[name].is_view:
            return self.all[name]
        self._must_be_new(name)
        schema = _with_key(schema, key)
        relation = Relation(name, schema, Source(name, schema), key)
        created = self._engine.snapshot.upper - 1
        self._engine.create_source(name, schema, key)
        with self._undone_by(self._engine.drop_source, name), self._catalog.changing() as changing:
            id = changing.add(Record(0, name, schema, key, "", "", created))
        return self._put(Definition(id, relation, created))

    def create_view(self, name: str, sql: str, dialect: str, or_replace: bool = False) -> Definition:
        check_name(name)
        replaced = self.all.get(name) if or_replace else None
        if replaced is None or not replaced.is_view:
            self._must_be_new(name)
            replaced = None
        planned = plan_query(sql, {n: r for n, r in self.relations.items() if n != name}, dialect)
        check_columns(planned.schema.names)
        if replaced is not None:
            self.drop(name, view=True)
        created = self._engine.snapshot.upper - 1
        try:
            self._compute(name, planned.plan)
            with self._undone_by(self._engine.drop_view, name), self._catalog.changing() as changing:
                id = changing.add(Record(0, name, None, None, sql, dialect, created))
        except Exception:
            if replaced is not None:
                self.create_view(name, replaced.sql, replaced.dialect)
            raise
        relation = Relation(name, planned.schema, planned.plan, None, True)
        return self._put(Definition(id, relation, created, sql, dialect, planned))

    def drop(self, name: str, *, view: bool, missing_ok: bool = False) -> Definition | None:
        """Drops a view or a table; Conflict while a view reads it."""
        if missing_ok and name not in self.all:
            return None
        definition = self.get(name, view=view)
        readers = sorted(
            d.name for d in self.all.values() if d.planned is not None and name in d.planned.reads
        )
        if readers:
            kind = "view" if view else "table"
            raise Conflict(
                f"{kind} {name} is read by {', '.join(readers)}", f"drop {readers[0]} first", code="in_use"
            )
        with self._catalog.changing() as changing:
            changing.remove(definition.id)
        if definition.failure is None:
            (self._engine.drop_view if view else self._engine.drop_source)(name)
        self._replace({n: d for n, d in self.all.items() if n != name})
        return definition

    @property
    def newest(self) -> int:
        """The greatest id of all."""
        return max((definition.id for definition in self.all.values()), default=0)

    def restore_tables(self, state: SavedState | None, is_saved: Callable[[int], bool]) -> None:
        """Takes the tables of the catalog into a new engine, with the rows that `state` has of them.

        `is_saved` says of an id whether that definition was there when the state was saved.
        """
        for record in self._catalog.records():
            if record.schema is not None:
                saved = state if is_saved(record.id) else None
                self._engine.create_source(record.name, record.schema, record.key, state=saved)
                source = Source(record.name, record.schema)
                relation = Relation(record.name, record.schema, source, record.key)
                self._put(Definition(record.id, relation, record.created))

    def restore_views(self, state: SavedState | None, is_saved: Callable[[int], bool]) -> list[Definition]:
        """Plans the views of the catalog, and takes those into the engine that are saved; the others."""
        rest: list[Definition] = []
        for record in self._catalog.records():
            if record.schema is None:
                definition = self._planned(record)
                self._put(definition)
                if definition.planned is None:
                    continue
                plan = definition.planned.plan
                if state is None or not is_saved(record.id) or not self._map(record.name, plan, state):
                    rest.append(definition)
        return rest

    def hydrate(self, definition: Definition) -> None:
        """Computes a view of the catalog over its tables' history."""
        try:
            self._compute(definition.name, definition.relation.plan)
        except EngineError as error:
            self._put(replace(definition, failure=error.message))

    def _compute(self, name: str, plan: Node) -> None:
        """Lets the engine have the view, computed where a view of so many rows is."""
        placement = self._placement
        executor = None if placement is None else placement.executor(self._engine.input_rows(plan))
        self._engine.create_view(name, plan, executor=executor)

    def _map(self, name: str, plan: Node, state: SavedState) -> bool:
        """Whether the view could be had from its files. A view can be computed where one is damaged."""
        try:
            return self._engine.restore_view(name, plan, state)
        except StoreError as error:
            _log.error("view %s is computed anew: %s", name, error.message)
            return False

    def _planned(self, record: Record) -> Definition:
        """A view of the catalog, with the reason if it can no longer be planned."""
        try:
            planned = plan_query(record.sql, self.relations, record.dialect)
        except PlannerError as error:
            nothing = Relation(record.name, Schema(()), Source(record.name, Schema(())), None, True)
            return Definition(
                record.id, nothing, record.created, record.sql, record.dialect, None, error.message
            )
        relation = Relation(record.name, planned.schema, planned.plan, None, True)
        return Definition(record.id, relation, record.created, record.sql, record.dialect, planned)

    @contextmanager
    def _undone_by(self, undo: Callable[[str], None], name: str) -> Iterator[None]:
        """Takes from the engine what the catalog could not be told of."""
        try:
            yield
        except BaseException:
            undo(name)
            raise

    def _must_be_new(self, name: str) -> None:
        if name in self.all:
            kind = "view" if self.all[name].is_view else "table"
            raise NameInUse(f"there is a {kind} called {name} already")

    def _put(self, definition: Definition) -> Definition:
        self._replace({**self.all, definition.name: definition})
        return definition

    def _replace(self, definitions: dict[str, Definition]) -> None:
        self.relations = MappingProxyType({n: d.relation for n, d in definitions.items()})
        self.all = MappingProxyType(definitions)


def _with_key(schema: Schema, key: tuple[int, ...] | None) -> Schema:
    """The schema with the columns of its primary key NOT NULL."""
    if key is None:
        return schema
    if not key or len(set(key)) != len(key):
        raise Invalid("a primary key names each of its columns once, and at least one")
    columns = tuple(replace(c, nullable=False) if i in key else c for i, c in enumerate(schema.columns))
    return Schema(columns)
