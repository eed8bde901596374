"""The operators of a dataflow that keep state, and the fingerprints of their states.

A path is the operator's key in the outermost scope, preceded by the keys of the loops around it, if any. Two
dataflows of the same views have the same paths, in any process and whatever their history.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Protocol

from engine.operators.arrangement import Arrangement
from engine.operators.loop import Loop
from engine.operators.operator import Operator, Step
from engine.operators.outermost_loop import OutermostLoop
from engine.plan.fingerprint import fingerprint
from engine.state.layer import Layer
from engine.state.trace import Trace

Path = tuple[Hashable, ...]


def every_operator(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[Path, Operator]]:
    """All operators of a scope and its loops, with their paths; takes operators with their keys."""
    for key, operator in operators:
        yield (key,), operator
        if isinstance(operator, Loop):
            inside = zip(operator.keys, operator.body, strict=True)
            yield from (((key, *path), inner) for path, inner in every_operator(inside))
        if isinstance(operator, OutermostLoop):
            kept = enumerate(operator.kept())
            yield from (((key, ("kept", number)), inner) for number, inner in kept)


class Kept(Protocol):
    """State that outlives an advance: an arrangement, or a log of failed rows."""

    trace: Trace
    fingerprint: str
    """Computed when it is first asked for; empty before."""

    def receive(self, layers: tuple[Layer, ...], step: Step) -> None:
        """Stage mapped layers, which an executor computed, as the batch of this advance."""

    def reset(self) -> None:
        """Read the trace anew after it was changed from outside; forget what an advance left beside it."""


class StateSource(Protocol):
    """What has the state of operators that have not run yet."""

    def map(self, operators: Iterable[tuple[Hashable, Operator]]) -> bool:
        """Give operators, which come with their keys, their state; false, and nothing changes, if some of it
        is not there."""


def kept_states(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[str, Kept]]:
    """All state of these operators, by fingerprint: arrangements, and the logs of failed rows."""
    for path, operator in every_operator(operators):
        if isinstance(operator, Arrangement):
            yield _fingerprint(operator, path), operator
        log = getattr(operator, "failures", None)
        if log is not None:
            yield _fingerprint(log, (*path, "failures")), log


def _fingerprint(state: Kept, path: Path) -> str:
    """The state's fingerprint, computed once."""
    if not state.fingerprint:
        state.fingerprint = fingerprint(*path)
    return state.fingerprint
