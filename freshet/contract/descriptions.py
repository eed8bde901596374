"""What the service says of tables and views, and of changes that it has applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from freshet.contract.sql_names import sql_name


@dataclass(frozen=True)
class Acknowledgement:
    """Changes that are durable and visible in every view: their epoch, how many they were, and how many rows
    were left out because they came too late for a watermark."""

    epoch: int
    changes: int
    late: int = 0


@dataclass(frozen=True)
class ColumnDescription:
    name: str
    type: str
    nullable: bool = True
    default: str | None = None
    generated: str | None = None
    comment: str | None = None


@dataclass(frozen=True)
class TableDescription:
    """`primary_key` is empty for a bag. `name` is the full name, with the schema unless that is `public`."""

    name: str
    columns: tuple[ColumnDescription, ...]
    primary_key: tuple[str, ...] = ()
    comment: str | None = None
    schema: str = "public"

    @property
    def sql_name(self) -> str:
        """The name as SQL writes it, and as `Connection.table` takes it."""
        return sql_name(self.name)


@dataclass(frozen=True)
class ViewDescription:
    """`state` is `ready`, `building`, `errors` or `failed`; `reason` says why it has failed. `name` is the
    full name, with the schema unless that is `public`. `notices` say what its author should know. `breach` is
    `refuse` or `warn` for an assertion: what becomes of an epoch that breaks it."""

    name: str
    columns: tuple[ColumnDescription, ...]
    sql: str
    dialect: str
    state: str
    reason: str | None = None
    comment: str | None = None
    schema: str = "public"
    notices: tuple[str, ...] = ()
    breach: str | None = None

    @property
    def sql_name(self) -> str:
        """The name as SQL writes it, and as `Connection.view` takes it."""
        return sql_name(self.name)


def read_columns(found: Mapping[str, Any]) -> tuple[ColumnDescription, ...]:
    names = ColumnDescription.__dataclass_fields__
    return tuple(
        ColumnDescription(**{name: value for name, value in column.items() if name in names})
        for column in found["columns"]
    )


def read_table(found: Mapping[str, Any]) -> TableDescription:
    key = tuple(found["primary_key"])
    schema = found.get("schema", "public")
    return TableDescription(found["name"], read_columns(found), key, found.get("comment"), schema)


def read_view(found: Mapping[str, Any]) -> ViewDescription:
    return ViewDescription(
        found["name"],
        read_columns(found),
        found["sql"],
        found["dialect"],
        found["state"],
        found.get("reason"),
        found.get("comment"),
        found.get("schema", "public"),
        tuple(found.get("notices", ())),
        found.get("breach"),
    )
