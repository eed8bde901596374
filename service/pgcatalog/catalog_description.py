"""What there is, as one principal sees it: the source of all rows of the catalogs. All of it is immutable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from zlib import crc32

from engine.schema import Column, Kind, Type
from planner.catalog_queries import CatalogSession
from planner.dialects.reserved_words import RESERVED
from planner.parsing.function_calls import Functions
from planner.parsing.sql_functions import SqlFunction
from planner.parsing.vocabulary import Vocabulary
from planner.relation_names import PUBLIC, is_temporary, own_name, schema_of, split_name
from planner.statements.table_rules import Action, Check, ForeignKey, Unique
from service.accounts.known_accounts import KnownAccounts
from service.accounts.principals import Principal
from service.accounts.privileges import PREDEFINED, Privilege
from service.definitions.definition import Definition
from service.definitions.known_relations import KnownRelations
from service.pgcatalog.object_numbers import (
    DATABASE_OWNER,
    OWN_SCHEMAS,
    OWNER,
    ObjectNumbers,
    relation_number,
)
from service.pgcatalog.postgres_types import element_of, type_number
from service.pgcatalog.shown_sessions import ShownSession

OWNING_ROLE = "admin"


@dataclass(frozen=True)
class DescribedIndex:
    """The index behind a key, or one of CREATE INDEX: `columns` and `included` have numbers of columns, from
    1."""

    oid: int
    name: str
    columns: tuple[int, ...]
    included: tuple[int, ...] = ()
    is_primary: bool = False
    is_unique: bool = False

    @property
    def all(self) -> tuple[int, ...]:
        return (*self.columns, *self.included)


@dataclass(frozen=True)
class DescribedConstraint:
    """`kind` is PostgreSQL's letter: p, u, f or c. `text` is its definition, without the name."""

    oid: int
    name: str
    kind: str
    columns: tuple[int, ...]
    text: str
    index: int = 0
    target: int = 0
    target_columns: tuple[int, ...] = ()
    on_delete: str = " "
    on_update: str = " "
    expression: str | None = None


@dataclass(frozen=True)
class DescribedSequence:
    """The counter of the identity column with this number."""

    oid: int
    name: str
    column: int
    start: int = 1
    increment: int = 1


@dataclass(frozen=True, eq=False)
class DescribedRelation:
    """A table or a view; `row_type` and `row_array` are the OIDs of its row's types."""

    oid: int
    schema: str
    name: str
    row_type: int
    row_array: int
    definition: Definition
    indexes: tuple[DescribedIndex, ...]
    constraints: tuple[DescribedConstraint, ...]
    sequences: tuple[DescribedSequence, ...]

    @property
    def is_view(self) -> bool:
        return self.definition.is_view

    @property
    def is_temporary(self) -> bool:
        return is_temporary(self.definition.name)

    @property
    def columns(self) -> tuple[Column, ...]:
        """With NOT NULL where rows have to have a value now."""
        required = {place - 1 for index in self.indexes if index.is_primary for place in index.columns}
        columns = self.definition.strict.columns
        return tuple(Column(c.name, c.type, c.nullable and i not in required) for i, c in enumerate(columns))

    def comment(self, column: str = "") -> str | None:
        return self.definition.details.comments.get(column)


@dataclass(frozen=True)
class DescribedEnumeration:
    oid: int
    array: int
    schema: str
    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class DescribedFunction:
    oid: int
    schema: str
    name: str
    function: SqlFunction


@dataclass(frozen=True)
class DescribedRole:
    """A role, or a key, which is a role that can log in. `grants` tells what it may do with a relation."""

    oid: int
    name: str
    is_superuser: bool
    can_login: bool
    defines: bool
    may: Callable[[Privilege, str], bool]
    member_of: tuple[str, ...] = ()


_OF_PUBLIC = DescribedRole(DATABASE_OWNER, "pg_database_owner", False, False, False, lambda *asked: False)
"""PostgreSQL's own role that owns the schema `public`."""


