"""Filters: the rows that a read wants, in order, found by DuckDB over the columns that the clauses read.

Rows that sort alike keep the input's order, so that an answer's pages fit together. Integers divide as in
PostgreSQL.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from planner.adhoc.adhoc_query import AdhocQuery
from planner.errors import InvalidSyntax
from service.reading.duck import Duck
from service.reading.predicates import Clause

_PLACE = "#"
_ROWS = "rows"


@cache
def _duck() -> Duck:
    return Duck()


def wanted_places(columns: pa.Table, where: Clause | None, order_by: Clause | None) -> np.ndarray:
    """The places int64[k] of the wanted rows of `columns`, in order.

    Raises a PlannerError with DuckDB's reason, InvalidValue for a row that fails, Invalid past a limit.
    """
    table = columns.append_column(_PLACE, pa.array(np.arange(columns.num_rows)))
    condition = f"WHERE ({where.sql})" if where else ""
    keys = f"{order_by.sql}, " if order_by else ""
    sql = f'SELECT "{_PLACE}" FROM {_ROWS} {condition} ORDER BY {keys}"{_PLACE}"'
    try:
        answer = _duck().run(AdhocQuery(sql, (), integer_division=True), {_ROWS: table})
    except InvalidSyntax as error:
        raise InvalidSyntax(f"where or order_by cannot be read: {error.message}", error.hint) from None
    return answer.table.column(0).to_numpy()
