"""Checks: a view is computed anew, beside the writer, and compared with its maintained rows.

The computation takes the tables as they are at one epoch, by the machinery and under the limits of builds. It
shares no state with the running view, and is thrown away. The writer only begins it.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress
from functools import partial

from engine.errors import BuildCancelled
from service.catalog.catalog import Call
from service.definitions.definition import Definition
from service.definitions.intended_view import IntendedView
from service.errors import Unavailable
from service.reading.callers import Caller
from service.reading.reads import check_health
from service.running.state import State
from service.running.view_build import ViewBuild
from service.running.view_comparison import ViewComparison, compare


class ViewChecks:
    def __init__(self, state: State, call: Call, turns: threading.Semaphore) -> None:
        """`turns` are those of builds: as many processes compute at once as they let."""
        self._state = state
        self._call = call
        self._turns = turns
        self._lock = threading.Lock()
        self._closed = False
        self._running: set[ViewBuild] = set()

    def check(self, name: str, caller: Caller) -> ViewComparison:
        """Compare a view with a new computation of it. Blocks.

        Raises NotFound, Conflict for a view that has failed or is being built, CallerGone or Unavailable if
        the caller leaves or the service ends, and an EngineError if the view cannot be computed within the
        limits.
        """
        with ExitStack() as stack:
            build, prefix = self._call(partial(self._begin, name, stack))
            stack.callback(self._end, build)
            self._admit(build)
            stack.enter_context(caller.ending(build.cancel))
            self._compute(build, prefix)
            return _compared(build)

    def close(self) -> None:
        """Cancels all checks, and lets none begin. Call it while the writer still runs."""
        with self._lock:
            self._closed = True
            for build in self._running:
                build.cancel()

    def _compute(self, build: ViewBuild, prefix: str) -> None:
        try:
            build.compute(self._state.directory, prefix, self._turns)
        except BuildCancelled:
            name = build.building.name
            raise Unavailable(f"the check of {name} was cancelled", code="shutting_down") from None

    def _admit(self, build: ViewBuild) -> None:
        with self._lock:
            if self._closed:
                raise Unavailable("the service is shutting down", code="shutting_down")
            self._running.add(build)

    def _begin(self, name: str, stack: ExitStack) -> tuple[ViewBuild, str]:
        """Takes the view's tables as they are now. Runs on the writer's thread, where no sweep can run."""
        state = self._state
        view: Definition = state.definitions.known.get(name, view=True)
        check_health(view, state.engine.snapshot, state.engine.snapshot.upper - 1, skip_errors=True)
        building = state.engine.begin_view(name, view.relation.plan, replacing=True, with_past=False)
        placement = state.placement
        spark = None if placement is None else placement.for_build(building)
        intended = IntendedView(view, view, {}, with_past=False)
        prefix = stack.enter_context(state.directory.reserving(building.files()))
        return ViewBuild(building, spark, state.settings, intended=intended), prefix

    def _end(self, build: ViewBuild) -> None:
        with self._lock:
            self._running.discard(build)
        with suppress(Unavailable):  # the writer has ended, and its engine with it
            self._call(lambda: self._state.engine.discard(build.building))


def _compared(build: ViewBuild) -> ViewComparison:
    building = build.building
    name, epoch, snapshot = building.name, building.epoch, building.snapshot
    relation = building.relation()
    masks = snapshot.frontier.order.masks
    errors = relation.errors.at(epoch, masks, building.dictionary) if relation.errors else []
    return compare(
        name,
        epoch,
        relation.schema,
        (snapshot.relations[name].balance(epoch), snapshot.errors(name, epoch)),
        (relation.balance(epoch), errors),
        (snapshot.texts, building.hydration.lease),
    )
