"""PostgreSQL as a referee: what a view holds over the tables of one epoch, asked in the view's own text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

import psycopg

from engine.schema import Type
from tests.property.duck import MOST_ROWS, Answer, Bag, Failure, Invalid, literal, normalise
from tests.property.schemas import Row, Table

_DATA = "22"  # the class of errors that values cause


class Referee:
    """A connection with a copy of the tables, in a schema that goes with it."""

    def __init__(self, connection: psycopg.Connection, tables: tuple[Table, ...]) -> None:
        self.connection = connection
        self.tables = tables
        self._held: dict[str, Bag] = {}
        for table in tables:
            columns = ", ".join(f"{c.name} {c.type}" for c in table.schema.columns)
            connection.execute(f"DROP TABLE IF EXISTS {table.name}")
            connection.execute(f"CREATE TEMPORARY TABLE {table.name} ({columns})")

    def load(self, state: Mapping[str, Bag]) -> None:
        """Give every table the rows that it has in `state`."""
        for table in self.tables:
            rows = state[table.name]
            if self._held.get(table.name) == rows:
                continue
            self.connection.execute(f"DELETE FROM {table.name}")
            texts = [f"({', '.join(map(_constant, row, table.schema.types))})" for row in rows.elements()]
            if texts:
                self.connection.execute(f"INSERT INTO {table.name} VALUES {', '.join(texts)}")
            self._held[table.name] = rows.copy()

    def answer(self, sql: str) -> Answer:
        """The rows of the query, or the failure of its data; raises Invalid if it is not PostgreSQL's."""
        try:
            rows = self.connection.execute(sql).fetchmany(MOST_ROWS)
        except psycopg.Error as error:
            message = str(error).splitlines()[0]
            if (error.sqlstate or "").startswith(_DATA):
                return Failure(message)
            raise Invalid(message) from error
        return normalise(map(_row, rows))


def whole(answer: Answer) -> Answer | None:
    """The answer, if the referee has given all of it."""
    return None if isinstance(answer, Counter) and answer.total() >= MOST_ROWS else answer


def _row(row: Iterable[object]) -> Row:
    """Moments without a time zone, as the server's is UTC; lists as tuples."""
    return tuple(value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in row)


def _constant(value: object, kind: Type) -> str:
    match value:
        case bytes():
            return f"decode('{value.hex()}', 'hex')"
        case tuple():
            return f"CAST(ARRAY[{', '.join(_constant(each, *kind.parts) for each in value)}] AS {kind})"
    return literal(value, kind)
