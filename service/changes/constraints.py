"""Constraints between rows: UNIQUE and FOREIGN KEY, checked for many requests at once.

Both are rules about row counts by key. A UNIQUE allows one row a key; a foreign key allows rows of the
referring table only while the other table has a row of that key. The count after a request is the count
before all requests, which an index of the engine has, plus what the requests up to it add. So the cost
depends on the keys that change, not on the size of the tables.

An index is an internal view that no client sees: the table's rows by some of its columns. A primary key
needs none. Keys with a NULL are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.kernels.words import NULL
from engine.plan.nodes import Node, project
from engine.runtime.engine import Snapshot
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from planner.relation import Relation
from planner.statements.table_rules import Action, ForeignKey, TableRules, Unique
from service.changes.index_names import index_name
from service.changes.periods_apart import PeriodsApart, overlap
from service.changes.resolve import Net, named_row
from service.errors import Conflict, NamingConflict


@dataclass(frozen=True)
class KeySide:
    """The rows of a table by `columns`, which are the first columns of the engine's relation `index`."""

    table: str
    columns: tuple[int, ...]
    index: str
    schema: Schema

    @property
    def key_schema(self) -> Schema:
        return Schema(tuple(self.schema.columns[i] for i in self.columns))


@dataclass(frozen=True)
class IndexSide:
    """The engine's relation `index` has the columns `stored` of a relation, and is sorted by `columns`, the
    first of them."""

    columns: tuple[int, ...]
    stored: tuple[int, ...]
    index: str


@dataclass(frozen=True)
class Single:
    """A UNIQUE: each key has at most one row."""

    name: str
    side: KeySide


@dataclass(frozen=True)
class KeyReference:
    """A foreign key: a key with rows of `child` has a row of `parent`."""

    name: str
    child: KeySide
    parent: KeySide
    on_delete: Action
    on_update: Action = Action.NOTHING


Bond = Single | KeyReference | PeriodsApart


@dataclass(frozen=True)
class Broken:
    """The first `request` after which a bond is broken, and the error to report."""

    request: int
    error: Conflict


@dataclass(frozen=True)
class Bonds:
    """The bonds of a catalog, ordered by the names of their tables."""

    all: tuple[Bond, ...] = ()

    @cached_property
    def _by_table(self) -> dict[str, list[int]]:
        """The places of the bonds that changes of a table could break."""
        places: dict[str, list[int]] = {}
        for place, bond in enumerate(self.all):
            for table in set(_tables(bond)):
                places.setdefault(table, []).append(place)
        return places

    def of(self, tables: Iterable[str]) -> list[Bond]:
        """The bonds that changes of these tables could break."""
        found = {place for table in tables for place in self._by_table.get(table, ())}
        return [self.all[place] for place in sorted(found)]

    @cached_property
    def any_follow(self) -> bool:
        """Whether a foreign key has an action."""
        keys = [bond for bond in self.all if isinstance(bond, KeyReference)]
        return any(key.on_delete is not Action.NOTHING or key.on_update is not Action.NOTHING for key in keys)

    def on_delete(self, table: str) -> list[KeyReference]:
        """The foreign keys to `table` that have an ON DELETE action."""
        return [bond for bond in self._referring(table) if bond.on_delete is not Action.NOTHING]

    def on_update(self, table: str) -> list[KeyReference]:
        """The foreign keys to `table` that have an ON UPDATE action."""
        return [bond for bond in self._referring(table) if bond.on_update is not Action.NOTHING]

    def _referring(self, table: str) -> list[KeyReference]:
        found = (bond for bond in self.of([table]) if isinstance(bond, KeyReference))
        return [bond for bond in found if bond.parent.table == table]

    def broken(
        self, nets: Mapping[str, Net], snapshot: Snapshot | None, dictionary: Dictionary
    ) -> Broken | None:
        """The first request after which one of the bonds is broken; `nets` has all changes by table."""
        found: Broken | None = None
        for bond in self.of(nets):
            broken = _broken(bond, nets, snapshot, dictionary)
            if broken is not None and (found is None or broken.request < found.request):
                found = broken
        return found


