"""DuckDB as the evaluator of ad-hoc queries: databases in memory that cannot open anything.

A query sees the Arrow tables that it is given, under names that only its own cursor knows. It sees no file,
Python variable or setting, and calls only those of DuckDB's functions that are open (`planner.allowed`). It
is interrupted after a time, and its memory is limited. Errors are the planner's and the engine's, in DuckDB's
words.

Whether integers divide to integers is a setting, and settings are locked, so there is a database for each
case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from engine.codec.arrow import decode_arrow
from engine.errors import InvalidValue
from engine.scalar.duck_literals import is_arrow_text, type_name
from engine.scalar.sealed import interrupted_after, sealed
from engine.schema import Schema, Type
from engine.state.dictionary import Dictionary
from planner.adhoc.adhoc_query import AdhocQuery
from planner.allowed.check import check
from planner.allowed.open_functions import IN_QUERIES
from planner.allowed.parse_tree import Closed
from planner.dialects.overloads import macro_names, macros
from planner.errors import Unsupported
from planner.native.reference import refusal
from service.errors import Invalid

_BATCH = 1 << 16
_OPEN = IN_QUERIES | macro_names()
_DESCRIBE = "DESCRIBE "
_TYPE = b"duckdb"  # the key of a field's metadata that holds its DuckDB type
_ERRORS = (duckdb.Error, OSError)
"""DuckDB's errors, and those with the same text that Arrow raises while it reads an answer."""


@dataclass(frozen=True)
class QueryLimits:
    """The seconds that a query may run, the megabytes of its answer, and the memory, in DuckDB's notation,
    that all queries of one database share."""

    seconds: float = 60
    answer_mb: int = 256
    memory: str = "2GB"


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of a query, with the names and DuckDB types of its columns."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    table: pa.Table


class Duck:
    """Runs ad-hoc queries. Any thread may use it."""

    def __init__(self, limits: QueryLimits = QueryLimits()) -> None:
        self._limits = limits
        self._databases = {divides: _database(limits, divides) for divides in (False, True)}

    def close(self) -> None:
        for database in self._databases.values():
            database.close()

    def run(
        self,
        query: AdhocQuery,
        tables: Mapping[str, pa.Table],
        carried: Callable[[str], bool] = lambda type: True,
    ) -> Answer:
        """The query's answer over `tables`, which has a table for the alias of each reference.

        A column whose DuckDB type is not `carried` becomes text. Raises a PlannerError if the query is wrong,
        InvalidValue if a row is, Invalid if it exceeds a limit.
        """
        _check(query, tables)
        cursor = self._databases[query.integer_division].cursor()
        try:
            with interrupted_after(cursor, self._limits.seconds):
                for alias, table in tables.items():
                    _register(cursor, alias, table)
                columns = cursor.execute(_DESCRIBE + query.sql).fetchall()
                names, types = tuple(c[0] for c in columns), tuple(c[1] for c in columns)
                targets = tuple(type if carried(type) else "VARCHAR" for type in types)
                sql = query.sql if targets == types else _cast(f"({query.sql})", targets)
                return Answer(names, targets, self._read(cursor.sql(sql).to_arrow_reader(_BATCH)))
        except _ERRORS as error:
            raise self._error(error, query) from None
        finally:
            cursor.close()

    def cast(self, answer: Answer, types: tuple[str, ...]) -> pa.Table:
        """The answer's columns as DuckDB `types`. Raises InvalidValue if a value does not fit."""
        if answer.types == types:
            return answer.table
        names = _names(types)
        table = answer.table.rename_columns(names)
        return self.run(AdhocQuery(_cast("rows", types), ()), {"rows": table}).table

    def _read(self, reader: pa.RecordBatchReader) -> pa.Table:
        """All batches of the reader as a table. Raises Invalid if they are too large."""
        batches, size = [], 0
        for batch in reader:
            batches.append(batch)
            size += batch.nbytes
            if size > self._limits.answer_mb << 20:
                raise Invalid(
                    f"the answer has more than {self._limits.answer_mb} MB",
                    "use LIMIT or WHERE to ask for a part of it",
                    code="query_too_large",
                )
        return pa.Table.from_batches(batches, reader.schema)

    def _error(self, error: Exception, query: AdhocQuery) -> Exception:
        refused = refusal(duckdb.Error(str(error)), len(_DESCRIBE))
        found = refused.error
        if refused.offset is not None:
            found.at(*query.place(refused.offset))
        match str(error).partition(" Error: ")[0]:
            case "INTERRUPT":
                seconds = f"{self._limits.seconds:g} seconds"
                return Invalid(f"the query ran for {seconds} and was stopped", code="query_timeout")
            case "Out of Memory":
                return Invalid(
                    f"the query needs more memory than {self._limits.memory}",
                    "create a view of the query, or of a part of it",
                    code="query_too_large",
                )
            case "Permission":
                return Unsupported("a query can read tables and views, but no files", found.message)
            case "Invalid Input" if "Macro Function" in found.message:
                return Unsupported(found.message, "create a view of the query")
            case "Conversion" | "Out of Range" | "Invalid Input":
                return _of_value(found.message)
        return found


