"""IN with a list: one test for membership, however long the list is.

Each element compares with the value as in `=`. Numbers with the same type and the same number of digits
compare in the same type, and so do texts; DuckDB is asked for that type once for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal

from engine.plan.expressions import Call, Literal, Op
from engine.schema import BOOLEAN, TEXT, Kind
from planner.bind.coercion import literals_as
from planner.bind.expressions.comparable_sides import bind_comparison
from planner.bind.expressions.untyped_texts import beside
from planner.dialects.traits import Trait, has
from planner.ir import Expression
from planner.ir.membership import FEWEST, gathered, one_of
from planner.ir.scalars import disjoin


def any_of(value: Expression, candidates: Sequence[Expression], dialect: str) -> Expression:
    """Whether `value` equals one of the candidates. Raises TypeMismatch as a comparison does."""
    candidates = [beside(candidate, value.type, dialect) for candidate in candidates]
    alike: dict[Hashable, list[Literal]] = {}
    parts: list[Expression] = []
    is_variant = has(dialect, Trait.JSON_IS_VARIANT) and value.type.kind is Kind.JSON
    for candidate in candidates:
        group = _group(value, candidate) if len(candidates) >= FEWEST and not is_variant else None
        if group is None or not isinstance(candidate, Literal):
            parts.append(bind_comparison(Op.EQ, value, candidate, dialect))
        else:
            alike.setdefault(group, []).append(candidate)
    for literals in alike.values():
        parts += _equalities(value, literals, dialect)
    return disjoin(gathered(Op.OR, parts))


def _group(value: Expression, candidate: Expression) -> Hashable | None:
    """The same key for literals that compare with the value in the same type; None for what stands alone."""
    if not isinstance(candidate, Literal) or isinstance(value, Literal) or value.type.kind is Kind.INTERVAL:
        return None
    match candidate.value:
        case str() if candidate.type == TEXT:
            return TEXT
        case bool():
            return None
        case int() as number:
            return candidate.type, len(str(abs(number)))
        case Decimal() as number:
            return candidate.type, len(number.as_tuple().digits), number.as_tuple().exponent
    return None


def _equalities(value: Expression, literals: Sequence[Literal], dialect: str) -> list[Expression]:
    """The equalities of the value with literals of one group; constants of one type are one test."""
    first = bind_comparison(Op.EQ, value, literals[0], dialect)
    if not isinstance(first, Call):
        return [bind_comparison(Op.EQ, value, each, dialect) for each in literals]
    left, right = first.args
    others = literals_as(literals[1:], left.type)
    if isinstance(right, Literal) and all(isinstance(each, Literal) for each in others):
        return [one_of(left, (right.value, *(each.value for each in others)))]  # type: ignore[union-attr]
    return [first, *(Call(Op.EQ, (left, each), BOOLEAN) for each in others)]  # type: ignore[arg-type]
