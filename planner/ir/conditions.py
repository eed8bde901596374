"""The parts of a join's condition: comparisons of the sides, conditions of one side, and the rest."""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan.expressions import Call, Op
from planner.ir import Expression, references
from planner.ir.scalars import conjuncts


@dataclass(frozen=True)
class Equality:
    """`left` = `right`, each over one side; with `null_safe`, NULL equals NULL."""

    left: Expression
    right: Expression
    null_safe: bool


@dataclass(frozen=True)
class Condition:
    equalities: tuple[Equality, ...]
    lefts: tuple[Expression, ...]
    rights: tuple[Expression, ...]
    rest: tuple[Expression, ...]


def parts_of(condition: Expression, left: frozenset[int], right: frozenset[int]) -> Condition:
    """The condition of a join whose sides have these columns, divided into its parts."""
    equalities: list[Equality] = []
    lefts: list[Expression] = []
    rights: list[Expression] = []
    rest: list[Expression] = []
    for part in conjuncts(condition):
        used = references(part)
        equality = equality_of(part, left, right)
        if equality is not None:
            equalities.append(equality)
        elif used and used <= left:
            lefts.append(part)
        elif used <= right:
            rights.append(part)
        else:
            rest.append(part)
    return Condition(tuple(equalities), tuple(lefts), tuple(rights), tuple(rest))


def equality_of(part: Expression, left: frozenset[int], right: frozenset[int]) -> Equality | None:
    """The conjunct as an equality of one side with the other, or None."""
    if not (isinstance(part, Call) and part.op in (Op.EQ, Op.NOT_DISTINCT)):
        return None
    a, b = part.args
    a_uses, b_uses = references(a), references(b)
    if not a_uses or not b_uses:
        return None
    if a_uses <= left and b_uses <= right:
        return Equality(a, b, part.op is Op.NOT_DISTINCT)
    if a_uses <= right and b_uses <= left:
        return Equality(b, a, part.op is Op.NOT_DISTINCT)
    return None
