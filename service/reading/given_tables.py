"""Tables as queries are given them: Arrow tables of distinct rows, which DuckDB repeats when it reads them.

The rows of a bag come once each, with their counts in a last column. The view over them repeats a row while a
query reads it, so a count takes no memory, however large it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb
import numpy as np
import pyarrow as pa

from engine.codec.arrow import decode_arrow
from engine.scalar.duck_literals import differs_in_arrow, type_name
from engine.schema import Schema, Type
from engine.state.dictionary import Dictionary

_TYPE = b"duckdb"  # the key of a field's metadata that holds its DuckDB type
_COUNTS = b"counts"  # the key of a field's metadata that marks the column of counts, and holds their bits


def arrow_table(
    rows: tuple[np.ndarray, np.ndarray],
    schema: Schema,
    dictionary: Dictionary,
    columns: Collection[str] | None = None,
    row: str | None = None,
) -> pa.Table:
    """The distinct rows of words int64[W, n], with their counts in a last column if a row has several copies.
    With `row`, each once, after its place in a column of that name.

    Without `row`, only the columns whose lower-case name is in `columns`, but at least one.
    """
    words, counts = rows
    if columns is not None:
        kept = [i for i, name in enumerate(schema.names) if name.lower() in columns] or [0]
        words, schema = words[kept], Schema(tuple(schema.columns[i] for i in kept))
    table = typed(decode_arrow(words, schema, dictionary), schema.types)
    if row is not None:
        return table.add_column(0, row, pa.array(np.arange(words.shape[1])))
    if not len(counts) or counts.max() <= 1:
        return table
    bits = int(np.bitwise_or.reduce(counts))
    field = pa.field(_unused("count#", schema.names), pa.int64(), metadata={_COUNTS: str(bits)})
    return table.append_column(field, pa.array(counts))


def typed(table: pa.Table, types: Sequence[Type]) -> pa.Table:
    """The table, with the DuckDB type in a field's metadata where DuckDB cannot tell it."""
    if not any(map(differs_in_arrow, types)):
        return table
    fields = [
        field.with_metadata({_TYPE: type_name(type)}) if differs_in_arrow(type) else field
        for field, type in zip(table.schema, types, strict=True)
    ]
    return table.cast(pa.schema(fields))


def column_names(table: pa.Table) -> list[str]:
    """The names of the columns that a query can read."""
    return [field.name for field in table.schema if _COUNTS not in (field.metadata or {})]


def register(
    cursor: duckdb.DuckDBPyConnection, alias: str, table: pa.Table, is_recursive: bool = False
) -> None:
    """Registers the table under a name for the cursor. A recursive query may read it again and again."""
    fields = list(table.schema)
    if not any(field.metadata for field in fields):
        cursor.register(alias, table)
        return
    given = f"{alias} as given"
    cursor.register(given, table)
    names = column_names(table)
    columns = ", ".join(_column(field) for field in fields if field.name in names)
    source = _quoted(given)
    counts = next((field for field in fields if field.name not in names), None)
    if counts is None:
        body = f"SELECT {columns} FROM {source}"
    elif is_recursive:
        body = _repeated_again(columns, source, counts)
    else:
        body = _repeated(columns, source, counts)
    cursor.execute(f"CREATE TEMP VIEW {_quoted(alias)} AS {body}")


def _repeated(columns: str, source: str, counts: pa.Field) -> str:
    """A query for each row as often as its count says: once for each power of two in the count, that often.

    DuckDB reads `range` of a number as it goes. For `range` of a column it would make all rows first.
    """
    count, bits = _quoted(counts.name), int(counts.metadata[_COUNTS])
    return " UNION ALL ".join(
        f"SELECT given.* FROM (SELECT {columns} FROM {source} WHERE ({count} >> {bit}) & 1 = 1) AS given, "
        f"range({1 << bit})"
        for bit in range(bits.bit_length())
        if bits >> bit & 1
    )


def _repeated_again(columns: str, source: str, counts: pa.Field) -> str:
    """The same, by lists of at most 1,024 numbers. It takes ten times as long, but in a recursion DuckDB 2.0
    loses rows of the other where a round has stopped reading early, as EXISTS does."""
    count = _quoted(counts.name)
    parts = f"list_transform(range(({count} + 1023) >> 10), lambda i: least(1024, {count} - (i << 10)))"
    listed = f"SELECT {columns}, unnest({parts}) AS {count} FROM {source}"
    each = f"SELECT * REPLACE (unnest(range({count})) AS {count}) FROM ({listed})"
    return f"SELECT * EXCLUDE ({count}) FROM ({each})"


def _column(field: pa.Field) -> str:
    """A column under its name, as its DuckDB type."""
    name, type = _quoted(field.name), (field.metadata or {}).get(_TYPE)
    return name if type is None else f"CAST({name} AS {type.decode()}) AS {name}"


def _unused(name: str, names: Collection[str]) -> str:
    """The name, made longer until it is none of `names`."""
    lower = {other.lower() for other in names}
    while name.lower() in lower:
        name += "#"
    return name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