def bonds_of(relation: Relation, rules: TableRules, relations: Mapping[str, Relation]) -> list[Bond]:
    """The bonds that a table declares. `relations` has the tables that it refers to."""
    found: list[Bond] = [Single(u.name, side(relation, u.columns)) for u in rules.of(Unique)]
    if relation.period is not None and relation.declared_key is not None:
        key = relation.declared_key
        found.append(PeriodsApart("its primary key", relation.name, key, *relation.period, relation.schema))
    for foreign in rules.of(ForeignKey):
        target = relation if foreign.table == relation.name else relations[foreign.table]
        pairs = _in_order(foreign, target)
        child = side(relation, [a for a, _ in pairs], ordered=True)
        parent = side(target, [b for _, b in pairs], ordered=True)
        found.append(KeyReference(foreign.name, child, parent, foreign.on_delete, foreign.on_update))
    return found


def indexes_of(relation: Relation, rules: TableRules, targets: Mapping[str, Relation]) -> dict[str, Node]:
    """The indexes that a table needs for its own constraints, by the name of the engine's relation."""
    columns = [unique.columns for unique in rules.of(Unique)]
    for foreign in rules.of(ForeignKey):
        columns.append(tuple(a for a, _ in _in_order(foreign, targets[foreign.table])))
    return plans_of(relation, [index_side(relation, names) for names in columns])


def plans_of(relation: Relation, sides: Iterable[IndexSide]) -> dict[str, Node]:
    """The plans of a relation's indexes, by the name of the engine's relation."""
    return {of.index: project(relation.plan, of.stored) for of in sides if of.index != relation.name}


def index_side(relation: Relation, names: Iterable[str], included: Iterable[str] = ()) -> IndexSide:
    """The index of a relation by some of its columns, in this order; the relation itself if it is sorted so.

    It has the columns that it is sorted by, those `included`, and those that identify the row.
    """
    of = side(relation, names, ordered=True)
    if of.index == relation.name:
        return IndexSide(of.columns, tuple(range(len(relation.schema))), of.index)
    more = tuple(i for i in map(relation.schema.index, included) if i not in of.columns)
    rest = range(len(relation.schema)) if relation.key is None else relation.key
    stored = (*of.columns, *more, *(i for i in rest if i not in (*of.columns, *more)))
    suffix = "".join(f";{column}" for column in more)
    return IndexSide(of.columns, stored, of.index + suffix)


def side(relation: Relation, names: Iterable[str], *, ordered: bool = False) -> KeySide:
    """A table's rows by some of its columns; by its primary key if these are the key's columns."""
    columns = tuple(relation.schema.index(name) for name in names)
    key = relation.key or ()
    if columns == key or (not ordered and set(columns) == set(key)):
        return KeySide(relation.name, key, relation.name, relation.schema)
    listed = ",".join(map(str, columns))
    return KeySide(relation.name, columns, index_name(relation.name, listed), relation.schema)


def _in_order(foreign: ForeignKey, target: Relation) -> list[tuple[str, str]]:
    """The pairs of columns of a foreign key, in the order of the primary key if it refers to that."""
    pairs = list(zip(foreign.columns, foreign.target, strict=True))
    key = [target.schema.names[i] for i in target.key or ()]
    if set(key) == set(foreign.target):
        pairs.sort(key=lambda pair: key.index(pair[1]))
    return pairs


def count_rows(snapshot: Snapshot | None, side: KeySide, keys: np.ndarray) -> np.ndarray:
    """The number of rows of each distinct key int64[K, n]; zeros without a snapshot."""
    counts = np.zeros(keys.shape[1], np.int64)
    if keys.shape[1] and snapshot is not None:
        _, found, positions = snapshot.lookup(side.index, np.ascontiguousarray(keys))
        np.add.at(counts, positions, found)
    return counts


def _tables(bond: Bond) -> tuple[str, ...]:
    if isinstance(bond, Single):
        return (bond.side.table,)
    if isinstance(bond, PeriodsApart):
        return (bond.table,)
    return bond.child.table, bond.parent.table


