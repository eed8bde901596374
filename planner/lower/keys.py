"""The parts of a join's condition: what compares the sides, what concerns one side, and the rest."""

from __future__ import annotations

from dataclasses import dataclass

from engine.expressions import Call, Op
from planner.ir import Expression, references
from planner.lower.lowered import Lowered, not_null
from planner.lower.temporal import filtered, with_keys
from planner.scalars import conjuncts


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
    """The condition of a join of sides with these columns, taken apart."""
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


@dataclass(frozen=True)
class Keyed:
    """Both sides with the positions on which they are joined; rows that cannot match are filtered away."""

    left: Lowered
    right: Lowered
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]


def keyed(left: Lowered, right: Lowered, condition: Condition, keep_left: bool = False) -> Keyed:
    """The sides made ready. With `keep_left` no row of the left is filtered away, which changes no match: a
    NULL has no partner on the right."""
    right = filtered(right, condition.rights)
    if not keep_left:
        left = filtered(left, condition.lefts)
    left, lefts = with_keys(left, [e.left for e in condition.equalities])
    right, rights = with_keys(right, [e.right for e in condition.equalities])
    strict = [i for i, equality in enumerate(condition.equalities) if not equality.null_safe]
    right = not_null(right, (rights[i] for i in strict))
    if not keep_left:
        left = not_null(left, (lefts[i] for i in strict))
    pairs = sorted(set(zip(rights, lefts, strict=True)))
    return Keyed(left, right, tuple(b for _, b in pairs), tuple(a for a, _ in pairs))
