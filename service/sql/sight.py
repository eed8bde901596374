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

from engine.runtime.engine import Snapshot
from engine.runtime.observation import Observed
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from planner.adhoc.adhoc_query import AdhocQuery, SnapshotReference
from planner.catalog_queries import is_system
from planner.errors import UnknownColumn
from planner.limits import PlanningLimits
from service.definitions.access_paths import ways
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.errors import Conflict, HistoryGone, NotFound, ServiceError
from service.pgcatalog.system_tables import SystemTables
from service.reading.duck import Answer, Carried, QueryEvaluator, anything
from service.reading.finding import MANY, find_rows, literal_words
from service.reading.given_tables import arrow_table
from service.reading.reads import check_health
from service.writing.transaction import Transaction


@dataclass(frozen=True, eq=False)
class Sight:
    """`times` has the epoch of every time that a statement refers to, 0 for a time before all epochs;
    `observe` measures a view's running operators; `size` is the approximate row count of a relation;
    `limits` are those of planning; `as_of` is the epoch of references without a version, if it is not the
    newest; `schemas` are those that the author sees. With `is_empty`, no relation has rows: statements are
    described, not run. `system` has the system catalogs, for a query that reads them."""

    readable: Readable
    times: Mapping[datetime, int]
    duck: QueryEvaluator
    dictionary: Dictionary
    observe: Callable[[str], Sequence[Observed]]
    size: Callable[[str], int]
    limits: PlanningLimits
    transaction: Transaction | None = None
    as_of: int | None = None
    is_empty: bool = False
    schemas: Collection[str] = ()
    system: SystemTables | None = None

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
        tables = {
            reference.alias: self._table(reference, query)
            if given is None or reference.row is None
            else given
            for reference in query.references
        }
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
        (reference,) = (reference for reference in query.references if reference.row is not None)
        return self._rows(reference, self.definitions[reference.relation], None)

    def changing(self) -> Transaction:
        """The transaction. Raises ServiceError if the sight has none."""
        if self.transaction is None:
            raise ServiceError("a statement that changes rows must run in a transaction")
        return self.transaction

    def _table(self, reference: SnapshotReference, query: AdhocQuery) -> pa.Table:
        if self.system is not None and is_system(reference.relation):
            return self.system.table(reference.relation, query.columns)
        definition = self.definitions.get(reference.relation)
        if definition is None:
            raise NotFound(f"there is no table or view called {reference.relation}")
        epoch = self._epoch(reference)
        if epoch is None:
            self._check_pending(definition)
        check_health(definition, self.snapshot, self.epoch if epoch is None else epoch)
        rows = self._rows(reference, definition, epoch)
        return arrow_table(rows, definition.schema, self.dictionary, query.columns, reference.row)

    def _rows(self, reference: SnapshotReference, definition: Definition, epoch: int | None) -> Rows:
        """The relation's rows at an epoch, or its newest; only those that matter, if they can be looked
        up."""
        name, schema = definition.name, definition.schema
        if self.is_empty:
            return np.zeros((len(schema), 0), np.int64), np.zeros(0, np.int64)
        literals = {
            schema.index(name): values for name, values in reference.demanded.items() if name in schema.names
        }
        words = literal_words(literals, schema.types, self.dictionary)
        is_pending = epoch is None and self.transaction is not None and name in self.transaction.pending
        if words and not is_pending:
            found = find_rows(self.snapshot, name, ways(definition.paths, words), words, epoch, MANY)
            if found is not None:
                return found
        return self.rows(name) if epoch is None else self.snapshot.rows(name, epoch)

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
