"""Lookups: what functions over catalogs know, as relations of a key and a value.

Their names begin with `#`, and so do their columns, so that no name of a user's query can mean them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from engine.schema import BIGINT, BOOLEAN, TEXT, Column, Schema, Type, array_of
from planner.dialects.reserved_words import KEYWORDS, RESERVED
from service.accounts.privileges import OF_ROWS
from service.pgcatalog.builtin_objects import builtin_rows, system_relations
from service.pgcatalog.catalog_description import CatalogDescription, is_plain, quoted
from service.pgcatalog.class_rows import descriptions
from service.pgcatalog.constraint_rows import index_definition
from service.pgcatalog.object_numbers import OWN_SCHEMAS
from service.pgcatalog.server_settings import OF_CLIENT, SERVER_SETTINGS
from service.pgcatalog.type_rows import types
from service.pgcatalog.view_rows import settings_of, view_text

Rows = Iterator[tuple]
_WORD = 8
"""Bytes of a value in a row."""
_PRINTED = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "varchar": "character varying",
    "bpchar": "character",
    "char": '"char"',
    "bit": "bit",
    "varbit": "bit varying",
    "interval": "interval",
    "numeric": "numeric",
}
"""Types that SQL calls otherwise than the catalogs."""
_ALSO = {"int": "int4", "decimal": "numeric", "float": "float8", "dec": "numeric", "string": "text"}
_FORMS = {"numeric": "digits", "varchar": "length", "bpchar": "length"}
_CLOCKS = {
    "time": ("time", " without time zone"),
    "timetz": ("time", " with time zone"),
    "timestamp": ("timestamp", " without time zone"),
    "timestamptz": ("timestamp", " with time zone"),
}
"""Types whose digits stand inside their names."""


@dataclass(frozen=True)
class CatalogLookup:
    """`columns` are those of the relation, with `#`."""

    columns: Mapping[str, Type]
    rows: Callable[[CatalogDescription], Rows]

    @property
    def period(self) -> None:
        """Its rows have no periods of valid time."""
        return None

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Column(name, type) for name, type in self.columns.items()))


def type_names(catalog: CatalogDescription) -> Iterator[tuple[int, str, str, str]]:
    """Each type's OID, its printed name up to the modifier, what that means, and the name's end."""
    rows = {row["oid"]: row for row in types(catalog)}
    schemas = catalog.schema_names
    for oid, row in rows.items():
        element = rows.get(row["typelem"]) if row.get("typlen") == -1 and row.get("typelem") else None
        is_array = element is not None and element.get("typarray") == oid
        name = (element or row)["typname"] if is_array else row["typname"]
        own = row["typnamespace"] == OWN_SCHEMAS["pg_catalog"]
        printed, end = _PRINTED.get(name, quoted(name)) if own else quoted(name), ""
        form = _FORMS.get(name, "") if own else ""
        if own and name in _CLOCKS:
            (printed, end), form = _CLOCKS[name], "seconds"
        if not _is_visible(schemas[row["typnamespace"]], catalog):
            printed = f"{quoted(schemas[row['typnamespace']])}.{printed}"
        yield oid, printed, form, f"{end}[]" if is_array else end


def _relations(catalog: CatalogDescription) -> Iterator[tuple[int, str, str]]:
    """The OID, schema and name of everything that is in pg_class."""
    for relation in catalog.relations:
        yield relation.oid, relation.schema, relation.name
        for index in relation.indexes:
            yield index.oid, relation.schema, index.name
        for sequence in relation.sequences:
            yield sequence.oid, relation.schema, sequence.name
    schemas = catalog.schema_names
    for row in builtin_rows("pg_class"):
        yield row["oid"], schemas[row["relnamespace"]], row["relname"]


def _is_visible(schema: str, catalog: CatalogDescription) -> bool:
    return schema == "pg_catalog" or schema in catalog.session.search_path


def _regclass(catalog: CatalogDescription) -> Rows:
    for oid, schema, name in _relations(catalog):
        yield oid, quoted(name) if _is_visible(schema, catalog) else f"{quoted(schema)}.{quoted(name)}"


def _spellings(name: str) -> set[str]:
    """How a name can be written where it is cast to an OID: a key word needs no quotes there."""
    return {quoted(name), f'"{name}"', *([name] if is_plain(name) else [])}


def _to_regclass(catalog: CatalogDescription) -> Rows:
    """Names as they are written: with the schema or without, quoted where they have to be."""
    found: dict[str, int] = {}
    for oid, schema, name in _relations(catalog):
        for written in _spellings(name):
            if _is_visible(schema, catalog):
                found.setdefault(written, oid)
            for prefix in _spellings(schema):
                found.setdefault(f"{prefix}.{written}", oid)
    yield from found.items()


def _regtype(catalog: CatalogDescription) -> Rows:
    for oid, name, _, end in type_names(catalog):
        yield oid, name + end


def _to_regtype(catalog: CatalogDescription) -> Rows:
    found: dict[str, int] = {}
    internal = {row["oid"]: row["typname"] for row in types(catalog)}
    schemas = catalog.schema_names
    within = {row["oid"]: schemas[row["typnamespace"]] for row in types(catalog)}
    for oid, name, _, end in type_names(catalog):
        for written in {name + end, quoted(internal[oid]), internal[oid]}:
            found.setdefault(written, oid)
            found.setdefault(f"{quoted(within[oid])}.{written}", oid)
    arrays = {row["oid"]: row.get("typarray", 0) for row in types(catalog)}
    for also, name in _ALSO.items():
        found.setdefault(also, found[name])
    for written, oid in list(found.items()):
        if arrays.get(oid):
            found.setdefault(f"{written}[]", arrays[oid])
    yield from found.items()


def _regproc(catalog: CatalogDescription) -> Rows:
    for row in builtin_rows("pg_proc"):
        yield row["oid"], row["regproc"] or row["proname"]
    for described in catalog.functions:
        yield described.oid, described.name


def _to_regproc(catalog: CatalogDescription) -> Rows:
    """The names that one function alone has."""
    for row in builtin_rows("pg_proc"):
        if row["regproc"] is None:
            yield row["proname"], row["oid"]
            yield f"pg_catalog.{row['proname']}", row["oid"]


def _regnamespace(catalog: CatalogDescription) -> Rows:
    for name, oid in catalog.schemas.items():
        yield oid, quoted(name)


def _to_regnamespace(catalog: CatalogDescription) -> Rows:
    for name, oid in catalog.schemas.items():
        for written in _spellings(name):
            yield written, oid


def _regrole(catalog: CatalogDescription) -> Rows:
    for role in catalog.roles:
        yield role.oid, role.name


def _to_regrole(catalog: CatalogDescription) -> Rows:
    for role in catalog.roles:
        for written in _spellings(role.name):
            yield written, role.oid


def _regcollation(catalog: CatalogDescription) -> Rows:
    for row in builtin_rows("pg_collation"):
        yield row["oid"], quoted(row["collname"])


def _to_regcollation(catalog: CatalogDescription) -> Rows:
    for oid, name in _regcollation(catalog):
        yield name, oid


def _visible_relations(catalog: CatalogDescription) -> Rows:
    for oid, schema, _ in _relations(catalog):
        yield oid, _is_visible(schema, catalog)


def _visible_types(catalog: CatalogDescription) -> Rows:
    schemas = catalog.schema_names
    for row in types(catalog):
        yield row["oid"], _is_visible(schemas.get(row["typnamespace"], ""), catalog)


def _definitions(catalog: CatalogDescription) -> Rows:
    for relation in catalog.relations:
        if relation.is_view:
            yield relation.oid, view_text(relation)


def _index_definitions(catalog: CatalogDescription) -> Rows:
    for relation in catalog.relations:
        for index in relation.indexes:
            yield index.oid, index_definition(relation, index)
    for row in builtin_rows("pg_index"):
        yield row["indexrelid"], row["indexdef"]


def _index_columns(catalog: CatalogDescription) -> Rows:
    for relation in catalog.relations:
        for index in relation.indexes:
            yield index.oid, [quoted(relation.columns[place - 1].name) for place in index.all]


def _constraint_definitions(catalog: CatalogDescription) -> Rows:
    for relation in catalog.relations:
        for constraint in relation.constraints:
            yield constraint.oid, constraint.text
    for row in builtin_rows("pg_constraint"):
        yield row["oid"], row["text"]


def _serials(catalog: CatalogDescription) -> Rows:
    for relation in catalog.relations:
        for sequence in relation.sequences:
            name = f"{quoted(relation.schema)}.{quoted(sequence.name)}"
            yield relation.oid, relation.columns[sequence.column - 1].name, name


def _comments(catalog: CatalogDescription) -> Rows:
    names = {row["oid"]: row["relname"] for row in builtin_rows("pg_class")}
    for row in (*builtin_rows("pg_description"), *descriptions(catalog)):
        yield row["objoid"], row["objsubid"], names[row["classoid"]], row["description"]


def _relation_privileges(catalog: CatalogDescription) -> Rows:
    """What each role may do, by its name and by its OID; only owners refer to tables and have triggers."""
    for role in catalog.roles:
        for relation in catalog.relations:
            held = [str(p) for p in OF_ROWS if role.may(p, relation.definition.name)]
            held += ["TRUNCATE"] if "DELETE" in held else []
            held += ["REFERENCES", "TRIGGER"] if role.is_superuser else []
            held += [f"{privilege} WITH GRANT OPTION" for privilege in held] if role.is_superuser else []
            for privilege in held:
                yield role.name, relation.oid, privilege
                yield str(role.oid), relation.oid, privilege
        for system in system_relations().values():
            yield role.name, system.oid, "SELECT"
            yield str(role.oid), system.oid, "SELECT"


def _definers(catalog: CatalogDescription) -> Rows:
    for role in catalog.roles:
        if role.defines:
            yield role.name, role.name
            yield str(role.oid), str(role.oid)


def _memberships(catalog: CatalogDescription) -> Rows:
    """Each role is a member of itself; a superuser of every role."""
    for role in catalog.roles:
        for above in catalog.roles:
            if role.is_superuser or role is above or above.name in role.member_of:
                for member in (role.name, str(role.oid)):
                    yield member, above.name
                    yield member, str(above.oid)


def _sizes(catalog: CatalogDescription) -> Rows:
    """The bytes of the rows' words, without what texts need."""
    for relation in catalog.relations:
        yield relation.oid, catalog.size(relation.definition.name) * (len(relation.columns) + 1) * _WORD


