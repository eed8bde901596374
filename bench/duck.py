"""The same queries by DuckDB, from scratch, over the same rows: for comparison of times and of answers."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from bench.measure import clock
from bench.workloads.base import Workload

REPETITIONS = 5


class WrongAnswer(Exception):
    """A view differs from the right answer over the same rows."""


class Recompute:
    """An in-memory DuckDB with a workload's tables, at its default number of threads."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._connection = duckdb.connect()

    def refresh(self) -> None:
        """Fill the tables with the workload's current rows."""
        for name, words in self._workload.tables.items():
            columns = self._workload.schemas[name].names
            arrays = [pa.array(column) for column in words]
            self._connection.register("arriving", pa.table(arrays, names=list(columns)))
            self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM arriving")
            self._connection.unregister("arriving")

    def query(self) -> int:
        """Compute and materialize every view that is not idle, in order; returns the nanoseconds."""
        return clock(self._compute)

    def _compute(self) -> None:
        for view in self._workload.views:
            if view.idle:
                continue
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {view.name} AS {view.sql}")

    def rows(self, view: str) -> np.ndarray:
        """The view's rows as integers, int64[columns, rows], in the order of `ordered`."""
        result = self._connection.execute(f"SELECT CAST(COLUMNS(*) AS BIGINT) FROM {view}").fetchnumpy()
        return ordered(np.array([np.asarray(column) for column in result.values()], np.int64))

    def close(self) -> None:
        self._connection.close()


def ordered(words: np.ndarray) -> np.ndarray:
    """The rows of `words`, sorted by the first column, then by the next: equal bags become equal matrices."""
    return words[:, np.lexsort(words[::-1])] if len(words) else words


def compare(what: str, engine: np.ndarray, duckdb: np.ndarray) -> None:
    """Raise WrongAnswer, with the first difference, unless both matrices are equal; both are sorted."""
    if engine.shape != duckdb.shape:
        raise WrongAnswer(f"{what} has {engine.shape[1]} rows, and {duckdb.shape[1]} in DuckDB")
    if not np.array_equal(engine, duckdb):
        position = int(np.argmax((engine != duckdb).any(axis=0)))
        raise WrongAnswer(f"{what} has {engine[:, position]} where DuckDB has {duckdb[:, position]}")
