"""The operators of a dataflow that keep something, and what each stands for.

A path is the operator's key in the outermost scope, after those of the loops that it lies in. Two
dataflows of the same views have the same paths, in whatever process and however they came about.
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
    """The operators of a scope, given with their keys, and those inside of them, with their paths."""
    for key, operator in operators:
        yield (key,), operator
        if isinstance(operator, Loop):
            inside = zip(operator.keys, operator.body, strict=True)
            yield from (((key, *path), inner) for path, inner in every_operator(inside))
        if isinstance(operator, OutermostLoop):
            kept = enumerate(operator.kept())
            yield from (((key, ("kept", number)), inner) for number, inner in kept)


class Kept(Protocol):
    """What is kept between advances; its fingerprint is there once somebody has asked."""

    trace: Trace
    fingerprint: str

    def receive(self, layers: tuple[Layer, ...], step: Step) -> None:
        """Let mapped layers, computed elsewhere, be what the advance brings."""

    def reset(self) -> None:
        """Take the trace as it is, with nothing of an advance beside it."""


def kept_states(operators: Iterable[tuple[Hashable, Operator]]) -> Iterator[tuple[str, Kept]]:
    """All that these operators keep, by fingerprint: arrangements, and the errors of failed rows."""
    for path, operator in every_operator(operators):
        if isinstance(operator, Arrangement):
            yield _fingerprint(operator, path), operator
        log = getattr(operator, "failures", None)
        if log is not None:
            yield _fingerprint(log, (*path, "failures")), log


def _fingerprint(state: Kept, path: Path) -> str:
    """The state's fingerprint, which is made once."""
    if not state.fingerprint:
        state.fingerprint = fingerprint(*path)
    return state.fingerprint
