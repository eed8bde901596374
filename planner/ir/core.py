"""Columns, operators and the expressions over them: the basis of the relational language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine.plan import expressions as scalar
from engine.plan.expressions import ColumnRef
from engine.schema import BOOLEAN, TIMESTAMP, Type


@dataclass(frozen=True)
class Attribute:
    """A column: its number, the user's name for it, its type, and whether it may be NULL here."""

    id: int
    name: str
    type: Type
    nullable: bool = True

    @property
    def ref(self) -> ColumnRef:
        return ColumnRef(self.id, self.type)


class Relational:
    """A bag of rows. An operator above may refer to `columns`; their order has no meaning."""

    columns: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[Relational, ...]:
        return ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The scalar expressions over the inputs' columns, in the order of `rewrite.with_expressions`."""
        return ()

    @cached_property
    def ids(self) -> frozenset[int]:
        return frozenset(column.id for column in self.columns)

    @cached_property
    def current(self) -> frozenset[int]:
        """The variables of recursions whose rows of the same round are read here or below."""
        queries = (s.query for e in self.expressions for s in subqueries(e))
        return frozenset().union(*(operator.current for operator in (*self.inputs, *queries)))

    @cached_property
    def free(self) -> frozenset[int]:
        """The numbers of an outer query's columns that are used here or below."""
        known = frozenset().union(*(operator.ids for operator in self.inputs))
        used = frozenset().union(*(references(e) for e in self.expressions))
        return used.union(*(operator.free for operator in self.inputs)) - known

    def attribute(self, id: int) -> Attribute:
        """The column numbered `id`. Raises KeyError."""
        return self._by_id[id]

    @cached_property
    def _by_id(self) -> dict[int, Attribute]:
        return {column.id: column for column in self.columns}


@dataclass(frozen=True)
class Exists:
    """Whether the query has a row."""

    query: Relational
    type: Type = BOOLEAN


@dataclass(frozen=True)
class Some:
    """Whether `predicate` holds for some row of the query: true if it does, else NULL if it is NULL for some
    row, else false."""

    predicate: Expression
    query: Relational
    type: Type = BOOLEAN


@dataclass(frozen=True)
class ScalarSubquery:
    """The value in column `column` of the query's one row; NULL without a row, an error with several."""

    query: Relational
    column: int
    type: Type


@dataclass(frozen=True)
class Now:
    """The time of the epoch. A plan can only compare it or take its date."""

    type: Type = TIMESTAMP


@dataclass(frozen=True)
class Reached:
    """Whether the time of the epoch is `moment`, a TIMESTAMP, or later."""

    moment: Expression
    type: Type = BOOLEAN


Subquery = Exists | Some | ScalarSubquery
Expression = scalar.Expression | Subquery | Now | Reached


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts, including the predicate of a `Some`, without queries."""
    if isinstance(expression, Some):
        return (expression.predicate,)
    if isinstance(expression, Reached):
        return (expression.moment,)
    if isinstance(expression, Exists | ScalarSubquery | Now):
        return ()
    return scalar.children(expression)


def references(expression: Expression) -> frozenset[int]:
    """The numbers of the columns referred to, including those of outer queries."""
    match expression:
        case ColumnRef(index=id):
            return frozenset({id})
        case Some(predicate=predicate, query=query):
            return (references(predicate) - query.ids) | query.free
        case Exists(query=query) | ScalarSubquery(query=query):
            return query.free
        case _:
            return frozenset().union(*(references(part) for part in children(expression)))


def subqueries(expression: Expression) -> tuple[Subquery, ...]:
    """The outermost subqueries, in the order of the text."""
    if isinstance(expression, Subquery):
        return (expression,)
    return tuple(found for part in children(expression) for found in subqueries(part))


Item = tuple[Attribute, Expression]
Renaming = tuple[tuple[Attribute, int], ...]
