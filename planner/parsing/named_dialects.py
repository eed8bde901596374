"""Dialects by their names, and what to write for the names that other tools have for them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import Dialect
from sqlglot.dialects import Dialects

from planner.errors import InvalidSyntax
from planner.suggestions import did_you_mean

_OTHER_NAMES: Mapping[str, str] = {
    "ch": "clickhouse",
    "mariadb": "mysql",
    "mssql": "tsql",
    "mz": "materialize",
    "pg": "postgres",
    "postgresql": "postgres",
    "pyspark": "spark",
    "sparksql": "spark",
    "sqlserver": "tsql",
}


def dialect_called(name: str) -> Dialect:
    """The dialect of a name, which may have settings behind it. Raises InvalidSyntax for an unknown one."""
    try:
        return Dialect.get_or_raise(name)
    except ValueError:
        raise InvalidSyntax(f"unknown SQL dialect {name}", _hint(name.strip().lower())) from None


def _hint(name: str) -> str:
    if name in _OTHER_NAMES:
        return f"its name is {_OTHER_NAMES[name]} here"
    known = [dialect.value for dialect in Dialects if dialect.value]
    return did_you_mean(name, known, "GET /v1/dialects lists the dialects")
