"""Named types: created, dropped, and stored in the catalog's database.

Nothing depends on them: a statement that names one stores its definition instead
(`planner.parsing.type_names`).
"""

from __future__ import annotations

import orjson
import sqlalchemy as sa

from engine.errors import NameInUse
from engine.schema import Type, enumeration
from planner.relation_names import schema_of
from service.catalog.catalog import Catalog
from service.catalog.database import metadata
from service.catalog.records import Definer
from service.definitions.named_schemas import NamedSchemas
from service.definitions.named_things import NamedThings
from service.names import check_relation_name

types = sa.Table(
    "types",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("labels", sa.Text, nullable=False),
)


class NamedTypes(NamedThings[Type]):
    def __init__(self, catalog: Catalog, schemas: NamedSchemas) -> None:
        super().__init__(catalog, "type", types, {})
        self._schemas = schemas
        self.put({row.name: enumeration(*orjson.loads(row.labels)) for row in self.rows()})

    def create(self, name: str, type: Type, exists_ok: bool = False) -> None:
        """Names a type of labels. Raises NameInUse."""
        check_relation_name(name)
        if name in self.all:
            if exists_ok:
                return
            raise NameInUse(f"there is a type called {name} already")
        self._schemas.require(schema_of(name))
        with self.catalog.changing() as changing:
            changing.has_changed = True
            changing.connection.execute(sa.insert(types).values(name=name, labels=_dumped(type)))
        self.put({name: type})

    def change(self, changing: Definer, name: str, type: Type) -> None:
        """Gives a type other labels in the catalog; `put` it when the transaction has committed."""
        changing.has_changed = True
        changed = sa.update(types).where(types.c.name == name).values(labels=_dumped(type))
        changing.connection.execute(changed)


def _dumped(type: Type) -> str:
    return orjson.dumps(type.labels).decode()
