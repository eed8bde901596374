"""The shared state of binding one statement: the catalog, the numbers given out, the definitions made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from engine.plan.expressions import ColumnRef
from engine.plan.nodes import Node
from engine.plan.periods import at_one_moment
from engine.schema import Type
from planner.bind.name_scope import NameScope
from planner.bind.stars import SelectList
from planner.ir import Attribute, Expression, Project, RecursiveRef, Relational, SharedRef
from planner.ir.column_numbers import Numbers
from planner.ir.renumber import renumbered
from planner.ir.rewrite import identity
from planner.ir.scalars import may_be_null
from planner.positions import Place, position
from planner.relation import Catalog, Relation, with_period_last


@dataclass(frozen=True)
class Bound:
    """A bound query: its operator, and its result columns in order, under the user's names."""

    operator: Relational
    columns: tuple[Attribute, ...]


@dataclass(frozen=True)
class Shared:
    """A CTE that is a definition of the program."""

    number: int
    columns: tuple[Attribute, ...]


@dataclass(frozen=True)
class Correlated:
    """A CTE that refers to an outer query's columns, and so is copied wherever it is named."""

    bound: Bound


@dataclass(frozen=True)
class Recursion:
    """A recursive name inside its own recursion: its rows of the previous round, or of the same round."""

    variable: int
    columns: tuple[Attribute, ...]
    is_current: bool = False


Entry = Shared | Correlated | Recursion


@dataclass(frozen=True)
class Environment:
    """What a query can refer to: CTEs by lower-case name, and the scope of the query around it.

    `recursion` has the variables of the recursion whose term the query is, if any.
    """

    ctes: Mapping[str, Entry] = field(default_factory=dict)
    outer: NameScope | None = None
    recursion: frozenset[int] = frozenset()

    def extended(self, ctes: Mapping[str, Entry]) -> Environment:
        return replace(self, ctes={**self.ctes, **ctes})

    def within(self, outer: NameScope) -> Environment:
        return replace(self, outer=outer, recursion=frozenset())

    def apart(self) -> Environment:
        """The environment for a query with a name of its own, which is not a term of a recursion."""
        return replace(self, recursion=frozenset())


PLACE = "place"
"""In the meta of a node: its place in a query that asks which types its parts take."""


@dataclass(frozen=True)
class Taken:
    """What a part of a query is: a constant text that is `value`, an expression that becomes a `type`, a
    `form` of DuckDB's SQL with its `parts` (the part itself, if it names none) in the places, a side of a set
    operation whose `columns`, with their names, become other types, a column that is `written` otherwise, or
    what is `refused`, because DuckDB would answer it otherwise."""

    type: Type
    value: Expression | None = None
    columns: tuple[tuple[str, Type], ...] | None = None
    form: str = ""
    parts: tuple[str, ...] = ()
    written: exp.Expression | None = None
    refused: str = ""


class Session(Numbers):
    """The state of one binding.

    `priorities` has a hint of each recursion with prioritized terms, by the smallest of its variables.
    `time_at` is the place where the statement first asks for the time. `lists` are the expanded select lists,
    by the identity of their SELECT. `merged` maps each column that a FULL JOIN with USING makes to its two
    sources. `timed` has the relations that the statement reads at every valid time, by the names under which
    their rows at one time are read. `taken` has what parts of the query are, by their places, for who asks.
    """

    def __init__(self, catalog: Catalog, dialect: str, taken: dict[int, Taken] | None = None) -> None:
        super().__init__()
        self.catalog = catalog
        self.dialect = dialect
        self.definitions: list[Relational] = []
        self.reads: set[str] = set()
        self.priorities: dict[int, exp.Expression] = {}
        self.time_at: Place = (None, None)
        self.lists: dict[int, SelectList] = {}
        self.merged: dict[int, tuple[int, int]] = {}
        self.timed: dict[str, Relation] = {}
        self.taken: dict[int, Taken] = {} if taken is None else taken

    def takes(self, node: exp.Expression, taken: Taken) -> None:
        """Note what a part of the query is."""
        place = node.meta.get(PLACE)
        if place is not None:
            self.taken[place] = taken

    def at_one_time(self, relation: Relation) -> tuple[Node, tuple[int, ...] | None]:
        """The rows of a relation that are valid at one time, and their key; every valid time is asked for."""
        name = f"v0.{relation.name}"
        self.timed[name] = relation
        key = None
        if relation.key is not None:
            key = tuple(relation.untimed.index(i) for i in relation.key if i in relation.untimed)
        return at_one_moment(name, with_period_last(relation)), key

    def asks_time(self, node: exp.Expression) -> None:
        """Remember the first place where the statement asks for the time."""
        if self.time_at == (None, None):
            self.time_at = position(node)

    def computed(
        self, operator: Relational, expressions: Iterable[Expression], name: str
    ) -> tuple[Relational, dict[Expression, int]]:
        """The operator with a column for each expression, called `name` if it is new, and the numbers of
        those columns."""
        known = {column.id: column for column in operator.columns}
        columns: dict[Expression, int] = {}
        items = list(identity(operator.columns))
        for expression in expressions:
            if expression in columns:
                continue
            if isinstance(expression, ColumnRef) and expression.index in known:
                columns[expression] = expression.index
                continue
            attribute = self.attribute(name, expression.type, may_be_null(expression, known))
            items.append((attribute, expression))
            columns[expression] = attribute.id
        return (Project(operator, tuple(items)) if len(items) > len(known) else operator), columns

    def define(self, bound: Bound) -> Shared | Correlated:
        """The query as an entry to refer to: a definition, unless it reads an outer query's columns."""
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
                self.provenance.copied({new.id: number for new, number in renaming})
                return Bound(SharedRef(number, renaming), columns)
            case Recursion(variable=variable, columns=old, is_current=is_current):
                columns = self.fresh(old)
                positions = tuple(range(len(columns)))
                return Bound(RecursiveRef(variable, name, columns, positions, is_current), columns)
            case Correlated(bound=bound):
                copy, names = renumbered(bound.operator, self)
                return Bound(copy, tuple(replace(c, id=names[c.id]) for c in bound.columns))


BindQuery = Callable[[Session, exp.Expression, Environment], Bound]
