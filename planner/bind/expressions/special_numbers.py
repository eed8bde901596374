"""NaN and the infinities of NUMERIC, in dialects that have them: casts to it, and texts beside it.

'NaN'::numeric             →  NaN, of the least NUMERIC that has it
'NaN'::numeric(30, 2)      →  NaN
'Infinity'::numeric(30, 2) →  refused: as in PostgreSQL, a NUMERIC of given digits has no infinities
x = 'NaN'                  →  x = NaN, for a NUMERIC x
"""

from __future__ import annotations

import math

from engine.codec.numerals import name_of, special_of
from engine.plan.expressions import Call, Literal, Op
from engine.schema import TEXT, WORD_DIGITS, Kind, Type, numeric
from planner.bind.coercion import explicit_cast
from planner.errors import TypeMismatch
from planner.ir import Expression

LEAST = numeric(WORD_DIGITS + 1, 0)
"""The least NUMERIC that has NaN and the infinities."""


def cast_of_special(value: Expression, type: Type, has_digits: bool) -> Expression | None:
    """A cast to a NUMERIC of a value that may be NaN or infinite; None for other casts. `has_digits` says
    whether the type is written with its digits. Raises TypeMismatch for a constant that the type lacks."""
    if type.kind is not Kind.NUMERIC or type.whole:
        return None
    if isinstance(value, Literal):
        special = _special(value)
        if special is None:
            return None
        if not has_digits:
            return Call(Op.NUMBER, (value,), LEAST)
        if not math.isnan(special):
            raise TypeMismatch(f"{type} has no {name_of(special)}", "a NUMERIC without digits has it")
        if not type.has_specials:
            raise TypeMismatch(
                f"{type} has no NaN here", f"a NUMERIC of more than {WORD_DIGITS} digits has it"
            )
        return Call(Op.NUMBER, (value,), type)
    if not type.has_specials:
        return None
    if value.type == TEXT or value.type.is_float:
        return Call(Op.FINITE, (Call(Op.NUMBER, (value,), type),), type)  # type: ignore[arg-type]
    if value.type.has_specials:
        return Call(Op.FINITE, (explicit_cast(value, type),), type)  # type: ignore[arg-type]
    return None


def special_beside(side: Expression, type: Type) -> Expression:
    """A text that names NaN or an infinity beside a NUMERIC as that; any other value itself."""
    if not isinstance(side, Literal) or side.type != TEXT or type.kind is not Kind.NUMERIC:
        return side
    is_special = not type.whole and _special(side) is not None
    return Call(Op.NUMBER, (side,), type if type.has_specials else LEAST) if is_special else side


def _special(literal: Literal) -> float | None:
    """The special that a text or a float is; None for any other value."""
    match literal.value:
        case str() if literal.type == TEXT:
            return special_of(literal.value)
        case float() if not math.isfinite(literal.value):
            return literal.value
    return None
