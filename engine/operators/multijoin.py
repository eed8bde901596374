"""Multijoin: the changes of each input meet the other inputs' arrangements; no intermediate result is stored.

In a step, the inputs that changed take turns. A change meets the inputs before it as they are after the step,
and the others as they are before it, so that each meeting of several changes is counted once. The largest
change goes first: at a load, when everything else is empty, it meets nothing, and the work starts from the
smallest. If changes are divided among shards, all shards take the inputs in the order of the whole changes.

Inside a loop, a line may move to a later round on its path. It continues the path at once, and is emitted
when its round comes.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.narrow.narrow_rows import as_matrix
from engine.kernels.rounds import split_deltas
from engine.operators.arrangement import ArrangementReader
from engine.operators.lookups import Choosing
from engine.operators.lookups import Step as PathStep
from engine.operators.operator import Deferred, Operator, Step
from engine.operators.routes import Arrangements, routes
from engine.plan.multijoins import MultiJoin as MultiJoinNode

CHUNK = 1 << 16
"""Lines that are processed together; more are divided, so that intermediate results stay small."""


class MultiJoinOperator(Operator):
    """The rows of all inputs that agree; a result's words are the attributes `wanted`, in ascending order."""

    pairs_changes = True

    def __init__(self, node: MultiJoinNode, wanted: tuple[int, ...], arrangements: Arrangements) -> None:
        """`arrangements` has each input in every order of `engine.plan.join_paths.orders`."""
        super().__init__(arrangements.values())  # type: ignore[arg-type]
        self.wide: list[ArrangementReader] | None = None
        """Takes the place of the inputs if other shards have parts of their changes."""
        self._routes = routes(node, wanted, arrangements)
        self.deferred: Deferred = Deferred()

    def step(self, step: Step) -> None:
        self.out = self.deferred.take(step.rounds) if step.rounds else []
        sources: list[ArrangementReader] = self.wide or self.inputs  # type: ignore[assignment]
        turns = [route for route in self._routes if sources[route.source].changed]
        turns.sort(key=lambda route: sources[route.source].changed, reverse=True)
        done: set[int] = set()
        for route in turns:
            batch = sources[route.source].batch
            tables = [
                sources[source].after() if input in done else sources[source].before()
                for source, input in route.tables
            ]
            if batch is not None and all(map(len, tables)):
                lines = np.ascontiguousarray(as_matrix(batch).T[route.columns])
                self._follow(route.first, lines, tables, step.array, step)
            done.add(route.input)

    def _follow(
        self,
        then: PathStep | None,
        lines: np.ndarray,
        tables: list[np.ndarray],
        rounds: np.ndarray,
        step: Step,
    ) -> None:
        """Take lines at `rounds` through all steps from `then` on."""
        while then is not None and lines.shape[1]:
            if lines.shape[1] > CHUNK:
                for start in range(0, lines.shape[1], CHUNK):
                    part = np.ascontiguousarray(lines[:, start : start + CHUNK])
                    self._follow(then, part, tables, rounds, step)
                return
            if isinstance(then, Choosing):
                for branch, part in then.divide(lines, tables):
                    self._follow(branch, part, tables, rounds, step)
                return
            lines, later = then(lines, tables, rounds, step.masks)
            then = then.then
            if later is not None and later.shape[1]:
                for following, part in split_deltas(later, len(rounds)):
                    self._follow(then, part, tables, np.array(following, np.int64), step)
        if lines.shape[1]:
            self._emit(lines, rounds, step)

    def _emit(self, lines: np.ndarray, rounds: np.ndarray, step: Step) -> None:
        if rounds is step.array:
            self.out.append(lines)
        else:
            self.deferred.put(tuple(rounds.tolist()), lines, step.scope)
