"""The engine's input language: a DAG of frozen operators over bags of rows.

A node's value is a bag: rows with integer multiplicities, which may pass through
negative numbers inside a plan (`Negate`) but not in a view. Nodes are equal by
structure, and equal nodes become one running operator, shared by all views.

`Recursive` is a scope. Its bindings start empty and are updated together, round by
round, until nothing changes; `Variable` is a binding's value in the round before.
A node that refers to no variable of a scope belongs outside it: it is computed once,
and enters the scope unchanged. Names of variables are unique along a path of scopes.

NULL equals NULL here: keys of joins, groups and distinct rows compare words. A front
end that wants SQL's equality filters NULL keys away first.

Every node is checked when it is built; `PlanError` says what is wrong.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

from engine.errors import PlanError
from engine.expressions import ColumnRef, Expression, columns_of
from engine.schema import BIGINT, BOOLEAN, Column, Schema, Type


class Node:
    """A collection of rows of one schema. `inputs` are the nodes it reads, in order."""

    schema: Schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    @cached_property
    def free(self) -> frozenset[str]:
        """The variables that the node refers to and no scope inside it binds."""
        return frozenset().union(*(node.free for node in self.inputs))

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, *(getattr(self, field.name) for field in fields(self))))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """What another process takes: not what was found out about it here, as a salted hash."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def _check_columns(what: str, indices: tuple[int, ...], schema: Schema) -> None:
    for index in indices:
        if not 0 <= index < len(schema):
            raise PlanError(f"{what} refers to column {index} of {len(schema)}")


def _check_expression(what: str, expression: Expression, schema: Schema) -> None:
    _check_columns(what, tuple(columns_of(expression)), schema)


@dataclass(frozen=True)
class Source(Node):
    """The rows of an input that `Engine.create_source` made."""

    name: str
    schema: Schema
    __hash__ = Node.__hash__


@dataclass(frozen=True)
class Constant(Node):
    """Rows that are there from the first epoch on; values as `Literal` takes them."""

    rows: tuple[tuple[object, ...], ...]
    schema: Schema
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        if any(len(row) != len(self.schema) for row in self.rows):
            raise PlanError(f"a constant's row has not {len(self.schema)} values")


@dataclass(frozen=True)
class Variable(Node):
    """A binding of the enclosing `Recursive`, as it was after the round before; or one of its entries."""

    name: str
    schema: Schema
    __hash__ = Node.__hash__

    @cached_property
    def free(self) -> frozenset[str]:
        return frozenset({self.name})


@dataclass(frozen=True)
class Map(Node):
    """Each row becomes the row of `expressions`, named and typed by `schema`."""

    input: Node
    expressions: tuple[Expression, ...]
    schema: Schema
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        if tuple(e.type for e in self.expressions) != self.schema.types:
            raise PlanError("a map's expressions and its schema have different types")
        for expression in self.expressions:
            _check_expression("a map", expression, self.input.schema)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Filter(Node):
    """The rows for which `predicate` is true: neither false nor NULL."""

    input: Node
    predicate: Expression
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        if self.predicate.type != BOOLEAN:
            raise PlanError(f"a filter's predicate is {self.predicate.type}, not BOOLEAN")
        _check_expression("a filter", self.predicate, self.input.schema)

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Concat(Node):
    """The bag sum of inputs of the same types; named by the first, nullable where any is."""

    parts: tuple[Node, ...]
    __hash__ = Node.__hash__

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


