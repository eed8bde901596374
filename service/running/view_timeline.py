"""A timeline that makes views: it estimates and builds them beside its writer, and drops them again.

The service's own timeline is one, and so is each branch, whose views are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from engine.costs.view_cost import ViewCost
from planner.errors import PlannerError
from planner.lower.planned_query import PlannedQuery
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.vocabulary import kept_text
from planner.rewriting.open_pivots import PivotLists
from planner.statements.breach import Breach
from planner.statements.view_budgets import ANY, ViewBudget
from service.accounts.principals import MayRead, readable_by
from service.catalog.replacement_records import NewQuery
from service.definitions.definition import Definition
from service.definitions.intended_view import as_it_would_be, intend, same_view
from service.definitions.maintained_queries import is_query_name
from service.reading.callers import Caller
from service.running.builds import Builds
from service.running.followed_queries import FollowedQueries
from service.running.process_memory import MemoryMark
from service.running.timeline import Timeline
from service.running.view_build import ViewBuild
from service.running.view_costs import ViewCosts


class ViewTimeline(Timeline):
    """`memory` is the mark of the process, and `costs` estimates views."""

    memory: MemoryMark
    costs: ViewCosts

    @property
    def _builds(self) -> Builds:
        """Where its views are built. Raises NotLeader in a standby."""
        raise NotImplementedError

    @property
    def queries(self) -> FollowedQueries:
        """The queries that clients follow. Raises NotLeader in a standby, which can only maintain views."""
        raise NotImplementedError

    @property
    def builds(self) -> Mapping[str, ViewBuild]:
        """The views that are being built, without those that were dropped and end soon."""
        all = self._builds.all
        return {name: b for name, b in all.items() if b.is_wanted and not is_query_name(name)}

    def notice(self, view: str) -> str | None:
        """Why the columns of a view are not those of its data, if it leaves them to the data."""
        return None

    async def create_view(
        self,
        name: str,
        sql: str,
        dialect: str = "postgres",
        *,
        or_replace: bool = False,
        readable: MayRead = None,
        names: Namespace = DEFAULT,
        breach: Breach | None = None,
        budget: ViewBudget = ANY,
    ) -> Definition:
        """Creates a view of the query `sql`, with its tables' history, and returns when it can be read. It
        may read what is `readable`, by default everything. `names` tells what its names mean. With a `breach`
        it is an assertion, of whose rows there may be none. Raises Invalid, before it is begun, if it would
        not fit into its budget or that of all views.

        It is built beside the writer (`service/running/builds.py`). With `or_replace`, a view of the name is
        replaced (`service/running/replacements.py`), with all views that read it, at one epoch. One that has
        this query already stays as it is.
        """
        self.memory.check("a view")
        text = await self._judging.run(kept_text, sql, dialect, self.vocabulary(), names)
        try:
            return await self._made_view(name, text.text, dialect, or_replace, readable, breach, budget)
        except PlannerError as error:
            text.relocate(error)
            raise

    async def _made_view(
        self,
        name: str,
        sql: str,
        dialect: str,
        or_replace: bool,
        readable: MayRead,
        breach: Breach | None,
        budget: ViewBudget,
    ) -> Definition:
        builds, of = self._builds, self._state.definitions
        there = of.all.get(name) if or_replace else None
        replaces = there is not None and there.is_view
        if replaces and (same := await self._judging.run(same_view, of, name, sql, dialect, readable)):
            return same
        query = await self._listed(NewQuery(name, sql, dialect), readable)
        await self._check_budget([query], readable, budget)
        if replaces:
            await self._replace([query], readable)
            return self.definition(name)
        plan = partial(intend, of, name, sql, dialect, readable, breach, query.lists)
        return await builds.make(name, plan)

    async def _listed(self, query: NewQuery, readable: MayRead) -> NewQuery:
        """The query with the values that it leaves to the data, where views may do that."""
        return query

    async def _replace(self, queries: Sequence[NewQuery], readable: MayRead) -> int:
        """Gives views new queries at one epoch, which is returned."""
        raise NotImplementedError

    async def _check_budget(self, queries: Sequence[NewQuery], readable: MayRead, budget: ViewBudget) -> None:
        """Raises Invalid if a view would cost more under its new query than it, or any view, may."""
        budget = budget.within(self.settings.view_budget)
        for query in queries if budget.is_limited else ():
            await self.costs.lane.run(self._check_costs, query, readable, budget)

    def _check_costs(self, query: NewQuery, readable: MayRead, budget: ViewBudget) -> None:
        made = as_it_would_be(
            self._state.definitions, query.view, query.sql, query.dialect, readable, query.lists
        )
        if made.planned is not None:
            self.costs.check(self, query.view, made.planned, query.sql, budget)

    async def estimate_view(
        self, name: str, sql: str, dialect: str, caller: Caller, names: Namespace = DEFAULT
    ) -> tuple[PlannedQuery, ViewCost]:
        """What `create_view` would plan for a caller, and what the view would cost. Nothing is made."""
        text = await self._judging.run(kept_text, sql, dialect, self.vocabulary(), names)
        readable = readable_by(caller.principal)

        def estimate(lists: PivotLists) -> tuple[PlannedQuery, ViewCost]:
            of = self._state.definitions
            planned = as_it_would_be(of, name, text.text, dialect, readable, lists).planned
            assert planned is not None
            return planned, self.costs.estimate(self, planned.plan, caller, name)

        try:
            query = await self._listed(NewQuery(name, text.text, dialect), readable)
            return await self.costs.lane.run(estimate, query.lists)
        except PlannerError as error:
            text.relocate(error)
            raise

    async def drop_view(self, *names: str, missing_ok: bool = False, cascade: bool = False) -> None:
        """Drops views. Raises Conflict while other views read them, unless `cascade` drops those."""
        building = {name for name in names if self._builds.cancel(name)}
        names = tuple(name for name in names if name not in building or name in self.definitions())
        await self._drop(names, view=True, missing_ok=missing_ok, cascade=cascade)

    async def _drop(self, names: Sequence[str], *, view: bool, missing_ok: bool, cascade: bool) -> None:
        drop = partial(self._state.definitions.drop, names, view=view, missing_ok=missing_ok)
        await self._writer.run(partial(drop, cascade=cascade))
        self._cancel_dropped()

    def _cancel_dropped(self) -> None:
        """Cancels the building of views that are gone."""
        self._builds.cancel_dropped(self._readable.known.all)
