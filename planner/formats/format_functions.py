"""The functions that take formats: those that write, those that read, and those with unknown formats."""

from __future__ import annotations

from collections.abc import Mapping

from planner.formats.read_functions import READERS
from planner.formats.write_functions import WRITERS

_TEMPLATED = frozenset({"TO_CHAR", "TO_DATE", "TO_TIMESTAMP", "TO_NUMBER"})
UNKNOWN: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("teradata", "exasol", "dremio", "trino", "presto", "athena", "dune"), _TEMPLATED),
    "drill": _TEMPLATED - {"TO_CHAR"},
    "dremio": _TEMPLATED | {"DATE_FORMAT"},
    "singlestore": _TEMPLATED | {"TIME_FORMAT"},
    "clickhouse": frozenset({"STR_TO_DATE", "PARSEDATETIMEORZERO"}),
}
"""Functions whose formats are in an unknown or unsupported language."""
_NATIVE: Mapping[str, frozenset[str]] = {"duckdb": frozenset({"STRFTIME", "STRPTIME", "TRY_STRPTIME"})}
"""Functions with DuckDB's own formats."""


def with_formats(dialect: str) -> set[str]:
    """The names of the functions whose calls stay as written."""
    tables = (WRITERS, READERS, UNKNOWN, _NATIVE)
    return {name for table in tables for name in table.get(dialect, ())}
