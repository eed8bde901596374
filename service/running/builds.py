"""Builds: new views are planned and computed beside the writer, which only begins and adopts them.

  plan       on a thread of the builds, over the definitions of the moment
  begin      on the writer's thread; planned again if a relation that the view reads has changed meanwhile
  compute    on the thread, in a process, or on Spark, while epochs go on; then it catches up with them
  adopt      on the writer's thread: stored in the catalog and visible at one epoch

A build that fails or is cancelled leaves nothing behind. A view that needs too long for an epoch is set
aside, so that the epoch need not wait, and built again in the same way.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from engine.errors import BuildCancelled, EngineError, NameInUse, OverBudget
from engine.operators.allowance import Spending
from engine.runtime.building import Building
from engine.runtime.succession import Past
from service.definitions.definition import Definition
from service.definitions.intended_view import IntendedView, intend_again
from service.definitions.maintained_queries import new_query_name
from service.errors import Conflict, Overloaded, Unavailable
from service.running.state import State
from service.running.view_build import EngineBuild, ViewBuild
from service.settings.settings import Settings

T = TypeVar("T")
_THREADS = 16
_PLANS = _ADOPTIONS = 5
"""Times that a view is planned, and that the writer tries to adopt it, before its relations have to rest."""
Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread and returns the result."""
Plan = Callable[[], IntendedView]
"""Plans a view over the definitions of the moment."""
_log = logging.getLogger("freshet.builds")


class BuildThreads:
    """The threads on which views are built, of the service and of its branches; so many may wait for one."""

    def __init__(self, settings: Settings) -> None:
        self.turns = threading.Semaphore(settings.builds)
        """Taken by whoever computes a view in a process of its own."""
        self._most = settings.builds_waiting
        self._threads = ThreadPoolExecutor(_THREADS, "freshet-builds")
        self._asked: set[Future[Any]] = set()

    def start(self, job: Callable[[], T], *, asked: bool = True) -> Future[T]:
        """Calls a job on one of the threads. Raises Overloaded if it was `asked` for and many are waiting,
        and Unavailable once they are closed."""
        if asked and len(self._asked) >= self._most:
            raise Overloaded(f"{self._most} views are being built already", "try again later")
        try:
            future = self._threads.submit(copy_context().run, job)
        except RuntimeError:
            raise Unavailable("the service is shutting down", code="shutting_down") from None
        if asked:
            self._asked.add(future)
            future.add_done_callback(self._asked.discard)
        return future

    def close(self) -> None:
        """Waits for the threads; what waits for one is not called any more."""
        self._threads.shutdown(cancel_futures=True)


