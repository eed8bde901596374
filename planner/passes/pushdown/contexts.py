"""Removes a context whose columns are equated with columns of the query, which replace them.

    join(context(t.k → d), s, d = s.k)   →   project(filter(s, s.k IS NOT NULL), d := s.k)

Everything above a context, up to the join that brings its rows back, is computed separately for each of its
rows, and that join drops bindings that no outer row has. So the context may have additional rows, and the
values of `s.k` can replace it.
"""

from __future__ import annotations

from engine.plan.expressions import Call, ColumnRef, Op
from planner.ir import Attribute, Context, Expression, Relational, references
from planner.ir.scalars import call, inline, may_be_null, negate


def without_contexts(
    leaves: list[Relational], conjuncts: list[Expression]
) -> tuple[list[Relational], list[Expression], dict[int, Expression]]:
    """The leaves of an inner join without unnecessary contexts, the conjuncts over the remaining leaves, and
    the values of the removed columns."""
    replaced: dict[int, Expression] = {}
    index = 0
    while index < len(leaves):
        leaf = leaves[index]
        others = leaves[:index] + leaves[index + 1 :]
        values = _values(leaf, others, conjuncts) if isinstance(leaf, Context) and others else None
        if values is None:
            index += 1
            continue
        known = {column.id: column for other in others for column in other.columns}
        conjuncts = _without(leaf, conjuncts, values, known)
        replaced = {id: inline(value, values) for id, value in replaced.items()} | values
        leaves = others
    return leaves, conjuncts, replaced


def _values(
    context: Relational, others: list[Relational], conjuncts: list[Expression]
) -> dict[int, Expression] | None:
    """For each of the context's columns an equal expression over the others; None if a column has none."""
    known = frozenset().union(*(other.ids for other in others))
    values: dict[int, Expression] = {}
    for part in conjuncts:
        if not (isinstance(part, Call) and part.op in (Op.EQ, Op.NOT_DISTINCT)):
            continue
        for column, value in (part.args, part.args[::-1]):
            used = references(value)
            if isinstance(column, ColumnRef) and column.index in context.ids and used and used <= known:
                values.setdefault(column.index, value)
    return values if values.keys() == context.ids else None


def _without(
    context: Relational,
    conjuncts: list[Expression],
    values: dict[int, Expression],
    known: dict[int, Attribute],
) -> list[Expression]:
    """The conjuncts over the values. An equality of a column with its own value becomes IS NOT NULL."""
    result: list[Expression] = []
    for part in conjuncts:
        new = inline(part, values)
        if isinstance(new, Call) and new.op in (Op.EQ, Op.NOT_DISTINCT) and new.args[0] == new.args[1]:
            if new.op is Op.EQ and may_be_null(new.args[0], known):
                result.append(negate(call(Op.IS_NULL, new.args[0])))
            continue
        result.append(new)
    return result
