"""The planner's relational language: frozen operators over bags of rows, columns known by number.

Every column that an operator brings forth is an `Attribute` with a number of its own, so an
expression means the same wherever it stands: `ColumnRef.index` is an attribute's number here
(not a position, as in the engine). An operator may refer to numbers that none of its inputs
brings forth: they are an outer query's columns, and it is *correlated* (`free`).

Scalar expressions are the engine's, and three that hold a query: `Exists`, `Some` and
`ScalarSubquery`. The decorrelation pass removes them and every `free` reference.

A `Program` is a root over numbered definitions, which `SharedRef` refers to: a query that is
used more than once is planned once. A definition may refer to earlier ones only.

Operators are checked when they are built. Nothing here knows SQL text or the engine's plans.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

from engine import expressions as scalar
from engine.errors import PlanError
from engine.expressions import ColumnRef
from engine.plan import Function, Node, OnLimit
from engine.schema import BOOLEAN, Type


@dataclass(frozen=True)
class Attribute:
    """A column: its number, the name a user would know it by, its type, and whether it may be NULL here."""

    id: int
    name: str
    type: Type
    nullable: bool = True

    @property
    def ref(self) -> ColumnRef:
        return ColumnRef(self.id, self.type)


class Operator:
    """A bag of rows. `columns` are what an operator above may refer to; their order has no meaning."""

    columns: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The scalar expressions over the inputs' columns, in the order in which `rebuild` takes them."""
        return ()

    @cached_property
    def ids(self) -> frozenset[int]:
        return frozenset(column.id for column in self.columns)

    @cached_property
    def free(self) -> frozenset[int]:
        """The numbers of an outer query's columns that are referred to here or below."""
        known = frozenset().union(*(operator.ids for operator in self.inputs))
        used = frozenset().union(*(references(e) for e in self.expressions))
        return used.union(*(operator.free for operator in self.inputs)) - known

    def attribute(self, id: int) -> Attribute:
        """The column numbered `id`; raises KeyError."""
        return self._by_id[id]

    @cached_property
    def _by_id(self) -> dict[int, Attribute]:
        return {column.id: column for column in self.columns}


@dataclass(frozen=True)
class Exists:
    """Whether the query has a row."""

    query: Operator
    type: Type = BOOLEAN


@dataclass(frozen=True)
class Some:
    """Whether `predicate` holds for some row of the query: true if it does, else NULL if it is NULL for
    some row, else false."""

    predicate: Expression
    query: Operator
    type: Type = BOOLEAN


@dataclass(frozen=True)
class ScalarSubquery:
    """The one value of the query's one row in column `column`; NULL without a row, an error with more."""

    query: Operator
    column: int
    type: Type


Subquery = Exists | Some | ScalarSubquery
Expression = scalar.Expression | Subquery


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts, the predicate of a `Some` included; queries are not."""
    if isinstance(expression, Some):
        return (expression.predicate,)
    if isinstance(expression, Exists | ScalarSubquery):
        return ()
    return scalar.children(expression)


def references(expression: Expression) -> frozenset[int]:
    """The numbers of the columns referred to, of outer queries' included."""
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


@dataclass(frozen=True)
class Scan(Operator):
    """Some columns of a table or view: `columns[i]` is position `positions[i]` of `plan`."""

    name: str
    plan: Node
    columns: tuple[Attribute, ...]
    positions: tuple[int, ...]
    key: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Values(Operator):
    """Constant rows, values as `engine.expressions.Literal` takes them. No columns and one row is
    what a query without FROM reads."""

    columns: tuple[Attribute, ...]
    rows: tuple[tuple[object, ...], ...]


UNIT = Values((), ((),))


@dataclass(frozen=True)
class Project(Operator):
    """Each row becomes the values of the items."""

    input: Operator
    items: tuple[Item, ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return tuple(attribute for attribute, _ in self.items)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for _, expression in self.items)

    def __post_init__(self) -> None:
        for attribute, expression in self.items:
            if attribute.type != expression.type:
                raise PlanError(f"{attribute.name} is {attribute.type}, its expression {expression.type}")


@dataclass(frozen=True)
class Filter(Operator):
    """The rows for which `predicate` is true."""

    input: Operator
    predicate: Expression

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.input.columns

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.predicate,)


