"""Rows of information_schema.

Its rules differ from PostgreSQL's in one point: maintained views are on it, as views, because tools that ask
here list nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.schema import Kind, Type
from planner.statements.table_rules import Identity, Text
from service.accounts.privileges import OF_ROWS
from service.pgcatalog.builtin_objects import Row, system_relations
from service.pgcatalog.catalog_description import OWNING_ROLE, CatalogDescription, DescribedRelation
from service.pgcatalog.function_rows import INFORMATION_ROUTINES
from service.pgcatalog.information_constraints import INFORMATION_CONSTRAINTS, of_relation
from service.pgcatalog.postgres_types import internal_name, standard_name
from service.pgcatalog.view_rows import view_text

_BITS = {Kind.SMALLINT: 16, Kind.INTEGER: 32, Kind.BIGINT: 64, Kind.REAL: 24, Kind.DOUBLE: 53}
_MOMENTS = (Kind.TIME, Kind.TIMETZ, Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.INTERVAL)


def _name(catalog: CatalogDescription) -> Iterator[Row]:
    yield {"catalog_name": catalog.session.database}


def _schemata(catalog: CatalogDescription) -> Iterator[Row]:
    for name in catalog.schemas:
        yield {"catalog_name": catalog.session.database, "schema_name": name, "schema_owner": OWNING_ROLE}


def _tables(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        yield {
            **of_relation(catalog, relation),
            "table_type": _table_type(relation),
            "is_insertable_into": "NO" if relation.is_view else "YES",
            "is_typed": "NO",
        }
    for system in system_relations().values():
        yield {
            "table_catalog": catalog.session.database,
            "table_schema": system.schema_name,
            "table_name": system.name,
            "table_type": "BASE TABLE" if system.kind == "r" else "VIEW",
            "is_insertable_into": "NO",
            "is_typed": "NO",
        }


def _table_type(relation: DescribedRelation) -> str:
    if relation.is_view:
        return "VIEW"
    return "LOCAL TEMPORARY" if relation.is_temporary else "BASE TABLE"


def _views(catalog: CatalogDescription) -> Iterator[Row]:
    no = (
        "is_updatable",
        "is_insertable_into",
        "is_trigger_updatable",
        "is_trigger_deletable",
        "is_trigger_insertable_into",
    )
    for relation in catalog.relations:
        if relation.is_view:
            yield {
                **of_relation(catalog, relation),
                "view_definition": view_text(relation),
                "check_option": "NONE",
                **dict.fromkeys(no, "NO"),
            }


def _columns(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        rules = relation.definition.details.rules
        for place, column in enumerate(relation.columns, 1):
            identity = rules.identities.get(column.name)
            default, generated = rules.defaults.get(column.name), rules.generated.get(column.name)
            yield {
                **of_relation(catalog, relation),
                "column_name": column.name,
                "ordinal_position": place,
                "column_default": _default(default, identity),
                "is_nullable": "YES" if column.nullable else "NO",
                **_typed(catalog, column.type),
                "dtd_identifier": str(place),
                "is_self_referencing": "NO",
                "is_identity": "NO" if identity is None or identity.sequence else "YES",
                **({} if identity is None or identity.sequence else _identity(identity)),
                "identity_cycle": "NO",
                "is_generated": "NEVER" if generated is None else "ALWAYS",
                "generation_expression": None if generated is None else generated.sql,
                "is_updatable": "NO" if relation.is_view else "YES",
            }
    yield from _system_columns(catalog)


def _system_columns(catalog: CatalogDescription) -> Iterator[Row]:
    for system in system_relations().values():
        for place, column in enumerate(system.columns, 1):
            yield {
                "table_catalog": catalog.session.database,
                "table_schema": system.schema_name,
                "table_name": system.name,
                "column_name": column.name,
                "ordinal_position": place,
                "is_nullable": "NO" if column.always else "YES",
                "data_type": _SYSTEM_NAMES.get(column.type, standard_name(column.planned)),
                "udt_catalog": catalog.session.database,
                "udt_schema": "pg_catalog",
                "udt_name": f"_{column.type[:-2]}" if column.type.endswith("[]") else column.type,
                "dtd_identifier": str(place),
                **dict.fromkeys(
                    ("is_self_referencing", "is_identity", "identity_cycle", "is_updatable"), "NO"
                ),
                "is_generated": "NEVER",
            }


_SYSTEM_NAMES = {
    name: name for name in ("oid", "name", "xid", "regproc", "regtype", "pg_node_tree", "inet", "bytea")
}
_SYSTEM_NAMES |= {"char": '"char"', "int2vector": "ARRAY", "oidvector": "ARRAY"}


def _typed(catalog: CatalogDescription, type: Type) -> Row:
    bits, is_number = _BITS.get(type.kind), type.kind is Kind.NUMERIC
    enumeration = catalog.enumeration(type)
    return {
        "data_type": standard_name(type),
        "numeric_precision": type.precision if is_number else bits,
        "numeric_precision_radix": 10 if is_number else None if bits is None else 2,
        "numeric_scale": type.scale if is_number else 0 if type.is_integer else None,
        "datetime_precision": 6 if type.kind in _MOMENTS else 0 if type.kind is Kind.DATE else None,
        "udt_catalog": catalog.session.database,
        "udt_schema": "pg_catalog" if enumeration is None else enumeration.schema,
        "udt_name": internal_name(type, "" if enumeration is None else enumeration.name),
    }


def _default(default: Text | None, identity: Identity | None) -> str | None:
    if identity is not None and identity.sequence:
        return f"nextval('{identity.sequence}'::regclass)"
    return None if default is None else default.sql


def _identity(identity: Identity) -> Row:
    return {
        "identity_generation": "ALWAYS" if identity.always else "BY DEFAULT",
        "identity_start": str(identity.start),
        "identity_increment": str(identity.increment),
        "identity_maximum": str((1 << 63) - 1),
        "identity_minimum": "1",
    }


def _table_privileges(catalog: CatalogDescription) -> Iterator[Row]:
    for role in catalog.roles:
        for relation in catalog.relations:
            for privilege in OF_ROWS:
                if role.may(privilege, relation.definition.name) and not (
                    relation.is_view and privilege != "SELECT"
                ):
                    yield {
                        "grantor": OWNING_ROLE,
                        "grantee": role.name,
                        **of_relation(catalog, relation),
                        "privilege_type": str(privilege),
                        "is_grantable": "YES" if role.is_superuser else "NO",
                        "with_hierarchy": "YES" if privilege == "SELECT" else "NO",
                    }


def _enabled_roles(catalog: CatalogDescription) -> Iterator[Row]:
    user = catalog.role(catalog.session.user)
    for name in (catalog.session.user, *(user.member_of if user is not None else ())):
        yield {"role_name": name}


def _applicable_roles(catalog: CatalogDescription) -> Iterator[Row]:
    user = catalog.role(catalog.session.user)
    for name in user.member_of if user is not None else ():
        yield {"grantee": catalog.session.user, "role_name": name, "is_grantable": "NO"}


def _character_sets(catalog: CatalogDescription) -> Iterator[Row]:
    yield {
        "character_set_name": "UTF8",
        "character_repertoire": "UCS",
        "form_of_use": "UTF8",
        "default_collate_catalog": catalog.session.database,
    }


INFORMATION_ROWS = {
    **INFORMATION_CONSTRAINTS,
    **INFORMATION_ROUTINES,
    "information_schema_catalog_name": _name,
    "schemata": _schemata,
    "tables": _tables,
    "views": _views,
    "columns": _columns,
    "table_privileges": _table_privileges,
    "role_table_grants": _table_privileges,
    "enabled_roles": _enabled_roles,
    "applicable_roles": _applicable_roles,
    "character_sets": _character_sets,
}
