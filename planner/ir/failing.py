"""Constants that fail whenever they are computed: found when the view is made, not row by row.

The engine computes them, so that what is refused is just what would fail. Casts, operators and intervals that
are written out are tried; any other function of DuckDB's is not, nor what reads a column or is long.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from sqlglot import exp

from engine.errors import EngineError
from engine.plan.expressions import Call, Cast, Foreign, Literal
from engine.scalar.program import ScalarProgram
from engine.schema import INTERVAL
from engine.state.dictionary import Dictionary
from planner.errors import InvalidQuery, TypeMismatch
from planner.ir import Expression

_MOST = 16  # parts of a constant that is tried


def failure(expression: Expression) -> str | None:
    """Why the constant always fails; None for one that does not, and for what is no such constant."""
    if isinstance(expression, Literal) or not _is_short(expression):
        return None
    return _failure(expression)


def check_constant(expression: Expression, node: exp.Expr, dialect: str) -> None:
    """TypeMismatch for a cast that always fails, InvalidQuery for an operator; the `node` is how it is
    written."""
    reason = failure(expression)
    if reason is None:
        return
    written = node.sql(dialect)
    if isinstance(expression, Call):
        raise InvalidQuery(f"{written} always fails: {reason}", "write NULL, or a value that can be computed")
    raise TypeMismatch(f"{written} always fails: {reason}", "write a value of the type, or NULL")


def _is_short(expression: Expression) -> bool:
    """Whether the expression is made of a few casts and operators of literals."""
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
        return None  # no constant that the engine can have: whoever lowers it says why
    return failures.messages[0] if failures is not None else None
