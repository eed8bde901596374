"""The referee: DuckDB, from scratch over the tables of one epoch.

A view's answer is a bag of normalised values, or the error that its data cause. Views are kept as tables
of their answers, so that views over them can be asked without asking them again.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import duckdb

from engine.codec.zoned_times import timetz_text, timetz_word
from engine.scalar.duck_literals import type_name
from engine.scalar.interrupting import interrupted_after
from engine.schema import Kind, Type
from engine.state.dictionary import Dictionary
from tests.property.schemas import INTERVALS, Row, Table

Bag = Counter[Row]
_NO_TEXTS = Dictionary()  # a time needs none
DATA_ERRORS = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)
TOLERANCE = 1e-9
MOST_ROWS = 1500  # of an answer; who gets more than these has a query that is not worth checking
MOST_SECONDS = 10


class Invalid(Exception):
    """The statement is not one that DuckDB can run, whatever the data."""


class Broken(Exception):
    """The statement broke DuckDB: the referee is of no use any more."""


@dataclass(frozen=True)
class Failure:
    """The data make the statement fail; with `limit`, a recursion does not end in time."""

    message: str
    limit: bool = False


Answer = Bag | Failure


class Referee:
    """DuckDB with a copy of the tables. Close it after use."""

    def __init__(self, tables: tuple[Table, ...], most_rows: int = MOST_ROWS) -> None:
        self.tables = tables
        self.most_rows = most_rows
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET memory_limit = '1GB'")
        # It takes two joins that differ in a projected column for one (DuckDB 2.0): rows get lost.
        self.connection.execute("SET disabled_optimizers = 'common_subplan'")
        self._held: dict[str, Bag] = {}
        for table in tables:
            columns = ", ".join(f'"{c.name}" {c.type}' for c in table.schema.columns)
            self.connection.execute(f"CREATE TABLE {table.name} ({columns})")

    def close(self) -> None:
        self.connection.close()

    def load(self, state: Mapping[str, Bag]) -> None:
        """Give every table the rows that it has in `state`."""
        for table in self.tables:
            rows = state[table.name]
            if self._held.get(table.name) == rows:
                continue
            self.connection.execute(f"DELETE FROM {table.name}")
            self.fill(table.name, rows, table.schema.types)
            self._held[table.name] = rows.copy()

    def fill(self, name: str, rows: Bag, types: Iterable[Type]) -> None:
        texts = [f"({', '.join(map(literal, row, types))})" for row in rows.elements()]
        if texts:
            self.connection.execute(f"INSERT INTO {name} VALUES {', '.join(texts)}")

    def types(self, sql: str) -> tuple[tuple[str, str], ...]:
        """Names and DuckDB types of the columns; raises Invalid."""
        try:
            return tuple((row[0], row[1]) for row in self.connection.execute(f"DESCRIBE {sql}").fetchall())
        except duckdb.Error as error:
            raise refusal(error) from error

    def answer(self, sql: str) -> Answer:
        try:
            return normalise(self._execute(sql).fetchmany(self.most_rows + 1))
        except DATA_ERRORS as error:
            return Failure(str(error).splitlines()[0])
        except duckdb.Error as error:
            raise refusal(error) from error

    def _execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run the statement, for so long as is bearable."""
        with interrupted_after(self.connection, MOST_SECONDS):
            return self.connection.execute(sql)

    def keep(self, name: str, sql: str) -> Answer:
        """The answer, left behind as the table `name`; raises Invalid."""
        try:
            self._execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")
        except DATA_ERRORS as error:
            return Failure(str(error).splitlines()[0])
        except duckdb.Error as error:
            raise refusal(error) from error
        return self.answer(f"SELECT * FROM {name}")


def refusal(error: duckdb.Error) -> Invalid | Broken:
    """What DuckDB's error says of the statement."""
    return (
        Broken(str(error))
        if isinstance(error, duckdb.FatalException | duckdb.InternalException)
        else Invalid(str(error))
    )


def literal(value: object, kind: Type) -> str:
    """The value as DuckDB reads it in VALUES."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case float() | Decimal():
            return f"CAST('{value}' AS {kind})"
        case str():
            text = INTERVALS[value] if kind.kind is Kind.INTERVAL else value.replace("'", "''")
            return f"CAST('{text}' AS {kind})"
        case bytes():
            return f"unhex('{value.hex()}')"
        case tuple():
            return f"CAST({_nested(value, kind)} AS {type_name(kind)})"
        case datetime() | date() | time() | UUID():
            return f"CAST('{value}' AS {kind})"
    return str(value)


def _nested(value: tuple, kind: Type) -> str:
    """An array, a struct by its values, or a map by its entries."""
    match kind.kind:
        case Kind.STRUCT:
            return f"row({', '.join(map(literal, value, kind.parts))})"
        case Kind.MAP:
            entries = (": ".join(map(literal, entry, kind.parts)) for entry in value)
            return f"MAP {{ {', '.join(entries)} }}"
    return f"[{', '.join(literal(each, *kind.parts) for each in value)}]"


def normalise(rows: Iterable[tuple[object, ...]]) -> Bag:
    """A bag of rows whose equal values are equal in Python: NaN is a text, lists and rows are tuples, structs
    and maps tuples of pairs."""
    return Counter(tuple(map(_comparable, row)) for row in rows)


def _comparable(value: object) -> object:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, time) and value.tzinfo is not None:  # equal to Python if they are so in UTC
        return timetz_text(timetz_word(value, _NO_TEXTS))
    if isinstance(value, dict):
        return tuple((_comparable(name), _comparable(each)) for name, each in value.items())
    return tuple(map(_comparable, value)) if isinstance(value, list | tuple) else value


def same(one: Bag, other: Bag) -> bool:
    """Whether two bags are equal, floats within a relative tolerance of 1e-9."""
    if one == other:
        return True
    if one.total() != other.total():
        return False
    left, right = list((one - other).elements()), list((other - one).elements())
    if any(len(a) != len(b) for a in left[:1] for b in right[:1]):
        return False
    floats = {i for row in (*left, *right) for i, value in enumerate(row) if isinstance(value, float)}
    if not floats:
        return False
    first, second = _by_exact_part(left, floats), _by_exact_part(right, floats)
    return first.keys() == second.keys() and all(_close(first[key], second[key]) for key in first)


def _by_exact_part(rows: list[Row], floats: set[int]) -> dict[Row, list[tuple[float, ...]]]:
    """The rows by all that is not a finite number in a column of floats, and those numbers in order."""
    groups: dict[Row, list[tuple[float, ...]]] = defaultdict(list)
    for row in rows:
        inexact = {i for i in floats if _is_number(row[i])}
        exact = tuple(None if i in inexact else (value,) for i, value in enumerate(row))
        groups[exact].append(tuple(float(row[i]) for i in sorted(inexact)))  # type: ignore[arg-type]
    return groups


def _is_number(value: object) -> bool:
    return isinstance(value, int | Decimal) or (isinstance(value, float) and math.isfinite(value))


def _close(one: list[tuple[float, ...]], other: list[tuple[float, ...]]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-12)
        for left, right in zip(sorted(one), sorted(other), strict=True)
        for a, b in zip(left, right, strict=True)
    )
