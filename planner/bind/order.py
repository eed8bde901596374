"""ORDER BY: the values that order rows.

A position or an unqualified name means a column of the select list, as in PostgreSQL. Inside an expression, a
name means a column of the tables first. A constant does not order anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.plan.nodes import Ordering
from planner.bind.coercion import typed
from planner.bind.session import Session
from planner.errors import InvalidQuery
from planner.ir import Attribute, Expression, Item, Project
from planner.ir.scalars import may_be_null
from planner.positions import fail

Bind = Callable[[exp.Expression], Expression]
_MOST_DIGITS = 9
"""Those of a position: a longer number is none."""


@dataclass(frozen=True)
class Term:
    """A term of ORDER BY: a value, or the column at `position` of the select list; `node` is its text's
    node."""

    node: exp.Expression
    value: Expression | None
    position: int = 0

    def ordering(self, column: int) -> Ordering:
        return Ordering(column, bool(self.node.args.get("desc")), bool(self.node.args.get("nulls_first")))

    def changed(self, change: Callable[[Expression, exp.Expression], Expression]) -> Term:
        return self if self.value is None else replace(self, value=change(self.value, self.node))


def order_terms(node: exp.Expression, names: Sequence[str], bind: Bind) -> list[Term]:
    """The terms of ORDER BY of the query `node`, whose columns have `names`; `bind` binds expressions."""
    order = node.args.get("order")
    terms: list[Term] = []
    for ordered in order.expressions if order is not None else ():
        if isinstance(ordered.this, exp.Var) and ordered.this.name.upper() == "ALL":
            terms += [Term(ordered, None, position) for position in range(len(names))]
        else:
            terms += _term(ordered, ordered.this, names, bind, "ORDER BY")
    return terms


def distinct_terms(node: exp.Expression, names: Sequence[str], bind: Bind) -> list[Term]:
    """The expressions of DISTINCT ON of the query `node`, which have no direction."""
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    parts = on.expressions if isinstance(on, exp.Tuple) else [on] if on is not None else []
    return [term for part in parts for term in _term(part, part, names, bind, "DISTINCT ON")]


def _term(
    node: exp.Expression, this: exp.Expression, names: Sequence[str], bind: Bind, clause: str
) -> list[Term]:
    position = listed(this, names, clause)
    if position is not None:
        return [Term(node, None, position)]
    value = typed(bind(this))
    return [] if isinstance(value, Literal) else [Term(node, value)]


def listed(node: exp.Expression, names: Sequence[str], clause: str) -> int | None:
    """The column of the select list that a position or an unqualified name means, or None."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        if len(node.this) > _MOST_DIGITS or not 1 <= int(node.this) <= len(names):
            fail(InvalidQuery(f"{clause} {node.this} is not a position in the select list"), node)
        return int(node.this) - 1
    if isinstance(node, exp.Column) and not node.table:
        same = [name.lower() == node.name.lower() for name in names]
        return same.index(True) if any(same) else None
    return None


def ordered(
    session: Session, rows: Project, columns: Sequence[Attribute], terms: Sequence[Term]
) -> tuple[Project, tuple[Ordering, ...]]:
    """The projection with the terms' values as columns, and the order by those columns."""
    known = {column.id: column for column in rows.input.columns}
    places: dict[Expression, Attribute] = {value: column for column, value in reversed(rows.items)}
    added: list[Item] = []
    order: list[Ordering] = []
    for term in terms:
        if term.value is None:
            order.append(term.ordering(columns[term.position].id))
            continue
        if term.value not in places:
            places[term.value] = session.attribute("place", term.value.type, may_be_null(term.value, known))
            added.append((places[term.value], term.value))
        order.append(term.ordering(places[term.value].id))
    return replace(rows, items=(*rows.items, *added)) if added else rows, tuple(order)
