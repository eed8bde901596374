"""Access paths: where rows of a relation lie together that have given values in some columns.

A relation's own rows are sorted by its key, or by all columns in order. An index has them sorted by others,
with the key, by which the rows themselves are then found; or with all columns, if there is no key. Rows are
found by the first columns of a path, without a look at the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile

from planner.relation import Relation
from planner.statements.indexes import SecondaryIndex
from planner.statements.table_rules import TableRules, Unique
from service.changes.constraints import IndexSide, index_side


@dataclass(frozen=True)
class AccessPath:
    """The engine's `relation` is sorted by `columns` first, and has those of `stored`, in this order.

    `key` has the places among these of the key by which the rows themselves are found.
    """

    title: str
    relation: str
    columns: tuple[int, ...]
    stored: tuple[int, ...]
    key: tuple[int, ...] = ()
    is_unique: bool = False

    def prefix(self, equated: Collection[int]) -> int:
        """How many of the first columns are equated."""
        return len(list(takewhile(lambda column: column in equated, self.columns)))

    def bounded(self, equated: Collection[int], bounded: Collection[int]) -> int | None:
        """The column after the equated ones, if it is bounded."""
        after = self.columns[self.prefix(equated) :]
        return after[0] if after and after[0] in bounded else None


def paths_of(
    relation: Relation, rules: TableRules, indexes: Sequence[SecondaryIndex]
) -> tuple[AccessPath, ...]:
    """The paths to a relation's rows, its own first."""
    name, key, everything = relation.name, relation.key, tuple(range(len(relation.schema)))
    title = f"the key of {name}" if key else f"the order of {name}"
    paths = [AccessPath(title, name, key or everything, everything, (), bool(key))]
    for unique in rules.of(Unique):
        found = index_side(relation, unique.columns)
        if found.index != name:
            paths.append(_of_index(f"constraint {unique.name}", found, key, True))
    for index in indexes:
        found = index_side(relation, index.columns, index.included)
        is_unique = key is not None and set(key) <= set(found.columns)
        paths.append(_of_index(f"index {index.name}", found, key, is_unique))
    return tuple(paths)


def _of_index(title: str, of: IndexSide, key: tuple[int, ...] | None, is_unique: bool) -> AccessPath:
    places = tuple(of.stored.index(column) for column in key or ())
    return AccessPath(title, of.index, of.columns, of.stored, places, is_unique)


def ways(
    paths: Sequence[AccessPath], equated: Collection[int], bounded: Collection[int] = ()
) -> list[AccessPath]:
    """The paths whose first columns are equated, or whose first column is bounded, the best first."""

    def rank(path: AccessPath) -> tuple[bool, bool, int, bool]:
        length = path.prefix(equated)
        whole = length == len(path.columns)
        return not (whole and path.is_unique), not whole, -length, path.bounded(equated, bounded) is None

    def leads(path: AccessPath) -> bool:
        return path.prefix(equated) > 0 or path.bounded(equated, bounded) is not None

    return sorted(filter(leads, paths), key=rank)
