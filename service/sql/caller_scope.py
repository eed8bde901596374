"""What a caller's statements run in: what its names mean, what it may see, and which lane takes its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from engine.costs.view_cost import ViewCost
from engine.plan.nodes import Node
from planner.adhoc.adhoc_query import AdhocQuery
from planner.catalog_queries import is_system
from planner.limits import PlanningLimits, within
from planner.long_texts import LONG, is_long_query
from planner.parsing.namespace import Namespace
from planner.parsing.parameters import Parameters
from planner.parsing.script import Piece, split
from planner.parsing.search_path import namespace
from planner.parsing.vocabulary import with_vocabulary
from planner.statements.statement_reader import parse_statement
from planner.statements.statements import LongQuery, Select, Statement
from service.accounts.privileges import Privilege
from service.definitions.readable import Readable
from service.pgcatalog.system_tables import SystemTables
from service.reading.callers import Caller
from service.reading.duck import Answer, QueryEvaluator
from service.reading.lanes import Lane
from service.reading.queries import Queries
from service.running.runtime import Runtime
from service.running.view_timeline import ViewTimeline
from service.sql.allowing import allow_queries, cost_seen_by, observed_by, schemas_seen, seen, seen_of
from service.sql.outside_running import Outside
from service.sql.relation_calls import RelationCalls
from service.sql.script_session import ScriptSession
from service.sql.sequence_calls import SequenceCalls, counts, used_sequences
from service.sql.sight import Sight
from service.sql.system_catalogs import SystemCatalogs
from service.sql.tasks import StatementTask, task_of
from service.sql.visible_names import VisibleNames
from service.telemetry.slow_statements import SlowStatements
from service.writing.transaction import Transaction

DoorParts = tuple[Runtime, Queries, Lane, Lane, SlowStatements, SystemCatalogs, Outside]


@dataclass(frozen=True, eq=False)
class CallerScope:
    """The service as one caller sees it in its session, `as_of` an epoch or at the newest."""

    runtime: Runtime
    queries: Queries
    planning: Lane
    long_texts: Lane
    slow: SlowStatements
    catalogs: SystemCatalogs
    outside: Outside
    caller: Caller
    session: ScriptSession
    as_of: int | None = None

    @property
    def timeline(self) -> ViewTimeline:
        """What the statements read and change. Raises NotFound for a branch that is not there."""
        branch = self.session.branch
        return self.runtime if branch is None else self.runtime.branches.timeline(branch)

    async def _ask(self, query: AdhocQuery) -> Answer:
        """The answer to a query over the newest state."""
        times = await self._times([query])
        system = self._system_of(query)
        return await self.queries.readers.in_turn(
            self.caller, lambda duck: replace(self._sight(times, duck), system=system).ask(query)
        )

    def _sight(
        self,
        times: Mapping[datetime, int],
        duck: QueryEvaluator,
        transaction: Transaction | None = None,
        statement: Statement | None = None,
    ) -> Sight:
        """A sight of the newest state, or of what a transaction sees."""
        runtime, timeline = self.runtime, self.timeline
        readable = (
            timeline.readable if transaction is None else Readable(transaction.snapshot, transaction.known)
        )
        known = seen_of(readable.known, self.caller.principal, statement)
        calls = RelationCalls(runtime, timeline, self.caller)
        return Sight(
            replace(readable, known=known),
            times,
            duck,
            timeline.dictionary,
            lambda view: observed_by(self.caller.principal, timeline.observe(view)),
            self._cost,
            timeline.size,
            self._limits,
            transaction,
            self.as_of,
            schemas=schemas_seen(runtime.schemas(), known.all, self.caller.principal),
            calls=calls if transaction is None or isinstance(statement, Select) else None,
        )

    def _cost(self, plan: Node, besides: str | None) -> ViewCost:
        """What a view with this plan would cost, if the view `besides` were not there."""
        cost = self.runtime.costs.estimate(self.timeline, plan, self.caller, besides)
        return cost_seen_by(self.caller.principal, cost)

    async def _times(self, queries: Sequence[AdhocQuery]) -> dict[datetime, int]:
        """The epochs of the times that the queries refer to."""
        references = [r for query in queries for r in query.references]
        times = {r.timestamp for r in references if r.timestamp is not None}
        timeline = self.timeline
        return {time: await timeline.epoch_at(time) for time in times}

    def _timed(self, piece: Piece, block: Sequence[Statement]) -> AbstractContextManager[None]:
        """Inside the context, a piece runs; at its end a block does, whose text counts then."""
        text = "; ".join([*(statement.source for statement in block), piece.source])
        return self.slow.timing(text, self.caller.principal.id)

    def _lane(self, length: int) -> Lane:
        """The lane for a text of this length."""
        return self.long_texts if length >= LONG else self.planning

    async def _counted(self, statement: Statement, is_described: bool = False) -> Statement:
        """The statement with the numbers of sequences instead of calls; with zeros if it is described."""
        if not counts(statement):
            return statement
        names = self.names()
        for name, changes in used_sequences(statement, names):
            self.caller.principal.require(Privilege.INSERT if changes else Privilege.SELECT, name)
        calls = SequenceCalls(self.runtime, self.session, names)
        return await (calls.described if is_described else calls.computed)(statement)

    # In the lanes of planning

    @property
    def _limits(self) -> PlanningLimits:
        return self.runtime.settings.planning_limits

    def _split(self, script: str, dialect: str, parameters: Parameters) -> Sequence[Piece]:
        with within(self._limits):
            return split(script, dialect, parameters)

    def _parsed(self, piece: Piece) -> Statement:
        with within(self._limits):
            piece = with_vocabulary(
                replace(piece, names=self.names(), in_utc=self.caller.zone.is_utc), self.runtime.vocabulary()
            )
            return LongQuery(piece) if is_long_query(piece) else parse_statement(piece)

    def names(self) -> Namespace:
        """What names without a schema mean now."""
        runtime, principal = self.runtime, self.caller.principal
        path, temporary = self.session.search_path, self.session.temporary
        vocabulary = runtime.vocabulary()
        return namespace(
            path,
            principal.name,
            runtime.schemas(),
            self._visible,
            lambda: vocabulary.types,
            temporary,
            lambda: vocabulary.functions,
        )

    def _visible(self) -> VisibleNames:
        timeline = self.timeline
        return VisibleNames((timeline.definitions(), timeline.builds), self.caller.principal)

    def _system(self) -> SystemTables:
        """The system catalogs as the caller sees them."""
        return self.catalogs.of(self.caller, self.names().path, self.timeline)

    def _system_of(self, query: AdhocQuery) -> SystemTables | None:
        """The system catalogs for a query that reads them."""
        is_catalogs = any(is_system(reference.relation) for reference in query.references)
        return self._system() if is_catalogs else None

    def _task(self, statement: Statement) -> StatementTask:
        principal = self.caller.principal
        with within(self._limits):
            definitions = seen(self.timeline.definitions(), principal)
            task = task_of(statement, definitions, self.runtime.dictionary, self._system)
        allow_queries(task.queries, principal)
        return task
