"""What PostgreSQL 15 itself has in its catalogs: its relations with their columns, and rows of some of them.

The files in `builtin` are written by `tests/pgcatalog/write_builtins.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from engine.schema import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMPTZ,
    Column,
    Schema,
    Type,
    array_of,
)

Row = dict[str, Any]
"""A row by its columns; those that are left out are NULL, or zero where they are never NULL."""

_NULL = r"\N"
_TYPES: dict[str, Type] = {
    **dict.fromkeys(("oid", "xid", "cid", "int8", "regproc", "regtype"), BIGINT),
    "bool": BOOLEAN,
    "int2": SMALLINT,
    **dict.fromkeys(("int4", "cardinal_number"), INTEGER),
    "float4": REAL,
    **dict.fromkeys(("float8", "numeric"), DOUBLE),
    **dict.fromkeys(("timestamptz", "time_stamp"), TIMESTAMPTZ),
    "int2vector": array_of(SMALLINT),
    "oidvector": array_of(BIGINT),
}
"""The types of columns as the planner knows them; every other is TEXT."""
OIDS = frozenset({"oid", "xid", "cid", "regproc", "regtype"})


@dataclass(frozen=True)
class SystemColumn:
    """`type` is PostgreSQL's name; `always` says that it is never NULL. `collation` is `^` for "C", `~` for
    the default one."""

    name: str
    type: str
    always: bool
    collation: str = ""

    @property
    def planned(self) -> Type:
        """The type as the planner knows it."""
        if self.type.endswith("[]"):
            return array_of(_TYPES.get(self.type[:-2], TEXT))
        return _TYPES.get(self.type, TEXT)

    @property
    def zero(self) -> object:
        """What a row has that does not say it."""
        if not self.always:
            return None
        if self.type.endswith(("[]", "vector")):
            return []
        return {BOOLEAN: False, TEXT: ""}.get(self.planned, 0)


@dataclass(frozen=True)
class SystemRelation:
    schema_name: str
    name: str
    oid: int
    kind: str
    columns: tuple[SystemColumn, ...]

    @property
    def full_name(self) -> str:
        return f"{self.schema_name}.{self.name}"

    @property
    def period(self) -> None:
        """Its rows have no periods of valid time."""
        return None

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Column(c.name, c.planned, not c.always) for c in self.columns))


@cache
def system_relations() -> Mapping[str, SystemRelation]:
    """Every relation of the two schemas, by `schema.name`."""
    found = (_relation(*line.split("\t")) for line in _lines("relations"))
    return {relation.full_name: relation for relation in found}


@cache
def builtin_rows(name: str) -> tuple[Row, ...]:
    """The rows of a catalog that PostgreSQL itself has. A column that the catalog does not have is a text."""
    header, *lines = _lines(name)
    names = header.split("\t")
    types = {column.name: column.type for column in system_relations()[f"pg_catalog.{name}"].columns}
    return tuple(
        {
            name: _value(text, types.get(name, "text"))
            for name, text in zip(names, line.split("\t"), strict=True)
        }
        for line in lines
    )


def _lines(name: str) -> list[str]:
    return files(__package__).joinpath("builtin", f"{name}.tsv").read_text("utf-8").splitlines()


def _relation(schema: str, name: str, oid: str, kind: str, columns: str) -> SystemRelation:
    found = []
    for written in columns.split(","):
        column, _, type = written.rpartition(" ")
        bare = type.rstrip("!")
        collation = bare[-1] if bare[-1] in "^~" else ""
        found.append(SystemColumn(column, bare.rstrip("^~"), type.endswith("!"), collation))
    return SystemRelation(schema, name, int(oid), kind, tuple(found))


def _value(text: str, type: str) -> object:
    """A value in PostgreSQL's text."""
    if text == _NULL:
        return None
    if type.endswith("vector"):
        return [int(number) for number in text.split()]
    if type.endswith("[]"):
        elements = text[1:-1].split(",") if len(text) > 2 else []
        return [_value(element.strip('"'), type[:-2]) for element in elements]
    if type == "bool":
        return text in ("t", "true")
    if type in OIDS or type in ("int2", "int4", "int8"):
        return int(text)
    return float(text) if type in ("float4", "float8") else text
