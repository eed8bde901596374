"""Operations that give NULL where they would fail: TRY_ADD and SAFE_ADD."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.native.templates import Made


def tried(node: exp.Expression) -> exp.Expression:
    """The value, or NULL if it fails."""
    return exp.Anonymous(this="TRY", expressions=[node.copy()])


def try_binary(operator: Callable[..., exp.Expression]) -> Made:
    """A meaning of calls: the operation, or NULL if it fails."""
    return lambda args: tried(operator(this=args[0].copy(), expression=args[1].copy()))
