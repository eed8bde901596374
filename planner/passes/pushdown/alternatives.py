"""The condition on one relation that follows from a disjunction over several relations.

(n.name = 'x' AND m.name = 'y') OR (n.name = 'y' AND m.name = 'x')   →   n.name = 'x' OR n.name = 'y'
"""

from __future__ import annotations

from engine.plan.expressions import Op
from planner.ir import Expression, references
from planner.ir.scalars import can_fail, conjoin, conjuncts, disjoin, split_chain


def demanded(predicate: Expression, ids: frozenset[int]) -> Expression | None:
    """A disjunction over the columns `ids` that holds wherever the predicate does; None if there is none."""
    alternatives = split_chain(Op.OR, predicate)
    if len(alternatives) < 2 or can_fail(predicate):
        return None
    demands = [
        [part for part in conjuncts(alternative) if references(part) and references(part) <= ids]
        for alternative in alternatives
    ]
    return disjoin(map(conjoin, demands)) if all(demands) else None
