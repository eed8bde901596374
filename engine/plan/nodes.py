"""The engine's input language: a DAG of frozen operators over bags of rows.

A node's value is a bag: rows with integer multiplicities, which may be negative inside a plan (`Negate`) but
not in a view. Nodes are equal by structure, and equal nodes become one running operator, shared by all views.

The nodes of recursion are defined in `engine.plan.loops`, and what all nodes have in common in
`engine.plan.node`; both are part of the language, and imported from here.

NULL equals NULL here: keys of joins, groups and distinct rows compare words. A front end that wants SQL's
equality filters NULL keys out first.

Every node is checked when it is built; `PlanError` says what is wrong.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

from engine.errors import PlanError
from engine.plan.expressions import ColumnRef, Expression
from engine.plan.loops import Entry as Entry
from engine.plan.loops import LoopBinding as LoopBinding
from engine.plan.loops import OnLimit as OnLimit
from engine.plan.loops import Recursive as Recursive
from engine.plan.loops import Variable as Variable
from engine.plan.loops import WithRound as WithRound
from engine.plan.node import Node, SameSchema, Unary, check_columns, check_expression
from engine.schema import BOOLEAN, Column, Schema, Type


@dataclass(frozen=True, eq=False)
class Source(Node):
    """The rows of an input that `Engine.create_source` made.

    Whoever feeds an input that is `append_only` promises to delete none of its rows. That is a fact about the
    input, not a part of its identity.
    """

    name: str
    schema: Schema
    append_only: bool = field(default=False, compare=False)

    @property
    def only_grows(self) -> bool:  # type: ignore[override]
        return self.append_only


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """Rows that exist from the first epoch on; values as in `Literal`."""

    rows: tuple[tuple[object, ...], ...]
    schema: Schema
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if any(len(row) != len(self.schema) for row in self.rows):
            raise PlanError(f"a row of a constant does not have {len(self.schema)} values")


@dataclass(frozen=True, eq=False)
class Map(Unary):
    """Each row becomes the row of `expressions`, named and typed by `schema`."""

    expressions: tuple[Expression, ...]
    schema: Schema
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if tuple(e.type for e in self.expressions) != self.schema.types:
            raise PlanError("a map's expressions and its schema have different types")
        for expression in self.expressions:
            check_expression("a map", expression, self.input.schema)


@dataclass(frozen=True, eq=False)
class Filter(SameSchema):
    """The rows for which `predicate` is true: neither false nor NULL."""

    predicate: Expression
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.predicate.type != BOOLEAN:
            raise PlanError(f"a filter's predicate is {self.predicate.type}, not BOOLEAN")
        check_expression("a filter", self.predicate, self.input.schema)


@dataclass(frozen=True, eq=False)
class Concat(Node):
    """The bag sum of inputs of the same types; names are the first input's, and a column is nullable if any
    is."""

    parts: tuple[Node, ...]
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.parts:
            raise PlanError("a concat has no input")
        if any(part.schema.types != self.parts[0].schema.types for part in self.parts):
            raise PlanError("a concat's inputs have different types")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return Schema(
            tuple(
                Column(same[0].name, same[0].type, any(c.nullable for c in same))
                for same in zip(*(part.schema.columns for part in self.parts), strict=True)
            )
        )

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts


@dataclass(frozen=True, eq=False)
class Negate(SameSchema):
    """The same rows with the sign of every multiplicity inverted."""


@dataclass(frozen=True, eq=False)
class Join(Node):
    """All columns of the left, then all of the right, for each pair of rows whose keys are the same words.

    Without keys it is the cross product. Multiplicities multiply.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_columns("a join's left key", self.left_keys, self.left.schema)
        check_columns("a join's right key", self.right_keys, self.right.schema)
        left = [self.left.schema.types[i] for i in self.left_keys]
        right = [self.right.schema.types[i] for i in self.right_keys]
        if left != right:
            raise PlanError(f"a join's keys have different types: {left} and {right}")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return Schema(self.left.schema.columns + self.right.schema.columns)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)


class Function(enum.Enum):
    """Aggregate functions. All skip NULLs, except COUNT without an argument.

    SUM keeps the argument's kind (its exact value must fit the result's type). AVG is DOUBLE: the exact sum
    over the count. SUM, AVG, MIN and MAX are NULL if no value is left. COMOMENT of x and y, two exact numbers
    or two floats, over the n rows that have both, is the DOUBLE of the exact n * sum(x * y) - sum(x) *
    sum(y): n * n times the covariance. It is NaN if a float is not finite.
    """

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    COMOMENT = "comoment"


