"""Lowers a program of the relational IR, without subqueries, to one engine plan.

Variables are named after the depth of their actual scope and their position in it (`v0.1`), so that equal
recursions are equal plans. A variable is a binding's value of the previous round; an operator that reads a
binding in the same round reads the node of its value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.errors import PlanError
from engine.plan.expressions import ColumnRef
from engine.plan.nodes import Entry, LoopBinding, Map, Node, Recursive, Variable
from engine.schema import Column, Schema
from planner import ir
from planner.ir.scalars import conjuncts
from planner.ir.waiting import waiting
from planner.limits import check_time
from planner.lower.aggregate import lower_aggregate
from planner.lower.equi_joins import lower_join
from planner.lower.first_rows import lower_nearest, lower_top
from planner.lower.leaves import lower_scan, lower_values, variable
from planner.lower.list_rows import lower_unnest
from planner.lower.lowered import NOBODY, Lowered, distinct, lowered, projected, taken
from planner.lower.many_joins import lower_relations, relations
from planner.lower.plan_sources import PlanSources
from planner.lower.setops import lower_set_operation
from planner.lower.time_filters import filtered_over_time, mapped_over_time
from planner.lower.waiting_rows import lower_waiting
from planner.lower.window_plans import lower_window


def lower(
    program: ir.RelationalProgram, sources: PlanSources | None = None, depth: int = 0
) -> tuple[Node, Schema]:
    """The engine plan of the program, and the schema of its rows under the user's names. `sources` are told
    which nodes each operator becomes. The plan is to stand in `depth` scopes."""
    lowering = _Lowering(program, sources or PlanSources(), depth)
    result = projected(lowering.lower(program.root), [c.id for c in program.outputs])
    columns = tuple(
        Column(c.name, c.type, null) for c, null in zip(program.outputs, result.nullable, strict=True)
    )
    node = _named(result.node, Schema(columns))
    lowering.sources.add_root(program, node)
    return node, Schema(columns)


def _named(node: Node, schema: Schema) -> Node:
    if node.schema == schema:
        return node
    if isinstance(node, Map):
        return Map(node.input, node.expressions, schema)
    return Map(node, tuple(ColumnRef(i, type) for i, type in enumerate(schema.types)), schema)


@dataclass(frozen=True)
class _Bound:
    """A variable in scope.

    It has the engine's `name`, the `depth` of its scope, its columns, the `entries` of that scope by name,
    and its value in the round once that is lowered.
    """

    name: str
    depth: int
    columns: tuple[ir.Attribute, ...]
    entries: dict[str, Entry]
    value: Lowered | None = None

    def read(self, is_current: bool) -> Lowered:
        """The variable's rows, in the order of its columns."""
        if not is_current:
            return lowered(variable(self.name, self.columns), tuple(column.id for column in self.columns))
        if self.value is None:
            raise PlanError(f"{self.name} is read in a round in which it has no rows yet")
        return self.value


_Use = tuple[int, bool]
"""A variable that an operator reads, and whether it reads the value of the same round."""


