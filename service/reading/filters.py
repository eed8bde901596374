"""Filters: the rows that a read wants, in order, found by a query over the columns that the clauses read.

Rows that sort alike keep the input's order, so that an answer's pages fit together. Integers divide as in
PostgreSQL.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.codec.arrow import decode_named
from engine.schema import BIGINT, Schema
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from planner.adhoc.adhoc_query import AdhocQuery
from planner.errors import InvalidSyntax
from service.reading.duck import QueryEvaluator
from service.reading.given_tables import typed
from service.reading.predicates import Clause
from service.reading.query_errors import NeedsQuery

_PLACE = "#"
_ROWS = "rows"


def chosen_rows(
    duck: QueryEvaluator | None,
    rows: Rows,
    schema: Schema,
    dictionary: Dictionary,
    where: Clause | None,
    order_by: Clause | None = None,
) -> Rows:
    """The distinct rows that a predicate accepts, in their order or in that of sort keys.

    Raises a PlannerError with DuckDB's reason, InvalidValue for a row that fails, Invalid past a limit, and
    NeedsQuery without `duck`.
    """
    if duck is None:
        raise NeedsQuery
    words, counts = rows
    clauses = [clause for clause in (where, order_by) if clause is not None]
    columns = sorted({column for clause in clauses for column in clause.columns})
    places = _places(duck, _given(words, columns, schema, dictionary), where, order_by)
    return np.ascontiguousarray(words[:, places]), counts[places]


def _given(words: np.ndarray, columns: list[int], schema: Schema, dictionary: Dictionary) -> pa.Table:
    """The columns of the rows, and a last one with the rows' places."""
    given = [schema.columns[i] for i in columns]
    arrays = [decode_named(words[i], schema.columns[i], dictionary) for i in columns]
    arrays.append(pa.array(np.arange(words.shape[1])))
    table = pa.table(arrays, names=[*(column.name for column in given), _PLACE])
    return typed(table, [*(column.type for column in given), BIGINT])


def _places(
    duck: QueryEvaluator, table: pa.Table, where: Clause | None, order_by: Clause | None
) -> np.ndarray:
    """The places int64[k] of the wanted rows, in order."""
    condition = f"WHERE ({where.sql})" if where else ""
    keys = f"{order_by.sql}, " if order_by else ""
    sql = f'SELECT "{_PLACE}" FROM {_ROWS} {condition} ORDER BY {keys}"{_PLACE}"'
    try:
        answer = duck.run(AdhocQuery(sql, (), integer_division=True), {_ROWS: table})
    except InvalidSyntax as error:
        raise InvalidSyntax(f"where or order_by cannot be read: {error.message}", error.hint) from None
    return answer.table.column(0).to_numpy()
