"""The dependent join: a correlated query planned against a context, rule by rule.

`apply(context, query)` has a row for each row of the context and each row of the query for it: the context's
columns, then the query's. The context goes down through the operators until the query no longer depends on
it; on its way it joins the keys of every operator that groups, counts or compares rows. If both sides of an
operator depend on it, each gets a copy, and the copies are joined by equality (NULL to NULL).

Inside a recursion that is correlated as a whole, every variable carries the context's columns; `carried` has
their current numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from engine.plan.expressions import ColumnRef, Literal, Op
from planner import ir
from planner.ir.column_numbers import Numbers
from planner.ir.renumber import renumbered
from planner.ir.rewrite import identity, map_expressions
from planner.ir.scalars import TRUE, call, conjoin, null_safe

Carried = Mapping[int, tuple[int, ...]]
"""The numbers of the context's columns that go with each variable of a correlated recursion."""


@dataclass(frozen=True)
class Outer:
    """The context against which a query is planned."""

    context: ir.Relational
    carried: Carried


class Host(Protocol):
    """The methods of the decorrelation pass that the rules use."""

    numbers: Numbers

    def plain(self, operator: ir.Relational, carried: Carried) -> ir.Relational: ...

    def filtered(self, input: ir.Relational, predicate: ir.Expression, carried: Carried) -> ir.Relational: ...

    def projected(
        self, input: ir.Relational, items: tuple[ir.Item, ...], carried: Carried
    ) -> ir.Relational: ...

    def joined(self, join: ir.ThetaJoin, carried: Carried) -> ir.Relational: ...

    def lateral(self, join: ir.ThetaJoin, left: ir.Relational, carried: Carried) -> ir.Relational: ...

    def definition(self, number: int) -> ir.Relational: ...


def with_outer(query: ir.Relational, names: Mapping[int, int]) -> ir.Relational:
    """The query with its references to outer columns renumbered."""
    return map_expressions(
        query, lambda e: ColumnRef(names.get(e.index, e.index), e.type) if isinstance(e, ColumnRef) else None
    )


