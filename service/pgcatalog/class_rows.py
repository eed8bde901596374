"""Rows about schemas, databases, relations and what relations consist of."""

from __future__ import annotations

from collections.abc import Iterator

from engine.schema import Kind
from planner.relation_names import PUBLIC
from service.pgcatalog.builtin_objects import Row
from service.pgcatalog.catalog_description import CatalogDescription, DescribedRelation
from service.pgcatalog.object_numbers import DATABASE, OWN_SCHEMAS, OWNER
from service.pgcatalog.postgres_types import dimensions, element_of, modifier
from service.pgcatalog.relation_layout import ENUMERATION, attribute, class_row

_BTREE, _HEAP = 403, 2
_NAMESPACES = 2615
"""The OID of pg_namespace, as the catalog of what a comment is on."""
_TEXT_COLLATION = 100
_SYSTEM_COLUMNS = (
    ("tableoid", -6, 26),
    ("cmax", -5, 29),
    ("xmax", -4, 28),
    ("cmin", -3, 29),
    ("xmin", -2, 28),
    ("ctid", -1, 27),
)


def namespaces(catalog: CatalogDescription) -> Iterator[Row]:
    for name, oid in catalog.schemas.items():
        if name in OWN_SCHEMAS:
            continue
        yield {"oid": oid, "nspname": name, "nspowner": OWNER}


def databases(catalog: CatalogDescription) -> Iterator[Row]:
    yield {
        "oid": DATABASE,
        "datname": catalog.session.database,
        "datdba": OWNER,
        "encoding": 6,
        "datlocprovider": "c",
        "datallowconn": True,
        "datconnlimit": -1,
        "dattablespace": 1663,
        "datcollate": "C.UTF-8",
        "datctype": "C.UTF-8",
    }


def classes(catalog: CatalogDescription) -> Iterator[Row]:
    """Tables, maintained views, indexes, and counters of identity columns."""
    referenced = {c.target for relation in catalog.relations for c in relation.constraints}
    for relation in catalog.relations:
        schema = catalog.schemas[relation.schema]
        yield class_row(
            relation.oid,
            relation.name,
            "m" if relation.is_view else "r",
            schema,
            reltype=relation.row_type,
            relam=_HEAP,
            relnatts=len(relation.columns),
            relchecks=sum(c.kind == "c" for c in relation.constraints),
            relhasindex=bool(relation.indexes),
            relhasrules=relation.is_view,
            relhastriggers=relation.oid in referenced or any(c.kind == "f" for c in relation.constraints),
            relpersistence="t" if relation.is_temporary else "p",
            relreplident="d",
        )
        for index in relation.indexes:
            yield class_row(index.oid, index.name, "i", schema, relam=_BTREE, relnatts=len(index.all))
        for sequence in relation.sequences:
            yield class_row(sequence.oid, sequence.name, "S", schema, relnatts=3, reltuples=1, relpages=1)


def attributes(catalog: CatalogDescription) -> Iterator[Row]:
    """The columns of tables, views and indexes, and the system columns of tables."""
    for relation in catalog.relations:
        columns = list(_columns(catalog, relation))
        yield from columns
        for name, number, type in _SYSTEM_COLUMNS:
            yield attribute(relation.oid, name, number, type, attnotnull=True)
        for index in relation.indexes:
            for place, column in enumerate(index.all, 1):
                kept = {**columns[column - 1], "attrelid": index.oid, "attnum": place, "attnotnull": False}
                yield {**kept, "attidentity": "", "attgenerated": "", "atthasdef": False}


def _columns(catalog: CatalogDescription, relation: DescribedRelation) -> Iterator[Row]:
    rules = relation.definition.details.rules
    for place, column in enumerate(relation.columns, 1):
        identity = rules.identities.get(column.name)
        yield attribute(
            relation.oid,
            column.name,
            place,
            catalog.type_number(column.type),
            modifier(column.type),
            ENUMERATION if column.type.kind is Kind.ENUM else None,
            attndims=dimensions(column.type),
            attnotnull=not column.nullable,
            atthasdef=column.name in rules.defaults or column.name in rules.generated,
            attidentity="" if identity is None or identity.sequence else "a" if identity.always else "d",
            attgenerated="s" if column.name in rules.generated else "",
            attcollation=_TEXT_COLLATION if element_of(column.type).kind is Kind.TEXT else 0,
        )


