"""DuckDB as the evaluator of ad-hoc queries: databases in memory that cannot open anything.

A query sees the Arrow tables that it is given, under names that only its own cursor knows. It sees no file,
Python variable or setting, and calls only those of DuckDB's functions that are open (`planner.allowed`). It
is interrupted after a time, and its memory, its temporary files and its answer are limited. Errors are the
planner's and the engine's, in DuckDB's words.

Whether integers divide to integers is a setting, and so is the time zone, and settings are locked: there is a
database for each case that was used lately.
"""

from __future__ import annotations

import logging
import re
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from engine.errors import InvalidValue
from engine.scalar.duck_faults import FAULTS, about_value, said
from engine.scalar.duck_literals import carried_name
from engine.scalar.interrupting import interrupted_after
from planner.adhoc.adhoc_query import AdhocQuery
from planner.adhoc.clock_truncation import CLOCK_MACROS
from planner.allowed.check import check
from planner.allowed.open_functions import IN_QUERIES
from planner.allowed.parse_tree import Closed
from planner.catalog_queries import MACROS
from planner.dialects.overloads import macro_names
from planner.errors import Unsupported
from planner.native.duck_refusals import refusal
from service.reading.duck_database import DuckDatabase
from service.reading.given_tables import column_names, register
from service.reading.query_errors import (
    engine_fault,
    out_of_disk,
    out_of_memory,
    out_of_time,
    too_large,
    too_many_rows,
)
from service.settings.query_limits import DEFAULTS, QueryLimits

_log = logging.getLogger("freshet.queries")
_BATCH = 1 << 16
_OPEN = IN_QUERIES | {"error"} | macro_names() | MACROS.keys() | CLOCK_MACROS.keys()
_DESCRIBE = "DESCRIBE "
_LOGGED = 2_000  # characters of a query
_FAR_DATE = re.compile(r"type INT32 with value [\d-]+( \(BC\))? can't be cast to the destination type INT64")
_SPECIAL = re.compile(
    r"could not (convert string|cast value) \W*(nan|inf(inity)?)\W* to DECIMAL", re.IGNORECASE
)
_DATABASES = 3
"""Databases that are kept open at a time."""
_ERRORS = (*FAULTS, OSError)
_FIRST_SECONDS = 600.0
"""Seconds that the first query of a process may take on the busiest machine."""
"""DuckDB's errors, and those with the same text that Arrow raises while it reads an answer."""


@dataclass(frozen=True, eq=False)
class AnswerReading:
    """An answer whose `batches` are read once, while the query runs."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of a query, with the names and DuckDB types of its columns.

    `named` has PostgreSQL's types of columns of the catalogs, empty where DuckDB's says it all.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    table: pa.Table
    named: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.table.num_rows

    @property
    def nbytes(self) -> int:
        """The bytes of the rows."""
        return self.table.nbytes


Carried = Callable[[str], bool]
"""Whether an answer can have columns of a DuckDB type."""


def anything(type: str) -> bool:
    """An answer can have columns of any type."""
    return True


class QueryEvaluator(ABC):
    """Answers queries. Any thread may use it."""

    @abstractmethod
    def run(self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried = anything) -> Answer:
        """The query's answer over `tables`, which has a table for the alias of each reference.

        A column whose DuckDB type is not `carried` becomes text. Raises a PlannerError if the query is wrong,
        InvalidValue if a row is, Invalid if it exceeds a limit.
        """

    def cast(self, answer: Answer, types: tuple[str, ...]) -> pa.Table:
        """The answer's columns as DuckDB `types`. Raises InvalidValue if a value does not fit."""
        if answer.types == types:
            return answer.table
        names = _names(types)
        table = answer.table.rename_columns(names)
        return self.run(AdhocQuery(_cast("rows", types), ()), {"rows": table}).table