@dataclass(frozen=True, eq=False)
class CatalogDescription:
    """`schemas` are OIDs by name; `size` tells the rows of a relation, and `sessions` what is open, as they
    are now."""

    session: CatalogSession
    schemas: Mapping[str, int]
    relations: tuple[DescribedRelation, ...]
    enumerations: tuple[DescribedEnumeration, ...]
    roles: tuple[DescribedRole, ...]
    size: Callable[[str], int]
    sessions: Callable[[], Sequence[ShownSession]] = tuple
    functions: tuple[DescribedFunction, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    """Those on schemas, by name."""

    @cached_property
    def by_name(self) -> Mapping[str, DescribedRelation]:
        """The relations by the names that definitions know them by."""
        return {relation.definition.name: relation for relation in self.relations}

    @cached_property
    def by_number(self) -> Mapping[int, DescribedRelation]:
        """The relations by their OIDs."""
        return {relation.oid: relation for relation in self.relations}

    @cached_property
    def schema_names(self) -> Mapping[int, str]:
        """The names of schemas by their OIDs."""
        return {number: name for name, number in self.schemas.items()}

    @cached_property
    def _labels(self) -> Mapping[tuple[str, ...], DescribedEnumeration]:
        return {enumeration.labels: enumeration for enumeration in reversed(self.enumerations)}

    def type_number(self, type: Type) -> int:
        """The OID of a column's type."""
        return type_number(type, lambda labels: (self._labels[labels].oid, self._labels[labels].array))

    def enumeration(self, type: Type) -> DescribedEnumeration | None:
        """The enumeration that a type is, or is made of."""
        return self._labels.get(element_of(type).labels)

    def role(self, name: str) -> DescribedRole | None:
        return next((role for role in self.roles if role.name == name), None)


def described(
    known: KnownRelations,
    named: Vocabulary,
    accounts: KnownAccounts,
    principal: Principal,
    session: CatalogSession,
    size: Callable[[str], int],
    schemas: Iterable[str] = (),
    sessions: Callable[[], Sequence[ShownSession]] = tuple,
    comments: Mapping[str, str] | None = None,
) -> CatalogDescription:
    """What a principal sees of the relations, the named types and functions, the schemas and the accounts."""
    seen = sorted((d for d in known.all.values() if principal.sees(d.name)), key=lambda d: d.id)
    numbers = ObjectNumbers()
    visible = {definition.name: definition for definition in seen}
    relations = tuple(_relation(definition, visible, numbers) for definition in seen)
    types = [c.type for d in seen for c in d.schema.columns]
    held = {PUBLIC, *(schema_of(name) for name in visible)}
    own = [schema for schema in schemas if schema in held or principal.defines_in(schema)]
    return CatalogDescription(
        session,
        {**OWN_SCHEMAS, **{name: numbers.of("schema", name) for name in own if name not in OWN_SCHEMAS}},
        relations,
        _enumerations(named.types, types, numbers),
        _roles(accounts, principal, session, numbers),
        size,
        sessions,
        _functions(named.functions, {*own, *OWN_SCHEMAS}, numbers),
        comments or {},
    )


def _functions(
    named: Functions, schemas: Collection[str], numbers: ObjectNumbers
) -> tuple[DescribedFunction, ...]:
    """The functions of the schemas that are seen."""
    return tuple(
        DescribedFunction(numbers.of("function", name, len(f.parameters)), *split_name(name), f)
        for name, overloads in sorted(named.items())
        if schema_of(name) in schemas
        for f in overloads
    )


def _relation(
    definition: Definition, visible: Mapping[str, Definition], numbers: ObjectNumbers
) -> DescribedRelation:
    id, (schema, name) = definition.id, split_name(definition.name)
    indexes, constraints = _keys(definition, numbers)
    names = definition.schema.names
    for rule in definition.details.rules.constraints:
        match rule:
            case Check(name=called, condition=condition):
                places = tuple(names.index(c) + 1 for c in rule.columns if c in names)
                number = numbers.of("constraint", id, called)
                text = f"CHECK (({condition.sql}))"
                constraints.append(
                    DescribedConstraint(number, called, "c", places, text, expression=condition.sql)
                )
            case ForeignKey() if rule.table in visible:
                constraints.append(_foreign_key(definition, rule, visible[rule.table], numbers))
            case _:
                pass  # UNIQUE is among the keys
    sequences = tuple(
        DescribedSequence(
            numbers.of("sequence", id, column),
            f"{name}_{column}_seq",
            names.index(column) + 1,
            identity.start,
            identity.increment,
        )
        for column, identity in definition.details.rules.identities.items()
        if identity.sequence is None
    )
    for made in definition.details.indexes:
        columns, included = (
            tuple(names.index(c) + 1 for c in named) for named in (made.columns, made.included)
        )
        indexes.append(DescribedIndex(numbers.of("index", id, made.name), made.name, columns, included))
    types = (numbers.of("row", id), numbers.of("rows", id))
    oid = relation_number(id)
    return DescribedRelation(
        oid, schema, name, *types, definition, tuple(indexes), tuple(constraints), sequences
    )


def _keys(
    definition: Definition, numbers: ObjectNumbers
) -> tuple[list[DescribedIndex], list[DescribedConstraint]]:
    """The indexes and constraints of the primary key and of UNIQUE."""
    names = definition.schema.names
    keys: list[tuple[str, tuple[str, ...], bool]] = []
    if definition.relation.key is not None and not definition.is_view:
        keys.append(
            (f"{own_name(definition.name)}_pkey", tuple(names[i] for i in definition.relation.key), True)
        )
    keys += [(rule.name, rule.columns, False) for rule in definition.details.rules.of(Unique)]
    indexes, constraints = [], []
    for name, columns, is_primary in keys:
        places = tuple(names.index(column) + 1 for column in columns)
        oid = numbers.of("index", definition.id, name)
        index = DescribedIndex(oid, name, places, is_primary=is_primary, is_unique=True)
        text = f"{'PRIMARY KEY' if is_primary else 'UNIQUE'} ({listed(columns)})"
        number = numbers.of("constraint", definition.id, name)
        indexes.append(index)
        constraints.append(
            DescribedConstraint(number, name, "p" if is_primary else "u", places, text, index.oid)
        )
    return indexes, constraints


_ACTIONS = {Action.NOTHING: "a", Action.CASCADE: "c", Action.SET_NULL: "n"}


def _foreign_key(
    definition: Definition, rule: ForeignKey, target: Definition, numbers: ObjectNumbers
) -> DescribedConstraint:
    names, targets = definition.schema.names, target.schema.names
    key = tuple(targets[i] for i in target.relation.key or ())
    called = (
        f"{own_name(target.name)}_pkey"
        if set(key) == set(rule.target)
        else next((u.name for u in target.details.rules.of(Unique) if set(u.columns) == set(rule.target)), "")
    )
    refers = f"REFERENCES {_written(target.name)}({listed(rule.target)})"
    text = f"FOREIGN KEY ({listed(rule.columns)}) {refers}{rule.actions}"
    return DescribedConstraint(
        numbers.of("constraint", definition.id, rule.name),
        rule.name,
        "f",
        tuple(names.index(column) + 1 for column in rule.columns),
        text,
        ObjectNumbers().of("index", target.id, called),
        relation_number(target.id),
        tuple(targets.index(column) + 1 for column in rule.target),
        _ACTIONS[rule.on_delete],
        _ACTIONS[rule.on_update],
    )


def _enumerations(
    named: Mapping[str, Type], types: Iterable[Type], numbers: ObjectNumbers
) -> tuple[DescribedEnumeration, ...]:
    """The named types, and those that only columns have, under names of their own."""
    labels = {name: type.labels for name, type in sorted(named.items())}
    for type in map(element_of, types):
        if type.kind is Kind.ENUM and type.labels not in labels.values():
            labels[f"enum_{crc32(repr(type.labels).encode()):08x}"] = type.labels
    return tuple(
        DescribedEnumeration(numbers.of("type", name), numbers.of("array", name), *split_name(name), given)
        for name, given in labels.items()
    )


def _roles(
    accounts: KnownAccounts, principal: Principal, session: CatalogSession, numbers: ObjectNumbers
) -> tuple[DescribedRole, ...]:
    """The roles that are always there and those that were made; an admin sees every key, others their own."""
    roles = {name: accounts.permissions(name) for name in (*PREDEFINED, *accounts.roles)}
    found: dict[str, DescribedRole] = {}
    for name, permissions in roles.items():
        as_principal = Principal("", name, name, permissions)
        oid = OWNER if name == OWNING_ROLE else numbers.of("role", name)
        found[name] = DescribedRole(
            oid, name, as_principal.is_admin, False, as_principal.defines, as_principal.may
        )
    keys = accounts.principals.values() if principal.is_admin else [principal]
    for each in [principal, *keys]:
        name = session.user if each is principal else each.name
        if name not in found:
            found[name] = DescribedRole(
                numbers.of("role", name), name, each.is_admin, True, each.defines, each.may, (each.role,)
            )
    found.setdefault(_OF_PUBLIC.name, _OF_PUBLIC)
    return tuple(found.values())


def _written(full: str) -> str:
    """A full name as SQL writes it."""
    schema, name = split_name(full)
    return quoted(name) if schema == PUBLIC else f"{quoted(schema)}.{quoted(name)}"


def quoted(name: str) -> str:
    """The name as it is written in SQL."""
    return name if is_plain(name) and name not in RESERVED else '"' + name.replace('"', '""') + '"'


def is_plain(name: str) -> bool:
    """Whether a name means itself without quotes, if it is not a key word."""
    return (
        name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[0].isdigit()
    )


def listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))
