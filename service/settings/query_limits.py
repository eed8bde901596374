"""Limits of ad-hoc queries and of the queries inside statements, and the settings that they are read from."""

from __future__ import annotations

import os
from dataclasses import dataclass

from service.settings.doors import MIB, setting


@dataclass(frozen=True)
class QueryLimits:
    """What one query may use: seconds; bytes of memory and of temporary files; rows and bytes of its answer.

    `workers` are the queries that run at a time, each in a process; `waiting` is how many more may wait.
    """

    seconds: float = 60
    memory: int = 1 << 30
    disk: int = 4 << 30
    answer_rows: int = 1_000_000
    answer_bytes: int = 256 * MIB
    workers: int = 2
    waiting: int = 100


DEFAULTS = QueryLimits()


@dataclass(frozen=True)
class QuerySettings:
    query_workers: int = setting(
        0,
        "FRESHET_QUERY_WORKERS",
        "queries that run at a time, each in a process of its own; 0: one for each core, at least 2",
    )
    queries_waiting: int = setting(
        100, "FRESHET_QUERIES_WAITING", "queries that may wait for a worker; more get 429"
    )
    query_seconds: int = setting(60, "FRESHET_QUERY_SECONDS", "seconds that a query may run")
    query_memory: int = setting(1 << 30, "FRESHET_QUERY_MEMORY", "most bytes of memory for a query")
    query_disk: int = setting(
        4 << 30, "FRESHET_QUERY_DISK", "most bytes of temporary files for a query; 0: none"
    )
    query_answer_rows: int = setting(
        1_000_000, "FRESHET_QUERY_ANSWER_ROWS", "most rows in the answer to a query"
    )
    query_answer_bytes: int = setting(
        256 * MIB, "FRESHET_QUERY_ANSWER_BYTES", "most bytes, in Arrow's form, of the answer to a query"
    )

    kept_answer_bytes: int = setting(
        256 * MIB,
        "FRESHET_KEPT_ANSWER_BYTES",
        "most bytes, in Arrow's form, of results of `/v1/sql` that are kept for their next pages",
    )
    kept_answer_seconds: int = setting(
        600, "FRESHET_KEPT_ANSWER_SECONDS", "seconds for which such a result is kept after its last page"
    )

    prepared_bytes: int = setting(
        64 * MIB, "FRESHET_PREPARED_BYTES", "most bytes of prepared statements that are kept"
    )

    @property
    def query_limits(self) -> QueryLimits:
        return QueryLimits(
            self.query_seconds,
            self.query_memory,
            self.query_disk,
            self.query_answer_rows,
            self.query_answer_bytes,
            self.query_workers or max(2, os.cpu_count() or 1),
            self.queries_waiting,
        )
