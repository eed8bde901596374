"""Levels: what of a scope can run together between two exchanges.

Rows change hands where they are arranged, by the words they are arranged by: an arrangement is one
level above what it reads. Every other operator is at the level of its highest input, a loop too,
and what leaves a loop is one level above it, since it is there when all of the level is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.operators.arrangement import Arrangement
from engine.operators.loop import Leave, Loop
from engine.operators.operator import Operator
from engine.operators.outermost_loop import OutermostLoop


@dataclass(frozen=True, eq=False)
class Level:
    """Operators in an order in which they can run, and then loops."""

    operators: tuple[Operator, ...]
    loops: tuple[Loop, ...]


def levels_of(operators: Iterable[Operator]) -> tuple[Level, ...]:
    """The levels of a scope's operators, which are in an order in which they can run."""
    height: dict[Operator, int] = {}
    for operator in operators:
        below = max((height[source] for source in operator.inputs if source in height), default=0)
        height[operator] = below + isinstance(operator, Arrangement | Leave)
    top = max(height.values(), default=0)
    at: list[list[Operator]] = [[] for _ in range(top + 1)]
    for operator, level in height.items():
        at[level].append(operator)
    return tuple(
        Level(
            tuple(operator for operator in level if not isinstance(operator, Loop)),
            tuple(operator for operator in level if isinstance(operator, Loop)),
        )
        for level in at
    )


def affected(operators: Iterable[Operator], changed: Iterable[Operator]) -> Iterator[Operator]:
    """Those of a scope's operators, in order, that `changed` ones reach; and what keeps loops' results."""
    reached = set(changed)
    for operator in operators:
        if operator in reached or any(source in reached for source in operator.inputs):
            reached.add(operator)
            yield operator
            if isinstance(operator, OutermostLoop):
                yield from operator.kept()