class DependentJoin:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.numbers = host.numbers
        self.shared: dict[int, frozenset[int]] = {}

    def apply(self, outer: Outer, query: ir.Relational) -> ir.Relational:
        context = outer.context
        if query == ir.UNIT:
            return context
        if not self.depends(outer, query):
            return ir.ThetaJoin(ir.JoinKind.INNER, context, self.host.plain(query, {}), TRUE)
        match query:
            case ir.Selection(input=input, predicate=predicate):
                return self.host.filtered(self.apply(outer, input), predicate, outer.carried)
            case ir.Project(input=input, items=items):
                every = (*identity(context.columns), *items)
                return self.host.projected(self.apply(outer, input), every, outer.carried)
            case ir.Distinct(input=input):
                return ir.Distinct(self.apply(outer, input))
            case ir.Prioritized(input=input) | ir.UnnestLists(input=input):
                return replace(query, input=self.apply(outer, input))
            case ir.Top(input=input, keys=keys):
                groups = (*(c.id for c in context.columns), *keys)
                return replace(query, input=self.apply(outer, input), keys=groups)
            case ir.ThetaJoin():
                return self._join(outer, query)
            case ir.Nearest():
                return self._nearest(outer, query)
            case ir.Aggregate():
                return self._aggregate(outer, query)
            case ir.Over(input=input, keys=keys):
                context_keys = tuple(c.id for c in context.columns)
                return replace(query, input=self.apply(outer, input), keys=(*context_keys, *keys))
            case ir.SetOp():
                return self._set_operation(outer, query)
            case ir.SharedRef(number=number, renaming=renaming):
                copy, names = renumbered(self.host.definition(number), self.numbers)
                items = tuple((a, copy.attribute(names[old]).ref) for a, old in renaming)
                return self.apply(outer, ir.Project(copy, items))
            case ir.Fixpoint():
                return self._fixpoint(outer, query)
            case ir.RecursiveRef():
                return self._reference(outer, query)
        raise TypeError(f"{type(query).__name__} cannot depend on a context")

    def depends(self, outer: Outer, query: ir.Relational) -> bool:
        """Whether the query refers to the context, by a column or by a variable that carries it."""
        return bool(query.free & outer.context.ids) or bool(self.variables(query) & outer.carried.keys())

    def variables(self, query: ir.Relational) -> frozenset[int]:
        """The variables of surrounding recursions that the query refers to."""
        match query:
            case ir.RecursiveRef(variable=variable):
                return frozenset({variable})
            case ir.SharedRef(number=number):
                if number not in self.shared:
                    self.shared[number] = self.variables(self.host.definition(number))
                return self.shared[number]
        inside = (s.query for e in query.expressions for s in ir.subqueries(e))
        found = frozenset().union(*(self.variables(o) for o in (*query.inputs, *inside)))
        if isinstance(query, ir.Fixpoint):
            found -= {binding.variable for binding in query.bindings}
        return found

    def copied(self, outer: Outer, query: ir.Relational) -> tuple[Outer, ir.Relational]:
        """The context under new numbers, and the query over those."""
        columns = self.numbers.fresh(outer.context.columns)
        names = {old.id: new.id for old, new in zip(outer.context.columns, columns, strict=True)}
        carried = {v: tuple(names.get(i, i) for i in ids) for v, ids in outer.carried.items()}
        return Outer(self._under(outer.context, columns), carried), with_outer(query, names)

    def _under(self, context: ir.Relational, columns: tuple[ir.Attribute, ...]) -> ir.Relational:
        if isinstance(context, ir.Context):
            olds = (old for _, old in context.renaming)
            return ir.Context(context.input, tuple(zip(columns, olds, strict=True)))
        return ir.Project(context, tuple((c, o.ref) for c, o in zip(columns, context.columns, strict=True)))

    def _join(self, outer: Outer, join: ir.ThetaJoin) -> ir.Relational:
        if join.is_lateral:
            return self.host.lateral(join, self.apply(outer, join.left), outer.carried)
        left, right = self.depends(outer, join.left), self.depends(outer, join.right)
        if join.kind is ir.JoinKind.FULL:
            return self._full_join(outer, join)
        if not right:
            rows = self.host.plain(join.right, {})
            return self._joined(replace(join, left=self.apply(outer, join.left), right=rows), outer)
        if not left and join.kind is ir.JoinKind.INNER:
            rows = self.host.plain(join.left, {})
            return self._joined(replace(join, left=rows, right=self.apply(outer, join.right)), outer)
        copy, query = self.copied(outer, join.right)
        same = null_safe(outer.context.columns, copy.context.columns)
        both = replace(
            join,
            left=self.apply(outer, join.left),
            right=self.apply(copy, query),
            condition=conjoin([join.condition, same]),
        )
        wanted = (*outer.context.columns, *join.columns)
        return ir.Project(self._joined(both, outer), identity(wanted))

    def _nearest(self, outer: Outer, join: ir.Nearest) -> ir.Relational:
        """The left side against the context; a right side that depends on it too, against a copy that becomes
        part of the key."""
        left = self.apply(outer, join.left)
        if not self.depends(outer, join.right):
            return replace(join, left=left, right=self.host.plain(join.right, {}))
        copy, query = self.copied(outer, join.right)
        both = replace(
            join,
            left=left,
            right=self.apply(copy, query),
            left_keys=(*(c.id for c in outer.context.columns), *join.left_keys),
            right_keys=(*(c.id for c in copy.context.columns), *join.right_keys),
        )
        return ir.Project(both, identity((*outer.context.columns, *join.columns)))

    def _joined(self, join: ir.ThetaJoin, outer: Outer) -> ir.Relational:
        return self.host.joined(join, outer.carried)

    def _full_join(self, outer: Outer, join: ir.ThetaJoin) -> ir.Relational:
        """Both sides against copies; a row that only one side has takes the context from that side."""
        left, left_query = self.copied(outer, join.left)
        right, right_query = self.copied(outer, join.right)
        condition = self._condition(join.condition, outer, left)
        same = null_safe(left.context.columns, right.context.columns)
        both = replace(
            join,
            left=self.apply(left, left_query),
            right=self.apply(right, right_query),
            condition=conjoin([condition, same]),
        )
        columns = zip(outer.context.columns, left.context.columns, right.context.columns, strict=True)
        either = tuple((o, call(Op.COALESCE, a.ref, b.ref, type=o.type)) for o, a, b in columns)
        return ir.Project(self._joined(both, left), (*either, *identity(join.columns)))

    def _condition(self, condition: ir.Expression, outer: Outer, copy: Outer) -> ir.Expression:
        names = {o.id: c.id for o, c in zip(outer.context.columns, copy.context.columns, strict=True)}
        held = with_outer(ir.Selection(ir.UNIT, condition), names)
        return held.expressions[0]

    def _aggregate(self, outer: Outer, aggregate: ir.Aggregate) -> ir.Relational:
        context = outer.context
        if aggregate.keys:
            keys = (*(c.id for c in context.columns), *aggregate.keys)
            return replace(aggregate, input=self.apply(outer, aggregate.input), keys=keys)
        copy, query = self.copied(outer, aggregate.input)
        items, values = [], []
        for item in aggregate.items:
            new = self.numbers.attribute(item.attribute.name, item.attribute.type, item.attribute.nullable)
            items.append(replace(item, attribute=new))
            values.append((item.attribute, value_of_nothing(item.function, new)))
        grouped = ir.Aggregate(
            self.apply(copy, query), tuple(c.id for c in copy.context.columns), tuple(items)
        )
        same = null_safe(context.columns, copy.context.columns)
        padded = ir.ThetaJoin(ir.JoinKind.LEFT, context, grouped, same)
        return ir.Project(padded, (*identity(context.columns), *values))

    def _set_operation(self, outer: Outer, operation: ir.SetOp) -> ir.Relational:
        left, left_query = self.copied(outer, operation.left)
        right, right_query = self.copied(outer, operation.right)
        return replace(
            operation,
            left=self.apply(left, left_query),
            right=self.apply(right, right_query),
            columns=(*outer.context.columns, *operation.columns),
            lefts=(*(c.id for c in left.context.columns), *operation.lefts),
            rights=(*(c.id for c in right.context.columns), *operation.rights),
        )

    def _fixpoint(self, outer: Outer, fixpoint: ir.Fixpoint) -> ir.Relational:
        """Every binding against a copy of the context, whose columns its rows then carry."""
        bindings = []
        for binding in fixpoint.bindings:
            copy, query = self.copied(outer, binding.value)
            ids = tuple(c.id for c in copy.context.columns)
            carried = {**copy.carried, **{b.variable: ids for b in fixpoint.bindings}}
            value = self.apply(Outer(copy.context, carried), query)
            bindings.append(replace(binding, value=value, outputs=(*ids, *binding.outputs)))
        columns = (*outer.context.columns, *fixpoint.columns)
        return replace(fixpoint, bindings=tuple(bindings), columns=columns)

    def _reference(self, outer: Outer, reference: ir.RecursiveRef) -> ir.Relational:
        """The variable's rows for the context, joined on the context's columns that the rows carry."""
        context = outer.context
        ids = outer.carried[reference.variable]
        known = tuple(context.attribute(id) for id in ids)
        own = self.numbers.fresh(known)
        positions = (*range(len(own)), *(p + len(own) for p in reference.positions))
        rows = replace(reference, columns=(*own, *reference.columns), positions=positions)
        both = ir.ThetaJoin(ir.JoinKind.INNER, context, rows, null_safe(known, own))
        return ir.Project(both, identity((*context.columns, *reference.columns)))


def value_of_nothing(function: ir.AggregateFunction, column: ir.Attribute) -> ir.Expression:
    """An aggregate's column, with its value for no rows where an outer join has put NULL."""
    nothing = ir.nothing_of(function)
    if nothing is None:
        return ColumnRef(column.id, column.type)
    return call(Op.COALESCE, column.ref, Literal(nothing, column.type), type=column.type)
