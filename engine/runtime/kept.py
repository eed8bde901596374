"""The operators of a dataflow that keep state, and the fingerprints of their states.

A path is the operator's key in the outermost scope, preceded by the keys of the loops around it, if any. Two
dataflows of the same views have the same paths, in any process and whatever their history.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Protocol

from engine.operators.arrangement import Arrangement
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.operators.outermost_loop import OutermostLoop
from engine.plan.fingerprint import fingerprint

Path = tuple[Hashable, ...]


def every_operator(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[Path, Operator]]:
    """All operators of a scope and its loops, and the logs of their failed rows, with their paths; takes
    operators with their keys."""
    for key, operator in operators:
        yield (key,), operator
        log = getattr(operator, "failures", None)
        if log is not None:
            yield (key, "failures"), log
        if isinstance(operator, Loop):
            inside = zip(operator.keys, operator.body, strict=True)
            yield from (((key, *path), inner) for path, inner in every_operator(inside))
        if isinstance(operator, OutermostLoop):
            kept = enumerate(operator.kept())
            yield from (((key, ("kept", number)), inner) for number, inner in kept)


class StateSource(Protocol):
    """What has the state of operators that have not run yet."""

    def map(self, operators: Iterable[tuple[Hashable, Operator]]) -> bool:
        """Give operators, which come with their keys, their state; false, and nothing changes, if some of it
        is not there."""


def kept_states(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[str, Arrangement]]:
    """All state of these operators, by fingerprint, which is computed once."""
    for path, operator in every_operator(operators):
        if isinstance(operator, Arrangement):
            if not operator.fingerprint:
                operator.fingerprint = fingerprint(*path)
            yield operator.fingerprint, operator