def _broken(
    bond: Bond, nets: Mapping[str, Net], snapshot: Snapshot | None, dictionary: Dictionary
) -> Broken | None:
    if isinstance(bond, PeriodsApart):
        found = overlap(bond, nets[bond.table], snapshot, dictionary)
        return None if found is None else Broken(*found)
    if isinstance(bond, Single):
        counts = _Counts.of([_events(bond.side, nets)], snapshot, [bond.side])
        bad = counts.after(0) > 1
    else:
        sides = [bond.child, bond.parent]
        counts = _Counts.of([_events(of, nets) for of in sides], snapshot, sides)
        bad = (counts.after(0) > 0) & (counts.after(1) <= 0)
    places = np.flatnonzero(bad)
    if not len(places):
        return None
    first = places[counts.request[places].argmin()]
    key = counts.keys[:, counts.group[first]]
    return Broken(int(counts.request[first]), _error(bond, key, counts, int(first), dictionary))


Events = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Keys int64[K, n], requests [n] and diffs [n]."""


def _events(side: KeySide, nets: Mapping[str, Net]) -> Events:
    """What requests add to and remove from the rows of a side, without keys that have a NULL."""
    net = nets.get(side.table)
    if net is None:
        none = np.zeros(0, np.int64)
        return np.zeros((len(side.columns), 0), np.int64), none, none
    keys = net.words[list(side.columns)]
    told = (keys != NULL).all(axis=0)
    return keys[:, told], net.request[told], net.diffs[told]


@dataclass(frozen=True, eq=False)
class _Counts:
    """The rows that each side has of a key, after each request that changes the key.

    `keys` int64[K, g] are distinct; place p stands for key `group[p]` after request `request[p]`.
    """

    keys: np.ndarray
    group: np.ndarray
    request: np.ndarray
    before: list[np.ndarray]
    added: list[np.ndarray]

    @classmethod
    def of(cls, events: list[Events], snapshot: Snapshot | None, sides: list[KeySide]) -> _Counts:
        keys = np.concatenate([keys for keys, _, _ in events], axis=1)
        request = np.concatenate([request for _, request, _ in events])
        order = np.lexsort((request, *keys[::-1]))
        keys, request = keys[:, order], request[order]
        starts = np.ones(len(order), np.bool_)
        starts[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        ends = np.ones(len(order), np.bool_)
        ends[:-1] = starts[1:] | (request[1:] != request[:-1])
        group = np.cumsum(starts) - 1
        distinct = np.ascontiguousarray(keys[:, starts])
        before, added = [], []
        offset = 0
        for (_, _, diffs), side in zip(events, sides, strict=True):
            own = np.zeros(len(order), np.int64)
            own[offset : offset + len(diffs)] = diffs
            offset += len(diffs)
            running = np.cumsum(own[order])
            previous = np.concatenate((np.zeros(1, np.int64), running))[:-1][starts]
            before.append(count_rows(snapshot, side, distinct))
            added.append((running - previous[group])[ends])
        return cls(distinct, group[ends], request[ends], before, added)

    def after(self, side: int) -> np.ndarray:
        """The row count of a side at each place."""
        return self.before[side][self.group] + self.added[side]


def _error(
    bond: Single | KeyReference, key: np.ndarray, counts: _Counts, place: int, dictionary: Dictionary
) -> Conflict:
    if isinstance(bond, Single):
        return Conflict(
            f"two rows of table {bond.side.table} have {named_row(bond.side.key_schema, key, dictionary)}, "
            f"which constraint {bond.name} forbids",
            "add ON CONFLICT to say what happens to such a row",
            code="unique_violated",
        )
    child, parent = bond.child, bond.parent
    if counts.before[1][counts.group[place]]:
        lost = f"table {parent.table} cannot lose {named_row(parent.key_schema, key, dictionary)}"
        return NamingConflict(
            f"{lost}: table {child.table} refers to it by constraint {bond.name}",
            f"delete the rows of {child.table} first, or declare ON DELETE CASCADE",
            child.table,
            Conflict(
                f"{lost}: another table refers to it",
                "this key does not see the table: ask an admin",
                code="foreign_key_violated",
            ),
        )
    return Conflict(
        f"a row of table {child.table} has {named_row(child.key_schema, key, dictionary)}, which table "
        f"{parent.table} does not have: constraint {bond.name}",
        f"insert the row of {parent.table} before it, or in the same epoch",
        code="foreign_key_violated",
    )
