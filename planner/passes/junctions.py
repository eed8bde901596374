"""Chains of AND and OR become shorter.

TRUE AND p, FALSE OR p, p AND p        →   p
FALSE AND p, TRUE OR p                 →   FALSE, TRUE
(a = b AND p) OR (a = b AND q)         →   a = b AND (p OR q)
a = 1 OR a = 2 OR a = 3                →   a IN (1, 2, 3)
"""

from __future__ import annotations

from engine.plan.expressions import Op
from planner.ir import Expression
from planner.ir.membership import gathered
from planner.ir.scalars import FALSE, TRUE, conjoin, conjuncts, disjoin, split_chain


def junction(op: Op, operands: list[Expression]) -> Expression:
    """A chain of AND or OR over simplified operands."""
    decisive, neutral = (FALSE, TRUE) if op is Op.AND else (TRUE, FALSE)
    parts = [part for operand in operands for part in split_chain(op, operand)]
    if decisive in parts:
        return decisive
    kept = gathered(op, [part for part in dict.fromkeys(parts) if part != neutral])
    return conjoin(kept) if op is Op.AND else factored(kept)


def factored(alternatives: list[Expression]) -> Expression:
    """A disjunction with the conjuncts common to all alternatives factored out."""
    split_up = [conjuncts(alternative) for alternative in alternatives]
    if len(split_up) < 2:
        return disjoin(alternatives)
    common = [part for part in split_up[0] if all(part in other for other in split_up[1:])]
    if not common:
        return disjoin(alternatives)
    rest = [conjoin(part for part in parts if part not in common) for parts in split_up]
    if TRUE in rest:
        return conjoin(common)
    return conjoin([*common, disjoin(rest)])
