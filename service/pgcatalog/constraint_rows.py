"""Rows about keys, constraints and indexes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from engine.schema import Kind, Type
from service.pgcatalog.builtin_objects import Row, builtin_rows
from service.pgcatalog.catalog_description import (
    CatalogDescription,
    DescribedIndex,
    DescribedRelation,
    listed,
    quoted,
)

_BTREE = 403
_ENUM = 3500
"""The pseudotype anyenum, which has the operators of enumerations."""


def constraints(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        for constraint in relation.constraints:
            refers = constraint.kind == "f"
            equal = [_equality(catalog, relation.columns[place - 1].type) for place in constraint.columns]
            yield {
                "oid": constraint.oid,
                "conname": constraint.name,
                "connamespace": catalog.schemas[relation.schema],
                "contype": constraint.kind,
                "convalidated": True,
                "conrelid": relation.oid,
                "conindid": constraint.index,
                "confrelid": constraint.target,
                "confupdtype": constraint.on_update,
                "confdeltype": constraint.on_delete,
                "confmatchtype": "s" if refers else " ",
                "conislocal": True,
                "connoinherit": constraint.kind != "c",
                "conkey": list(constraint.columns),
                "confkey": list(constraint.target_columns) if refers else None,
                **(dict.fromkeys(("conpfeqop", "conppeqop", "conffeqop"), equal) if refers else {}),
                "conbin": constraint.expression,
            }


def indexes(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        for index in relation.indexes:
            columns = [relation.columns[place - 1].type for place in index.columns]
            yield {
                "indexrelid": index.oid,
                "indrelid": relation.oid,
                "indnatts": len(index.all),
                "indnkeyatts": len(columns),
                "indisunique": index.is_unique,
                "indisprimary": index.is_primary,
                "indimmediate": True,
                "indisvalid": True,
                "indisready": True,
                "indislive": True,
                "indkey": list(index.all),
                "indcollation": [100 if type.kind is Kind.TEXT else 0 for type in columns],
                "indclass": [_operator_class(_input(catalog, type)) for type in columns],
                "indoption": [0] * len(columns),
            }


def index_definition(relation: DescribedRelation, index: DescribedIndex) -> str:
    """CREATE INDEX, as PostgreSQL would print it."""
    columns, included = (
        listed(relation.columns[place - 1].name for place in places)
        for places in (index.columns, index.included)
    )
    unique, include = "UNIQUE " * index.is_unique, f" INCLUDE ({included})" if included else ""
    where = f"{quoted(relation.schema)}.{quoted(relation.name)}"
    return f"CREATE {unique}INDEX {quoted(index.name)} ON {where} USING btree ({columns}){include}"


def shown_indexes(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        for index in relation.indexes:
            yield {
                "schemaname": relation.schema,
                "tablename": relation.name,
                "indexname": index.name,
                "indexdef": index_definition(relation, index),
            }


def _input(catalog: CatalogDescription, type: Type) -> int:
    return _ENUM if type.kind is Kind.ENUM else catalog.type_number(type)


@cache
def _operator_class(type: int) -> int:
    """The class of operators with which a B-tree orders a type."""
    classes = [row for row in builtin_rows("pg_opclass") if row["opcmethod"] == _BTREE and row["opcdefault"]]
    return next((row["oid"] for row in classes if row["opcintype"] == type), 0)


def _equality(catalog: CatalogDescription, type: Type) -> int:
    return _equality_of(_input(catalog, type))


@cache
def _equality_of(type: int) -> int:
    """The operator `=` of a type."""
    sides = {"oprname": "=", "oprleft": type, "oprright": type}
    return next((row["oid"] for row in builtin_rows("pg_operator") if sides.items() <= row.items()), 0)


CONSTRAINT_ROWS = {"pg_constraint": constraints, "pg_index": indexes, "pg_indexes": shown_indexes}
