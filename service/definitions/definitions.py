"""The definitions of tables and views: created, dropped and looked up by name.

Only the writer's thread changes `Definitions`. What is `known` is immutable, is replaced as a whole, and may
be read by any thread. A relation is created in the engine first, and removed again if the catalog cannot
store it; it is dropped from the catalog first. So either both have it or neither.

A view whose plan the engine can no longer run at start stays defined, with the reason in `failure`, and can
be dropped as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from engine.errors import EngineError, NameInUse, OverBudget
from engine.operators.allowance import Allowance, Spending
from engine.plan.nodes import Node
from engine.plan.successor import Successor
from engine.runtime.engine import Engine
from engine.runtime.succession import Past
from engine.schema import Schema
from engine.state.snapshot import RelationSnapshot
from planner.adhoc.rowwise import with_types
from planner.errors import InvalidQuery
from planner.limits import UNLIMITED
from planner.long_texts import plan_text
from planner.relation import Relation
from planner.relation_names import is_temporary, quoted_if_needed, schema_of
from planner.rewriting.open_pivots import PivotLists
from planner.statements.table_rules import Identity, period_of
from service.catalog.catalog import Catalog
from service.catalog.details import NO_DETAILS, Details, FormerQuery
from service.catalog.identity_counters import IdentityCounter
from service.catalog.records import Definer, DefinitionStore
from service.changes.constraints import index_side, indexes_of, plans_of
from service.changes.lateness import newest_index
from service.clock import Clock
from service.definitions.definition import Definition, table_relation
from service.definitions.filling import Counter, Filling
from service.definitions.former import FormerPlan, former_plans, with_nulls
from service.definitions.known_relations import KnownRelations, in_order
from service.definitions.layouts import History
from service.definitions.maintained_queries import MaintainedQueries, new_query_name
from service.definitions.named_schemas import NamedSchemas
from service.definitions.named_sequences import NamedSequences
from service.definitions.referring import resolved
from service.definitions.seeing import relations_of, seen_now, sized
from service.errors import Conflict, Invalid
from service.names import check_columns, check_relation_name
from service.placement import Placement
from service.settings.settings import Settings


class Definitions:
    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        clock: Clock,
        settings: Settings,
        placement: Placement | None = None,
        store: DefinitionStore | None = None,
    ) -> None:
        """`store` has the definitions that are made, by default the catalog."""
        self.engine = engine
        self.catalog = catalog
        self.store: DefinitionStore = store or catalog
        self.clock = clock
        self._placement = placement
        self.limits = settings.planning_limits
        """What planning a new view may cost."""
        self._settings = settings
        self.set_aside: set[str] = set()
        """Views that are to be built again beside the writer."""
        self.schemas = NamedSchemas(catalog)
        self.sequences = NamedSequences(catalog, self.schemas)
        self.queries = MaintainedQueries(engine)
        self.known = KnownRelations.of({})
        """Every table and view. Replaced as a whole."""
        self.holders: dict[str, int] = {}
        """By branch, the number of the newest relation that it holds: all up to it stay as they are."""
        self.inherited = 0
        """The number of the newest relation that a branch has from its parent: all up to it are its
        parent's."""

    @property
    def all(self) -> Mapping[str, Definition]:
        return self.known.all

    @property
    def relations(self) -> Mapping[str, Relation]:
        return self.known.relations

    # Creating and dropping

    def create_table(
        self,
        name: str,
        schema: Schema,
        key: tuple[int, ...] | None,
        exists_ok: bool = False,
        details: Details = NO_DETAILS,
        or_replace: bool = False,
    ) -> Definition:
        """Creates a table. With `or_replace` one of its name goes in the same transaction; Conflict while
        others read that."""
        check_relation_name(name)
        check_columns(schema.names)
        self.schemas.require(schema_of(name))
        if name in self.all and exists_ok and not self.all[name].is_view:
            return self.all[name]
        replaced = [name] if or_replace and name in self.all and not self.all[name].is_view else []
        if not replaced:
            self.must_be_new(name)
        schema = with_types(_with_key(schema, key), details.rules.generated)
        relation = table_relation(name, schema, key, details.rules)
        rules = resolved(details.rules, relation, self.all)
        details = replace(details, rules=rules)
        definition = self.table(0, relation, self.engine.snapshot.upper - 1, details)
        if replaced:
            added: list[int] = []
            self.drop(
                replaced, view=False, also=lambda changing: added.append(changing.add(definition.record()))
            )
            self.install([definition], {})
            return self.put(self.table(added[0], relation, definition.created, details))
        with self.undone_by(lambda: self.withdraw([definition])):
            self.install([definition], {})
            with self.store.changing() as changing:
                id = changing.add(definition.record())
        return self.put(self.table(id, relation, definition.created, details))

    def drop(
        self,
        names: Sequence[str],
        *,
        view: bool | None,
        missing_ok: bool = False,
        cascade: bool = False,
        also: Callable[[Definer], None] = lambda changing: None,
    ) -> list[Definition]:
        """Drops views or tables. Raises Conflict while others read them, unless `cascade` drops those too.

        `also` changes the catalog in the same transaction.
        """
        dropped = [self.known.get(name, view=view) for name in names if not missing_ok or name in self.all]
        going = {definition.name: definition for definition in dropped}
        for definition in dropped:
            readers = [d for d in self.known.dependants(definition.name) if d.name not in going]
            if readers and not cascade:
                direct = ", ".join(sorted(d.name for d in self.known.readers(definition.name)))
                kind = "view" if definition.is_view else "table"
                raise Conflict(
                    f"{kind} {definition.name} is read by {direct}",
                    f"drop {', '.join(d.name for d in reversed(readers))} first",
                    code="in_use",
                )
            going |= {reader.name: reader for reader in readers}
        changed = [*self._released(going, cascade), *self._without_past(going)]
        self.check_held(*going.values(), *changed)
        with self.store.changing() as changing:
            for definition in going.values():
                changing.remove(definition.id)
            for definition in changed:
                changing.change(definition.record())
            also(changing)
        for definition in changed:
            if definition.is_view:
                continue
            needed = self.all_indexes(definition)
            self.drop_indexes(set(self.all_indexes(self.all[definition.name])) - needed.keys())
        self.withdraw(in_order(going.values()))
        kept = {n: d for n, d in self.all.items() if n not in going}
        self.replace_all({**kept, **{d.name: d for d in changed}})
        return dropped

    def _released(self, going: Mapping[str, Definition], cascade: bool) -> list[Definition]:
        """The tables with foreign keys to dropped ones, without these keys; Conflict unless `cascade`."""
        changed = []
        for definition in self.all.values():
            rules = definition.details.rules
            lost = [c for c in rules.constraints if getattr(c, "table", None) in going]
            if definition.name in going or not lost:
                continue
            if not cascade:
                raise Conflict(
                    f"constraint {lost[0].name} of table {definition.name} refers to a dropped table",
                    f"drop {definition.name} or its constraint first",
                    code="in_use",
                )
            kept = tuple(c for c in rules.constraints if c not in lost)
            details = replace(definition.details, rules=replace(rules, constraints=kept))
            changed.append(self.table_like(definition, details=details))
        return changed

    def _without_past(self, going: Mapping[str, Definition]) -> list[Definition]:
        """The views that have read dropped relations, without what they were then."""
        changed = []
        for view in self.all.values():
            details = view.details.without_past_in(going)
            if view.name not in going and details != view.details:
                changed.append(replace(view, details=details))
        return changed

    # Making definitions, without storing them

    def table(
        self, id: int, relation: Relation, created: int, details: Details = NO_DETAILS, layout: int = 0
    ) -> Definition:
        """A table. Raises a PlannerError if an expression of its rules cannot be compiled."""
        relation = replace(relation, period=period_of(details.rules, relation.schema))
        filling = Filling(
            replace(relation, period=None), details.rules, self.engine.dictionary, partial(self._counter, id)
        )
        return Definition(id, relation, created, details=details, layout=layout, filling=filling)

    def _counter(self, id: int, identity: Identity, largest: int) -> Counter:
        """What counts for a column of the table with this id. Raises NotFound for a sequence."""
        if identity.sequence is not None:
            return self.sequences.get(identity.sequence)
        return IdentityCounter(self.catalog, id, identity, largest)

    def counted_by(self, sequence: str) -> list[str]:
        """The tables that take numbers from a sequence."""
        return sorted(
            name
            for name, definition in self.all.items()
            if any(i.sequence == sequence for i in definition.details.rules.identities.values())
        )

    def table_like(
        self, table: Definition, relation: Relation | None = None, details: Details | None = None
    ) -> Definition:
        """The table with another relation or other details."""
        made = self.table(table.id, relation or table.relation, table.created, details or table.details)
        return replace(made, layout=table.layout)

    def view(
        self,
        id: int,
        name: str,
        sql: str,
        dialect: str,
        created: int,
        details: Details | None = None,
        relations: Mapping[str, Relation] | None = None,
        lists: PivotLists = (),
    ) -> Definition:
        """A view planned over `relations`, by default the current ones. `details` are those of a view that
        was planned before: it sees what it saw then, and is planned without limits, unless it gets other
        `lists` of values. A new one over a view that was replaced begins with that, because its plan is not
        one over the rows of before."""
        among = self.relations if relations is None else relations
        if details is None:
            scope = sized(among, self.engine.rows)
            planned = plan_text(sql, scope, dialect, self.limits, named=True, lists=lists)
            _check_permanent(name, planned.reads)
            since = max((self.all[it].planned_since for it in planned.reads if it in self.all), default=0)
            former = (FormerQuery(since),) if since else ()
            details = Details(sees=seen_now(planned.reads, scope), named=True, former=former, lists=lists)
        else:
            scope = relations_of(details.sees, among)
            limits = self.limits if lists else UNLIMITED
            details = replace(details, lists=lists or details.lists)
            planned = plan_text(sql, scope, dialect, limits, details.named, details.lists)
        check_columns(planned.schema.names)
        schema = with_nulls(planned.schema, details.once_null)
        relation = Relation(name, schema, planned.plan, None, True, period=planned.period)
        return Definition(id, relation, created, sql, dialect, planned, None, details)

    # The engine

    def install(
        self,
        definitions: Sequence[Definition],
        histories: Mapping[str, History],
        among: Mapping[str, Definition] | None = None,
    ) -> None:
        """Creates tables, with their histories, and views in the engine. Views come after what they read.
        `among` has the definitions that they will be among, by default the current ones.

        Raises EngineError for one that the engine cannot create; those before it stay.
        """
        for definition in definitions:
            if definition.failure is not None:
                continue
            if definition.is_view:
                self.compute_view(definition, among)
                continue
            name, relation = definition.name, definition.relation
            self.engine.create_source(name, relation.schema, relation.key, kept=histories.get(name))
            for index, plan in self.indexes(definition).items():
                self.compute(index, plan)

    def withdraw(self, definitions: Sequence[Definition]) -> None:
        """Drops tables and views from the engine if it has them, each before what it reads."""
        there = self.engine.snapshot.relations
        for definition in reversed(definitions):
            self.drop_indexes(self.all_indexes(definition))
            if definition.is_view:
                if definition.name in there:
                    self.engine.drop_view(definition.name)
                continue
            self.queries.drop_readers(definition.name)
            if definition.name in there:
                self.engine.drop_source(definition.name)
        self.clock.stop_unless_read()

    def indexes(self, definition: Definition) -> dict[str, Node]:
        """The indexes of a table, by their names in the engine."""
        among = {**self.relations, definition.name: definition.relation}
        own = indexes_of(definition.relation, definition.details.rules, among)
        return own | newest_index(definition.relation)

    def lookups(self, definition: Definition) -> dict[str, Node]:
        """The indexes of a table or view that only serve to find rows, by their names in the engine."""
        relation, made = definition.relation, definition.details.indexes
        sides = [index_side(relation, index.columns, index.included) for index in made]
        plans, since = plans_of(relation, sides), definition.planned_since
        return {name: Successor(plan, since) for name, plan in plans.items()} if since else plans

    def all_indexes(self, definition: Definition) -> dict[str, Node]:
        """All indexes of a table or view."""
        own = {} if definition.is_view else self.indexes(definition)
        return {**self.lookups(definition), **own}

    def has_index(self, name: str) -> bool:
        """Whether the engine has an index, which may have been made for reads or for a constraint."""
        there = self.engine.snapshot.relations.get(name)
        return there is not None and there.failure is None

    def drop_indexes(self, names: Iterable[str]) -> None:
        """Drops indexes from the engine if it has them."""
        for index in names:
            if index in self.engine.snapshot.relations:
                self.engine.drop_view(index)

    def compute_view(self, view: Definition, among: Mapping[str, Definition] | None = None) -> None:
        """Creates a view in the engine, with what it was before it was replaced, as far as that can be told.
        Raises OverBudget if it takes too long: then `compute_later` may."""
        plan = view.maintained
        allowance = self._settings.view_allowance.for_changes(self.engine.input_rows(plan))
        pasts: list[Past] = []
        for former in self.former_plans(view, among):
            try:
                pasts.append(former.past(self._computed(former.plan, Spending(allowance))))
            except OverBudget:
                raise
            except EngineError:
                pasts.clear()
        self.compute(view.name, plan, allowance, pasts)

    def former_plans(
        self, view: Definition, among: Mapping[str, Definition] | None = None
    ) -> list[FormerPlan]:
        """The plans that a view had before it was replaced, as far as they can be told; over what they have
        read among these definitions, by default the current ones."""

        def planned(name: str, query: FormerQuery, among: Mapping[str, Relation]) -> Relation:
            details = Details(sees=query.sees, named=query.named, lists=query.lists)
            return self.view(0, name, query.sql, query.dialect, 0, details, among).relation

        return former_plans(self.all if among is None else among, view, planned)

    def _computed(self, plan: Node, meter: Spending) -> RelationSnapshot:
        """What a view of this plan has, computed beside the others."""
        building = self.engine.begin_view(new_query_name(), plan)
        try:
            building.compute(meter)
            return building.relation()
        finally:
            self.engine.discard(building)

    def compute_later(self, view: Definition, reason: str) -> Definition:
        """Sets a view aside, to be built beside the writer. Until then it cannot be read."""
        self.set_aside.add(view.name)
        return replace(view, failure=reason)

    def is_large(self, view: Definition) -> bool:
        """Whether a view reads more than the writer may compute for it."""
        return self.engine.input_rows(view.relation.plan) > self._settings.build_rows_here

    def compute(
        self, name: str, plan: Node, allowance: Allowance | None = None, pasts: Sequence[Past] = ()
    ) -> None:
        """Creates a view or an index in the engine, computed where the number of its input rows suggests.
        `pasts` are what the view was before."""
        self.clock.start_for(plan)
        placement = self._placement
        executor = None
        if placement is not None:
            executor = placement.executor(self.engine.input_rows(plan), self.engine.input_words(plan))
        meter = None if allowance is None else Spending(allowance)
        self.engine.create_view(name, plan, executor, meter, pasts)
        self.clock.note_reader()

    @contextmanager
    def undone_by(self, undo: Callable[[], None]) -> Iterator[None]:
        """Calls `undo` if the block raises."""
        try:
            yield
        except BaseException:
            undo()
            raise

    # Names

    def check_held(self, *changing: Definition) -> None:
        """Raises Conflict if a branch holds one of these definitions, or is not the one that has made it."""
        for definition in changing:
            if definition.id <= self.inherited:
                kind = "view" if definition.is_view else "table"
                raise Conflict(
                    f"{kind} {definition.name} is not the branch's own",
                    "a branch can drop the views that were made on it; SET branch = main for the others",
                    code="held_by_branch",
                )
            for branch, newest in self.holders.items():
                if definition.id <= newest and not is_temporary(definition.name):
                    kind = "view" if definition.is_view else "table"
                    raise Conflict(
                        f"{kind} {definition.name} is held as it is by branch {branch}",
                        f"merge and drop the branch first: DROP BRANCH {quoted_if_needed(branch)}",
                        code="held_by_branch",
                    )

    def must_be_new(self, name: str) -> None:
        if name in self.all:
            kind = "view" if self.all[name].is_view else "table"
            raise NameInUse(f"there is a {kind} called {name} already")
        if name in self.sequences.all:
            raise NameInUse(f"there is a sequence called {name} already")

    def must_be_free(self, name: str) -> None:
        """Raises Invalid, NotFound or NameInUse unless a relation can get this name."""
        check_relation_name(name)
        self.schemas.require(schema_of(name))
        self.must_be_new(name)

    def put(self, definition: Definition) -> Definition:
        self.replace_all({**self.all, definition.name: definition})
        return definition

    def keep(self, last: Mapping[str, Definition]) -> None:
        """Puts definitions of `last` in the place of those that mean the same, for who follows a relation
        follows its definition."""
        same = {name: d for name, d in last.items() if name in self.all and d.is_same(self.all[name])}
        self.replace_all({**self.all, **same})

    def replace_all(self, definitions: Mapping[str, Definition]) -> None:
        self.known = KnownRelations.of(definitions)


def _check_permanent(view: str, reads: Iterable[str]) -> None:
    """Raises InvalidQuery if a view would read a temporary table, which ends before the view does."""
    for name in filter(is_temporary, reads):
        raise InvalidQuery(
            f"view {view} would read {name}, which is temporary", "make a table that stays, and read that"
        )


def _with_key(schema: Schema, key: tuple[int, ...] | None) -> Schema:
    """The schema with the columns of its primary key NOT NULL."""
    if key is None:
        return schema
    if not key or len(set(key)) != len(key):
        raise Invalid("a primary key must name at least one column, and each column once")
    columns = tuple(replace(c, nullable=False) if i in key else c for i, c in enumerate(schema.columns))
    return Schema(columns)
