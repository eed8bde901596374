"""What one binding of one statement shares: the catalog, the numbers given out, the definitions made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from planner.bind.name_scope import NameScope
from planner.bind.stars import SelectList
from planner.ir import Attribute, RecursiveRef, Relational, SharedRef
from planner.ir.column_numbers import Numbers
from planner.ir.renumber import renumbered
from planner.positions import Place, position
from planner.relation import Catalog


@dataclass(frozen=True)
class Bound:
    """A bound query: its operator, and the columns that it returns in order, named as the user would."""

    operator: Relational
    columns: tuple[Attribute, ...]


@dataclass(frozen=True)
class Shared:
    """A CTE that is a definition of the program."""

    number: int
    columns: tuple[Attribute, ...]


@dataclass(frozen=True)
class Correlated:
    """A CTE that refers to an outer query's columns, and so is copied to wherever it is named."""

    bound: Bound


@dataclass(frozen=True)
class Recursion:
    """A recursive name inside its own recursion: its rows of the round before, or of the same round."""

    variable: int
    columns: tuple[Attribute, ...]
    is_current: bool = False


Entry = Shared | Correlated | Recursion


@dataclass(frozen=True)
class Environment:
    """What a query can refer to: CTEs by lower-case name, and the scope of the query around it.

    `recursion` has the variables of the recursion that the query is a term of, if it is one.
    """

    ctes: Mapping[str, Entry] = field(default_factory=dict)
    outer: NameScope | None = None
    recursion: frozenset[int] = frozenset()

    def extended(self, ctes: Mapping[str, Entry]) -> Environment:
        return replace(self, ctes={**self.ctes, **ctes})

    def within(self, outer: NameScope) -> Environment:
        return replace(self, outer=outer, recursion=frozenset())

    def apart(self) -> Environment:
        """The same for a query that has a name of its own, and is no term of a recursion."""
        return replace(self, recursion=frozenset())


class Session(Numbers):
    """`priorities` has a hint of each recursion with prioritised terms, by the least of its variables;
    `time_at` is where the statement asks for the time first; `lists` are the select lists written out, by the
    identity of their SELECT; `merged` has the columns that a FULL JOIN with USING has made, each of two."""

    def __init__(self, catalog: Catalog, dialect: str) -> None:
        super().__init__()
        self.catalog = catalog
        self.dialect = dialect
        self.definitions: list[Relational] = []
        self.reads: set[str] = set()
        self.priorities: dict[int, exp.Expression] = {}
        self.time_at: Place = (None, None)
        self.lists: dict[int, SelectList] = {}
        self.merged: dict[int, tuple[int, int]] = {}

    def asks_time(self, node: exp.Expression) -> None:
        """Note where the statement asks for the time first."""
        if self.time_at == (None, None):
            self.time_at = position(node)

    def define(self, bound: Bound) -> Shared | Correlated:
        """The query as something to refer to: a definition, unless an outer query's columns are in it."""
        if bound.operator.free:
            return Correlated(bound)
        self.definitions.append(bound.operator)
        return Shared(len(self.definitions) - 1, bound.columns)

    def reference(self, name: str, entry: Entry) -> Bound:
        """The rows of a CTE, its columns under new numbers."""
        match entry:
            case Shared(number=number, columns=old):
                columns = self.fresh(old)
                renaming = tuple(zip(columns, (c.id for c in old), strict=True))
                return Bound(SharedRef(number, renaming), columns)
            case Recursion(variable=variable, columns=old, is_current=is_current):
                columns = self.fresh(old)
                positions = tuple(range(len(columns)))
                return Bound(RecursiveRef(variable, name, columns, positions, is_current), columns)
            case Correlated(bound=bound):
                copy, names = renumbered(bound.operator, self.number)
                return Bound(copy, tuple(replace(c, id=names[c.id]) for c in bound.columns))


BindQuery = Callable[[Session, exp.Expression, Environment], Bound]