def _settings(catalog: CatalogDescription) -> Rows:
    for name, value in settings_of(catalog).items():
        yield name.lower(), SERVER_SETTINGS.get(name, OF_CLIENT).shown(value)


def _format_type(catalog: CatalogDescription) -> Rows:
    yield from type_names(catalog)


def _function_results(catalog: CatalogDescription) -> Rows:
    printed = dict(_regtype(catalog))
    for row in builtin_rows("pg_proc"):
        yield row["oid"], printed.get(row["prorettype"], "-")
    for described in catalog.functions:
        columns = ", ".join(f"{name} {type.lower()}" for name, type in described.function.columns)
        shown = f"TABLE({columns})" if described.function.is_table else described.function.returns
        yield described.oid, shown if described.function.is_table else (shown or "anyelement").lower()


def _function_arguments(catalog: CatalogDescription) -> Rows:
    printed = dict(_regtype(catalog))
    for row in builtin_rows("pg_proc"):
        yield row["oid"], ", ".join(printed.get(type, "-") for type in row["proargtypes"])
    for described in catalog.functions:
        given = ((p.name, (p.type or "anyelement").lower()) for p in described.function.parameters)
        yield described.oid, ", ".join(" ".join(filter(None, pair)) for pair in given)


def _keywords(catalog: CatalogDescription) -> Rows:
    yield from KEYWORDS


