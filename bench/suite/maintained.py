"""A suite's queries as views of an engine, and the tables that they read."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from bench.duck import WrongAnswer
from bench.suite.answers import Row, compare, without_ties
from bench.suite.tables import Change, Tables
from engine.codec.arrow import decode_arrow, encode_arrow
from engine.runtime.engine import Engine
from planner import plan_query
from planner.relation import Relation

ENCODED = 1 << 17
"""Rows that are encoded at a time, as loads encode them."""


class Maintained:
    """An engine with tables, which keep no history, and views, which exist before the first row."""

    def __init__(
        self, relations: Mapping[str, Relation], queries: Mapping[str, str], engine: Engine | None = None
    ) -> None:
        self._relations = relations
        self._queries = queries
        self._engine = engine or Engine()
        for name, relation in relations.items():
            self._engine.create_source(name, relation.schema, relation.key or None, keep=False)
        for name, sql in queries.items():
            self._engine.create_view(name, plan_query(sql, relations).plan)

    def advance(self, change: Change) -> int:
        """Apply a change as one epoch, visible on return; returns the nanoseconds."""
        deltas = {name: self._delta(name, d.gone, d.new) for name, d in change.items()}
        start = time.perf_counter_ns()
        stage = self._engine.stage(deltas, self._engine.snapshot.upper + 1)
        stage.publish()
        took = time.perf_counter_ns() - start
        if stage.failed:
            raise WrongAnswer(f"views have failed: {stage.failed}")
        return took

    def _delta(self, name: str, gone: pa.Table, new: pa.Table) -> np.ndarray:
        schema = self._relations[name].schema
        delta = np.empty((len(schema) + 2, gone.num_rows + new.num_rows), np.int64)
        for rows, part, diff in ((gone, slice(gone.num_rows), -1), (new, slice(gone.num_rows, None), 1)):
            end = part.start or 0
            for piece in rows.to_batches(ENCODED):
                first, end = end, end + piece.num_rows
                encode_arrow(piece, schema, self._engine.dictionary, delta[:-2, first:end])
            delta[-1, part] = diff
        delta[-2] = self._engine.snapshot.upper
        return delta

    def rows(self, view: str) -> list[Row]:
        """The view's rows now, in no order; a row with count n comes n times. Raises WrongAnswer."""
        snapshot = self._engine.snapshot
        if errors := snapshot.errors(view):
            raise WrongAnswer(f"{view} has errors: {errors}")
        words, counts = snapshot.rows(view)
        table = decode_arrow(words, snapshot.schema(view), self._engine.dictionary)
        columns = [column.to_pylist() for column in table.columns]
        counted = zip(zip(*columns, strict=True), counts.tolist(), strict=True)
        return [row for row, count in counted for _ in range(count)]

    def compare(self, tables: Tables) -> None:
        """Raise WrongAnswer unless every view is DuckDB's answer over the tables."""
        for name, sql in self._queries.items():
            compare(name, self.rows(name), tables.connection.execute(without_ties(sql)).fetchall())
