"""Provenance: from which part of a query's text columns, conditions and orders come.

Binding notes the part that it works on. The numbers of columns given out meanwhile, and the conditions found,
belong to that part; passes keep both, so the parts are found again in a plan whose operators are others. A
pass that copies columns says whose copies they are. What a pass makes up has no origin.

A part is whatever the binder notes; here it is only remembered.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from engine.plan.expressions import Call, ColumnRef
from planner.ir import (
    Aggregate,
    Context,
    Distinct,
    Expression,
    Nearest,
    Project,
    Relational,
    Selection,
    SharedRef,
    TableScan,
    ThetaJoin,
    Top,
    children,
    references,
    subqueries,
)
from planner.ir.scalars import TURNED, conjuncts, rename, with_children

_MANY = 200
"""Conditions of a query, each with its sides exchanged too, above which none is guessed."""
Part = object
"""A part of the text: a node of sqlglot's tree."""


class Provenance:
    """What was noted while a statement was bound."""

    def __init__(self) -> None:
        self._current: Part | None = None
        self._columns: dict[int, Part] = {}
        self._copies: dict[int, int] = {}
        self._conditions: list[tuple[Expression, Part]] = []
        self._orders: list[tuple[tuple[int, ...], Part]] = []
        self.tables: dict[str, list[Part]] = {}
        """The parts that name each table."""

    # Noting

    @contextmanager
    def noting(self, part: Part) -> Iterator[None]:
        """Inside the context, new columns come from this part."""
        outer, self._current = self._current, part
        try:
            yield
        finally:
            self._current = outer

    def column(self, number: int) -> None:
        """A number is given out."""
        if self._current is not None:
            self._columns[number] = self._current

    def copied(self, names: Mapping[int, int]) -> None:
        """The columns with the new numbers are copies of those with the old ones."""
        self._copies |= {new: old for old, new in names.items()}

    def condition(self, condition: Expression, part: Part) -> None:
        """The conjuncts of a condition come from a part."""
        self._conditions += [(it, part) for it in conjuncts(condition) if not subqueries(it)]

    def order(self, columns: Iterable[int], part: Part) -> None:
        """An order by these columns, or groups by them, come from a part."""
        self._orders.append((tuple(columns), part))

    def table(self, name: str, part: Part) -> None:
        """A part names a table."""
        self.tables.setdefault(name, []).append(part)

    # Finding

    def found(self) -> FoundProvenance:
        """What can be asked once the statement is bound and its passes have run."""
        conditions: dict[Expression, set[int]] = {}
        orders: dict[frozenset[int], set[int]] = {}
        parts: list[Part] = []
        for expression, part in self._conditions:
            for side in (self._rooted(expression), _turned(self._rooted(expression))):
                conditions.setdefault(side, set()).add(len(parts))
            parts.append(part)
        for columns, part in self._orders:
            orders.setdefault(frozenset(map(self._root, columns)), set()).add(len(parts))
            parts.append(part)
        return FoundProvenance(self, conditions, orders, parts)

    def of_column(self, number: int) -> Part | None:
        """The part that a column comes from; that of its original if only the copy was made up."""
        while number not in self._columns and number in self._copies:
            number = self._copies[number]
        return self._columns.get(number)

    def _root(self, number: int) -> int:
        while number in self._copies:
            number = self._copies[number]
        return number

    def _rooted(self, expression: Expression) -> Expression:
        """The expression over originals."""
        return rename(expression, {number: self._root(number) for number in references(expression)})


class FoundProvenance:
    """The parts that operators come from."""

    def __init__(
        self,
        provenance: Provenance,
        conditions: Mapping[Expression, set[int]],
        orders: Mapping[frozenset[int], set[int]],
        parts: list[Part],
    ) -> None:
        self._provenance = provenance
        self._conditions = conditions
        self._orders = orders
        self._parts = parts

    def of(self, operator: Relational) -> list[Part]:
        """The parts of the text that an operator comes from, none if they are not known."""
        if isinstance(operator, TableScan) and not operator.columns:
            named = self._provenance.tables.get(operator.name, [])
            return named if len(named) == 1 else []
        return [*self.of_columns(_made(operator)), *self._of_conditions(operator), *self._of_order(operator)]

    def of_columns(self, numbers: Iterable[int]) -> list[Part]:
        """The parts that columns come from."""
        found = (self._provenance.of_column(number) for number in numbers)
        return [part for part in found if part is not None]

    def _of_conditions(self, operator: Relational) -> Iterator[Part]:
        if isinstance(operator, Selection | ThetaJoin):
            for expression in operator.expressions:
                for conjunct in conjuncts(expression):
                    if not subqueries(conjunct):
                        yield from self._of_condition(conjunct)

    def _of_condition(self, condition: Expression) -> list[Part]:
        """The parts of the same condition; or of the only one that it can have come from, since a condition
        that is pushed through other operators is over what their columns stand for."""
        exact = list(self._noted(self._conditions, self._provenance._rooted(condition)))
        if exact or len(self._conditions) > _MANY:
            return exact
        like = [places for noted, places in self._conditions.items() if _stands_for(noted, condition)]
        alike = {id(self._parts[place]): self._parts[place] for places in like for place in places}
        return list(alike.values()) if len(alike) == 1 else []

    def _of_order(self, operator: Relational) -> Iterator[Part]:
        columns = _ordering(operator)
        if columns:
            yield from self._noted(self._orders, frozenset(map(self._provenance._root, columns)))

    def _noted(self, places: Mapping[Any, set[int]], key: Hashable) -> Iterator[Part]:
        yield from (self._parts[place] for place in sorted(places.get(key, ())))


def _stands_for(noted: Expression, condition: Expression) -> bool:
    """Whether a condition can be a noted one over other columns."""
    return not isinstance(noted, ColumnRef) and _fits(noted, condition, {})


def _fits(pattern: Expression, expression: Expression, columns: dict[int, Expression]) -> bool:
    """Whether an expression is a pattern whose columns stand for expressions, each for one."""
    if isinstance(pattern, ColumnRef):
        is_like = bool(references(expression)) and expression.type == pattern.type
        return is_like and columns.setdefault(pattern.index, expression) == expression
    parts, others = children(pattern), children(expression)
    if len(parts) != len(others) or with_children(pattern, others) != expression:
        return False
    return all(_fits(part, other, columns) for part, other in zip(parts, others, strict=True))


def _turned(expression: Expression) -> Expression:
    """A comparison with its sides exchanged."""
    match expression:
        case Call(op=op, args=(left, right), type=type) if op in TURNED:
            return Call(TURNED[op], (right, left), type)
    return expression


def _made(operator: Relational) -> Iterator[int]:
    """The numbers of the columns that an operator itself makes; all of a projection that makes none."""
    if not isinstance(operator, Context | SharedRef):
        made = [column.id for column in operator.made if column.id not in operator.below]
        yield from made or (operator.ids if isinstance(operator, Project) else ())


def _ordering(operator: Relational) -> tuple[int, ...]:
    """The columns that an operator orders its rows by, groups them by, or tells them apart by."""
    match operator:
        case Top(keys=keys, order=order):
            return (*keys, *(ordering.column for ordering in order))
        case Nearest(place=place, order=order):
            return (place, order[0].column)
        case Aggregate(keys=keys):
            return keys
        case Distinct():
            return tuple(column.id for column in operator.columns)
    return ()
