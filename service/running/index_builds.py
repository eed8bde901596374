"""Index builds: the engine's indexes follow those of the catalog, computed beside the writer.

CREATE INDEX only changes the catalog. After every change that can be seen, the writer's thread looks which
indexes the catalog has and the engine lacks, or has given up, and they are built as new views are. So an
index also comes back after a restart, and when its view is built again. Until then reads find rows in other
ways.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.errors import BuildCancelled, OverBudget
from engine.operators.allowance import Spending
from engine.plan.nodes import Node
from service.changes.constraints import index_side
from service.definitions.known_relations import KnownRelations
from service.errors import Conflict
from service.running.state import State
from service.running.view_build import EngineBuild

_ADOPTIONS = 5
_THREADS = 2
Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread and returns the result."""
_log = logging.getLogger("freshet.indexes")


@dataclass(frozen=True, eq=False)
class _Wanted:
    """An index of `relation`, whose snapshot has this `origin`, by its name in the engine."""

    name: str
    relation: str
    plan: Node
    origin: object


class IndexBuilds:
    def __init__(self, state: State, call: Call, turns: threading.Semaphore) -> None:
        """`turns` are taken by whoever computes in a process of its own."""
        self._state = state
        self._call = call
        self._turns = turns
        self._threads = ThreadPoolExecutor(_THREADS, "freshet-indexes")
        self._known: KnownRelations | None = None
        self._plans: Mapping[str, tuple[str, Node]] = {}
        self._failed: dict[str, object] = {}
        self._running: dict[str, EngineBuild] = {}
        self.futures: Mapping[str, Future[None]] = {}
        """What builds an index, by its name in the engine. Replaced as a whole, on the writer's thread."""

    def consider(self) -> None:
        """Begins to build what is missing, and cancels what is no longer wanted. On the writer's thread."""
        definitions, snapshot = self._state.definitions, self._state.engine.snapshot
        if definitions.known is not self._known:
            self._known = definitions.known
            self._plans = {
                index: (definition.name, plan)
                for definition in definitions.all.values()
                if definition.details.indexes
                for index, plan in definitions.lookups(definition).items()
            }
            for name in self._running.keys() - self._plans.keys():
                self._running[name].cancel()
        for name, (relation, plan) in self._plans.items():
            there, of = snapshot.relations.get(name), snapshot.relations.get(relation)
            is_there = there is not None and there.failure is None
            if is_there or of is None or of.failure is not None or name in self.futures:
                continue
            if self._failed.get(name) is not of.origin:
                self._begin(_Wanted(name, relation, plan, of.origin))

    async def built(self, index: str) -> None:
        """Waits until the index of this name is built. Raises what ended the build."""
        names = [
            index_side(definition.relation, of.columns, of.included).index
            for definition in self._state.definitions.all.values()
            for of in definition.details.indexes
            if of.name == index
        ]
        for future in [self.futures[name] for name in names if name in self.futures]:
            await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Cancels all builds and waits for their threads. Call it while the writer still runs."""
        for build in list(self._running.values()):
            build.cancel()
        self._threads.shutdown(cancel_futures=True)

    def _begin(self, wanted: _Wanted) -> None:
        self._failed.pop(wanted.name, None)
        with suppress(RuntimeError):  # the service is ending, and builds the index after its next start
            future = self._threads.submit(self._build, wanted)
            self.futures = {**self.futures, wanted.name: future}

    # On a thread of the builds

    def _build(self, wanted: _Wanted) -> None:
        error: BaseException | None = None
        try:
            self._compute(wanted)
        except BaseException as failed:
            error = failed
            raise
        finally:
            with suppress(Exception):  # the writer is gone
                self._call(partial(self._end, wanted, error))

    def _compute(self, wanted: _Wanted) -> None:
        build: EngineBuild | None = self._call(partial(self._start, wanted))
        if build is None:
            return
        state = self._state
        with state.directory.reserving(build.building.files()) as prefix:
            build.compute(state.directory, prefix, self._turns)
            for _ in range(_ADOPTIONS):
                build.catch_up(state.engine)
                with suppress(OverBudget):
                    self._call(partial(self._adopt, wanted, build))
                    return
        raise Conflict(
            "the relation changes faster than its index can follow",
            "create it when less changes, or give views more time",
            code="tables_changing",
        )

    # On the writer's thread

    def _start(self, wanted: _Wanted) -> EngineBuild | None:
        """Begins a build; None if the index is there or no longer wanted."""
        engine, placement = self._state.engine, self._state.placement
        there = engine.snapshot.relations.get(wanted.name)
        if self._plans.get(wanted.name) != (wanted.relation, wanted.plan):
            return None
        if there is not None and there.failure is None:
            return None
        building = engine.begin_view(wanted.name, wanted.plan, replacing=there is not None)
        spark = None if placement is None else placement.for_build(building)
        build = self._running[wanted.name] = EngineBuild(building, spark, self._state.settings)
        return build

    def _adopt(self, wanted: _Wanted, build: EngineBuild) -> None:
        build.check_wanted()
        engine = self._state.engine
        if self._plans.get(wanted.name) != (wanted.relation, wanted.plan):
            raise BuildCancelled("the index was dropped, or its relation altered, while it was built")
        build.building.catch_up(engine.snapshot, Spending(self._state.settings.view_allowance))
        engine.adopt(build.building, replacing=True)

    def _end(self, wanted: _Wanted, error: BaseException | None) -> None:
        build = self._running.pop(wanted.name, None)
        if build is not None:
            self._state.engine.discard(build.building)
        self.futures = {name: future for name, future in self.futures.items() if name != wanted.name}
        if error is None or isinstance(error, BuildCancelled):
            return
        self._failed[wanted.name] = wanted.origin
        _log.error("an index of %s could not be built: %s", wanted.relation, error)
