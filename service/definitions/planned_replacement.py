"""A replacement that is planned: views under new queries, and all views over them as they will be then.

Any thread may plan it, over the definitions of the moment. The new plans run beside the old ones, in views of
the engine that no client can name, until the replacement is applied or dropped. What it was planned over may
change meanwhile, so the writer's thread asks `is_current` before it goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.state.snapshot import Snapshot
from planner.errors import PlannerError
from planner.identifiers import relation_name
from planner.parsing.parse import parse_query
from planner.relation import Relation
from service.accounts.principals import MayRead
from service.catalog.details import Details, Seen
from service.catalog.replacement_records import NewQuery
from service.definitions.assertions import must_stay
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.former import once_null, places_in, with_nulls
from service.definitions.intended_query import IntendedQuery
from service.definitions.maintained_queries import new_query_name
from service.definitions.same_columns import check_columns_stay, check_time_stays
from service.definitions.self_reading import saying_if_it_reads_itself
from service.errors import Conflict, Invalid


@dataclass(frozen=True, eq=False)
class ReplacedView:
    """`hidden` is the name under which the engine maintains the new plan; None if the plan stays."""

    old: Definition
    new: Definition
    hidden: str | None

    @property
    def name(self) -> str:
        return self.old.name

    @property
    def places(self) -> tuple[int, ...] | None:
        """Where the new columns are in the old rows; None if these mean nothing under the new columns."""
        return places_in(self.old.schema, self.new.schema)

    def is_there(self, snapshot: Snapshot) -> bool:
        """Whether its new plan is maintained, if it has one."""
        if self.hidden is None:
            return True
        there = snapshot.relations.get(self.hidden)
        return there is not None and there.failure is None


@dataclass(frozen=True, eq=False)
class PlannedReplacement:
    """`views` come each after what it reads; `named` are those with new queries. `read` has the other
    relations that they read."""

    views: tuple[ReplacedView, ...]
    named: frozenset[str]
    read: Mapping[str, Relation]

    @property
    def moved(self) -> list[ReplacedView]:
        """The views that have another plan."""
        return [view for view in self.views if view.hidden is not None]

    def is_current(self, of: Definitions) -> bool:
        """Whether all that was planned over is still as it was."""
        if any(of.all.get(view.name) is not view.old for view in self.views):
            return False
        if any(of.relations.get(name) is not relation for name, relation in self.read.items()):
            return False
        return _affected(of, self.named) == {view.name for view in self.views}

    def is_ready(self, snapshot: Snapshot) -> bool:
        """Whether all new plans are maintained."""
        return all(view.is_there(snapshot) for view in self.views)

    def using(self, last: PlannedReplacement | None) -> PlannedReplacement:
        """The same, with the views of the engine that maintain equal plans already."""
        if last is None:
            return self
        there = {(view.name, view.new.relation.plan): view.hidden for view in last.moved}
        views = (
            replace(view, hidden=there.get((view.name, view.new.relation.plan), view.hidden))
            if view.hidden is not None
            else view
            for view in self.views
        )
        return replace(self, views=tuple(views))

    def intended(self, view: ReplacedView) -> IntendedQuery:
        """What has to be built for a view that has another plan."""
        relation = replace(view.new.relation, name=view.hidden or "")
        hidden = replace(view.new, relation=relation, details=replace(view.new.details, former=()))
        return IntendedQuery(hidden, None, self.read)


def plan_replacement(
    of: Definitions, queries: Sequence[NewQuery], readable: MayRead = None
) -> PlannedReplacement:
    """Plans new queries of views over what their author may read, if that is not all; then all views that
    read these. Raises NotFound, Conflict, Invalid or a PlannerError."""
    known = of.known
    wanted = {query.view: query for query in queries}
    if len(wanted) < len(queries):
        raise Invalid("a replacement names a view twice")
    for name in wanted:
        must_stay(known.get(name, view=True))
    affected = _affected(of, wanted)
    relations = {name: relation for name, relation in known.relations.items() if name not in affected}
    outside, views = dict(relations), []
    for name in _in_order(known.all, affected, wanted):
        old = known.all[name]
        if name in wanted:
            among = {n: r for n, r in relations.items() if readable is None or readable(n)}
            new = _replaced(of, old, wanted[name], among)
        else:
            new = _again(of, old, relations, wanted)
        relations[name] = new.relation
        stays = new.relation == replace(old.relation, rows=new.relation.rows) and _runs(of, old)
        if stays and new.record() == old.record():
            new = old
        views.append(ReplacedView(old, new, None if stays else new_query_name()))
    read = {name for view in views for name in view.new.reads}
    return PlannedReplacement(
        tuple(views), frozenset(wanted), {name: outside[name] for name in read if name in outside}
    )


def _affected(of: Definitions, names: Iterable[str]) -> set[str]:
    """These views, and all that read them."""
    found = set(names)
    for name in names:
        found |= {view.name for view in of.known.dependants(name)}
    return found


def _in_order(all: Mapping[str, Definition], affected: set[str], wanted: Mapping[str, NewQuery]) -> list[str]:
    """The affected views, each after those that it will read. Raises Conflict if one would read itself."""
    ordered: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise Conflict(
                f"view {name} would read itself, through {above[-1]}", "use WITH RECURSIVE in one view"
            )
        if name in ordered:
            return
        new = wanted.get(name)
        reads = all[name].reads if new is None or new.is_same_text else _named_in(new)
        for read in sorted((affected & reads) - {name}):
            visit(read, (*above, name))
        ordered.append(name)

    for name in sorted(affected, key=lambda name: all[name].id):
        visit(name, ())
    return ordered


def _named_in(query: NewQuery) -> frozenset[str]:
    """The relations that a query names, without its own."""
    tree = parse_query(query.sql, query.dialect)
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = (table for table in tree.find_all(exp.Table) if table.name and table.name not in own)
    return frozenset(relation_name(table) for table in tables)


def _replaced(of: Definitions, old: Definition, query: NewQuery, among: Mapping[str, Relation]) -> Definition:
    """A view under its new query. Raises Conflict if that is one of before with other lists."""
    texts, details = (query.sql, query.dialect), None
    if query.is_same_text:
        if (old.sql, old.dialect) != texts:
            raise Conflict(f"view {old.name} has another query now", code="table_changed")
        details = replace(old.details, once_null=())
    try:
        with saying_if_it_reads_itself(old.name):
            new = of.view(old.id, old.name, *texts, old.created, details, among, query.lists)
    except PlannerError as error:
        query.relocate(error)
        raise
    details = new.details.following(old.details, new.schema.names)
    return _with_nulls(new, replace(details, former=old.details.former), old)


def _again(
    of: Definitions, old: Definition, relations: Mapping[str, Relation], wanted: Collection[str]
) -> Definition:
    """A view over others that will be replaced. Raises Conflict if it would fail or lose a column."""
    if old.planned is None:
        return old

    def change(seen: Seen) -> Seen:
        names = relations[seen.relation].schema.names
        return replace(seen, columns={mine: its for mine, its in seen.columns.items() if its in names})

    details = replace(old.details, sees={name: change(seen) for name, seen in old.details.sees.items()})
    replaced = ", ".join(sorted(wanted))
    try:
        new = of.view(old.id, old.name, old.sql, old.dialect, old.created, details, relations)
    except PlannerError as error:
        raise Conflict(
            f"view {old.name} reads {replaced} and would fail: {error.message}",
            f"replace {old.name} together with it, or drop {old.name} first",
            code="in_use",
        ) from None
    check_time_stays(old, new, replaced)
    check_columns_stay(old.schema, new, replaced)
    return _with_nulls(new, details, old)


def _with_nulls(new: Definition, details: Details, old: Definition) -> Definition:
    """The view with the columns nullable that were NULL in what it was before."""
    planned = new.schema if new.planned is None else new.planned.schema
    names = once_null(old.schema, planned)
    relation = replace(new.relation, schema=with_nulls(planned, names))
    return replace(new, relation=relation, details=replace(details, once_null=names))


def _runs(of: Definitions, view: Definition) -> bool:
    there = of.engine.snapshot.relations.get(view.name)
    return view.failure is None and there is not None and there.failure is None
