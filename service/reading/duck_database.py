"""A DuckDB database for ad-hoc queries: in memory, sealed, with the macros that queries have called so far.

The macros of dialects are created when a query first calls them: all of them would take two thirds of the
time in which a worker starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from engine.scalar.sealed import sealed
from planner.adhoc.clock_truncation import CLOCK_MACROS
from planner.catalog_queries import MACROS
from planner.dialects.overloads import macro, macros_in
from service.settings.query_limits import QueryLimits

_PIVOTED = 2_000
"""Columns of a PIVOT."""


class DuckDatabase:
    """A database of a time zone in which `/` of integers `divides` to integers, or does not. One thread at a
    time asks it for cursors."""

    def __init__(self, limits: QueryLimits, spill: Path | None, divides: bool, zone: str) -> None:
        config: dict[str, Any] = {"memory_limit": f"{limits.memory}B", "errors_as_json": True}
        disk: tuple[str, ...] = ()
        if spill is not None and limits.disk:
            config["temp_directory"] = str(spill)
            # DuckDB 2.0 does not keep to this limit when it is an option of the connection.
            disk = (f"SET GLOBAL max_temp_directory_size = '{limits.disk}B'",)
        self._created: set[str] = set()
        self._connection = sealed(
            config,
            (
                *disk,
                f"SET GLOBAL integer_division = {divides}",
                f"SET GLOBAL TimeZone = '{zone}'",
                f"SET GLOBAL pivot_limit = {_PIVOTED}",
                # DuckDB 2.0 loses rows where this optimizer shares a subplan.
                "SET GLOBAL disabled_optimizers = 'common_subplan'",
                *MACROS.values(),
                *CLOCK_MACROS.values(),
            ),
        )

    def cursor(self, texts: Iterable[str]) -> duckdb.DuckDBPyConnection:
        """A cursor that has the macros which the texts call."""
        for name in sorted({name for text in texts for name in macros_in(text)} - self._created):
            self._connection.execute(macro(name)).fetchall()
            self._created.add(name)
        return self._connection.cursor()

    def close(self) -> None:
        self._connection.close()
