"""Schemas: created, and stored in the catalog's database. `public` is always there, and is stored nowhere.

A schema is a name that relations and types may have before their own; nothing else is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import sqlalchemy as sa

from engine.errors import NameInUse
from planner.relation_names import PUBLIC, is_reserved
from planner.suggestions import did_you_mean
from service.catalog.catalog import Catalog
from service.catalog.database import Number, metadata
from service.definitions.named_things import NamedThings
from service.errors import Conflict, Invalid, NotFound
from service.names import check_name

schemas = sa.Table(
    "schemas",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sqlite_autoincrement=True,
)
schema_comments = sa.Table(
    "schema_comments",
    metadata,
    sa.Column("schema", Number, primary_key=True, autoincrement=False),
    sa.Column("comment", sa.Text, nullable=False),
)
_OF_PUBLIC = 0


class NamedSchemas(NamedThings[int]):
    """The number of each schema, never given again, by its name."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog, "schema", schemas, {PUBLIC: _OF_PUBLIC})
        self.comments: Mapping[int, str] = MappingProxyType({})
        """By number. Replaced as a whole."""

    def read(self) -> None:
        """Reads the schemas that the catalog has."""
        self.put({row.name: row.id for row in self.rows()})
        with self.catalog.connections.reading() as connection:
            rows = connection.execute(sa.select(schema_comments)).all()
        self.comments = MappingProxyType({row.schema: row.comment for row in rows})

    def comment(self, name: str, text: str | None) -> None:
        """Sets the comment on a schema, or removes it. Raises NotFound."""
        self.require(name)
        number = self.all[name]
        with self.catalog.changing() as changing:
            changing.has_changed = True
            here = schema_comments.c.schema == number
            changing.connection.execute(sa.delete(schema_comments).where(here))
            if text is not None:
                changing.connection.execute(sa.insert(schema_comments).values(schema=number, comment=text))
        kept = {of: comment for of, comment in self.comments.items() if of != number}
        self.comments = MappingProxyType(kept if text is None else {**kept, number: text})

    def create(self, name: str, exists_ok: bool = False, *, for_system: bool = False) -> None:
        """Makes a schema. Raises NameInUse and, unless it is `for_system`, Invalid for a name of the
        system's."""
        if name in self.all and exists_ok:
            return
        self.check_new(name, for_system)
        with self.catalog.changing() as changing:
            changing.has_changed = True
            statement = sa.insert(schemas).values(name=name).returning(schemas.c.id)
            id: int = changing.connection.execute(statement).scalar_one()
        self.put({name: id})

    def check_new(self, name: str, for_system: bool = False) -> None:
        """Raises NameInUse or Invalid unless a schema can get the name."""
        check_name(name)
        if name in self.all:
            raise NameInUse(f"there is a schema called {name} already")
        if is_reserved(name) and not for_system:
            raise Invalid(
                f"a schema cannot be called {name}", "the name is the system's", code="invalid_name"
            )

    def require(self, name: str) -> None:
        """Raises NotFound unless the schema exists."""
        require_schema(name, self.all)

    def require_droppable(self, name: str) -> None:
        """Raises NotFound, and Conflict for `public`."""
        self.require(name)
        if name == PUBLIC:
            raise Conflict("schema public cannot be dropped", "drop what is in it", code="in_use")


def require_schema(name: str, schemas: Mapping[str, int]) -> None:
    """Raises NotFound unless the schema is among those that exist."""
    if name not in schemas:
        hint = did_you_mean(name, schemas, f"CREATE SCHEMA {name}")
        raise NotFound(f"there is no schema called {name}", hint, code="unknown_schema")