def _database(limits: QueryLimits, divides: bool) -> duckdb.DuckDBPyConnection:
    """A database in which `/` of integers `divides` to integers, or does not."""
    return sealed(
        {"memory_limit": limits.memory, "errors_as_json": True},
        (
            f"SET GLOBAL integer_division = {divides}",
            # DuckDB 2.0 loses rows where this optimizer shares a subplan.
            "SET GLOBAL disabled_optimizers = 'common_subplan'",
            *macros(),
        ),
    )


def _check(query: AdhocQuery, tables: Mapping[str, pa.Table]) -> None:
    """Raises a PlannerError, with its place, for what a query may not do."""
    columns = (name for table in tables.values() for name in table.column_names)
    try:
        check(query.sql, _OPEN, tables, columns)
    except Closed as closed:
        if closed.offset is None:
            raise closed.error from None
        raise closed.error.at(*query.place(closed.offset)) from None


def typed(table: pa.Table, types: Sequence[Type]) -> pa.Table:
    """The table, with the DuckDB type in a field's metadata where DuckDB cannot tell it."""
    if not any(map(is_arrow_text, types)):
        return table
    fields = [
        field.with_metadata({_TYPE: type_name(type)}) if is_arrow_text(type) else field
        for field, type in zip(table.schema, types, strict=True)
    ]
    return table.cast(pa.schema(fields))


def _register(cursor: duckdb.DuckDBPyConnection, alias: str, table: pa.Table) -> None:
    """Registers the table under a name for the cursor."""
    types = {field.name: (field.metadata or {}).get(_TYPE) for field in table.schema}
    if not any(types.values()):
        cursor.register(alias, table)
        return
    given = f"{alias} as given"
    cursor.register(given, table)
    columns = (
        _quoted(name) if type is None else f"CAST({_quoted(name)} AS {type.decode()}) AS {_quoted(name)}"
        for name, type in types.items()
    )
    view = f"CREATE TEMP VIEW {_quoted(alias)} AS SELECT {', '.join(columns)} FROM {_quoted(given)}"
    cursor.execute(view)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _of_value(message: str) -> InvalidValue:
    """DuckDB's message about a value, without advice that does not apply here."""
    if message.startswith("division by zero"):
        return InvalidValue("division by zero", "write x / nullif(y, 0) to get NULL instead")
    return InvalidValue(re.sub(r" when casting from source column \w+", "", message))


def _names(types: Sequence[str]) -> list[str]:
    return [f"c{i}" for i in range(len(types))]


def _cast(source: str, types: Sequence[str]) -> str:
    """A query for the columns of `source` as DuckDB types."""
    names = _names(types)
    casts = ", ".join(f"CAST({name} AS {type}) AS {name}" for name, type in zip(names, types, strict=True))
    return f"SELECT {casts} FROM {source} AS given ({', '.join(names)})"


def arrow_table(
    rows: tuple[np.ndarray, np.ndarray],
    schema: Schema,
    dictionary: Dictionary,
    columns: Collection[str] | None = None,
    row: str | None = None,
) -> pa.Table:
    """The rows of words int64[W, n], each repeated by its count. With `row`, each once, after its place in a
    column of that name.

    Without `row`, only the columns whose lower-case name is in `columns`, but at least one.
    """
    words, counts = rows
    if columns is not None:
        kept = [i for i, name in enumerate(schema.names) if name.lower() in columns] or [0]
        words, schema = words[kept], Schema(tuple(schema.columns[i] for i in kept))
    if row is not None:
        places = pa.array(np.arange(words.shape[1]))
        return typed(decode_arrow(words, schema, dictionary), schema.types).add_column(0, row, places)
    if len(counts) and counts.max() > 1:
        words = np.repeat(words, counts, axis=1)
    return typed(decode_arrow(words, schema, dictionary), schema.types)