class Builds:
    """The views of one timeline that are being built."""

    def __init__(
        self,
        state: State,
        call: Call,
        threads: BuildThreads,
        check: Callable[[Building], None] = lambda building: None,
    ) -> None:
        """`check` raises if there is no room for what was built."""
        self.all: Mapping[str, ViewBuild] = {}
        """The views that are being built, by name. Replaced as a whole, on the writer's thread."""
        self.returning: Mapping[str, Future[Definition]] = {}
        """The views that were set aside and are built again. Replaced as `all` is."""
        self._state = state
        self._call = call
        self._check = check
        self.threads = threads
        self._running: set[Future[Any]] = set()
        self._is_closed = False

    async def make(self, name: str, plan: Plan) -> Definition:
        """Builds a view; returns when it is visible. It is built to its end even if nobody waits any more."""
        return await waited(self.start(partial(self.build, name, plan)))

    def start(self, job: Callable[[], T], *, asked: bool = True) -> Future[T]:
        """Calls a job that builds views on a thread of the builds: see `BuildThreads.start`."""
        future = self.threads.start(job, asked=asked)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    async def returned(self, names: Iterable[str]) -> None:
        """Waits until none of the views is being built again, whatever came of them."""
        waiting = [asyncio.wrap_future(self.returning[name]) for name in names if name in self.returning]
        for future in waiting:
            future.add_done_callback(_retrieved)
        if waiting:
            await asyncio.wait(waiting)

    def cancel(self, name: str) -> bool:
        """Cancels the building of a view; false if there is none of this name."""
        build = self.all.get(name)
        if build is not None:
            build.cancel()
        return build is not None

    def cancel_dropped(self, known: Mapping[str, Definition]) -> None:
        """Cancels the building of views that are built again and are gone."""
        for name, build in self.all.items():
            if build.intended.rebuilt is not None and name not in known:
                build.cancel()

    def close(self) -> None:
        """Cancels all builds and waits until they have ended. Call it while the writer still runs."""
        self._is_closed = True
        running = tuple(self._running)
        for future in running:
            future.cancel()
        for build in self.all.values():
            build.cancel()
        wait(running)

    def build(self, name: str, plan: Plan) -> Definition:
        """Builds a view, on a thread of the builds."""
        build = self._begun(name, plan)
        state = self._state
        try:
            with state.directory.reserving(build.building.files()) as prefix:
                build.compute(state.directory, prefix, self.threads.turns)
                self._check(build.building)
                self._precede(build)
                return self._adopted(build)
        finally:
            self._call(lambda: self._end(build))

    def _rebuild(self, name: str, plan: Plan) -> Definition:
        """Builds a view again, however often what it reads is built again meanwhile."""
        while True:
            try:
                return self.build(name, plan)
            except Conflict as error:
                if error.code != "table_changed":
                    raise

    def _precede(self, build: ViewBuild) -> None:
        """Gives a view that is built again what it was before it was replaced, as far as that can be told."""
        state, intended = self._state, build.intended
        pasts: list[Past] = []
        for former in state.definitions.former_plans(intended.definition) if intended.with_past else ():
            engine, name = state.engine, new_query_name()
            building = self._call(partial(engine.begin_view, name, former.plan))
            try:
                with state.directory.reserving(building.files()) as prefix:
                    EngineBuild(building, build.spark, state.settings).compute(
                        state.directory, prefix, self.threads.turns
                    )
                    pasts.append(former.past(building.relation()))
            except BuildCancelled:
                raise
            except EngineError as error:
                _log.info("what view %s was cannot be told: %s", intended.definition.name, error.message)
                pasts.clear()
            finally:
                self._call(partial(engine.discard, building))
        build.building.precede(pasts)

    def _begun(self, name: str, plan: Plan) -> ViewBuild:
        for _ in range(_PLANS):
            build: ViewBuild | None = self._call(partial(self._begin, plan()))
            if build is not None:
                return build
        raise Conflict(f"what view {name} reads keeps changing", "try again", code="table_changed")

    def _adopted(self, build: ViewBuild) -> Definition:
        for _ in range(_ADOPTIONS):
            build.catch_up(self._state.engine)
            # Even little may be too much for the writer's turn: then it is caught up with here.
            with suppress(OverBudget):
                return self._call(partial(self._adopt, build))  # type: ignore[no-any-return]
        raise Conflict(
            f"what view {build.building.name} reads changes faster than the view can follow",
            "create it when less changes, or give views more time",
            code="tables_changing",
        )

    # On the writer's thread

    def bring_back(self, names: Iterable[str]) -> None:
        """Builds views that were set aside again."""
        for name in names:
            if name not in self._state.definitions.all:
                continue
            plan = partial(intend_again, self._state.definitions, name, with_past=True)
            with suppress(Unavailable):  # the service is ending, and builds the view after its next start
                future = self.start(partial(self._rebuild, name, plan), asked=False)
                self.returning = {**self.returning, name: future}
                future.add_done_callback(partial(self._came_back, name))

    def _came_back(self, name: str, future: Future[Definition]) -> None:
        """Runs where the building of a view ended that was set aside."""
        error = None if future.cancelled() else future.exception()
        with suppress(Unavailable):
            self._call(partial(self._end_return, name, error))

    def _end_return(self, name: str, error: BaseException | None) -> None:
        self.returning = {other: it for other, it in self.returning.items() if other != name}
        definitions, engine = self._state.definitions, self._state.engine
        there = definitions.all.get(name)
        if error is None or there is None:
            return
        _log.error("view %s has failed: %s", name, error)
        reason = error.message if isinstance(error, EngineError) else str(error)
        if there.failure is not None:
            definitions.put(replace(there, failure=reason))
        elif engine.snapshot.failure(name) is not None:
            engine.explain_failure(name, reason)

    def _begin(self, intended: IntendedView) -> ViewBuild | None:
        """Begins to build a view; None if it has to be planned again."""
        if self._is_closed:
            raise Unavailable("no more views are built", code="shutting_down")
        definitions, engine, placement = self._state.definitions, self._state.engine, self._state.placement
        name, plan = intended.definition.name, intended.definition.maintained
        if name in self.all:
            raise NameInUse(f"view {name} is being built already", "wait until it is there, or drop it")
        if intended.rebuilt is None:
            definitions.must_be_new(name)
        if not intended.is_current(definitions):
            return None
        definitions.clock.start_for(plan)
        replacing = intended.rebuilt is not None
        building = engine.begin_view(name, plan, replacing=replacing, with_past=intended.with_past)
        spark = None if placement is None else placement.for_build(building)
        build = ViewBuild(building, spark, self._state.settings, intended=intended)
        self.all = {**self.all, name: build}
        return build

    def _adopt(self, build: ViewBuild) -> Definition:
        build.check_wanted()
        state, intended, building = self._state, build.intended, build.building
        if not intended.is_current(state.definitions):
            raise Conflict(
                f"what view {building.name} reads was dropped or altered while it was built",
                "create it again",
                code="table_changed",
            )
        building.catch_up(state.engine.snapshot, Spending(state.settings.view_allowance))
        return intended.make(building, state.definitions)

    def _end(self, build: ViewBuild) -> None:
        self.all = {name: other for name, other in self.all.items() if other is not build}
        self._state.engine.discard(build.building)
        self._state.definitions.clock.stop_unless_read()


async def waited(future: Future[T]) -> T:
    """The result of what is built to its end even if nobody waits any more. Raises Unavailable if it was
    cancelled before it began."""
    built = asyncio.wrap_future(future)
    built.add_done_callback(_retrieved)
    try:
        return await asyncio.shield(built)
    except asyncio.CancelledError:
        if not built.cancelled():  # it is the caller who goes
            raise
    raise Unavailable("it is not built any more: the service or the branch is closing", code="shutting_down")


def _retrieved(built: asyncio.Future[Any]) -> None:
    """Look at the outcome, so that asyncio does not complain where nobody waits for it any more."""
    if not built.cancelled():
        built.exception()