def defaults(catalog: CatalogDescription) -> Iterator[Row]:
    """DEFAULT and GENERATED ALWAYS AS, as their texts."""
    for relation in catalog.relations:
        rules = relation.definition.details.rules
        for place, column in enumerate(relation.columns, 1):
            text = rules.defaults.get(column.name) or rules.generated.get(column.name)
            if text is not None:
                yield {
                    "oid": default_number(relation, place),
                    "adrelid": relation.oid,
                    "adnum": place,
                    "adbin": text.sql,
                }


def default_number(relation: DescribedRelation, place: int) -> int:
    """The OID of the default of a column."""
    return (1 << 30) + relation.oid * 2000 % (1 << 30) + place


def sequences(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        for sequence in relation.sequences:
            yield {
                "seqrelid": sequence.oid,
                "seqtypid": catalog.type_number(relation.columns[sequence.column - 1].type),
                "seqstart": sequence.start,
                "seqincrement": sequence.increment,
                "seqmax": (1 << 63) - 1,
                "seqmin": 1,
                "seqcache": 1,
            }


def dependencies(catalog: CatalogDescription) -> Iterator[Row]:
    """Identity columns own their counters, and keys their indexes."""
    for relation in catalog.relations:
        for sequence in relation.sequences:
            yield _dependency(1259, sequence.oid, 1259, relation.oid, sequence.column, "i")
        for constraint in relation.constraints:
            for column in constraint.columns:
                yield _dependency(2606, constraint.oid, 1259, relation.oid, column, "a")
            for column in constraint.target_columns:
                yield _dependency(2606, constraint.oid, 1259, constraint.target, column, "n")
            if constraint.kind == "c":
                yield _dependency(2606, constraint.oid, 1259, relation.oid, 0, "n")
            if constraint.kind in "pu":
                yield _dependency(1259, constraint.index, 2606, constraint.oid, 0, "i")
        for index in relation.indexes:
            for column in index.all if not index.is_unique else ():
                yield _dependency(1259, index.oid, 1259, relation.oid, column, "a")
        if relation.is_view:
            rule = rule_number(relation)
            yield _dependency(2618, rule, 1259, relation.oid, 0, "i")
            for name in sorted(relation.definition.reads & catalog.by_name.keys()):
                yield _dependency(2618, rule, 1259, catalog.by_name[name].oid, 0, "n")


def rules(catalog: CatalogDescription) -> Iterator[Row]:
    """PostgreSQL has a rule for each view; what the view reads, the rule depends on."""
    for relation in catalog.relations:
        if relation.is_view:
            yield {
                "oid": rule_number(relation),
                "rulename": "_RETURN",
                "ev_class": relation.oid,
                "ev_type": "1",
                "ev_enabled": "O",
                "is_instead": True,
            }


def rule_number(relation: DescribedRelation) -> int:
    """The OID of a view's rule."""
    return (1 << 31) + relation.oid


def _dependency(catalog: int, object: int, on_catalog: int, on: int, column: int, kind: str) -> Row:
    return {
        "classid": catalog,
        "objid": object,
        "refclassid": on_catalog,
        "refobjid": on,
        "refobjsubid": column,
        "deptype": kind,
    }


def descriptions(catalog: CatalogDescription) -> Iterator[Row]:
    """The comments on schemas, relations and columns."""
    of_schemas = {PUBLIC: "standard public schema", **catalog.comments}
    for schema, number in catalog.schemas.items():
        if schema in of_schemas:
            told = {"description": of_schemas[schema]}
            yield {"objoid": number, "classoid": _NAMESPACES, "objsubid": 0, **told}
    for relation in catalog.relations:
        for place, name in enumerate(["", *(column.name for column in relation.columns)]):
            text = relation.comment(name)
            if text is not None:
                yield {"objoid": relation.oid, "classoid": 1259, "objsubid": place, "description": text}


CLASS_ROWS = {
    "pg_namespace": namespaces,
    "pg_database": databases,
    "pg_class": classes,
    "pg_attribute": attributes,
    "pg_attrdef": defaults,
    "pg_sequence": sequences,
    "pg_depend": dependencies,
    "pg_description": descriptions,
    "pg_rewrite": rules,
}
