"""Collections: bags of rows that change, and their transformations.

A collection is a plan; nothing runs until it has an output. Equal plans share one operator, and all readers
share an arrangement of a collection by a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engine.api.flow import Flow, Probe
from engine.api.group_functions import Aggregator, Descending, PythonFunction, count, max_, min_, sum_
from engine.api.outputs import Output
from engine.api.symbolic_rows import Row, as_type, columns, schema_of, traced
from engine.errors import PlanError
from engine.plan.expressions import ColumnRef
from engine.plan.multijoins import multi_join
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Consolidate,
    Entry,
    Filter,
    FlatMap,
    Function,
    GroupBy,
    Inspect,
    Join,
    LoopBinding,
    Map,
    Negate,
    Node,
    OnLimit,
    Ordering,
    Recursive,
    Reduce,
    Threshold,
    TopK,
    Variable,
    antijoin,
    project,
)
from engine.plan.row_ids import DEFAULT_HASH, IdHash, intern_rows
from engine.schema import BIGINT, DOUBLE, Schema

Key = str | Sequence[str]
"""Columns by name."""
On = str | list[str] | tuple[Key, Key] | tuple[()]
"""A name, or a list of names, that both sides have; or a pair, the left's and the right's; or none."""
RowFunction = Callable[..., Any] | PythonFunction


class Collection:
    """A bag of rows at every time."""

    def __init__(self, flow: Flow, node: Node) -> None:
        self.flow = flow
        self.node = node

    @property
    def schema(self) -> Schema:
        """The columns of the rows."""
        return self.node.schema

    def __repr__(self) -> str:
        shown = ", ".join(f"{column.name} {column.type}" for column in self.schema.columns)
        return f"Collection({shown})"

    # Row by row

    def map(self, function: RowFunction) -> Collection:
        """Each row becomes the row that the function returns."""
        if isinstance(function, PythonFunction):
            call = function.function
            return self._of(FlatMap(self.node, lambda *row: (_tuple(call(*row)),), function.schema))
        return self._of(_mapped(self.node, traced(function, Row(self.schema))))

    def filter(self, function: RowFunction) -> Collection:
        """The rows for which the function is true."""
        if isinstance(function, PythonFunction):
            call = function.function
            return self._of(FlatMap(self.node, lambda *row: (row,) if call(*row) else (), self.schema))
        (predicate,) = traced(function, Row(self.schema))
        return self._of(Filter(self.node, predicate.expression))

    def flat_map(self, function: RowFunction) -> Collection:
        """Each row becomes the rows that the function returns; a compiled one returns equally many for every
        row."""
        if isinstance(function, PythonFunction):
            call = function.function
            return self._of(FlatMap(self.node, lambda *row: map(_tuple, call(*row)), function.schema))
        rows = [columns(made) for made in function(Row(self.schema))]
        return self._of(Concat(tuple(_mapped(self.node, row) for row in rows)))

    def select(self, *names: str) -> Collection:
        """Some columns, in this order."""
        return self._of(project(self.node, self._columns(names)))

    def inspect(self, function: Callable[[tuple, Any, int], object]) -> Collection:
        """The same collection; the function is called with (row, time, diff) of every change that passes.

        Inside scopes a time is (time, round, ...). The function sees changes when they are computed, before
        they are published.
        """
        return self._of(Inspect(self.node, function))

    def consolidate(self) -> Collection:
        """The same collection; changes of equal rows and times that pass together are added up."""
        return self._of(Consolidate(self.node))

    # Several collections

    def concat(self, *others: Collection) -> Collection:
        """All rows of all collections: frequencies are added."""
        return self._of(Concat((self.node, *(other.node for other in others))))

    def negate(self) -> Collection:
        """The same rows with the signs of their frequencies inverted."""
        return self._of(Negate(self.node))

    def union(self, other: Collection) -> Collection:
        """Every row with the greater of its two frequencies."""
        return self.except_(other).concat(other)

    def intersect(self, other: Collection) -> Collection:
        """Every row with the lesser of its two frequencies."""
        return self.concat(self.except_(other).negate())

    def except_(self, other: Collection) -> Collection:
        """Every row with its frequency here minus the other, if that is positive."""
        return self._of(Threshold(Concat((self.node, Negate(other.node))), Clamp.POSITIVE))

    def join(self, other: Collection, on: On = (), select: Callable[..., Any] | None = None) -> Collection:
        """The pairs of rows whose keys are equal; None equals None. Frequencies multiply.

        `select` makes a row of both; without it the result has all columns of the left, and those of the
        right that are not keys. Without `on` every row meets every other.
        """
        left, right = self._on(other, on)
        return self._joined(Join(self.node, other.node, left, right), select)

    def join_many(
        self, others: Sequence[Collection], equal: Iterable[Iterable[tuple[int, str]]], select: Any = None
    ) -> Collection:
        """Join many collections at once, without storing intermediate results.

        The collections are numbered, this one 0 and the others from 1. `equal` has classes of (number,
        column) that hold the same value. `select` takes a row of each; without it the result has all columns.
        """
        every = [self, *others]
        classes = [[(n, every[n]._columns((name,))[0]) for n, name in same] for same in equal]
        node = multi_join([one.node for one in every], classes)
        if select is None:
            return self._of(node)
        starts = [sum(len(one.schema) for one in every[:n]) for n in range(len(every))]
        rows = [Row(one.schema, start) for one, start in zip(every, starts, strict=True)]
        return self._of(_mapped(node, traced(select, *rows)))

    def semijoin(self, other: Collection, on: On) -> Collection:
        """The rows whose key exists in the other collection."""
        left, right = self._on(other, on)
        keys = Threshold(project(other.node, right), Clamp.DISTINCT)
        matched = Join(self.node, keys, left, tuple(range(len(right))))
        return self._of(project(matched, tuple(range(len(self.schema)))))

    def antijoin(self, other: Collection, on: On) -> Collection:
        """The rows whose key does not exist in the other collection."""
        left, right = self._on(other, on)
        return self._of(antijoin(self.node, project(other.node, right), left))

    def arrange_by(self, key: Key) -> Arranged:
        """The collection with an index by a key, which all readers share."""
        return Arranged(self, self._columns(key))

    # Groups

    def reduce(
        self, by: Key, function: PythonFunction | None = None, /, **aggregates: Aggregator
    ) -> Collection:
        """A row a group: the columns `by`, then the aggregates; or the rows that a `python` function returns.

        An empty group has no row.
        """
        keys = self._columns(by)
        if function is not None:
            return self._of(GroupBy(self.node, keys, function.function, function.schema))
        made = tuple(self._aggregate(name, aggregator) for name, aggregator in aggregates.items())
        return self._of(Reduce(self.node, keys, made))

    def count(self, by: Key = (), name: str = "count") -> Collection:
        """The number of rows of each group."""
        return self.reduce(by, **{name: count()})

    def sum(self, by: Key, column: str) -> Collection:
        """The sum of a column over each group, under the column's name."""
        return self.reduce(by, **{column: sum_(column)})

    def min(self, by: Key, column: str) -> Collection:
        """The least value of a column in each group, under the column's name."""
        return self.reduce(by, **{column: min_(column)})

    def max(self, by: Key, column: str) -> Collection:
        """The greatest value of a column in each group, under the column's name."""
        return self.reduce(by, **{column: max_(column)})

    def distinct(self) -> Collection:
        """Every row whose frequency is positive, once."""
        return self._of(Threshold(self.node, Clamp.DISTINCT))

    def threshold(self, function: Callable[[int], int]) -> Collection:
        """Every row, as often as a Python function of its frequency says."""

        def group(key: tuple, rows: list[tuple[tuple, int]]) -> Iterable[tuple[tuple, int]]:
            return [((), function(frequency)) for _, frequency in rows]

        return self._of(GroupBy(self.node, tuple(range(len(self.schema))), group, Schema(())))

    def top_k(
        self, k: int, by: Key = (), order: Iterable[str | Descending] = (), offset: int = 0
    ) -> Collection:
        """The first k rows of each group by `order`, after `offset` rows; ties are broken by the whole
        row."""
        orderings = tuple(
            Ordering(self._columns((given.column,))[0], True)
            if isinstance(given, Descending)
            else Ordering(self._columns((given,))[0])
            for given in order
        )
        return self._of(TopK(self.node, self._columns(by), orderings, k, offset))

    def intern(self, *names: str, hash: IdHash = DEFAULT_HASH) -> Collection:
        """The distinct rows, of the named columns or of all, each with a unique number as `id`.

        An id is a hash of its row; of rows with the same hash the least gets it, and the others get other
        hashes. So ids depend only on the existing rows. The rows are stored once more, in 24 bytes and 8 a
        column; a change costs a lookup for each of its rows, and more only if hashes collide.
        """
        return self._of(intern_rows(self.node, self._columns(names) if names else None, hash))

    # Scopes

    def iterate(self, body: Callable[[Collection], Collection], rounds: int | None = None) -> Collection:
        """Apply `body` again and again, starting from this collection, to a fixed point or `rounds` times.

        Collections from outside are the same in every round. An advance that finds no fixed point raises.
        """
        variable = Variable(self.flow.fresh_name("x"), self.schema)
        value = body(self._of(variable)).node
        on_limit = OnLimit.ERROR if rounds is None else OnLimit.RETURN
        return self._of(
            Recursive((LoopBinding(variable.name, value, self.node),), variable.name, rounds, on_limit)
        )

    def prioritize(
        self, priority: Callable[..., Any], body: Callable[[Collection], Collection]
    ) -> Collection:
        """`body` of this collection, evaluated by priority: rows with the least number enter first.

        The result is the same as without priorities. The priority is a coordinate of its own: what `body`
        iterates reaches its fixed point for each priority, starting from that of the one before. To let rows
        into a single loop late, when most of its work is done, see `Scope.enter_at`.
        """
        (round,) = traced(priority, Row(self.schema))
        entry = Variable(self.flow.fresh_name("p"), self.schema)
        value = body(self._of(entry)).node
        binding = LoopBinding(self.flow.fresh_name("x"), value)
        entries = (Entry(entry.name, self.node, as_type(round, BIGINT).expression),)
        return self._of(Recursive((binding,), binding.name, entries=entries))

    # Outside

    def output(self) -> Output:
        """Maintain the collection, and keep its history."""
        name = self.flow.fresh_name("output ")
        self.flow.engine.create_view(name, self.node)
        return Output(self.flow, name, self.schema)

    def probe(self) -> Probe:
        """A handle that knows which times of the collection are complete."""
        return Probe(self.flow)

    # Internals

    def _of(self, node: Node) -> Collection:
        return Collection(self.flow, node)

    def _columns(self, names: Key) -> tuple[int, ...]:
        known = self.schema.names
        for name in (chosen := (names,) if isinstance(names, str) else tuple(names)):
            if name not in known:
                raise PlanError(f"there is no column {name} among {', '.join(known)}")
        return tuple(known.index(name) for name in chosen)

    def _on(self, other: Collection, on: On) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if isinstance(on, str | list) or not on:
            on = (on, on)
        if len(on) != 2:
            raise PlanError(f"{on!r} is neither a column nor a pair of keys")
        return self._columns(on[0]), other._columns(on[1])

    def _joined(self, join: Join, select: Callable[..., Any] | None) -> Collection:
        split = len(join.left.schema)
        if select is not None:
            rows = (Row(join.left.schema), Row(join.right.schema, split))
            return self._of(_mapped(join, traced(select, *rows)))
        others = (split + c for c in range(len(join.right.schema)) if c not in join.right_keys)
        return self._of(project(join, (*range(split), *others)))

    def _aggregate(self, name: str, aggregator: Aggregator) -> AggregateSpec:
        function = aggregator.function
        argument = None if aggregator.column is None else self._columns(aggregator.column)[0]
        type = BIGINT if argument is None else self.schema.types[argument]
        if function is Function.COUNT:
            type = BIGINT
        elif function is Function.AVG:
            type = DOUBLE
        return AggregateSpec(function, argument, type, name)


class Arranged:
    """A collection with an index by a key."""

    def __init__(self, collection: Collection, key: tuple[int, ...]) -> None:
        self.collection = collection
        self.key = key

    def join_core(self, other: Arranged, select: Callable[..., Any] | None = None) -> Collection:
        """The pairs of rows with equal keys, as in `Collection.join`, read from both indices."""
        join = Join(self.collection.node, other.collection.node, self.key, other.key)
        return self.collection._joined(join, select)


def _mapped(node: Node, made: list) -> Node:
    if all(isinstance(part.expression, ColumnRef) for part in made):
        schema = schema_of(made)
        places = tuple(part.expression.index for part in made)
        if places == tuple(range(len(node.schema))) and schema.names == node.schema.names:
            return node
    return Map(node, tuple(part.expression for part in made), schema_of(made))


def _tuple(made: object) -> tuple:
    return made if isinstance(made, tuple) else (made,)
