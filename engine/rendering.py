"""Plans into running operators.

A node is rendered in the innermost scope whose variables it refers to, once, whoever
asks; where an inner scope reads it, it enters. Reordering and dropping columns costs
nothing: a `Collection` names an operator and which of its words are the plan's columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from engine.codec import encode_rows
from engine.dataflow import Dataflow
from engine.dictionary import Dictionary
from engine.errors import PlanError
from engine.expressions import ColumnRef, Expression, columns_of, renumbered
from engine.interning import Intern
from engine.kernels.coding import Codes, codes_of
from engine.lowering import Method, method, rows_after, split_reduce
from engine.multijoin import MultiJoin
from engine.operators import functions, linear, reducers
from engine.operators.arrangement import (
    Arrangement,
    FloatsArrangement,
    SumsArrangement,
)
from engine.operators.entered import EnteredArrangement, Rows
from engine.operators.failures import FailureLog
from engine.operators.general import General, Reducer
from engine.operators.intern import intern
from engine.operators.join import Join as JoinOperator
from engine.operators.loop import EnterAt, Leave, Loop
from engine.operators.loop import Variable as VariableOperator
from engine.operators.multijoin import MultiJoin as MultiJoinOperator
from engine.operators.operator import Operator
from engine.operators.ordered import OrderedArrangement
from engine.operators.ordered import TopK as TopKOperator
from engine.operators.outermost_loop import OutermostLoop
from engine.operators.rebuild import Rebuild
from engine.operators.reduce import FloatSum, Sums
from engine.operators.reduce import Threshold as ThresholdOperator
from engine.operators.swept import SweptSums, SweptThreshold
from engine.paths import orders
from engine.plan import (
    Aggregate,
    Binding,
    Concat,
    Consolidate,
    Constant,
    Entry,
    Filter,
    FlatMap,
    Function,
    GroupBy,
    Inspect,
    Join,
    Map,
    Negate,
    Node,
    OnLimit,
    Ordering,
    Recursive,
    Reduce,
    Source,
    Threshold,
    TopK,
    Variable,
)
from engine.scalar import Program
from engine.schema import Kind, Schema
from engine.slots import SlotLayout

SomeOperator = TypeVar("SomeOperator", bound=Operator)


@dataclass(frozen=True)
class Collection:
    """Column c of a plan's node is word `columns[c]` of the operator's `width` words."""

    operator: Operator
    columns: tuple[int, ...]
    width: int

    @property
    def is_plain(self) -> bool:
        return self.columns == tuple(range(self.width))


def _plain(operator: Operator, width: int) -> Collection:
    return Collection(operator, tuple(range(width)), width)


class Scope:
    """Where operators are put: the outermost scope, or a loop's body."""

    def __init__(self, outer: Scope | None, bound: frozenset[str], depth: int) -> None:
        self.outer = outer
        self.bound = bound
        self.depth = depth
        self.collections: dict[Node, Collection] = {}

    def put(self, key: Hashable, make: Callable[[], SomeOperator]) -> SomeOperator:
        """The scope's operator known as `key`, made if there is none; one key, one kind of operator."""
        raise TypeError("a scope says where it puts operators")


class Outermost(Scope):
    def __init__(self, dataflow: Dataflow) -> None:
        super().__init__(None, frozenset(), 0)
        self._dataflow = dataflow

    def put(self, key: Hashable, make: Callable[[], SomeOperator]) -> SomeOperator:
        return self._dataflow.operator(key, make)  # type: ignore[return-value]


class Body(Scope):
    def __init__(self, outer: Scope, node: Recursive, loop: Loop) -> None:
        super().__init__(outer, node.bound, outer.depth + 1)
        self.loop = loop
        self.variables: dict[str, Collection] = {}
        self._operators: dict[Hashable, Operator] = {}

    def put(self, key: Hashable, make: Callable[[], SomeOperator]) -> SomeOperator:
        operator = self._operators.get(key)
        if operator is None:
            operator = self._operators[key] = make()
            self.loop.body.append(operator)
        return operator  # type: ignore[return-value]

    def enter(self, source: Operator) -> Operator:
        """`source`, an operator of the scope outside, inside."""

        def make() -> Operator:
            entry: Operator = linear.Enter([source])
            if isinstance(source, Arrangement | EnteredArrangement):
                entry = EnteredArrangement(source)
            self.loop.entries.append(entry)
            if source not in self.loop.inputs:
                self.loop.inputs.append(source)
            return entry

        return self.put(("enter", id(source)), make)


