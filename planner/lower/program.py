"""A program of the relational IR, subqueries removed, to one engine plan.

Variables are called after the depth of the scopes they really lie in, and their place there
(`v0.1`), so that equal recursions are equal plans.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.expressions import ColumnRef
from engine.plan import Binding, Entry, Map, Node, Recursive, Variable
from engine.schema import Column, Schema
from planner.ir import (
    Aggregate,
    Attribute,
    Context,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    JoinKind,
    Operator,
    Prioritized,
    Program,
    Project,
    RecursiveRef,
    Scan,
    SetOp,
    SharedRef,
    Top,
    Unnest,
    Values,
    Window,
)
from planner.lower.aggregate import lower_aggregate
from planner.lower.join import lower_join
from planner.lower.lowered import Lowered, distinct, lowered, projected, taken
from planner.lower.multijoin import lower_relations, relations
from planner.lower.setops import lower_set_operation
from planner.lower.temporal import filtered, mapped
from planner.lower.top import lower_top
from planner.lower.unnest import lower_unnest
from planner.lower.values import lower_scan, lower_values, variable
from planner.lower.window import lower_window
from planner.scalars import conjuncts


def lower(program: Program) -> tuple[Node, Schema]:
    """The engine plan of the program, and the schema of its rows as the user named them."""
    result = projected(_Lowering(program).lower(program.root), [c.id for c in program.outputs])
    columns = tuple(
        Column(c.name, c.type, null) for c, null in zip(program.outputs, result.nullable, strict=True)
    )
    return _named(result.node, Schema(columns)), Schema(columns)


def _named(node: Node, schema: Schema) -> Node:
    if node.schema == schema:
        return node
    if isinstance(node, Map):
        return Map(node.input, node.expressions, schema)
    return Map(node, tuple(ColumnRef(i, type) for i, type in enumerate(schema.types)), schema)


@dataclass(frozen=True)
class _Bound:
    """A variable in scope: what the engine knows it by, how deep it lies, its columns, and what enters its
    scope, by name."""

    name: str
    depth: int
    columns: tuple[Attribute, ...]
    entries: dict[str, Entry]


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.variables: dict[int, _Bound] = {}
        self.shared: dict[tuple[int, frozenset[str]], Lowered] = {}
        self.free: dict[int, frozenset[int]] = {}

    def lower(self, operator: Operator) -> Lowered:
        match operator:
            case Scan():
                return lower_scan(operator)
            case Values():
                return lower_values(operator)
            case Project(input=input, items=items):
                return mapped(self.lower(input), [(attribute.id, e) for attribute, e in items])
            case Filter(input=input, predicate=predicate):
                return filtered(self.lower(input), conjuncts(predicate))
            case Join(kind=JoinKind.INNER):
                return self._inner(operator)
            case Join(left=left, right=right):
                return lower_join(operator, self.lower(left), self.lower(right))
            case Aggregate(input=input):
                return lower_aggregate(operator, self.lower(input))
            case Window(input=input):
                return lower_window(operator, self.lower(input))
            case Distinct(input=input):
                return distinct(projected(self.lower(input), [c.id for c in operator.columns]))
            case Unnest(input=input):
                return lower_unnest(operator, self.lower(input))
            case Top(input=input):
                return lower_top(operator, self.lower(input))
            case SetOp(left=left, right=right):
                return lower_set_operation(operator, self.lower(left), self.lower(right))
            case Context(input=input, renaming=renaming):
                return distinct(self._renamed(self.lower(input), renaming))
            case SharedRef(number=number, renaming=renaming):
                return self._renamed(self._definition(number), renaming)
            case RecursiveRef():
                return self._reference(operator)
            case Prioritized():
                return self._prioritized(operator)
            case Fixpoint():
                return self._fixpoint(operator)
        raise TypeError(f"{type(operator).__name__} cannot be lowered")

    def _inner(self, join: Join) -> Lowered:
        """An inner join, taken together with those below it where that may win; loops keep binary joins."""
        apart = relations(join)
        many = len(apart.leaves) > 2 and apart.are_connected
        if not many or any(self._free(leaf) for leaf in apart.leaves):
            return lower_join(join, self.lower(join.left), self.lower(join.right))
        return lower_relations(join, apart, [self.lower(leaf) for leaf in apart.leaves])

    def _renamed(self, input: Lowered, renaming: tuple[tuple[Attribute, int], ...]) -> Lowered:
        found = taken(input, input.positions(old for _, old in renaming))
        return replace(found, ids=tuple(a.id for a, _ in renaming) or found.ids)

    def _definition(self, number: int) -> Lowered:
        """A definition, once for every set of scopes that its variables lie in."""
        operator = self.program.definitions[number]
        names = frozenset(self.variables[v].name for v in self._free(operator))
        if (number, names) not in self.shared:
            self.shared[number, names] = self.lower(operator)
        return self.shared[number, names]

    def _reference(self, reference: RecursiveRef) -> Lowered:
        bound = self.variables[reference.variable]
        ids = [-1] * len(bound.columns)
        for column, position in zip(reference.columns, reference.positions, strict=True):
            ids[position] = column.id
        return taken(lowered(variable(bound.name, bound.columns), tuple(ids)), reference.positions)

    def _prioritized(self, prioritized: Prioritized) -> Lowered:
        """A name for the rows in the scope that they enter; they keep their key, whenever they come."""
        bound = self.variables[prioritized.variable]
        input = self.lower(prioritized.input)
        name = f"v{bound.depth}.entry{len(bound.entries)}"
        bound.entries[name] = Entry(name, input.node, input.positional(prioritized.round))
        return replace(input, node=Variable(name, input.node.schema))

    def _fixpoint(self, fixpoint: Fixpoint) -> Lowered:
        depth = 1 + max((self.variables[v].depth for v in self._free(fixpoint)), default=-1)
        entries: dict[str, Entry] = {}
        for i, binding in enumerate(fixpoint.bindings):
            columns = tuple(binding.value.attribute(id) for id in binding.outputs)
            self.variables[binding.variable] = _Bound(f"v{depth}.{i}", depth, columns, entries)
        values = [projected(self.lower(b.value), b.outputs) for b in fixpoint.bindings]
        bindings = tuple(
            Binding(self.variables[b.variable].name, value.node)
            for b, value in zip(fixpoint.bindings, values, strict=True)
        )
        name = bindings[fixpoint.result].name
        node = Recursive(bindings, name, fixpoint.limit, fixpoint.on_limit, tuple(entries.values()))
        return lowered(node, tuple(column.id for column in fixpoint.columns), values[fixpoint.result].key)

    def _free(self, operator: Operator) -> frozenset[int]:
        """The variables that an operator refers to and does not bind."""
        match operator:
            case RecursiveRef(variable=variable):
                return frozenset({variable})
            case Prioritized(input=input, variable=variable):
                return self._free(input) | {variable}
            case SharedRef(number=number):
                if number not in self.free:
                    self.free[number] = self._free(self.program.definitions[number])
                return self.free[number]
            case Fixpoint(bindings=bindings):
                bound = {binding.variable for binding in bindings}
                return frozenset().union(*(self._free(b.value) for b in bindings)) - bound
            case _:
                return frozenset().union(*(self._free(i) for i in operator.inputs))