class _Lowering:
    def __init__(self, program: ir.RelationalProgram, sources: PlanSources, depth: int) -> None:
        self.program = program
        self.depth = depth
        self.sources = sources
        self.variables: dict[int, _Bound] = {}
        self.shared: dict[tuple[int, frozenset[Node]], Lowered] = {}
        self.uses: dict[int, frozenset[_Use]] = {}
        self.values: dict[Node, Node] = {}

    def lower(self, operator: ir.Relational) -> Lowered:
        check_time()
        with self.sources.of(operator) as below:
            result = self._lowered(operator)
            below.becomes(result.node)
        return result

    def _lowered(self, operator: ir.Relational) -> Lowered:
        match operator:
            case ir.TableScan():
                return lower_scan(operator)
            case ir.Values():
                return lower_values(operator)
            case ir.Project(input=input, items=items):
                return mapped_over_time(self.lower(input), [(attribute.id, e) for attribute, e in items])
            case ir.Selection(input=input, predicate=predicate):
                return filtered_over_time(self.lower(input), conjuncts(predicate))
            case ir.ThetaJoin(kind=ir.JoinKind.INNER):
                return self._inner(operator)
            case ir.ThetaJoin(kind=ir.JoinKind.SEMI, left=left) if (rows := waiting(operator)) is not None:
                left_rows, times = self.lower(left), self.lower(rows.newest.input)
                found = lower_waiting(rows, left_rows, times)
                return found or lower_join(operator, left_rows, self.lower(operator.right))
            case ir.ThetaJoin(left=left, right=right):
                return lower_join(operator, self.lower(left), self.lower(right))
            case ir.Aggregate(input=input):
                return lower_aggregate(operator, self.lower(input))
            case ir.Over(input=input):
                return lower_window(operator, self.lower(input))
            case ir.Distinct(input=input):
                return distinct(projected(self.lower(input), [c.id for c in operator.columns]))
            case ir.UnnestLists(input=input):
                return lower_unnest(operator, self.lower(input))
            case ir.Top(input=input):
                return lower_top(operator, self.lower(input))
            case ir.Nearest(left=left, right=right):
                return lower_nearest(operator, self.lower(left), self.lower(right))
            case ir.SetOp(left=left, right=right):
                return lower_set_operation(operator, self.lower(left), self.lower(right))
            case ir.Context(input=input, renaming=renaming):
                return distinct(self._renamed(self.lower(input), renaming))
            case ir.SharedRef(number=number, renaming=renaming):
                return self._renamed(self._definition(number), renaming)
            case ir.RecursiveRef():
                return self._reference(operator)
            case ir.Prioritized():
                return self._prioritized(operator)
            case ir.Fixpoint():
                return self._fixpoint(operator)
        raise TypeError(f"{type(operator).__name__} cannot be lowered")

    def _inner(self, join: ir.ThetaJoin) -> Lowered:
        """An inner join, together with the joins below it where that may win; loops keep binary joins."""
        apart = relations(join)
        many = len(apart.leaves) > 2 and apart.are_connected
        if not many or any(self._free(leaf) for leaf in apart.leaves):
            return lower_join(join, self.lower(join.left), self.lower(join.right))
        self.sources.together(join, apart.leaves)
        return lower_relations(join, apart, [self.lower(leaf) for leaf in apart.leaves])

    def _renamed(self, input: Lowered, renaming: tuple[tuple[ir.Attribute, int], ...]) -> Lowered:
        found = taken(input, input.positions(old for _, old in renaming))
        return replace(found, ids=tuple(a.id for a, _ in renaming) or found.ids)

    def _definition(self, number: int) -> Lowered:
        """A definition, lowered once for each assignment of its variables."""
        operator = self.program.definitions[number]
        read = frozenset(self.variables[v].read(is_current).node for v, is_current in self._uses(operator))
        if (number, read) not in self.shared:
            self.shared[number, read] = self.lower(operator)
        return self.shared[number, read]

    def _reference(self, reference: ir.RecursiveRef) -> Lowered:
        rows = self.variables[reference.variable].read(reference.is_current)
        ids = [NOBODY] * len(rows.ids)
        for column, position in zip(reference.columns, reference.positions, strict=True):
            ids[position] = column.id
        return taken(replace(rows, ids=tuple(ids)), reference.positions)

    def _prioritized(self, prioritized: ir.Prioritized) -> Lowered:
        """A name for the rows in the scope that they enter; they keep their key, whatever their round."""
        bound = self.variables[prioritized.variable]
        input = self.lower(prioritized.input)
        name = f"v{bound.depth}.entry{len(bound.entries)}"
        bound.entries[name] = Entry(name, input.node, input.positional(prioritized.round))
        return replace(input, node=Variable(name, input.node.schema))

    def _fixpoint(self, fixpoint: ir.Fixpoint) -> Lowered:
        depths = {bound.name: bound.depth for bound in self.variables.values()}
        depth = 1 + max((depths[name] for name in self._free(fixpoint)), default=self.depth - 1)
        entries: dict[str, Entry] = {}
        for i, binding in enumerate(fixpoint.bindings):
            columns = tuple(binding.value.attribute(id) for id in binding.outputs)
            self.variables[binding.variable] = _Bound(f"v{depth}.{i}", depth, columns, entries)
        bindings = tuple(self._binding(binding) for binding in fixpoint.bindings)
        name = bindings[fixpoint.result].name
        key = self.variables[fixpoint.bindings[fixpoint.result].variable].read(is_current=True).key
        node = Recursive(bindings, name, fixpoint.limit, fixpoint.on_limit, tuple(entries.values()))
        return lowered(node, tuple(column.id for column in fixpoint.columns), key)

    def _binding(self, binding: ir.RecursiveBinding) -> LoopBinding:
        """The binding, whose value later bindings can read; equal values are one node."""
        bound = self.variables[binding.variable]
        value = projected(self.lower(binding.value), binding.outputs)
        value = replace(value, node=self.values.setdefault(value.node, value.node))
        self.variables[binding.variable] = replace(bound, value=value)
        return LoopBinding(bound.name, value.node)

    def _free(self, operator: ir.Relational) -> frozenset[str]:
        """The engine's variables that the operator's plan refers to and does not bind."""
        read = (self.variables[v].read(is_current).node for v, is_current in self._uses(operator))
        return frozenset().union(*(node.free for node in read))

    def _uses(self, operator: ir.Relational) -> frozenset[_Use]:
        """The reads of variables that the operator does not bind."""
        match operator:
            case ir.RecursiveRef(variable=variable, is_current=is_current):
                return frozenset({(variable, is_current)})
            case ir.Prioritized(input=input, variable=variable):
                return self._uses(input) | {(variable, False)}
            case ir.SharedRef(number=number):
                if number not in self.uses:
                    self.uses[number] = self._uses(self.program.definitions[number])
                return self.uses[number]
            case ir.Fixpoint(bindings=bindings):
                bound = {binding.variable for binding in bindings}
                uses = frozenset().union(*(self._uses(b.value) for b in bindings))
                return frozenset((v, is_current) for v, is_current in uses if v not in bound)
            case _:
                return frozenset().union(*(self._uses(i) for i in operator.inputs))