def _reserved(catalog: CatalogDescription) -> Rows:
    for word in RESERVED:
        yield word, word


_NAMED, _NUMBERED = {"#key": BIGINT, "#value": TEXT}, {"#key": TEXT, "#value": BIGINT}
_TEXTS, _SEEN = {"#key": TEXT, "#value": TEXT}, {"#key": BIGINT, "#value": BOOLEAN}

LOOKUPS: Mapping[str, CatalogLookup] = {
    "pg_catalog.#regclass": CatalogLookup(_NAMED, _regclass),
    "pg_catalog.#to_regclass": CatalogLookup(_NUMBERED, _to_regclass),
    "pg_catalog.#regtype": CatalogLookup(_NAMED, _regtype),
    "pg_catalog.#to_regtype": CatalogLookup(_NUMBERED, _to_regtype),
    "pg_catalog.#regproc": CatalogLookup(_NAMED, _regproc),
    "pg_catalog.#to_regproc": CatalogLookup(_NUMBERED, _to_regproc),
    "pg_catalog.#regnamespace": CatalogLookup(_NAMED, _regnamespace),
    "pg_catalog.#to_regnamespace": CatalogLookup(_NUMBERED, _to_regnamespace),
    "pg_catalog.#regrole": CatalogLookup(_NAMED, _regrole),
    "pg_catalog.#to_regrole": CatalogLookup(_NUMBERED, _to_regrole),
    "pg_catalog.#regcollation": CatalogLookup(_NAMED, _regcollation),
    "pg_catalog.#to_regcollation": CatalogLookup(_NUMBERED, _to_regcollation),
    "pg_catalog.#visible_relations": CatalogLookup(_SEEN, _visible_relations),
    "pg_catalog.#visible_types": CatalogLookup(_SEEN, _visible_types),
    "pg_catalog.#definitions": CatalogLookup(_NAMED, _definitions),
    "pg_catalog.#index_definitions": CatalogLookup(_NAMED, _index_definitions),
    "pg_catalog.#index_columns": CatalogLookup({"#key": BIGINT, "#value": array_of(TEXT)}, _index_columns),
    "pg_catalog.#constraint_definitions": CatalogLookup(_NAMED, _constraint_definitions),
    "pg_catalog.#serials": CatalogLookup({"#key": BIGINT, "#column": TEXT, "#value": TEXT}, _serials),
    "pg_catalog.#comments": CatalogLookup(
        {"#key": BIGINT, "#column": BIGINT, "#catalog": TEXT, "#value": TEXT}, _comments
    ),
    "pg_catalog.#relation_privileges": CatalogLookup(
        {"#role": TEXT, "#key": BIGINT, "#value": TEXT}, _relation_privileges
    ),
    "pg_catalog.#definers": CatalogLookup(_TEXTS, _definers),
    "pg_catalog.#memberships": CatalogLookup(_TEXTS, _memberships),
    "pg_catalog.#sizes": CatalogLookup({"#key": BIGINT, "#value": BIGINT}, _sizes),
    "pg_catalog.#settings": CatalogLookup(_TEXTS, _settings),
    "pg_catalog.#format_type": CatalogLookup(
        {"#key": BIGINT, "#value": TEXT, "#form": TEXT, "#end": TEXT}, _format_type
    ),
    "pg_catalog.#function_results": CatalogLookup(_NAMED, _function_results),
    "pg_catalog.#function_arguments": CatalogLookup(_NAMED, _function_arguments),
    "pg_catalog.#keywords": CatalogLookup(
        {"word": TEXT, "catcode": TEXT, "barelabel": BOOLEAN, "catdesc": TEXT, "baredesc": TEXT}, _keywords
    ),
    "pg_catalog.#reserved": CatalogLookup(_TEXTS, _reserved),
}
"""By name."""
FRESH = frozenset({"pg_catalog.#sizes", "pg_catalog.#settings"})
"""Lookups whose rows change with the rows of tables, or with the session."""
