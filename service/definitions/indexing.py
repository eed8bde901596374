"""Indexes: created and dropped in the catalog, on the writer's thread.

A unique index is a UNIQUE constraint of its table, made and dropped as ALTER TABLE does. Another one changes
nothing but its relation's details: `service/running/index_builds.py` brings it to the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.errors import NameInUse
from planner.errors import UnknownColumn, Unsupported
from planner.statements.alterations import AddConstraint, DropConstraint
from planner.statements.indexes import SecondaryIndex
from planner.statements.table_rules import TableRules, Unique
from planner.suggestions import did_you_mean
from service.definitions.altering import Alterations
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.errors import Conflict, NotFound
from service.names import check_name


@dataclass(frozen=True)
class NewIndex:
    """Without a `name`, it gets one of its relation and columns."""

    name: str | None
    relation: str
    columns: tuple[str, ...]
    included: tuple[str, ...] = ()
    unique: bool = False
    exists_ok: bool = False


def create_index(of: Definitions, alterations: Alterations, new: NewIndex) -> str | None:
    """Stores an index. Returns its name, or None if nothing has to be built. Raises NameInUse, Conflict,
    NotFound or a PlannerError."""
    definition = of.known.get(new.relation)
    _check_columns(definition, (*new.columns, *new.included))
    name = new.name or _free_name(of, new)
    if name in set(_names(of)):
        if new.exists_ok:
            return None
        raise NameInUse(f"there is an index called {name} already", "drop it, or choose another name")
    check_name(name)
    of.must_be_new(name)
    if new.unique:
        if definition.is_view:
            raise Unsupported(
                "an index of a view cannot be UNIQUE",
                "leave UNIQUE out: rows of a view are what its query says",
            )
        if new.included:
            raise Unsupported(
                "a UNIQUE index with INCLUDE is not supported", "create a second index for the other columns"
            )
        rules = TableRules(constraints=(Unique(name, new.columns),))
        alterations.alter_table(definition.name, [AddConstraint(rules)])
        return None
    if definition.failure is not None:
        raise Conflict(f"view {definition.name} has failed: {definition.failure}", code="view_failed")
    index = SecondaryIndex(name, new.columns, new.included)
    _store(of, definition, (*definition.details.indexes, index))
    return name


def drop_index(of: Definitions, alterations: Alterations, name: str, missing_ok: bool) -> None:
    """Drops an index. Raises NotFound unless it may be missing."""
    for definition in of.all.values():
        kept = tuple(index for index in definition.details.indexes if index.name != name)
        if len(kept) < len(definition.details.indexes):
            changed = _store(of, definition, kept)
            of.drop_indexes(of.all_indexes(definition).keys() - of.all_indexes(changed).keys())
            return
        if any(unique.name == name for unique in definition.details.rules.of(Unique)):
            alterations.alter_table(definition.name, [DropConstraint(name)])
            return
    if not missing_ok:
        raise NotFound(f"there is no index called {name}", did_you_mean(name, _names(of)))


def _store(of: Definitions, definition: Definition, indexes: tuple[SecondaryIndex, ...]) -> Definition:
    changed = replace(definition, details=replace(definition.details, indexes=indexes))
    with of.store.changing() as changing:
        changing.change(changed.record())
    return of.put(changed)


def _names(of: Definitions) -> Iterator[str]:
    """The names of all indexes, and of the constraints that have one."""
    for definition in of.all.values():
        yield from (index.name for index in definition.details.indexes)
        yield from (unique.name for unique in definition.details.rules.of(Unique))


def _free_name(of: Definitions, new: NewIndex) -> str:
    """A name made of the relation and the columns, as PostgreSQL makes it."""
    base = "_".join((new.relation, *new.columns, "idx"))
    taken = {*_names(of), *of.all}
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}{number}"
    return name


def _check_columns(definition: Definition, names: tuple[str, ...]) -> None:
    known = definition.schema.names
    for name in names:
        if name not in known:
            kind = "view" if definition.is_view else "table"
            raise UnknownColumn(
                f'{kind} "{definition.name}" has no column "{name}"',
                did_you_mean(name, known, f"it has {', '.join(known)}"),
            )
