"""Which rows a read wants, and in what order: DuckDB over the columns that the clauses read.

Integers divide as PostgreSQL's. The connection can open no file, see no Python variable and
change no setting; every question has a cursor of its own with one table in it. Rows that
sort alike stay in the order of the input, so that an answer's pages fit together.
"""

from __future__ import annotations

from functools import cache

import duckdb
import numpy as np
import pyarrow as pa

from planner.errors import InvalidSyntax
from planner.reference import refusal
from service.predicates import Clause

_PLACE = "#"
_ROWS = "rows"


@cache
def _database() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(
        ":memory:",
        config={
            "enable_external_access": False,
            "python_enable_replacements": False,
            "memory_limit": "2GB",
            "integer_division": True,
            "errors_as_json": True,
        },
    )
    database.execute("SET lock_configuration = true")
    return database


def places(columns: pa.Table, where: Clause | None, order_by: Clause | None) -> np.ndarray:
    """The places int64[k] of the wanted rows of `columns`, in order. A PlannerError with DuckDB's reason."""
    table = columns.append_column(_PLACE, pa.array(np.arange(columns.num_rows)))
    condition = f"WHERE ({where.sql})" if where else ""
    keys = f"{order_by.sql}, " if order_by else ""
    cursor = _database().cursor()
    try:
        cursor.register(_ROWS, table)
        cursor.execute(f'SELECT "{_PLACE}" FROM {_ROWS} {condition} ORDER BY {keys}"{_PLACE}"')
        return cursor.fetchnumpy()[_PLACE].astype(np.int64)
    except duckdb.Error as error:
        found = refusal(error).error
        if isinstance(found, InvalidSyntax):
            found = InvalidSyntax(f"where or order_by cannot be read: {found.message}", found.hint)
        raise found from None
    finally:
        cursor.close()
