"""The operators of a dataflow that keep something, and what each stands for.

A path is the operator's key in the outermost scope, after those of the loops that it lies in. Two
dataflows of the same views have the same paths, in whatever process and however they came about.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from engine.operators.arrangement import Arrangement
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.operators.outermost_loop import OutermostLoop

Path = tuple[Hashable, ...]


def every_operator(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[Path, Operator]]:
    """The operators of a scope, given with their keys, and those inside of them, with their paths."""
    for key, operator in operators:
        yield (key,), operator
        if isinstance(operator, Loop):
            inside = zip(operator.keys, operator.body, strict=True)
            yield from (((key, *path), inner) for path, inner in every_operator(inside))
        if isinstance(operator, OutermostLoop):
            kept = enumerate(operator.kept())
            yield from (((key, ("kept", number)), inner) for number, inner in kept)


def arrangements(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[Path, Arrangement]]:
    """The arrangements among all of these operators."""
    for path, operator in every_operator(operators):
        if isinstance(operator, Arrangement):
            yield path, operator
