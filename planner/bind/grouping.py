"""The aggregation of a query, and the rewriting of the expressions above it.

Each grouping set is an aggregation of one shared input. The result is the union of their rows, with NULL for
the keys that a set lacks. GROUPING is a constant of each set's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from engine.plan.expressions import ColumnRef, Literal
from engine.plan.nodes import Function
from engine.schema import BIGINT
from planner import ir
from planner.bind.aggregate_uses import Collector
from planner.bind.coercion import default_value
from planner.bind.session import Bound, Session, Shared
from planner.bind.unions import union_all
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery
from planner.ir.renumber import renumbered
from planner.ir.rewrite import map_expression
from planner.positions import fail

Sets = Sequence[Sequence[ir.Expression]]
"""Grouping sets of bound keys."""


class Grouping:
    """`operator` computes the aggregates that `collector` found, over `below`, for each of the sets."""

    def __init__(self, session: Session, below: ir.Relational, sets: Sets, collector: Collector) -> None:
        self.session = session
        self.below = below
        self.collector = collector
        prepared, columns = self._prepared()
        by = [[columns[key] for key in keys] for keys in sets]
        items = tuple(_exact(item, prepared, all(sets)) for item in collector.items(columns))
        self.keys = {key: columns[key] for key in collector.keys}
        if len(by) == 1 and not collector.groupings:
            self.operator: ir.Relational = ir.Aggregate(prepared, tuple(dict.fromkeys(by[0])), items)
        else:
            self.operator = self._united(prepared, by, items)

    def above(self, expression: ir.Expression, node: exp.Expression) -> ir.Expression:
        """The expression over the aggregation's columns. Raises InvalidQuery if it needs other columns."""
        result = map_expression(
            expression, lambda e: ColumnRef(self.keys[e], e.type) if _is_key(e, self.keys) else None
        )
        lost = (ir.references(result) & self.below.ids) - self.operator.ids
        if lost:
            name = self.below.attribute(min(lost)).name
            place = next((c for c in node.find_all(exp.Column) if c.name.lower() == name.lower()), node)
            fail(
                InvalidQuery(
                    f'column "{name}" must be in GROUP BY or inside an aggregate function',
                    f"add it to GROUP BY, or use min({name})",
                ),
                place,
            )
        return result

    def _prepared(self) -> tuple[ir.Relational, dict[ir.Expression, int]]:
        """The input with all keys and arguments as columns, and the numbers of those columns."""
        arguments = [argument for use in self.collector.found for argument in use.arguments]
        return self.session.computed(self.below, (*self.collector.keys, *arguments), "key")

    def _united(
        self, prepared: ir.Relational, by: list[list[int]], items: tuple[ir.AggregateItem, ...]
    ) -> ir.Relational:
        """The rows of all sets. The keys become new columns, because they can be NULL here."""
        input = prepared
        if len(by) > 1:
            entry = self.session.define(Bound(prepared, prepared.columns))
            if isinstance(entry, Shared):
                input = ir.SharedRef(entry.number, tuple((column, column.id) for column in prepared.columns))
        union = union_all(self.session, [self._set(input, set, items) for set in by])
        known = [replace(prepared.attribute(id), id=self.session.number()) for id in self.keys.values()]
        found = [*known, *(item.attribute for item in items), *self.collector.groupings.values()]
        self.keys = {key: column.id for key, column in zip(self.keys, known, strict=True)}
        pairs = zip(found, union.columns, strict=True)
        return ir.Project(union, tuple((replace(new, nullable=c.nullable), c.ref) for new, c in pairs))

    def _set(self, input: ir.Relational, by: list[int], items: tuple[ir.AggregateItem, ...]) -> ir.Relational:
        """The rows of one set: all keys, the aggregates, and the values of GROUPING."""
        group, numbers = renumbered(ir.Aggregate(input, tuple(dict.fromkeys(by)), items), self.session)
        rows: list[ir.Item] = []
        for id in self.keys.values():
            column = input.attribute(id)
            value: ir.Expression = Literal(None, column.type)
            if id in by:
                value = group.attribute(numbers[id]).ref
            elif not column.nullable and has(self.session.dialect, Trait.ABSENT_IS_DEFAULT):
                value = default_value(column.type) or value
            may_be_null = column.nullable or (isinstance(value, Literal) and value.value is None)
            rows.append((self._column(column, may_be_null), value))
        for item in items:
            rows.append((self._column(item.attribute, item.attribute.nullable), _ref(group, numbers, item)))
        for arguments, attribute in self.collector.groupings.items():
            rows.append((self._column(attribute, False), Literal(self._word(arguments, by), BIGINT)))
        return ir.Project(group, tuple(rows))

    def _column(self, like: ir.Attribute, nullable: bool) -> ir.Attribute:
        return self.session.attribute(like.name, like.type, nullable)

    def _word(self, arguments: tuple[ir.Expression, ...], by: list[int]) -> int:
        """The value of GROUPING: one bit per argument, the last argument in the lowest; 1 if it is not a key
        of the set."""
        word = 0
        for argument in arguments:
            word = 2 * word + (self.keys[argument] not in by)
        return word


def _ref(group: ir.Relational, numbers: Mapping[int, int], item: ir.AggregateItem) -> ir.Expression:
    return group.attribute(numbers[item.attribute.id]).ref


def _is_key(expression: ir.Expression, keys: Mapping[ir.Expression, int]) -> bool:
    return not isinstance(expression, Literal) and expression in keys


def _exact(item: ir.AggregateItem, input: ir.Relational, grouped: bool) -> ir.AggregateItem:
    """The item with its nullability: every group has rows, so its value is NULL only if its arguments are."""
    if not isinstance(item.function, Function) or item.function is Function.COUNT:
        return item
    nullable = not grouped or any(input.attribute(argument).nullable for argument in item.arguments)
    return replace(item, attribute=replace(item.attribute, nullable=nullable))
