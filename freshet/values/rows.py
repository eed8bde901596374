"""Rows that were read, at the epoch that they are from: as Arrow, pandas, Polars, dicts or tuples.

They are held as one Arrow table, so Arrow, pandas and Polars share its memory where their layouts are the
same. `Rows` offers Arrow's C stream, so it can be passed on to whatever takes tables, `insert` included.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.ipc

from freshet.errors import Error
from freshet.values.html_tables import SHOWN, html_table
from freshet.values.sql_values import OF_TEXTS, arrow_field, as_text, python_value, sql_type_of

if TYPE_CHECKING:
    import pandas
    import polars


class Rows:
    """`epoch` is the one that the rows are from."""

    def __init__(self, table: pa.Table, epoch: int) -> None:
        self._table = table
        self.epoch = epoch

    @property
    def columns(self) -> dict[str, str]:
        """The SQL types by the columns' names."""
        return {field.name: sql_type_of(field) or str(field.type) for field in self._table.schema}

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._table

    def pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame of pandas."""
        _require("pandas")
        return self._table.to_pandas()

    def polars(self) -> polars.DataFrame:
        """The rows as a DataFrame of Polars."""
        return _require("polars").from_arrow(self._table)

    def tuples(self) -> list[tuple[Any, ...]]:
        """The rows as tuples of Python's values."""
        columns = [_values(self._table.column(i), field) for i, field in enumerate(self._table.schema)]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts of Python's values."""
        names = self._table.schema.names
        return [dict(zip(names, row, strict=True)) for row in self.tuples()]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.dicts())

    def __len__(self) -> int:
        return self._table.num_rows

    @property
    def size(self) -> str:
        """How many rows there are, in words."""
        return "1 row" if len(self) == 1 else f"{len(self):,} rows"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {type}" for name, type in self.columns.items())
        return f"<{self.size} at epoch {self.epoch}: {columns}>"

    def _repr_html_(self) -> str:
        """A table for notebooks, with the first rows."""
        more = f", the first {SHOWN} are shown" if len(self) > SHOWN else ""
        first = Rows(self._table.slice(0, SHOWN), self.epoch).tuples()
        return html_table(self.columns, first, f"{self.size} at epoch {self.epoch}{more}")


class SqlRows(Rows):
    """The result of an SQL statement. `count` says how many rows it has changed, if it has changed any;
    a statement that returns no rows has no columns."""

    def __init__(self, table: pa.Table, epoch: int, statement: str, count: int | None) -> None:
        super().__init__(table, epoch)
        self.statement = statement
        self.count = count

    def __repr__(self) -> str:
        if self._table.num_columns:
            return super().__repr__()
        count = "" if self.count is None else f" {self.count}"
        return f"<{self.statement}{count} at epoch {self.epoch}>"

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self._table.num_columns else html.escape(repr(self))


def read_stream(body: bytes, epoch: int) -> Rows:
    """The rows of an Arrow stream. The table lies in the body: nothing is copied."""
    return Rows(pa.ipc.open_stream(pa.py_buffer(body)).read_all(), epoch)


def read_result(result: dict[str, Any]) -> SqlRows:
    """The result of a statement, from the JSON of `POST /v1/sql`."""
    columns = result.get("columns") or []
    fields = [arrow_field(column["name"], column["type"]) for column in columns]
    rows = result.get("rows") or []
    arrays = [
        _array([row[place] for row in rows], field, column["type"])
        for place, (field, column) in enumerate(zip(fields, columns, strict=True))
    ]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    return SqlRows(table, result["epoch"], result["statement"], result.get("count"))


def _array(values: list[Any], field: pa.Field, type: str) -> pa.Array:
    convert = as_text(type) if type in OF_TEXTS else python_value(type)
    if convert is not None:
        values = [None if value is None else convert(value) for value in values]
    try:
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise _out_of_range(field, error) from None


def _values(column: pa.ChunkedArray, field: pa.Field) -> list[Any]:
    try:
        values = column.to_pylist(maps_as_pydicts="strict")
    except TypeError:  # a key of a map that no dict can have
        values = column.to_pylist()
    except (ValueError, OverflowError) as error:
        raise _out_of_range(field, error) from None
    read = OF_TEXTS.get(sql_type_of(field))
    return values if read is None else [None if text is None else read(text) for text in values]


def _out_of_range(field: pa.Field, error: Exception) -> Error:
    return Error(
        f"Python has no value for one of column {field.name}: {error}",
        "read the rows of a table or a view with arrow(), or cast the column to TEXT",
        code="value_out_of_range",
    )


def _require(library: str) -> Any:
    """A library that is not part of the distribution."""
    try:
        return import_module(library)
    except ImportError:
        raise Error(
            f"{library} is not installed", f"install it: pip install {library}", code="missing_library"
        ) from None
