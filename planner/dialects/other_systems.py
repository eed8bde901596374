"""Calls of functions that another system has, as they are written in a dialect."""

from __future__ import annotations

import sqlglot
from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, SqlglotError, UnsupportedError

_SYSTEMS = {
    "tsql": "T-SQL",
    "mysql": "MySQL",
    "oracle": "Oracle",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "spark": "Spark",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "trino": "Trino",
    "clickhouse": "ClickHouse",
}
_NO_TIMES = "a row has the times of its columns; now() is the time of the epoch, in conditions"
_ABSENT = {
    "proctime": _NO_TIMES,
    "rowtime": _NO_TIMES,
    "windowstart": "window_start is a column of TUMBLE and HOP",
    "windowend": "window_end is a column of TUMBLE and HOP",
}
"""What to write for functions that no system's SQL has here."""
_LONGEST = 80
"""Characters of a hint's expression."""


def written_here(node: exp.Expression, name: str, dialect: str) -> str:
    """A hint with the call as the dialect writes it; empty if no other system has it, or nothing does it
    here."""
    if name.lower() in _ABSENT:
        return _ABSENT[name.lower()]
    called = node.sql()
    for system, shown in _SYSTEMS.items():
        if system == dialect or name.upper() not in Dialect.get_or_raise(system).parser_class.FUNCTIONS:
            continue
        try:
            tree = sqlglot.parse_one(called, read=system)
            if isinstance(tree, exp.Anonymous):
                continue
            text = tree.sql(dialect, unsupported_level=ErrorLevel.RAISE)
        except (SqlglotError, UnsupportedError, FutureWarning):  # of [[:alpha:]] in BigQuery's patterns
            continue
        if name.lower() not in text.lower() and len(text) <= _LONGEST:
            return f"{shown}'s {name} is {text} here"
    return ""
