"""Drops columns that nothing above needs: scans read fewer, and joins and groups receive fewer.

    project(a, join(scan t(a, b, c), scan u(a, d)))   →   project(a, join(scan t(a), scan u(a)))

Operators for which all columns matter (DISTINCT, EXCEPT, INTERSECT, recursion) keep all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.plan.nodes import Ordering
from planner import ir
from planner.ir.rewrite import identity
from planner.ir.unique import is_unique, unique_keys
from planner.passes.unneeded_joins import as_test, is_unneeded

Ids = frozenset[int]


def prune_columns(program: ir.RelationalProgram) -> ir.RelationalProgram:
    pruning = _Pruning()
    root = pruning.exactly(program.root, frozenset(c.id for c in program.outputs))
    definitions = list(program.definitions)
    for number in reversed(range(len(definitions))):
        needed = pruning.needs.get(number, frozenset())
        definitions[number] = pruning.exactly(definitions[number], needed)
    return ir.RelationalProgram(tuple(definitions), root, program.outputs)


class _Pruning:
    """`needs` collects the columns of each definition that its users need, while they are pruned."""

    def __init__(self) -> None:
        self.needs: dict[int, Ids] = {}

    def exactly(self, operator: ir.Relational, needed: Ids) -> ir.Relational:
        """The operator with exactly the columns `needed`."""
        pruned = self.pruned(operator, needed)
        if pruned.ids == needed:
            return pruned
        return ir.Project(pruned, identity(_kept(pruned.columns, needed)))

    def pruned(self, operator: ir.Relational, needed: Ids) -> ir.Relational:
        """The operator with at least the columns `needed`, and no columns that it did not have."""
        match operator:
            case ir.TableScan():
                return _scan(operator, needed)
            case ir.Values():
                return _values(operator, needed)
            case ir.Project(input=input, items=items):
                kept = tuple((a, e) for a, e in items if a.id in needed)
                return ir.Project(self.pruned(input, _used(e for _, e in kept)), kept)
            case ir.Selection(input=input, predicate=predicate):
                return ir.Selection(self.pruned(input, needed | ir.references(predicate)), predicate)
            case ir.Prioritized(input=input):
                return replace(operator, input=self.pruned(input, needed | operator.used))
            case ir.ThetaJoin():
                return self._join(operator, needed)
            case ir.Nearest():
                return self._nearest(operator, needed)
            case ir.Aggregate():
                return self._aggregate(operator, needed)
            case ir.Distinct(input=input):
                return ir.Distinct(self.exactly(input, operator.ids))
            case ir.Top():
                return self._top(operator, needed)
            case ir.Over():
                return self._window(operator, needed)
            case ir.UnnestLists(input=input, place=place):
                below = self.pruned(input, (needed & input.ids) | operator.used)
                kept_place = place if place is not None and place.id in needed else None
                return replace(operator, input=below, place=kept_place)
            case ir.SetOp():
                return self._set_operation(operator, needed)
            case ir.Context(input=input):
                return replace(operator, input=self.pruned(input, operator.used))
            case ir.SharedRef(number=number, renaming=renaming):
                kept_names = tuple((a, old) for a, old in renaming if a.id in needed)
                used = frozenset(old for _, old in kept_names)
                self.needs[number] = self.needs.get(number, frozenset()) | used
                return replace(operator, renaming=kept_names)
            case ir.Fixpoint(bindings=bindings):
                new = tuple(replace(b, value=self.exactly(b.value, frozenset(b.outputs))) for b in bindings)
                return replace(operator, bindings=new)
            case ir.RecursiveRef(columns=columns, positions=positions):
                pairs = [(c, p) for c, p in zip(columns, positions, strict=True) if c.id in needed]
                return replace(
                    operator, columns=tuple(c for c, _ in pairs), positions=tuple(p for _, p in pairs)
                )
        raise TypeError(f"{type(operator).__name__} cannot be pruned")

    def _join(self, join: ir.ThetaJoin, needed: Ids) -> ir.Relational:
        if is_unneeded(join, needed):
            return self.pruned(join.left, needed)
        used = needed | join.used
        left = self.exactly(join.left, used & join.left.ids)
        right = self.exactly(join.right, used & join.right.ids)
        return as_test(replace(join, left=left, right=right), needed)

    def _nearest(self, join: ir.Nearest, needed: Ids) -> ir.Relational:
        if join.kind is ir.JoinKind.LEFT and not needed & join.right.ids:
            return self.pruned(join.left, needed)
        place, *ties = join.order
        if is_unique(unique_keys(join.right), frozenset((*join.right_keys, place.column))):
            ties = []
        join = replace(join, order=_deciding((place, *ties), needed | {place.column}))
        used = needed | join.used
        left = self.exactly(join.left, used & join.left.ids)
        return replace(join, left=left, right=self.exactly(join.right, used & join.right.ids))

    def _aggregate(self, aggregate: ir.Aggregate, needed: Ids) -> ir.Relational:
        aggregate = replace(aggregate, items=tuple(i for i in aggregate.items if i.attribute.id in needed))
        return replace(aggregate, input=self.exactly(aggregate.input, aggregate.used))

    def _top(self, top: ir.Top, needed: Ids) -> ir.Relational:
        top = replace(top, order=_deciding(top.order, needed))
        return replace(top, input=self.exactly(top.input, (needed & top.ids) | top.used))

    def _window(self, window: ir.Over, needed: Ids) -> ir.Relational:
        """A window with the needed items; the columns that break ties stay, because the result depends on
        them."""
        items = tuple(item for item in window.items if item.attribute.id in needed)
        if not items:
            return self.pruned(window.input, needed)
        window = replace(window, items=items)
        return replace(window, input=self.exactly(window.input, window.used | (needed & window.input.ids)))

    def _set_operation(self, operation: ir.SetOp, needed: Ids) -> ir.Relational:
        kept = [
            (column, left, right)
            for column, left, right in zip(operation.columns, operation.lefts, operation.rights, strict=True)
            if column.id in needed or operation.kind is not ir.SetKind.UNION
        ]
        lefts = tuple(left for _, left, _ in kept)
        rights = tuple(right for _, _, right in kept)
        return ir.SetOp(
            operation.kind,
            self.exactly(operation.left, frozenset(lefts)),
            self.exactly(operation.right, frozenset(rights)),
            tuple(column for column, _, _ in kept),
            lefts,
            rights,
        )


def _deciding(order: tuple[Ordering, ...], needed: Ids) -> tuple[Ordering, ...]:
    """The order without the last columns that nothing needs: these only break ties between rows with equal
    needed columns."""
    while order and order[-1].column not in needed:
        order = order[:-1]
    return order


def _kept(columns: tuple[ir.Attribute, ...], needed: Ids) -> tuple[ir.Attribute, ...]:
    return tuple(column for column in columns if column.id in needed)


def _used(expressions: Iterable) -> Ids:
    return frozenset().union(*(ir.references(e) for e in expressions))


def _scan(scan: ir.TableScan, needed: Ids) -> ir.Relational:
    pairs = [(c, p) for c, p in zip(scan.columns, scan.positions, strict=True) if c.id in needed]
    return replace(scan, columns=tuple(c for c, _ in pairs), positions=tuple(p for _, p in pairs))


def _values(values: ir.Values, needed: Ids) -> ir.Relational:
    places = [i for i, column in enumerate(values.columns) if column.id in needed]
    return ir.Values(
        tuple(values.columns[i] for i in places), tuple(tuple(row[i] for i in places) for row in values.rows)
    )