class JoinKind(enum.Enum):
    """SEMI and ANTI keep the left rows that have, or have not, a match; MARK keeps all and says which."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    MARK = "mark"


@dataclass(frozen=True)
class Join(Operator):
    """Pairs of rows for which `condition` is true. (A right join is a left join turned round.)

    An inner or left join is *lateral* if its right side refers to columns of its left; the
    decorrelation pass removes those.
    """

    kind: JoinKind
    left: Operator
    right: Operator
    condition: Expression
    mark: Attribute | None = None

    def __post_init__(self) -> None:
        if (self.kind is JoinKind.MARK) != (self.mark is not None):
            raise PlanError("a mark join, and no other, has a mark")

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    @property
    def is_lateral(self) -> bool:
        return bool(self.right.free & self.left.ids)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        match self.kind:
            case JoinKind.INNER:
                return self.left.columns + self.right.columns
            case JoinKind.LEFT:
                return self.left.columns + padded(self.right.columns)
            case JoinKind.FULL:
                return padded(self.left.columns) + padded(self.right.columns)
            case JoinKind.MARK:
                return (*self.left.columns, *((self.mark,) if self.mark else ()))
            case _:
                return self.left.columns


def padded(columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns as they are where an outer join may fill in NULLs."""
    return tuple(Attribute(c.id, c.name, c.type, True) for c in columns)


@dataclass(frozen=True)
class AggregateItem:
    """`function` of column `argument` (None: of rows) of the input; `distinct`: of its distinct values."""

    attribute: Attribute
    function: Function
    argument: int | None
    distinct: bool = False


@dataclass(frozen=True)
class Aggregate(Operator):
    """One row a group of equal `keys` (NULL is equal to NULL); with no keys, always exactly one row."""

    input: Operator
    keys: tuple[int, ...]
    items: tuple[AggregateItem, ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return (*(self.input.attribute(key) for key in self.keys), *(item.attribute for item in self.items))


@dataclass(frozen=True)
class Distinct(Operator):
    """Every row once; NULL is equal to NULL."""

    input: Operator

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.input.columns


class SetKind(enum.Enum):
    """Over bags: counts are added, subtracted (never below zero), or the lesser is taken."""

    UNION = "union all"
    EXCEPT = "except all"
    INTERSECT = "intersect all"


@dataclass(frozen=True)
class SetOp(Operator):
    """Rows of the left, their columns numbered `lefts` in order, with rows of the right, `rights`."""

    kind: SetKind
    left: Operator
    right: Operator
    columns: tuple[Attribute, ...]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]

    def __post_init__(self) -> None:
        for attribute, left, right in zip(self.columns, self.lefts, self.rights, strict=True):
            types = {attribute.type, self.left.attribute(left).type, self.right.attribute(right).type}
            if len(types) != 1:
                raise PlanError(f"column {attribute.name} of {self.kind.value} has several types")

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class SharedRef(Operator):
    """The rows of definition `number` of the program; each column a new name of one of its columns."""

    number: int
    renaming: Renaming

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return tuple(attribute for attribute, _ in self.renaming)


@dataclass(frozen=True)
class Context(Operator):
    """The distinct values of some columns of `input`, under new numbers: what a correlated query is planned
    against. Everything above a context, up to the join that brings its rows back, is computed apart for each
    of its rows, so that rows too many in it change nothing."""

    input: Operator
    renaming: Renaming

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return tuple(attribute for attribute, _ in self.renaming)


@dataclass(frozen=True)
class Binding:
    """A recursive name: variable `variable` is `value`, its columns in the order of `outputs`."""

    variable: int
    name: str
    value: Operator
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Fixpoint(Operator):
    """The fixed point of the bindings, from empty; of it, binding `result` with its columns renamed."""

    bindings: tuple[Binding, ...]
    result: int
    columns: tuple[Attribute, ...]
    limit: int | None = None
    on_limit: OnLimit = OnLimit.ERROR

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return tuple(binding.value for binding in self.bindings)


@dataclass(frozen=True)
class RecursiveRef(Operator):
    """A binding's rows in the round before: `columns[i]` is output `positions[i]` of variable `variable`."""

    variable: int
    name: str
    columns: tuple[Attribute, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A query: `root` over `definitions`; `outputs` number the columns that the user asked for, in order."""

    definitions: tuple[Operator, ...]
    root: Operator
    outputs: tuple[Attribute, ...]