class Renderer:
    """Renders plans into one dataflow. `inputs` gets an `Input` for every source that is read."""

    def __init__(
        self, dataflow: Dataflow, dictionary: Dictionary, max_rounds: int, rebuild: Rebuild = Rebuild.AUTO
    ) -> None:
        self.inputs: dict[str, linear.Input] = {}
        self._dictionary = dictionary
        self._max_rounds = max_rounds
        self._rebuild = rebuild if dataflow.order.is_total else Rebuild.NEVER
        self._times = dataflow.order
        self._outermost = Outermost(dataflow)

    def render(self, node: Node) -> Collection:
        """The collection of a closed plan."""
        if node.free:
            raise PlanError(f"the plan refers to {', '.join(sorted(node.free))}, which no recursion binds")
        return self._collection(node, self._outermost)

    # Scopes

    def _home(self, node: Node, scope: Scope) -> Scope:
        while scope.outer is not None and not node.free & scope.bound:
            scope = scope.outer
        return scope

    def _bring(self, operator: Operator, home: Scope, scope: Scope) -> Operator:
        """An operator of `home`, as `scope` inside of it reads it."""
        if home is scope:
            return operator
        if not isinstance(scope, Body) or scope.outer is None:
            raise PlanError("a collection is read outside of its scope")
        return scope.enter(self._bring(operator, home, scope.outer))

    def _collection(self, node: Node, scope: Scope) -> Collection:
        home = self._home(node, scope)
        collection = home.collections.get(node)
        if collection is None:
            collection = home.collections[node] = self._build(node, home)
        if home is self._outermost and home is not scope:
            return _plain(self._rows(node, scope), len(node.schema))
        return replace(collection, operator=self._bring(collection.operator, home, scope))

    def _rows(self, node: Node, scope: Scope) -> Operator:
        """A node of the outermost scope, as `scope` reads it: arranged, so that a rebuild has all of it."""
        outer = scope.outer
        if outer is not None and outer is not self._outermost:
            return self._bring(self._rows(node, outer), outer, scope)
        arranged = self._arranged(node, tuple(range(len(node.schema))), scope)
        return scope.put(("rows", node), lambda: Rows(arranged))

    def _keyed_arrangement(self, node: Node, keys: tuple[int, ...], scope: Scope) -> Operator:
        """The node's columns arranged, `keys` first and then the others in order."""
        return self._arranged(node, _keyed(tuple(range(len(node.schema))), keys), scope)

    def _arranged(self, node: Node, order: tuple[int, ...], scope: Scope) -> Operator:
        """The columns `order` of a node arranged in that order, as `scope` reads them."""
        home = self._home(node, scope)
        return self._bring(self._arrangement(node, order, home), home, scope)

    def _arrangement(self, node: Node, order: tuple[int, ...], scope: Scope) -> Arrangement:
        """The columns `order` of a node, arranged in that order in `scope` itself."""
        collection = self._collection(node, scope)
        columns = tuple(collection.columns[c] for c in order)
        return scope.put(
            ("arrange", node, order),
            lambda: Arrangement(collection.operator, columns, collection.width, scope.depth),
        )

    # Nodes

    def _build(self, node: Node, scope: Scope) -> Collection:
        match node:
            case Source(name=name, schema=schema):
                self.inputs[name] = scope.put(node, linear.Input)
                return _plain(self.inputs[name], len(schema))
            case Constant():
                return _plain(scope.put(node, lambda: self._constant(node)), len(node.schema))
            case Variable(name=name) if isinstance(scope, Body):
                return scope.variables[name]
            case Map():
                return self._map(node, scope)
            case Filter():
                return self._filter(node, scope)
            case FlatMap(input=input):
                return self._flat_map(node, input, scope)
            case Concat():
                return self._concat(node, scope)
            case Negate(input=input):
                source = self._collection(input, scope)
                return replace(source, operator=scope.put(node, lambda: linear.Negate([source.operator])))
            case Join() | MultiJoin():
                return self._joined(node, tuple(range(len(node.schema))), scope)
            case Reduce():
                return self._reduce(node, scope)
            case GroupBy():
                return self._group_by(node, scope)
            case Consolidate():
                return self._consolidate(node, scope)
            case Inspect():
                return self._inspect(node, scope)
            case TopK() if not self._times.is_total:
                return self._top_at_times(node, scope)
            case Threshold(input=input, clamp=clamp):
                arrangement = self._arrangement(input, tuple(range(len(input.schema))), scope)
                kind = ThresholdOperator if self._times.is_total else SweptThreshold
                operator = scope.put(node, lambda: kind(arrangement, clamp))
                return _plain(operator, len(input.schema))
            case TopK():
                return self._top(node, scope)
            case Recursive():
                return self._recursive(node, scope)
            case Intern():
                return self._intern(node, scope)
            case _:
                raise PlanError(f"{type(node).__name__} is no node of a plan")

    def _constant(self, node: Constant) -> Operator:
        operator = linear.Input()
        words = encode_rows(node.rows, node.schema, self._dictionary)
        times = np.zeros((2, len(node.rows)), np.int64)
        times[1] = 1
        operator.pending = np.ascontiguousarray(np.concatenate((words, times)))
        return operator

    def _map(self, node: Map, scope: Scope) -> Collection:
        expressions = node.expressions
        if isinstance(node.input, Join | MultiJoin):
            needed = tuple(sorted(frozenset().union(*map(columns_of, expressions))))
            source = self._joined(node.input, needed, scope)
            expressions = tuple(renumbered(e, {c: i for i, c in enumerate(needed)}) for e in expressions)
        else:
            source = self._collection(node.input, scope)
        words = [source.columns[e.index] for e in expressions if isinstance(e, ColumnRef)]
        if len(words) == len(expressions):
            return replace(source, columns=tuple(words))
        program = self._program(expressions, source)
        operator = scope.put(node, lambda: linear.Map(source.operator, program, FailureLog(self._dictionary)))
        return _plain(operator, len(expressions))

    def _filter(self, node: Filter, scope: Scope) -> Collection:
        source = self._collection(node.input, scope)
        program = self._program((node.predicate,), source)
        operator = scope.put(
            node, lambda: linear.Filter(source.operator, program, FailureLog(self._dictionary))
        )
        return replace(source, operator=operator)

    def _flat_map(self, node: FlatMap, input: Node, scope: Scope) -> Collection:
        source = self._collection(input, scope)
        operator = scope.put(
            node, lambda: functions.FlatMap(source.operator, source.columns, node, self._dictionary)
        )
        return _plain(operator, len(node.schema))

    def _consolidate(self, node: Consolidate, scope: Scope) -> Collection:
        source = self._select(self._collection(node.input, scope), node.input, scope)
        return _plain(scope.put(node, lambda: linear.Consolidate([source])), len(node.schema))

    def _inspect(self, node: Inspect, scope: Scope) -> Collection:
        source = self._select(self._collection(node.input, scope), node.input, scope)
        operator = scope.put(node, lambda: functions.Inspect(source, node, self._times, self._dictionary))
        return _plain(operator, len(node.schema))

    def _program(self, expressions: tuple[Expression, ...], source: Collection) -> Program:
        columns = dict(enumerate(source.columns))
        return Program(tuple(renumbered(e, columns) for e in expressions), self._dictionary)

    def _concat(self, node: Concat, scope: Scope) -> Collection:
        parts = [self._collection(part, scope) for part in node.parts]
        operators = [self._select(part, of, scope) for part, of in zip(parts, node.parts, strict=True)]
        return _plain(scope.put(node, lambda: linear.Concat(operators)), len(node.schema))

    def _select(self, collection: Collection, node: Node, scope: Scope) -> Operator:
        """An operator whose words are the node's columns in order."""
        if collection.is_plain:
            return collection.operator
        return scope.put(
            ("select", node),
            lambda: linear.Select(collection.operator, collection.columns, collection.width),
        )

    def _joined(self, node: Join | MultiJoin, needed: tuple[int, ...], scope: Scope) -> Collection:
        """The given columns of a join."""
        return (
            self._join(node, needed, scope)
            if isinstance(node, Join)
            else self._multijoin(node, needed, scope)
        )

    def _join(self, node: Join, needed: tuple[int, ...], scope: Scope) -> Collection:
        left = self._keyed_arrangement(node.left, node.left_keys, scope)
        right = self._keyed_arrangement(node.right, node.right_keys, scope)
        split = len(node.left.schema)
        left_places = _places(split, node.left_keys)
        right_places = _places(len(node.right.schema), node.right_keys)
        columns = tuple((0, left_places[c]) if c < split else (1, right_places[c - split]) for c in needed)
        operator = scope.put(
            ("join", node, needed), lambda: JoinOperator(left, right, len(node.left_keys), columns)
        )
        return _plain(operator, len(needed))

    def _intern(self, node: Intern, scope: Scope) -> Collection:
        source = self._collection(node.input, scope)
        words = len(node.schema)
        ids = intern(
            scope.put,
            node,
            source.operator,
            source.columns,
            source.width,
            scope.depth,
            self._max_rounds,
            self._times.is_total,
        )
        return Collection(ids, (*range(1, words), 0), words)

    def _multijoin(self, node: MultiJoin, needed: tuple[int, ...], scope: Scope) -> Collection:
        arrangements = {
            (part, order): self._arranged(part, order, scope)
            for part, part_orders in orders(node).items()
            for order in part_orders
        }
        attributes = [attribute for row in node.attributes for attribute in row]
        wanted = tuple(sorted({attributes[c] for c in needed}))
        operator = scope.put(
            ("multijoin", node, wanted),
            lambda: MultiJoinOperator(node, wanted, arrangements),  # type: ignore[arg-type]
        )
        return Collection(operator, tuple(wanted.index(attributes[c]) for c in needed), len(wanted))

    # The first rows of groups

    def _top(self, node: TopK, scope: Scope) -> Collection:
        if node.limit is None:
            return self._collection(rows_after(node), scope)
        limit = node.limit
        keys = tuple(dict.fromkeys(node.keys))
        order: dict[int, Codes] = {}
        for ordering in map(Ordering._make, node.order):
            if ordering.column not in keys:
                order.setdefault(ordering.column, _codes(node.schema, ordering))
        rest = tuple(c for c in range(len(node.schema)) if c not in keys and c not in order)
        source = self._ordered(node.input, keys, tuple(order.items()), rest, scope)
        operator = scope.put(node, lambda: TopKOperator(source, len(keys), node.offset, limit))
        places = {column: place for place, column in enumerate((*keys, *order, *rest))}
        return Collection(operator, tuple(places[c] for c in range(len(places))), len(places))

    def _ordered(
        self,
        node: Node,
        keys: tuple[int, ...],
        order: tuple[tuple[int, Codes], ...],
        rest: tuple[int, ...],
        scope: Scope,
    ) -> OrderedArrangement:
        """The columns `keys`, those of `order` with their codes, and `rest` of a node, in order."""
        collection = self._collection(node, scope)
        words = collection.columns
        return scope.put(
            ("ordered", node, keys, order, rest),
            lambda: OrderedArrangement(
                collection.operator,
                tuple(words[k] for k in keys),
                tuple((words[c], codes) for c, codes in order),
                tuple(words[c] for c in rest),
                collection.width,
                scope.depth,
                self._dictionary,
            ),
        )

    # Reduces

    def _reduce(self, node: Reduce, scope: Scope) -> Collection:
        split = split_reduce(node)
        if not self._times.is_total and (split is not node or not _is_sums(node)):
            reducer = reducers.aggregated(node, self._dictionary)
            return self._general(node, node.input, node.keys, reducer, len(node.aggregates), scope)
        if split is not node:
            return self._collection(split, scope)
        width = len(node.schema)
        if _is_sums(node):
            return _plain(self._sums(node, scope), width)
        return _plain(self._single(node, node.aggregates[0], scope), width)

    def _group_by(self, node: GroupBy, scope: Scope) -> Collection:
        reducer = functions.reducer(node, self._dictionary)
        return self._general(node, node.input, node.keys, reducer, len(node.results), scope)

    def _general(
        self, node: Node, input: Node, keys: tuple[int, ...], reducer: Reducer, words: int, scope: Scope
    ) -> Collection:
        """The groups of `input`, reduced to rows of the key and `words` more words."""
        order = _keyed(tuple(range(len(input.schema))), keys)
        source = self._arrangement(input, order, scope)
        operator = scope.put(node, lambda: General(source, len(keys), reducer, words))
        return _plain(operator, len(keys) + words)

    def _top_at_times(self, node: TopK, scope: Scope) -> Collection:
        """A top-k whose rows come with the key first, put into the node's order again."""
        width = len(node.schema)
        order = _keyed(tuple(range(width)), node.keys)
        reducer = reducers.first(node, self._dictionary)
        found = self._general(node, node.input, node.keys, reducer, width - len(node.keys), scope)
        return replace(found, columns=tuple(order.index(c) for c in range(width)))

    def _single(self, node: Reduce, aggregate: Aggregate, scope: Scope) -> Operator:
        """A reduce of one aggregate that is not accumulated in words."""
        argument = aggregate.argument or 0
        if method(aggregate, node.input.schema) is Method.FLOATS:
            floats = self._floats(node, argument, scope)
            return scope.put(node, lambda: FloatSum(floats, aggregate.function is Function.AVG))
        codes = _codes(node.input.schema, Ordering(argument, aggregate.function is Function.MAX))
        ordered = self._ordered(node.input, node.keys, ((argument, codes),), (), scope)
        return scope.put(node, lambda: TopKOperator(ordered, len(node.keys), 0, 1))

    def _floats(self, node: Reduce, argument: int, scope: Scope) -> Arrangement:
        collection = self._collection(node.input, scope)
        keys = tuple(collection.columns[k] for k in node.keys)
        word = collection.columns[argument]
        return scope.put(
            ("floats", node.input, node.keys, argument),
            lambda: FloatsArrangement(collection.operator, keys, word, collection.width, scope.depth),
        )

    def _sums(self, node: Reduce, scope: Scope) -> Operator:
        collection = self._collection(node.input, scope)
        layout = SlotLayout(node, collection.columns)
        keys = tuple(collection.columns[k] for k in node.keys)
        source = scope.put(
            ("sums", node.input, node.keys, layout.slots),
            lambda: SumsArrangement(collection.operator, keys, collection.width, scope.depth, layout.slots),
        )
        kind = Sums if self._times.is_total else SweptSums
        labels = tuple(f"{a.function.value}, whose result is {a.type}" for a in node.aggregates)
        return scope.put(
            node,
            lambda: kind(source, layout.finish, labels, FailureLog(self._dictionary)),
        )

    # Recursion

    def _recursive(self, node: Recursive, scope: Scope) -> Collection:
        key = ("loop", node.bindings, node.limit, node.on_limit, node.entries)
        loop = scope.put(key, lambda: self._loop(node, scope))
        index = next(i for i, binding in enumerate(node.bindings) if binding.name == node.result)
        return _plain(scope.put(node, lambda: Leave(loop, index)), len(node.schema))

    def _loop(self, node: Recursive, scope: Scope) -> Loop:
        read = frozenset().union(*(binding.value.free for binding in node.bindings))
        limit = node.limit or (self._max_rounds if node.reads_itself else sys.maxsize)
        on_limit = node.on_limit if node.limit is not None else OnLimit.ERROR
        outermost = scope is self._outermost
        loop = (
            OutermostLoop(node.result, limit, on_limit, self._rebuild)
            if outermost
            else Loop(node.result, limit, on_limit)
        )
        body = Body(scope, node, loop)
        for entry in node.entries:
            if entry.name in read:
                body.variables[entry.name] = self._entry(entry, body)
        for binding in node.bindings:
            variable = self._variable(binding, body, limit) if binding.name in read else None
            loop.variables.append(variable)
            if variable is not None:
                body.variables[binding.name] = _plain(variable, len(binding.value.schema))
        for binding in node.bindings:
            value = self._collection(binding.value, body)
            loop.values.append(self._select(value, binding.value, body))
        if isinstance(loop, OutermostLoop):
            loop.complete([len(binding.value.schema) for binding in node.bindings])
        return loop

    def _variable(self, binding: Binding, body: Body, limit: int) -> VariableOperator:
        """What a binding was in the round before, put into `body`."""
        start: Operator | None = None
        if binding.initial is not None:
            start = self._select(self._collection(binding.initial, body), binding.initial, body)
        return body.put(("variable", binding.name), lambda: VariableOperator(start, limit))

    def _entry(self, entry: Entry, body: Body) -> Collection:
        """A collection of a scope outside of `body` whose rows enter it at rounds of their own."""
        source = self._collection(entry.input, body)
        program = self._program((entry.round,), source)
        failures = FailureLog(self._dictionary)
        operator = body.put(("entry", entry), lambda: EnterAt(source.operator, program, failures, body.loop))
        return replace(source, operator=operator)


def _is_sums(node: Reduce) -> bool:
    """Whether a reduce that needs no split accumulates all that it gives."""
    return not node.aggregates or method(node.aggregates[0], node.input.schema) is Method.SUMS


def _codes(schema: Schema, ordering: Ordering) -> Codes:
    """The codes of the words by which a column is ordered."""
    is_text = schema.types[ordering.column].kind is Kind.TEXT
    return codes_of(is_text, ordering.descending, ordering.nulls_first)


def _keyed(columns: tuple[int, ...], keys: tuple[int, ...]) -> tuple[int, ...]:
    """The words of an arrangement: those of the keys, then those of the other columns."""
    others = (word for c, word in enumerate(columns) if c not in keys)
    return (*(columns[k] for k in keys), *others)


def _places(width: int, keys: tuple[int, ...]) -> dict[int, int]:
    """Where each of `width` columns is among the words of an arrangement by `keys`."""
    order = _keyed(tuple(range(width)), keys)
    return {column: place for place, column in reversed(tuple(enumerate(order)))}
