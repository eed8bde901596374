"""Replacements as the catalog stores them: the queries that views are to have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import orjson
import sqlalchemy as sa

from planner.errors import PlannerError
from planner.rewriting.open_pivots import PivotLists
from service.catalog.database import Number, metadata

replacements = sa.Table(
    "replacements",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("queries", sa.Text, nullable=False),
    sa.Column("reads", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True)
class NewQuery:
    """The query that a view is to have, with the `lists` of values that it leaves to the data. It may be the
    query that the view has, only with other lists. `relocate` gives errors their places in the text that was
    sent.
    """

    view: str
    sql: str
    dialect: str
    lists: PivotLists = ()
    is_same_text: bool = False
    relocate: Callable[[PlannerError], None] = field(default=lambda error: None, compare=False)


@dataclass(frozen=True)
class ReplacementRecord:
    """`reads` are the relations that its author was allowed to read, and that its queries do read."""

    id: int
    name: str
    queries: tuple[NewQuery, ...]
    reads: tuple[str, ...]
    created_at: int


def add_replacement(connection: sa.Connection, record: ReplacementRecord) -> int:
    """Stores a new replacement and returns its id, whatever the record says of that."""
    values = {
        "name": record.name,
        "queries": orjson.dumps([_dumped(it) for it in record.queries]).decode(),
        "reads": orjson.dumps(record.reads).decode(),
        "created_at": record.created_at,
    }
    (id,) = connection.execute(sa.insert(replacements).values(**values).returning(replacements.c.id)).one()
    return id


def _dumped(query: NewQuery) -> list[object]:
    """Only a query that leaves values to the data has lists of them."""
    return [query.view, query.sql, query.dialect, *([query.lists] if query.lists else [])]


def _loaded(view: str, sql: str, dialect: str, lists: Sequence[Sequence[str]] = ()) -> NewQuery:
    return NewQuery(view, sql, dialect, tuple(tuple(values) for values in lists))


def remove_replacement(connection: sa.Connection, id: int) -> None:
    connection.execute(sa.delete(replacements).where(replacements.c.id == id))


def replacements_of(connection: sa.Connection) -> list[ReplacementRecord]:
    """All replacements, the oldest first."""
    return [
        ReplacementRecord(
            row.id,
            row.name,
            tuple(_loaded(*query) for query in orjson.loads(row.queries)),
            tuple(orjson.loads(row.reads)),
            row.created_at,
        )
        for row in connection.execute(sa.select(replacements).order_by(replacements.c.id))
    ]
