"""DuckDB as an evaluator of scalar expressions, and of queries over groups of rows.

A process has one in-memory database, and each thread a cursor. The database has no tables, no access to files
or the network, and UTC as its time zone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cache, lru_cache

import duckdb
import pyarrow as pa

from engine.scalar.duck_faults import FAULTS, about_value, said
from engine.scalar.sealed import sealed

ARGUMENTS = "arguments"  # the name by which an expression refers to the table that it is evaluated over

_REWRITING = ("expression_rewriter", "statistics_propagation", "common_subexpressions")
_CREATE = threading.Lock()
_CURSORS = threading.local()
_CLASS = re.compile(r"^[A-Z][\w ]* Error: ")


class DuckRefusal(Exception):
    """DuckDB's reason for not evaluating, in one line and without its class."""


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return sealed(
        # Handing a small query to other threads takes longer than running it here.
        {"threads": 1},
        # Optimizers that rewrite expressions may lose a failure (in `x + 1 IS NULL`) or let it escape from
        # TRY (of a common subexpression). `PRAGMA disable_optimizer` applies to a connection, not to its
        # cursors.
        (f"SET GLOBAL disabled_optimizers = '{','.join(_REWRITING)}'",),
    )


def _cursor() -> duckdb.DuckDBPyConnection:
    cursor = getattr(_CURSORS, "cursor", None)
    if cursor is None:
        with _CREATE:
            cursor = _CURSORS.cursor = _database().cursor()
    return cursor


def constants(expressions: Sequence[str]) -> tuple:
    """The Python values of expressions without arguments. Raises DuckRefusal if one of them fails."""
    try:
        return _cursor().execute(f"SELECT {', '.join(expressions)}").fetchall()[0]
    except FAULTS as error:
        raise _refusal(error) from None


def array(expressions: Sequence[str]) -> pa.Array:
    """The values of expressions of one type without arguments. Raises DuckRefusal if one of them fails."""
    try:
        table = _cursor().sql(f"SELECT [{', '.join(expressions)}]").to_arrow_table()
    except FAULTS as error:
        raise _refusal(error) from None
    return table.column(0).combine_chunks().flatten()


def column(expression: str, table: pa.Table) -> pa.Array:
    """An expression over each row of the columns of `table`. Raises DuckRefusal if it fails for some row."""
    return rows(f"SELECT {expression} FROM {ARGUMENTS}", table).column(0).combine_chunks()


def check(expression: str, schema: pa.Schema) -> None:
    """Raises DuckRefusal if DuckDB does not take an expression over columns of these types. It is asked over
    NULLs of which no row is left: to give it a table takes longer than all else."""
    nulls = ", ".join(f"CAST(NULL AS {_named(field.type)}) AS {field.name}" for field in schema)
    source = f" FROM (SELECT {nulls}) AS {ARGUMENTS} WHERE false" if nulls else " LIMIT 0"
    try:
        _cursor().execute(f"SELECT {expression}{source}").fetchall()
    except FAULTS as error:
        raise _refusal(error) from None


@lru_cache(maxsize=1_000)
def _named(type: pa.DataType) -> str:
    """The name of the type that a column of an Arrow table has."""
    cursor = _cursor()
    cursor.register(ARGUMENTS, pa.table({"a": pa.array([], type)}))
    try:
        return str(cursor.sql(f"FROM {ARGUMENTS}").types[0])
    finally:
        cursor.unregister(ARGUMENTS)


def rows(query: str, table: pa.Table) -> pa.Table:
    """The result of a query over `table`, which the query calls ARGUMENTS. Raises DuckRefusal if it fails."""
    cursor = _cursor()
    cursor.register(ARGUMENTS, table)
    try:
        return cursor.sql(query).to_arrow_table()
    except FAULTS as error:
        raise _refusal(error) from None
    finally:
        cursor.unregister(ARGUMENTS)


def _refusal(error: Exception) -> DuckRefusal:
    return DuckRefusal(about_value(_CLASS.sub("", said(error).partition("\n")[0]).rstrip("!.")))
