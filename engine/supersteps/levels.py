"""Levels: the parts of a scope that run together between two exchanges.

Rows change shards where they are arranged, divided by the words of the arrangement, so an arrangement is one
level above its input. Every other operator, a loop too, is at the level of its highest input. What leaves a
loop is one level above the loop, since it exists once the whole level is done.
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
    """The levels of a scope's operators, which are given in an order in which they can run."""
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
    """The operators of a scope, in order, that `changed` ones reach; also the arrangements that keep loops'
    results."""
    reached = set(changed)
    for operator in operators:
        if operator in reached or any(source in reached for source in operator.inputs):
            reached.add(operator)
            yield operator
            if isinstance(operator, OutermostLoop):
                yield from operator.kept()
