"""Pages of subscriptions: what a relation has that is new, as the rows that a SUBSCRIBE returns.

`mz_timestamp` is the epoch of a change, and `mz_diff` how many copies of the row came or went; then come the
columns of the relation. With progress, `mz_progressed` says whether a row is a change or a report, and each
page ends with a report.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from engine.runtime.engine import Snapshot
from engine.scalar.duck_literals import type_name
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from service.reading.duck import Answer
from service.reading.given_tables import arrow_table

_PAGE = 1024
"""The most changes in a page, unless one epoch has more."""


@dataclass(frozen=True)
class SubscriptionPage:
    """The changes up to epoch `until`."""

    answer: Answer
    until: int


@dataclass(frozen=True, eq=False)
class SubscriptionForm:
    """How the rows of a subscription look. Any thread may make its pages."""

    name: str
    schema: Schema
    progress: bool
    dictionary: Dictionary

    @property
    def types(self) -> tuple[str, ...]:
        """DuckDB's names of the types of the columns."""
        before = ["DECIMAL(20,0)", *(["BOOLEAN"] if self.progress else []), "BIGINT"]
        return (*before, *(type_name(type) for type in self.schema.types))

    def answer(self, table: pa.Table) -> Answer:
        return Answer(tuple(table.column_names), self.types, table)

    def empty(self) -> pa.Table:
        return self._table(np.zeros((len(self.schema) + 2, 0), np.int64))

    def snapshot(self, snapshot: Snapshot, epoch: int) -> SubscriptionPage:
        """All rows as of an epoch."""
        words, counts = snapshot.rows(self.name, epoch)
        epochs = np.full(words.shape[1], epoch, np.int64)
        rows = np.concatenate([words, epochs[np.newaxis], counts[np.newaxis]])
        return self._page(rows, epoch)

    def changes(self, snapshot: Snapshot, since: int, limit: int) -> SubscriptionPage:
        """The first changes after `since` and up to epoch `limit`."""
        until = snapshot.relations[self.name].stretch(since, limit, _PAGE)
        return self._page(snapshot.changes(self.name, since, until), until)

    def silence(self, until: int) -> SubscriptionPage | None:
        """What says that there are no changes up to an epoch: a report, or nothing without progress."""
        return SubscriptionPage(self.answer(self._report(until)), until) if self.progress else None

    def _page(self, delta: np.ndarray, until: int) -> SubscriptionPage:
        table = self._table(delta)
        if self.progress:
            table = pa.concat_tables([table, self._report(until)])
        return SubscriptionPage(self.answer(table), until)

    def _report(self, epoch: int) -> pa.Table:
        """The row which says that everything up to an epoch has been sent."""
        empty = self.empty().schema
        values = [pa.array([epoch + 1]).cast(pa.decimal128(20, 0)), pa.array([True])]
        nulls = [pa.nulls(1, field.type) for field in list(empty)[2:]]
        return pa.Table.from_arrays([*values, *nulls], schema=empty)

    def _table(self, delta: np.ndarray) -> pa.Table:
        """Changes int64[W + 2, n] as a table of the columns that clients get."""
        schema, rows = self.schema, delta.shape[1]
        ones = np.ones(rows, np.int64)
        columns = [pa.array(delta[-2]).cast(pa.decimal128(20, 0))]
        names = ["mz_timestamp"]
        if self.progress:
            columns.append(pa.array(np.zeros(rows, np.bool_)))
            names.append("mz_progressed")
        columns.append(pa.array(delta[-1]))
        table = arrow_table((np.ascontiguousarray(delta[:-2]), ones), schema, self.dictionary)
        plain = [column.combine_chunks() for column in table.columns]
        return pa.Table.from_arrays([*columns, *plain], [*names, "mz_diff", *schema.names])