@dataclass(frozen=True)
class AggregateSpec:
    """`function` over column `argument` of the input; COUNT without one counts rows, COMOMENT has `other`."""

    function: Function
    argument: int | None
    type: Type
    name: str = ""
    other: int | None = None

    @property
    def is_extreme(self) -> bool:
        """Whether the result is one of the values, the first in some order."""
        return self.function in (Function.MIN, Function.MAX)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it reads."""
        return tuple(column for column in (self.argument, self.other) if column is not None)

    def __str__(self) -> str:
        return f"{self.function.value}({', '.join(f'#{column}' for column in self.columns) or '*'})"


@dataclass(frozen=True, eq=False)
class Reduce(Unary):
    """One row a group: the key columns, then the aggregates. An empty group has no row, so an empty input
    gives no row, even without keys."""

    keys: tuple[int, ...]
    aggregates: tuple[AggregateSpec, ...]

    def __post_init__(self) -> None:
        check_columns("a reduce's key", self.keys, self.input.schema)
        for aggregate in self.aggregates:
            columns, name = aggregate.columns, aggregate.function.value
            check_columns(str(aggregate), columns, self.input.schema)
            if not columns and aggregate.function is not Function.COUNT:
                raise PlanError(f"{name} has no argument")
            types = [self.input.schema.types[column] for column in columns]
            if (aggregate.function is Function.COMOMENT) != (len(columns) == 2):
                raise PlanError(f"{name} has {len(columns)} arguments")
            are_words = all(type.is_numeric and not type.may_be_wide for type in types)
            if len(columns) == 2 and not (are_words and types[0].is_float == types[1].is_float):
                raise PlanError(
                    f"{name} takes two floats or two numbers up to 18 digits, not {types[0]} and {types[1]}"
                )

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        keys = tuple(self.input.schema.columns[i] for i in self.keys)
        return Schema(keys + tuple(self._column(a) for a in self.aggregates))

    @cached_property
    def only_grows(self) -> bool:  # type: ignore[override]
        return not self.aggregates and self.input.only_grows

    @property
    def kept(self) -> int | None:
        """The number of rows of a group that MIN and MAX keep; None if they keep all, or there is none."""
        has_extremes = any(aggregate.is_extreme for aggregate in self.aggregates)
        return 1 if has_extremes and self.input.only_grows else None

    def _column(self, a: AggregateSpec) -> Column:
        nullable = a.function is not Function.COUNT and any(
            self.input.schema.columns[column].nullable for column in a.columns
        )
        return Column(a.name or str(a), a.type, nullable)


@dataclass(frozen=True, eq=False)
class Consolidate(SameSchema):
    """The same rows; changes of equal rows and times within a step are added up."""

    KEEPS_GROWTH: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Inspect(SameSchema):
    """The same rows; a function is called with the values, time and diff of every change that passes.

    It sees what is computed: when a recursion is rebuilt, all of it again.
    """

    function: Callable[[tuple[object, ...], object, int], object]
    KEEPS_GROWTH: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class FlatMap(Unary):
    """Each row becomes the rows, of `schema`, that a Python function returns for its values.

    The function takes the row's values as arguments and returns an iterable of tuples. It must be
    deterministic. A call that raises fails its row. Functions are equal if they are the same object.
    """

    function: Callable[..., Iterable[tuple[object, ...]]]
    schema: Schema
    KEEPS_GROWTH: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class GroupBy(Unary):
    """The key columns, then the columns `results` of the rows that a Python function returns for a group.

    The function takes the key's values, and the group's rows without them as a sorted list of (values,
    count), whose counts are not zero but may be negative; it returns an iterable of (values, count). It must
    be deterministic. It is not called for an empty group. If it raises, the view fails.
    """

    keys: tuple[int, ...]
    function: Callable[
        [tuple[object, ...], list[tuple[tuple[object, ...], int]]],
        Iterable[tuple[tuple[object, ...], int]],
    ]
    results: Schema

    def __post_init__(self) -> None:
        check_columns("a group's key", self.keys, self.input.schema)

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        keys = tuple(self.input.schema.columns[k] for k in self.keys)
        return Schema(keys + self.results.columns)


class Clamp(enum.Enum):
    """DISTINCT: each row with a positive multiplicity, once. POSITIVE: rows with a negative one are
    dropped."""

    DISTINCT = "distinct"
    POSITIVE = "positive"


@dataclass(frozen=True, eq=False)
class Threshold(SameSchema):
    """The rows of the input with a function of their multiplicities."""

    clamp: Clamp
    KEEPS_GROWTH: ClassVar[bool] = True


class Ordering(NamedTuple):
    """How a column orders rows."""

    column: int
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, eq=False)
class TopK(SameSchema):
    """The rows at positions offset < p ≤ offset + limit of each group; without a limit, all p > offset.

    Rows are sorted by `order`, and then by the words of their other columns, so that positions follow from
    the bag. Every copy of a row takes a position; a row with a negative multiplicity takes none.
    """

    keys: tuple[int, ...]
    order: tuple[Ordering, ...]
    limit: int | None
    offset: int = 0

    def __post_init__(self) -> None:
        check_columns("a top-k's key", self.keys, self.input.schema)
        check_columns("a top-k's order", tuple(column for column, _, _ in self.order), self.input.schema)
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise PlanError(f"a top-k has limit {self.limit} and offset {self.offset}")

    @property
    def kept(self) -> int | None:
        """The number of first rows of a group whose order is kept, because the others never come before
        them; None if they may."""
        return self.offset + (self.limit or 0) if self.input.only_grows else None


def nodes_of(plan: Node) -> Iterator[Node]:
    """A plan and all nodes below it, each once."""
    seen: set[int] = set()
    stack = [plan]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(node.inputs)
            yield node


def sources_of(plan: Node) -> set[Source]:
    """The sources that a plan reads."""
    return {node for node in nodes_of(plan) if isinstance(node, Source)}


def project(input: Node, indices: tuple[int, ...]) -> Node:
    """The given columns of `input`; `input` itself if these are all of its columns in order."""
    if indices == tuple(range(len(input.schema))):
        return input
    columns = tuple(input.schema.columns[i] for i in indices)
    return Map(input, tuple(ColumnRef(i, input.schema.types[i]) for i in indices), Schema(columns))


def antijoin(left: Node, right: Node, left_keys: tuple[int, ...]) -> Node:
    """The rows of `left` whose key is not a row of `right`: all rows of `left` minus those that meet one."""
    every = tuple(range(len(right.schema)))
    matched = Join(left, Threshold(right, Clamp.DISTINCT), left_keys, every)
    return Concat((left, Negate(project(matched, tuple(range(len(left.schema)))))))
