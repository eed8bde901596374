"""Sights: the tables and views as one statement sees them, every reference at its epoch.

References without a version all see the same epoch: the newest, or the one that the request names, or, inside
a transaction, the newest with the transaction's own changes to tables. Views do not have those changes yet,
so a transaction that has changed something cannot read views.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import pyarrow as pa

from engine.costs.view_cost import ViewCost
from engine.plan.nodes import Node
from engine.runtime.engine import Snapshot
from engine.runtime.observation import Observed
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from planner.adhoc.adhoc_query import AdhocQuery, SnapshotReference
from planner.adhoc.relation_functions import RelationCall
from planner.catalog_queries import is_system
from planner.errors import UnknownColumn
from planner.limits import PlanningLimits
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.errors import Conflict, HistoryGone, NotFound, ServiceError
from service.pgcatalog.system_tables import SystemTables
from service.reading.duck import Answer, Carried, QueryEvaluator, anything
from service.reading.given_tables import arrow_table
from service.reading.picked_rows import PickedRows
from service.reading.reads import check_health
from service.sql.relation_calls import RelationCalls
from service.writing.transaction import Transaction


@dataclass(frozen=True, eq=False)
class Sight:
    """`times` has the epoch of every time that a statement refers to, 0 for a time before all epochs;
    `observe` measures a view's running operators, and `cost` estimates those of a view that is not there;
    `size` is the approximate row count of a relation; `limits` are those of planning; `as_of` is the epoch of
    references without a version, if it is not the newest; `schemas` are those that the author sees. With
    `is_empty`, no relation has rows: statements are described, not run. `system` has the system catalogs, for
    a query that reads them."""

    readable: Readable
    times: Mapping[datetime, int]
    duck: QueryEvaluator
    dictionary: Dictionary
    observe: Callable[[str], Sequence[Observed]]
    cost: Callable[[Node, str | None], ViewCost]
    size: Callable[[str], int]
    limits: PlanningLimits
    transaction: Transaction | None = None
    as_of: int | None = None
    is_empty: bool = False
    schemas: Collection[str] = ()
    system: SystemTables | None = None
    calls: RelationCalls | None = None
    """Gives the rows of functions of relations."""

    @property
    def snapshot(self) -> Snapshot:
        return self.readable.snapshot

    @property
    def definitions(self) -> Mapping[str, Definition]:
        return self.readable.known.all

    @property
    def epoch(self) -> int:
        """The newest epoch."""
        return self.snapshot.upper - 1

    def ask(
        self,
        query: AdhocQuery,
        carried: Carried = anything,
        given: pa.Table | None = None,
    ) -> Answer:
        """The answer to a query. A column whose DuckDB type is not `carried` becomes text.

        `given`, if there is one, replaces the rows of the query's target.

        Raises NotFound, Conflict, HistoryGone or Invalid for a relation that cannot be read, and what
        `QueryEvaluator.run` raises.
        """
        tables = self._tables(query, given)
        try:
            return self.duck.run(query, tables, carried)
        except UnknownColumn:
            if query.columns is None:
                raise
        # Asking again with all columns gives an error that names the existing ones.
        return self.ask(replace(query, columns=None), carried, given)

    def describe(self, query: AdhocQuery, carried: Carried = anything) -> Answer:
        """The names and types of the query's columns: an answer without rows."""
        return self.ask(replace(query, sql=f"({query.sql}) LIMIT 0"), carried)

    def rows(self, name: str) -> Rows:
        """The newest rows of a table: distinct words int64[W, n] and counts [n]."""
        return self.snapshot.rows(name) if self.transaction is None else self.transaction.rows(name)

    def target(self, query: AdhocQuery) -> Rows:
        """The rows, as `rows` has them, among which the column `SnapshotReference.row` has the places."""
        (target,) = (reference.alias for reference in query.references if reference.row is not None)
        return self._rows(query.references)[target]

    def changing(self) -> Transaction:
        """The transaction. Raises ServiceError if the sight has none."""
        if self.transaction is None:
            raise ServiceError("a statement that changes rows must run in a transaction")
        return self.transaction

    def _tables(self, query: AdhocQuery, given: pa.Table | None) -> dict[str, pa.Table]:
        """The table of each reference. Those of equal rows are one."""
        tables: dict[str, pa.Table] = {}
        read: list[SnapshotReference] = []
        for reference in query.references:
            if given is not None and reference.row is not None:
                tables[reference.alias] = given
            elif reference.call is not None:
                tables[reference.alias] = self._called(reference, reference.call, query.columns)
            elif self.system is not None and is_system(reference.relation):
                tables[reference.alias] = self.system.table(reference.relation, query.columns)
            else:
                self._check(reference)
                read.append(reference)
        rows = self._rows(read)
        made: dict[tuple, pa.Table] = {}
        for reference in read:
            key = (reference.relation, id(rows[reference.alias]), reference.row)
            if key not in made:
                schema = self.definitions[reference.relation].schema
                found = rows[reference.alias]
                made[key] = arrow_table(found, schema, self.dictionary, query.columns, reference.row)
            tables[reference.alias] = made[key]
        return tables

    def _called(
        self, reference: SnapshotReference, call: RelationCall, columns: Collection[str] | None
    ) -> pa.Table:
        """The rows that a function of a relation gives."""
        if self.calls is None:
            raise Conflict(
                f"{call.function} is read by a statement that changes rows, or in the same epoch",
                "send the query by itself",
                code="diff_in_block",
            )
        found = self.calls.rows(reference, call, self._epoch(reference))
        words, counts = found.rows
        if self.is_empty:
            words, counts = words[:, :0], counts[:0]
        return arrow_table((words, counts), found.schema, self.dictionary, columns)

    def _check(self, reference: SnapshotReference) -> None:
        """Raises an error if the reference cannot be read."""
        definition = self.definitions.get(reference.relation)
        if definition is None:
            raise NotFound(f"there is no table or view called {reference.relation}")
        epoch = self._epoch(reference)
        if epoch is None:
            self._check_pending(definition)
        check_health(definition, self.snapshot, self.epoch if epoch is None else epoch)

    def _rows(self, references: Sequence[SnapshotReference]) -> dict[str, Rows]:
        """The rows of each reference that matter, as far as they can be looked up; else all rows."""
        if self.is_empty:
            widths = {r.alias: len(self.definitions[r.relation].schema) for r in references}
            nothing = np.zeros(0, np.int64)
            return {alias: (np.zeros((width, 0), np.int64), nothing) for alias, width in widths.items()}
        changed = () if self.transaction is None else self.transaction.pending
        picked = PickedRows(
            self.snapshot,
            self.definitions,
            self.dictionary,
            {reference.alias: self._epoch(reference) for reference in references},
            changed,
            lambda name, epoch: self.rows(name) if epoch is None else self.snapshot.rows(name, epoch),
        )
        return picked.of(references)

    def _epoch(self, reference: SnapshotReference) -> int | None:
        if reference.timestamp is None:
            return self.as_of if reference.version is None else reference.version
        epoch = self.times[reference.timestamp]
        if epoch == 0:
            time = reference.timestamp.isoformat()
            raise HistoryGone(f"there is no epoch at or before {time}", "the first epoch is later")
        return epoch

    def _check_pending(self, definition: Definition) -> None:
        if definition.is_view and self.transaction is not None and self.transaction.changes:
            raise Conflict(
                f"view {definition.name} is read after a change, before COMMIT",
                "a view follows its tables at COMMIT: read it before the change or after COMMIT",
                code="view_before_commit",
            )
