"""Columns, operators and the expressions over them: the basis of the relational language."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

from engine.errors import PlanError
from engine.plan import expressions as scalar
from engine.plan.expressions import ColumnRef
from engine.schema import BOOLEAN, TIMESTAMP, Type
from planner.ir.declared import ColumnNumber, Holds, parts


@dataclass(frozen=True)
class Attribute:
    """A column: its number, the user's name for it, its type, and whether it may be NULL here."""

    HOLDS: ClassVar = Holds.MADE

    id: int
    name: str
    type: Type
    nullable: bool = True

    @property
    def ref(self) -> ColumnRef:
        return ColumnRef(self.id, self.type)


class Relational:
    """A bag of rows. An operator above may refer to `columns`; their order has no meaning."""

    HOLDS: ClassVar = Holds.INPUT

    columns: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        read = parts(self, Holds.READ)
        if read and not frozenset(read) <= self.below:
            missing = sorted(frozenset(read) - self.below)
            raise PlanError(f"{type(self).__name__} reads columns {missing}, which its input lacks")

    def __getstate__(self) -> dict[str, Any]:
        """The fields: what follows from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @cached_property
    def inputs(self) -> tuple[Relational, ...]:
        return parts(self, Holds.INPUT)

    @cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """The scalar expressions over the inputs' columns."""
        return parts(self, Holds.EXPRESSION)

    @cached_property
    def made(self) -> tuple[Attribute, ...]:
        """The columns that the operator makes or renames."""
        return parts(self, Holds.MADE)

    @cached_property
    def used(self) -> frozenset[int]:
        """The columns of its inputs, or of an outer query, that the operator itself reads."""
        return frozenset(parts(self, Holds.READ)).union(*(references(e) for e in self.expressions))

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
        return self.used.union(*(operator.free for operator in self.inputs)) - self.below

    @cached_property
    def below(self) -> frozenset[int]:
        """The numbers of the inputs' columns."""
        return frozenset().union(*(operator.ids for operator in self.inputs))

    def attribute(self, id: int) -> Attribute:
        """The column numbered `id`. Raises KeyError."""
        return self._by_id[id]

    @cached_property
    def _by_id(self) -> dict[int, Attribute]:
        return {column.id: column for column in self.columns}


class Widening(Relational):
    """The columns of the input, and those that the operator adds."""

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        (input,) = self.inputs
        return input.columns + self.made


class Replacing(Relational):
    """The columns that the operator makes, in place of the input's."""

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.made


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
    column: ColumnNumber
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
    return parts(expression, Holds.EXPRESSION)


def references(expression: Expression) -> frozenset[int]:
    """The numbers of the columns referred to, including those of outer queries."""
    found: set[int] = set()
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ColumnRef):
            found.add(part.index)
            continue
        if isinstance(part, Subquery):
            inner = frozenset().union(*map(references, children(part)))
            found |= (inner - part.query.ids) | part.query.free
        else:
            waiting += children(part)
    return frozenset(found)


def subqueries(expression: Expression) -> tuple[Subquery, ...]:
    """The outermost subqueries, in the order of the text."""
    if isinstance(expression, Subquery):
        return (expression,)
    return tuple(found for part in children(expression) for found in subqueries(part))


Item = tuple[Attribute, Expression]
Renaming = tuple[tuple[Attribute, int], ...]
"""New columns, each with the number of the column whose values it has."""