@dataclass(frozen=True)
class Negate(Node):
    """The same rows with the sign of every multiplicity turned."""

    input: Node
    __hash__ = Node.__hash__

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Join(Node):
    """All columns of the left, then all of the right, for each pair of rows whose keys are the same words.

    With no keys it is the cross product. Multiplicities multiply.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        _check_columns("a join's left key", self.left_keys, self.left.schema)
        _check_columns("a join's right key", self.right_keys, self.right.schema)
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
    """What a group's rows are reduced to. All skip NULLs but COUNT without an argument.

    SUM keeps the argument's kind (its exact value must fit the result's type), AVG is
    DOUBLE of exact sum over count; both, MIN and MAX are NULL where no value is left.
    """

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True)
class Aggregate:
    """`function` over column `argument` of the input; COUNT without one counts rows."""

    function: Function
    argument: int | None
    type: Type
    name: str = ""

    def __str__(self) -> str:
        return f"{self.function.value}({'*' if self.argument is None else f'#{self.argument}'})"


@dataclass(frozen=True)
class Reduce(Node):
    """One row a group: the key columns, then the aggregates. An empty group has no row, and so no row at all
    comes of an empty input, with `keys` empty too."""

    input: Node
    keys: tuple[int, ...]
    aggregates: tuple[Aggregate, ...]
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        _check_columns("a reduce's key", self.keys, self.input.schema)
        for aggregate in self.aggregates:
            if aggregate.argument is not None:
                _check_columns(str(aggregate), (aggregate.argument,), self.input.schema)
            elif aggregate.function is not Function.COUNT:
                raise PlanError(f"{aggregate.function.value} has no argument")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        keys = tuple(self.input.schema.columns[i] for i in self.keys)
        return Schema(keys + tuple(self._column(a) for a in self.aggregates))

    def _column(self, a: Aggregate) -> Column:
        nullable = a.function is not Function.COUNT and (
            a.argument is None or self.input.schema.columns[a.argument].nullable
        )
        return Column(a.name or str(a), a.type, nullable)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Consolidate(Node):
    """The same rows; changes of equal rows and times that pass together become one, or none."""

    input: Node
    __hash__ = Node.__hash__

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Inspect(Node):
    """The same rows; a function is called with the values, time and diff of every change that passes.

    It sees what is computed: in a recursion that is rebuilt, all of it anew.
    """

    input: Node
    function: Callable[[tuple[object, ...], object, int], object]
    __hash__ = Node.__hash__

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class FlatMap(Node):
    """Each row becomes the rows that a Python function gives for its values, of `schema`.

    The function takes the row's values as arguments and gives an iterable of tuples. It must
    be deterministic. A call that raises fails its row. Functions are equal if they are one.
    """

    input: Node
    function: Callable[..., Iterable[tuple[object, ...]]]
    schema: Schema
    __hash__ = Node.__hash__

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class GroupBy(Node):
    """The key columns, then the columns `results` of the rows that a Python function gives for a group.

    The function takes the key's values and the group's rows without them, as a sorted list of
    (values, count), counts not zero but perhaps negative, and gives an iterable of (values, count). It
    must be deterministic; for an empty group it is not asked. If it raises, the view has failed.
    """

    input: Node
    keys: tuple[int, ...]
    function: Callable[
        [tuple[object, ...], list[tuple[tuple[object, ...], int]]],
        Iterable[tuple[tuple[object, ...], int]],
    ]
    results: Schema
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        _check_columns("a group's key", self.keys, self.input.schema)

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        keys = tuple(self.input.schema.columns[k] for k in self.keys)
        return Schema(keys + self.results.columns)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


class Clamp(enum.Enum):
    """DISTINCT: every row with a positive multiplicity once. POSITIVE: a negative multiplicity is none."""

    DISTINCT = "distinct"
    POSITIVE = "positive"


@dataclass(frozen=True)
class Threshold(Node):
    """The rows of the input with a function of their multiplicities."""

    input: Node
    clamp: Clamp
    __hash__ = Node.__hash__

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


class Ordering(NamedTuple):
    """How rows are ordered by a column."""

    column: int
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class TopK(Node):
    """The rows of each group with the places offset < p ≤ offset + limit; without a limit all p > offset.

    Rows are placed by `order`, and then by the words of their other columns, so that places follow
    from the bag. Every copy of a row takes one; a negative multiplicity takes none.
    """

    input: Node
    keys: tuple[int, ...]
    order: tuple[Ordering, ...]
    limit: int | None
    offset: int = 0
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        _check_columns("a top-k's key", self.keys, self.input.schema)
        _check_columns("a top-k's order", tuple(column for column, _, _ in self.order), self.input.schema)
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise PlanError(f"a top-k has limit {self.limit} and offset {self.offset}")

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


class OnLimit(enum.Enum):
    """What a scope does after its limit of rounds: give what it has, or fail if it still changes."""

    RETURN = "return"
    ERROR = "error"


@dataclass(frozen=True)
class Binding:
    """A name of a scope and the collection it is set to in every round.

    In the first round the variable is `initial`, a collection of the scope outside, or empty.
    """

    name: str
    value: Node
    initial: Node | None = None

    @property
    def variable(self) -> Variable:
        return Variable(self.name, self.value.schema)


@dataclass(frozen=True)
class Entry:
    """A name of a scope for a collection outside of it, each of whose rows enters at a round of its own.

    A row that says NULL or a negative number enters at round 0.
    """

    name: str
    input: Node
    round: Expression

    def __post_init__(self) -> None:
        if self.round.type != BIGINT:
            raise PlanError(f"an entry's round is {self.round.type}, not BIGINT")
        _check_expression("an entry", self.round, self.input.schema)


@dataclass(frozen=True)
class Recursive(Node):
    """The fixed point of `bindings`, and of it the binding called `result`.

    The schema of a `Variable` has the types of its binding's value; names and
    nullability may differ (a front end knows them only after the fixed point). A binding
    that nothing in the scope reads is not fed back: with entries and one such binding the
    rounds of the scope are priorities, and what has the least is done first.
    """

    bindings: tuple[Binding, ...]
    result: str
    limit: int | None = None
    on_limit: OnLimit = OnLimit.ERROR
    entries: tuple[Entry, ...] = ()
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        names = self._names
        if len(set(names)) != len(names):
            raise PlanError(f"a recursion binds a name twice: {', '.join(names)}")
        if self.result not in (binding.name for binding in self.bindings):
            raise PlanError(f"a recursion returns {self.result}, which it does not bind")
        if self.limit is not None and self.limit < 1:
            raise PlanError(f"a recursion's limit is {self.limit}")
        for binding in self.bindings:
            if binding.initial is not None and binding.initial.schema.types != binding.value.schema.types:
                raise PlanError(f"{binding.name} starts with other types than it goes on with")
        for outside in self._outside:
            if outside.free & self.bound:
                raise PlanError("what a recursion starts from refers to the recursion itself")

    @property
    def _outside(self) -> tuple[Node, ...]:
        """The collections that the scope takes in by other ways than being read."""
        initials = (binding.initial for binding in self.bindings if binding.initial is not None)
        return (*initials, *(entry.input for entry in self.entries))

    @cached_property
    def reads_itself(self) -> bool:
        """Whether any binding is fed back."""
        read = frozenset().union(*(binding.value.free for binding in self.bindings))
        return any(binding.name in read for binding in self.bindings)

    @property
    def _names(self) -> list[str]:
        return [binding.name for binding in self.bindings] + [entry.name for entry in self.entries]

    @cached_property
    def bound(self) -> frozenset[str]:
        return frozenset(self._names)

    @cached_property
    def free(self) -> frozenset[str]:
        return super().free - self.bound

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return next(b.value.schema for b in self.bindings if b.name == self.result)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (*(binding.value for binding in self.bindings), *self._outside)


def sources_of(plan: Node) -> set[Source]:
    """The sources that a plan reads."""
    found: set[Source] = set()
    seen: set[int] = set()
    stack = [plan]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Source):
            found.add(node)
        stack.extend(node.inputs)
    return found


def project(input: Node, indices: tuple[int, ...]) -> Node:
    """The given columns of `input`; `input` itself if that is all of them in order."""
    if indices == tuple(range(len(input.schema))):
        return input
    columns = tuple(input.schema.columns[i] for i in indices)
    return Map(input, tuple(ColumnRef(i, input.schema.types[i]) for i in indices), Schema(columns))


def antijoin(left: Node, right: Node, left_keys: tuple[int, ...]) -> Node:
    """The rows of `left` whose key is no row of `right`: all of them without those that meet one."""
    every = tuple(range(len(right.schema)))
    matched = Join(left, Threshold(right, Clamp.DISTINCT), left_keys, every)
    return Concat((left, Negate(project(matched, tuple(range(len(left.schema)))))))