class Duck(QueryEvaluator):
    """Evaluates in this process. DuckDB puts what does not fit into memory into the directory `spill`."""

    def __init__(self, limits: QueryLimits = DEFAULTS, spill: Path | None = None) -> None:
        self._limits = limits
        self._spill = spill
        self._lock = threading.Lock()
        self._databases: OrderedDict[tuple[bool, str], DuckDatabase] = OrderedDict()

    def close(self) -> None:
        for database in self._databases.values():
            database.close()

    def warm(self) -> None:
        """Goes the way of a query once, so that neither the seconds nor the memory of one are spent on what
        the first one needs: the database, threads and their heaps."""
        with self._reading(AdhocQuery("SELECT 1", ()), {}, anything, _FIRST_SECONDS) as reading:
            list(reading.batches)

    def run(self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried = anything) -> Answer:
        batches: list[pa.RecordBatch] = []
        with self.reading(query, tables, carried) as reading:
            batches.extend(reading.batches)
        return Answer(reading.names, reading.types, pa.Table.from_batches(batches, reading.schema))

    @contextmanager
    def reading(
        self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried = anything
    ) -> Iterator[AnswerReading]:
        """The answer to be read batch by batch, until the context ends. Raises what `run` raises, while the
        batches are read too."""
        with self._reading(query, tables, carried, self._limits.seconds) as reading:
            yield reading

    @contextmanager
    def _reading(
        self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried, seconds: float
    ) -> Iterator[AnswerReading]:
        _check(query, tables)
        cursor = self._cursor(query)
        try:
            with interrupted_after(cursor, seconds):
                for alias, table in tables.items():
                    register(cursor, alias, table, query.is_recursive)
                for values in query.lists:
                    cursor.execute(f'CREATE TEMP TYPE "{values.name}" AS ENUM ({values.sql})')
                columns = cursor.execute(_DESCRIBE + query.sql).fetchall()
                names, types = tuple(c[0] for c in columns), tuple(c[1] for c in columns)
                targets = tuple(type if carried(type) else "VARCHAR" for type in types)
                read = tuple(map(carried_name, targets))
                sql = query.sql if read == types else _cast(f"({query.sql})", read)
                reader = cursor.sql(sql).to_arrow_reader(_BATCH)
                yield AnswerReading(names, targets, reader.schema, self._within_limits(reader))
        except _ERRORS as error:
            raise self._error(error, query) from None
        finally:
            cursor.close()

    def _cursor(self, query: AdhocQuery) -> duckdb.DuckDBPyConnection:
        """A cursor of the database of the query's settings."""
        key = query.integer_division, query.zone
        with self._lock:
            if key not in self._databases:
                if len(self._databases) >= _DATABASES:
                    self._databases.popitem(last=False)[1].close()  # its cursors live on
                self._databases[key] = DuckDatabase(self._limits, self._spill, *key)
            self._databases.move_to_end(key)
            return self._databases[key].cursor((query.sql, *(values.sql for values in query.lists)))

    def _within_limits(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        """The batches of the reader. Raises Invalid once they are too many or too large."""
        limits, rows, size = self._limits, 0, 0
        for batch in reader:
            rows += batch.num_rows
            size += batch.nbytes
            if rows > limits.answer_rows:
                raise too_many_rows(limits)
            if size > limits.answer_bytes:
                raise too_large(limits)
            yield batch

    def _error(self, error: Exception, query: AdhocQuery) -> Exception:
        text = said(error)
        refused = refusal(error, len(_DESCRIBE))
        found = refused.error
        if refused.offset is not None:
            found.at(*query.place(refused.offset))
        match text.partition(" Error: ")[0]:
            case "INTERNAL" | "FATAL":
                _log.error("DuckDB has failed at %s", query.sql[:_LOGGED], exc_info=error)
                return engine_fault()
            case "INTERRUPT":
                return out_of_time(self._limits)
            case "Out of Memory" if "max_temp_directory_size" in text:
                return out_of_disk(self._limits)
            case "Out of Memory":
                return out_of_memory(self._limits)
            case "Permission":
                return Unsupported("a query can read tables and views, but no files", found.message)
            case "Invalid Input" if "Macro Function" in found.message:
                return Unsupported(found.message, "create a view of the query")
            case "Conversion" | "Out of Range" | "Invalid Input" if not refused.is_reworded:
                return _of_value(found.message)
        return found


def _check(query: AdhocQuery, tables: Mapping[str, pa.Table]) -> None:
    """Raises a PlannerError, with its place, for what a query may not do."""
    columns = [name for table in tables.values() for name in column_names(table)]
    try:
        for text in (*(values.sql for values in query.lists), query.sql):
            check(text, _OPEN, tables, columns)
    except Closed as closed:
        closed.error.hint = query.instead.get(closed.function, closed.error.hint)
        if closed.offset is None:
            raise closed.error from None
        raise closed.error.at(*query.place(closed.offset)) from None


def _of_value(message: str) -> InvalidValue:
    """DuckDB's message about a value, without advice that does not apply here."""
    if message.startswith("division by zero"):
        return InvalidValue("division by zero", "write x / nullif(y, 0) to get NULL instead")
    if _FAR_DATE.match(message):
        return InvalidValue(
            message,
            "an average of dates counts nanoseconds from 1677 to 2262: write avg(CAST(x AS TIMESTAMP))",
        )
    if _SPECIAL.match(message):
        return InvalidValue(
            message,
            "NaN and infinities of a NUMERIC are posted as rows, or written by INSERT ... VALUES with "
            "constants alone, which have no more decimals than their columns",
        )
    return InvalidValue(about_value(message))


def _names(types: Sequence[str]) -> list[str]:
    return [f"c{i}" for i in range(len(types))]


def _cast(source: str, types: Sequence[str]) -> str:
    """A query for the columns of `source` as DuckDB types."""
    names = _names(types)
    casts = ", ".join(f"CAST({name} AS {type}) AS {name}" for name, type in zip(names, types, strict=True))
    return f"SELECT {casts} FROM {source} AS given ({', '.join(names)})"
