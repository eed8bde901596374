"""Rows of information_schema about constraints, and the columns that say what a row is about."""

from __future__ import annotations

from collections.abc import Iterator

from service.pgcatalog.builtin_objects import Row
from service.pgcatalog.catalog_description import CatalogDescription, DescribedConstraint, DescribedRelation

_KINDS = {"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY", "c": "CHECK"}
_ACTIONS = {"a": "NO ACTION", "c": "CASCADE", "n": "SET NULL"}


def _table_constraints(catalog: CatalogDescription) -> Iterator[Row]:
    """The constraints that have names, and NOT NULL, which is a CHECK without an own one."""
    common = {"is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"}
    for relation, constraint in _constraints(catalog):
        unique = {"nulls_distinct": "YES"} if constraint.kind == "u" else {}
        kind = {"constraint_type": _KINDS[constraint.kind]}
        yield {
            **_called(catalog, relation, constraint.name),
            **of_relation(catalog, relation),
            **kind,
            **common,
            **unique,
        }
    for relation, name, _ in _required(catalog):
        kind = {"constraint_type": "CHECK"}
        yield {**_called(catalog, relation, name), **of_relation(catalog, relation), **kind, **common}


def _key_columns(catalog: CatalogDescription) -> Iterator[Row]:
    for relation, constraint in _constraints(catalog):
        if constraint.kind == "c":
            continue
        for place, column in enumerate(constraint.columns, 1):
            yield {
                **_called(catalog, relation, constraint.name),
                **of_relation(catalog, relation),
                "column_name": relation.columns[column - 1].name,
                "ordinal_position": place,
                "position_in_unique_constraint": _position(catalog, constraint, place),
            }


def _position(catalog: CatalogDescription, constraint: DescribedConstraint, place: int) -> int | None:
    """The place in the key that a foreign key refers to."""
    key = _referred(catalog, constraint)
    return None if key is None else key.columns.index(constraint.target_columns[place - 1]) + 1


def _referred(catalog: CatalogDescription, constraint: DescribedConstraint) -> DescribedConstraint | None:
    """The key that a foreign key refers to."""
    if constraint.kind != "f":
        return None
    return next(
        (
            other
            for _, other in _constraints(catalog)
            if other.kind in "pu" and other.index == constraint.index
        ),
        None,
    )


def _constraint_columns(catalog: CatalogDescription) -> Iterator[Row]:
    """The columns of which a constraint speaks; those of a foreign key are the ones that it refers to."""
    for relation, constraint in _constraints(catalog):
        of, places = relation, constraint.columns
        if constraint.kind == "f":
            of = catalog.by_number[constraint.target]
            places = constraint.target_columns
        for place in places:
            column = {"column_name": of.columns[place - 1].name}
            yield {**of_relation(catalog, of), **column, **_called(catalog, relation, constraint.name)}


def _constraint_tables(catalog: CatalogDescription) -> Iterator[Row]:
    for relation, constraint in _constraints(catalog):
        of = relation
        if constraint.kind == "f":
            of = catalog.by_number[constraint.target]
        if constraint.kind != "c":
            yield {**of_relation(catalog, of), **_called(catalog, relation, constraint.name)}


def _references(catalog: CatalogDescription) -> Iterator[Row]:
    for relation, constraint in _constraints(catalog):
        key = _referred(catalog, constraint)
        if key is not None:
            yield {
                **_called(catalog, relation, constraint.name),
                "unique_constraint_catalog": catalog.session.database,
                "unique_constraint_schema": catalog.by_number[constraint.target].schema,
                "unique_constraint_name": key.name,
                "match_option": "NONE",
                "update_rule": _ACTIONS[constraint.on_update],
                "delete_rule": _ACTIONS[constraint.on_delete],
            }


def _checks(catalog: CatalogDescription) -> Iterator[Row]:
    for relation, constraint in _constraints(catalog):
        if constraint.kind == "c":
            yield {
                **_called(catalog, relation, constraint.name),
                "check_clause": f"(({constraint.expression}))",
            }
    for relation, name, column in _required(catalog):
        yield {**_called(catalog, relation, name), "check_clause": f"{column} IS NOT NULL"}


def _constraints(catalog: CatalogDescription) -> Iterator[tuple[DescribedRelation, DescribedConstraint]]:
    for relation in catalog.relations:
        for constraint in relation.constraints:
            yield relation, constraint


def _required(catalog: CatalogDescription) -> Iterator[tuple[DescribedRelation, str, str]]:
    """The columns of tables with NOT NULL, and the names that PostgreSQL 15 makes up for the constraints."""
    for relation in catalog.relations:
        for place, column in enumerate(relation.columns, 1):
            if not column.nullable and not relation.is_view:
                yield (
                    relation,
                    f"{catalog.schemas[relation.schema]}_{relation.oid}_{place}_not_null",
                    column.name,
                )


def of_relation(catalog: CatalogDescription, relation: DescribedRelation) -> Row:
    """The columns that say of which table or view a row is."""
    return {
        "table_catalog": catalog.session.database,
        "table_schema": relation.schema,
        "table_name": relation.name,
    }


def _called(catalog: CatalogDescription, relation: DescribedRelation, name: str) -> Row:
    return {
        "constraint_catalog": catalog.session.database,
        "constraint_schema": relation.schema,
        "constraint_name": name,
    }


INFORMATION_CONSTRAINTS = {
    "table_constraints": _table_constraints,
    "key_column_usage": _key_columns,
    "constraint_column_usage": _constraint_columns,
    "constraint_table_usage": _constraint_tables,
    "referential_constraints": _references,
    "check_constraints": _checks,
}
