"""The columns of a new table, as a caller may give them.

They are SQL (`"id BIGINT PRIMARY KEY, name TEXT"`), types by names (`{"id": "BIGINT NOT NULL"}`), or what has
columns already: an Arrow schema, or a table of PyArrow, pandas or Polars.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from freshet.errors import InvalidRequestError
from freshet.values.row_bodies import OPERATION, arrow_table, is_tabular
from freshet.values.sql_values import sql_type_of

_NOT_NULL = re.compile(r"\s+NOT\s+NULL\s*$", re.IGNORECASE)
_SQL: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "BOOLEAN"),
    (lambda type: type in (pa.int8(), pa.uint8(), pa.int16()), "SMALLINT"),
    (lambda type: type in (pa.uint16(), pa.int32()), "INTEGER"),
    (lambda type: type in (pa.uint32(), pa.int64()), "BIGINT"),
    (lambda type: type == pa.uint64(), "NUMERIC(20, 0)"),
    (lambda type: type in (pa.float16(), pa.float32()), "REAL"),
    (lambda type: type == pa.float64(), "DOUBLE PRECISION"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_time, "TIME"),
    (lambda type: pa.types.is_timestamp(type) and type.tz is None, "TIMESTAMP"),
    (pa.types.is_timestamp, "TIMESTAMPTZ"),
    (lambda type: pa.types.is_duration(type) or type == pa.month_day_nano_interval(), "INTERVAL"),
    (lambda type: pa.types.is_string(type) or pa.types.is_large_string(type), "TEXT"),
    (pa.types.is_string_view, "TEXT"),
    (lambda type: pa.types.is_binary(type) or pa.types.is_large_binary(type), "BYTEA"),
)


def new_table(name: str, columns: object, primary_key: Sequence[str]) -> dict[str, Any]:
    """The body that creates a table. Raises InvalidRequestError for columns of no known form."""
    if isinstance(columns, str):
        if primary_key:
            raise InvalidRequestError(
                "the columns are SQL, so the primary key belongs there", "write PRIMARY KEY (...) in the SQL"
            )
        return {"sql": f"CREATE TABLE {name} ({columns})"}
    return {"name": name, "columns": list(_columns(columns)), "primary_key": list(primary_key)}


def _columns(columns: Any) -> list[dict[str, Any]]:
    if isinstance(columns, Mapping):
        return [_column(name, type) for name, type in columns.items()]
    if is_tabular(columns):
        columns = arrow_table(columns).schema
    elif hasattr(columns, "__arrow_c_schema__"):
        columns = pa.schema(columns)
    if isinstance(columns, pa.Schema):
        fields = [field for field in columns if field.name != OPERATION]
        return [_of_field(field) for field in fields]
    raise InvalidRequestError(
        f"not columns: {str(columns)[:80]!r}",
        'pass SQL, types by names such as {"id": "BIGINT NOT NULL"}, or a table that has columns',
    )


def _column(name: str, type: str) -> dict[str, Any]:
    return {"name": name, "type": _NOT_NULL.sub("", type), "nullable": _NOT_NULL.search(type) is None}


def _of_field(field: pa.Field) -> dict[str, Any]:
    return {
        "name": _quoted(field.name),
        "type": sql_type_of(field) or _sql(field.type),
        "nullable": field.nullable,
    }


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql(type: pa.DataType) -> str:
    if pa.types.is_dictionary(type):
        return _sql(type.value_type)
    if pa.types.is_decimal(type):
        return f"NUMERIC({type.precision}, {type.scale})"
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return f"{_sql(type.value_type)}[]"
    if pa.types.is_map(type):
        return f"MAP({_sql(type.key_type)}, {_sql(type.item_type)})"
    if pa.types.is_struct(type):
        return f"STRUCT({', '.join(f'{_quoted(field.name)} {_sql(field.type)}' for field in type)})"
    for belongs, name in _SQL:
        if belongs(type):
            return name
    raise InvalidRequestError(f"Arrow's {type} has no type in SQL", "cast the column before")
