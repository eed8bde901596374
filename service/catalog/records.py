"""Definitions as the catalog stores them: tables, views, and the layouts that tables had before.

A `Definer` changes them inside one database transaction.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import orjson
import sqlalchemy as sa

from engine.schema import Column, Field, Kind, Schema, Type
from service.catalog.database import Number, metadata
from service.catalog.details import NO_DETAILS, Details, dump_details, load_details

relations = sa.Table(
    "relations",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("columns", sa.Text),
    sa.Column("primary_key", sa.Text),
    sa.Column("sql", sa.Text, nullable=False),
    sa.Column("dialect", sa.Text, nullable=False),
    sa.Column("created", Number, nullable=False),
    sa.Column("details", sa.Text),
    sa.Column("layout", Number),
    sqlite_autoincrement=True,
)
layouts = sa.Table(
    "layouts",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=False),
    sa.Column("relation", Number, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("columns", sa.Text, nullable=False),
    sa.Column("primary_key", sa.Text),
    sa.Column("change", sa.Text, nullable=False),
)


revisions = sa.Table(
    "revisions", metadata, sa.Column("definitions", Number, primary_key=True, autoincrement=False)
)
"""One row: how often definitions were changed."""


@dataclass(frozen=True)
class DefinitionRecord:
    """A stored definition: a table has a `schema`, a view has its `sql` and `dialect`.

    The log and the saved state refer to a table by its `layout`; 0 stands for the `id`.
    """

    id: int
    name: str
    schema: Schema | None
    key: tuple[int, ...] | None
    sql: str
    dialect: str
    created: int
    details: Details = NO_DETAILS
    layout: int = 0


@dataclass(frozen=True)
class Layout:
    """A layout of table `relation` that an alteration replaced. The log and the saved state call it `id`.

    `change` describes how rows of this layout become rows of the next.
    """

    id: int
    relation: int
    name: str
    schema: Schema
    key: tuple[int, ...] | None
    change: str


class Definer:
    """Changes of definitions inside one database transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection
        self.has_changed = False
        """Whether definitions are changed."""

    def add(self, record: DefinitionRecord) -> int:
        """Stores a new definition and returns its id."""
        self.has_changed = True
        statement = sa.insert(relations).values(**_row(record), created=record.created)
        (id,) = self.connection.execute(statement.returning(relations.c.id)).one()
        return id

    def change(self, record: DefinitionRecord) -> None:
        """Stores the current form of a definition under its id."""
        self.has_changed = True
        values = _row(record) | {"layout": record.layout or None}
        self.connection.execute(sa.update(relations).where(relations.c.id == record.id).values(**values))

    def retire(self, layout: Layout) -> int:
        """Stores a table's old layout. Returns the number of its next one, new to all definitions."""
        self.has_changed = True
        key = None if layout.key is None else orjson.dumps(layout.key).decode()
        values: dict[str, object] = {
            "name": layout.name,
            "columns": _dump_columns(layout.schema),
            "primary_key": key,
        }
        values |= {"id": layout.id, "relation": layout.relation, "change": layout.change}
        self.connection.execute(sa.insert(layouts).values(**values))
        return self.new_number()

    def new_number(self) -> int:
        """A number that no definition has ever had, greater than all of them."""
        nobody = {"name": "", "sql": "", "dialect": "", "created": 0}
        insert = sa.insert(relations).values(**nobody).returning(relations.c.id)
        (id,) = self.connection.execute(insert).one()
        self.connection.execute(sa.delete(relations).where(relations.c.id == id))
        return id

    def remove(self, id: int) -> None:
        self.has_changed = True
        self.connection.execute(sa.delete(relations).where(relations.c.id == id))
        self.connection.execute(sa.delete(layouts).where(layouts.c.relation == id))


class DefinitionStore(Protocol):
    """Where definitions are stored."""

    def changing(self) -> AbstractContextManager[Definer]:
        """A transaction that commits when its block ends and rolls back when the block raises."""


def note_change(connection: sa.Connection) -> None:
    """Counts a change of definitions."""
    connection.execute(sa.update(revisions).values(definitions=revisions.c.definitions + 1))


def revision_of(connection: sa.Connection) -> int:
    """How often definitions were changed."""
    number: int = connection.execute(sa.select(revisions.c.definitions)).scalar_one()
    return number


def records_of(connection: sa.Connection) -> list[DefinitionRecord]:
    """Every definition, in the order of creation."""
    return [_record(row) for row in connection.execute(sa.select(relations).order_by(relations.c.id))]


def layouts_of(connection: sa.Connection) -> list[Layout]:
    """The layouts that tables had before they were altered, oldest first."""
    return [
        Layout(row.id, row.relation, row.name, _schema(row.columns), _key(row.primary_key), row.change)
        for row in connection.execute(sa.select(layouts).order_by(layouts.c.id))
    ]


def _dump_columns(schema: Schema) -> str:
    columns = [
        {"name": column.name, **dump_type(column.type), "nullable": column.nullable}
        for column in schema.columns
    ]
    return orjson.dumps(columns).decode()


def dump_type(type: Type) -> dict[str, object]:
    document: dict[str, object] = {
        "kind": type.kind.value,
        "precision": type.precision,
        "scale": type.scale,
    }
    if type.labels:
        document["labels"] = type.labels
    if type.whole:
        document["whole"] = type.whole
    if type.element is not None:
        document["element"] = dump_type(type.element)
    if type.fields:
        document["fields"] = [{"name": field.name, **dump_type(field.type)} for field in type.fields]
    return document


def load_type(document: dict) -> Type:
    element = document.get("element")
    return Type(
        Kind(document["kind"]),
        document["precision"],
        document["scale"],
        tuple(document.get("labels", ())),
        None if element is None else load_type(element),
        tuple(Field(field["name"], load_type(field)) for field in document.get("fields", ())),
        document.get("whole", ""),
    )


def _record(row: sa.Row) -> DefinitionRecord:
    schema = None if row.columns is None else _schema(row.columns)
    details, layout = load_details(row.details), row.layout or 0
    return DefinitionRecord(
        row.id,
        row.name,
        schema,
        _key(row.primary_key),
        row.sql,
        row.dialect,
        row.created,
        details,
        layout,
    )


def _row(record: DefinitionRecord) -> dict[str, object]:
    """The columns of a definition's row, except its id and its creation."""
    return {
        "name": record.name,
        "columns": None if record.schema is None else _dump_columns(record.schema),
        "primary_key": None if record.key is None else orjson.dumps(record.key).decode(),
        "sql": record.sql,
        "dialect": record.dialect,
        "details": dump_details(record.details),
    }


def _schema(text: str) -> Schema:
    columns = orjson.loads(text)
    return Schema(tuple(Column(c["name"], load_type(c), c["nullable"]) for c in columns))


def _key(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(orjson.loads(text))
