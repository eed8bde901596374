"""The adapter: what dbt asks of Freshet beyond SQL, and how its own calls are answered."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.impl import ConstraintSupport
from dbt.adapters.base.meta import available
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.freshet.column import FreshetColumn
from dbt.adapters.freshet.connections import FreshetConnectionManager, FreshetError
from dbt.adapters.freshet.naming import DATABASE, PUBLIC, short_name
from dbt.adapters.freshet.relation import FreshetRelation
from dbt.adapters.sql import SQLAdapter
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.contracts.constraints import ConstraintType

from freshet import Connection, TableDescription, ViewDescription
from freshet.contract import calls
from freshet.contract.sql_names import parts_of

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("Freshet")
_CATALOG = (
    *("table_database", "table_schema", "table_name", "table_type", "table_comment", "table_owner"),
    *("column_name", "column_index", "column_type", "column_comment"),
)


class FreshetAdapter(SQLAdapter):
    ConnectionManager = FreshetConnectionManager
    connections: FreshetConnectionManager
    Relation = FreshetRelation
    Column = FreshetColumn
    CONSTRAINT_SUPPORT = dict.fromkeys(ConstraintType, ConstraintSupport.ENFORCED) | {
        ConstraintType.custom: ConstraintSupport.NOT_SUPPORTED
    }

    @classmethod
    def date_function(cls) -> str:
        return "now()"

    @classmethod
    def is_cancelable(cls) -> bool:
        return False

    @property
    def _client(self) -> Connection:
        return self.connections.get_thread_connection().handle.client

    # Relations

    def _relations(self) -> Iterator[tuple[TableDescription | ViewDescription, FreshetRelation]]:
        """All tables and views, with their relations."""
        client = self._client
        described: list[tuple[str, list[Any]]] = [("table", client.tables()), ("view", client.views())]
        for type, found in described:
            for description in found:
                schema, identifier = description.schema, parts_of(description.name)[-1]
                path = {"database": DATABASE, "schema": schema, "identifier": identifier}
                yield description, FreshetRelation.create(**path, type=type)

    def list_relations_without_caching(self, schema_relation: FreshetRelation) -> list[FreshetRelation]:
        with self.connections.exception_handler("list relations"):
            return [
                relation
                for _, relation in self._relations()
                if relation.schema == short_name(schema_relation.schema)
            ]

    @available.parse_none
    def get_relation(self, database: str, schema: str, identifier: str) -> FreshetRelation | None:
        """The relation under its own identifier, also if its name in Freshet is shortened."""
        for relation in self.list_relations(database, schema):
            if short_name(identifier) in (relation.stored, short_name(relation.identifier)):
                return relation.replace_path(schema=schema, identifier=identifier)
        return None

    def list_schemas(self, database: str) -> list[str]:
        with self.connections.exception_handler("list schemas"):
            return [name for (name,) in self._client.sql("show schemas").tuples()]

    @available.parse(lambda *a, **k: False)
    def check_schema_exists(self, database: str, schema: str) -> bool:
        return short_name(schema) in self.list_schemas(database)

    def create_schema(self, relation: FreshetRelation) -> None:
        self.execute(f"create schema if not exists {relation.without_identifier().render()}")

    def drop_schema(self, relation: FreshetRelation) -> None:
        """Drops a schema with all that is in it, and all that reads this. `public` stays, emptied."""
        if relation.schema == PUBLIC:
            for found in self.list_relations_without_caching(relation):
                self.execute(f"drop {found.type} if exists {found.render()} cascade")
        else:
            self.execute(f"drop schema if exists {relation.without_identifier().render()} cascade")
        self.cache.drop_schema(relation.database, relation.schema)

    def get_columns_in_relation(self, relation: FreshetRelation) -> list[FreshetColumn]:
        with self.connections.exception_handler("list columns"):
            path = short_name(relation.schema), relation.stored
            found = [d for d, other in self._relations() if (other.schema, other.identifier) == path]
        return [FreshetColumn.of(column.name, column.type) for d in found for column in d.columns]

    def _get_one_catalog(
        self, information_schema: Any, schemas: set[str], used_schemas: frozenset[tuple[str, str]]
    ) -> agate.Table:
        with self.connections.exception_handler("read the catalog"):
            rows = [
                dict(zip(_CATALOG, row, strict=True))
                for description, relation in self._relations()
                for row in _catalog_rows(description, relation)
            ]
        return self._catalog_filter_table(table_from_data_flat(rows, list(_CATALOG)), used_schemas)

    # What macros call

    @available.parse_none
    def maintain_view(self, relation: FreshetRelation, sql: str, drop_readers: bool) -> None:
        """Runs CREATE OR REPLACE VIEW. If views read columns that would change, `drop_readers` drops them."""
        try:
            self.execute(sql)
        except FreshetError as error:
            if error.reason != "in_use" or not drop_readers:
                raise
            logger.warning(f"--full-refresh drops the views that read {relation.render()}: {error.msg}")
            self.execute(f"drop view if exists {relation.render()} cascade")
            self.execute(sql)

    @available.parse(lambda *a, **k: False)
    def has_columns_of(self, relation: FreshetRelation, other: FreshetRelation) -> bool:
        """Whether two relations have columns of the same names and types, in the same order."""
        return self.get_columns_in_relation(relation) == self.get_columns_in_relation(other)

    @available.parse_none
    def load_seed(self, relation: FreshetRelation, rows: agate.Table) -> None:
        """Inserts rows in one epoch. The service reads their texts as the types of the columns."""
        if not len(rows.rows):
            return
        with self.connections.exception_handler("load a seed"):
            self._client.run(calls.change(relation.render(), ("text/csv", _csv(rows)), None))

    # Types of seeds

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        found = super().convert_number_type(agate_table, col_idx)
        return "bigint" if found == "integer" else found

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "bigint"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "timestamp"


def _catalog_rows(
    description: TableDescription | ViewDescription, relation: FreshetRelation
) -> Iterator[tuple[Any, ...]]:
    head = (DATABASE, relation.schema, relation.identifier, relation.type, description.comment, None)
    for place, column in enumerate(description.columns):
        yield (*head, column.name, place + 1, column.type, column.comment)


def _csv(rows: agate.Table) -> bytes:
    """The rows as CSV: an empty field is NULL, and everything else is in quotes. The first column names the
    operation, so that no line is empty."""
    names = ",".join(_quoted(name) for name in rows.column_names)
    lines = (",".join(_field(value) for value in row) for row in rows.rows)
    return "".join([f"_op,{names}\n", *(f"insert,{line}\n" for line in lines)]).encode()


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return _quoted(format(value, "f"))
    return _quoted(str(value).lower() if isinstance(value, bool) else str(value))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
