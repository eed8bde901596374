"""Constants that always fail are found when the view is made, not row by row.

The engine computes them, so exactly the constants that would fail are refused. Casts, operators and interval
literals are tried. DuckDB's other functions, long expressions and expressions over columns are not.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from sqlglot import exp

from engine.errors import EngineError
from engine.plan.expressions import Call, Cast, Foreign, Literal
from engine.scalar.program import ScalarProgram
from engine.schema import INTERVAL, Kind
from engine.state.dictionary import Dictionary
from planner.errors import InvalidQuery, TypeMismatch
from planner.ir import Expression

_SPECIAL = re.compile(r"'\s*(nan|[-+]?inf(inity)?)\s*'", re.IGNORECASE)
_MOST = 16  # parts of a constant that is tried


def failure(expression: Expression) -> str | None:
    """The reason why the constant always fails; None if it does not, or if the expression is not such a
    constant."""
    if isinstance(expression, Literal) or not _is_short(expression):
        return None
    return _failure(expression)


def check_constant(expression: Expression, node: exp.Expr, dialect: str) -> None:
    """Raise TypeMismatch for a cast that always fails, InvalidQuery for an operator; the message quotes
    `node`."""
    reason = failure(expression)
    if reason is None:
        return
    written = node.sql(dialect)
    if isinstance(expression, Call):
        raise InvalidQuery(f"{written} always fails: {reason}", "write NULL, or a value that can be computed")
    hint = "write a value of the type, or NULL"
    if expression.type.kind is Kind.NUMERIC and _SPECIAL.search(written):
        hint = "write DOUBLE PRECISION, which has NaN and infinities"
    raise TypeMismatch(f"{written} always fails: {reason}", hint)


def _is_short(expression: Expression) -> bool:
    """Whether the expression consists of a few casts and operators over literals."""
    waiting, count = [expression], 0
    while waiting:
        part = waiting.pop()
        count += 1
        match part:
            case Literal():
                continue
            case Cast(arg=arg):
                waiting.append(arg)
            case Call(args=args):
                waiting += args
            case Foreign(args=(), type=type) if type == INTERVAL:
                continue
            case _:
                return False
        if count > _MOST:
            return False
    return True


@lru_cache(maxsize=1024)
def _failure(expression: Expression) -> str | None:
    try:
        program = ScalarProgram((expression,), Dictionary())  # type: ignore[arg-type]
        _, failures = program(np.empty((0, 1), np.int64))
    except EngineError:
        return None  # not a constant of the engine: lowering reports why
    return failures.messages[0] if failures is not None else None
