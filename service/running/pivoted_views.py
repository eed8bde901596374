"""Views whose columns follow their data: a PIVOT that leaves its values open has them of a query beside it.

A view has the lists of values that its columns were made of. The query of its values is maintained as one
that clients follow is. If its rows are others than the lists, the view is replaced by itself under the new
lists, in an epoch of its own (`service/running/replacements.py`). All of this happens beside the writer, on
an event loop of its own, which only hears of changes that concern it.

A view that cannot get its columns, because they would be too many or another view reads one that would be
gone, keeps those that it has, and `notices` says why.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from engine.codec.json import decode_rows
from engine.errors import EngineError
from engine.state.snapshot import RelationSnapshot
from planner.errors import PlannerError, TooManyColumns
from planner.planning import may_leave_values
from planner.rewriting.open_pivots import PivotLists, lists_of
from service.accounts.principals import MayRead
from service.catalog.replacement_records import NewQuery
from service.definitions.definition import Definition
from service.definitions.intended_query import intend_lists
from service.definitions.known_relations import KnownRelations
from service.definitions.maintained_queries import new_query_name
from service.errors import Conflict, Invalid, ServiceError, Unavailable
from service.running.builds import Builds, waited
from service.running.replacements import Replacements
from service.running.state import State
from service.writing.writer import Writer

_REST = 4
"""How many times longer than a view was worked at it rests, so that data which go on changing take the
machine a part of the time."""
_RETRY, _LONGEST_RETRY = 1.0, 300.0
"""Seconds until what could not be done is tried again, if nothing that concerns it changes: at first, and at
most."""


@dataclass(eq=False)
class _Followed:
    """A view whose lists are followed: the name of their query in the engine, the text that it was made of,
    and its rows when they were read last. The loop sets `beat` when something may have changed, and ends the
    `task` when the view is gone."""

    query: str = ""
    text: tuple[str, str] = ("", "")
    seen: RelationSnapshot | None = None
    beat: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    is_over: bool = False

    def end(self) -> None:
        if self.task is not None and not self.is_over:
            self.is_over = True
            self.task.cancel()


class PivotedViews:
    """`notices` says of views why their columns are not those of their data. It is replaced as a whole."""

    def __init__(self, state: State, builds: Builds, writer: Writer, replacements: Replacements) -> None:
        self.notices: Mapping[str, str] = {}
        self._state = state
        self._builds = builds
        self._writer = writer
        self._replacements = replacements
        self._known: KnownRelations | None = None
        self._views: Mapping[str, Definition] = {}
        """Those that leave values to the data. Replaced as a whole, on the writer's thread."""
        self._followed: Mapping[str, _Followed] = {}
        """By view. Replaced as a whole, on the loop."""
        self._lock = threading.Lock()
        """Held while it ends, and while the loop is made or told: nothing begins behind the end."""
        self._is_over = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def listed(self, query: NewQuery, readable: MayRead = None) -> NewQuery:
        """A new query with the values that it leaves to the data, as they are now. Raises what ends the
        planning or the building of a view."""
        if not may_leave_values(query.sql):
            return query
        lists = await waited(self._builds.start(partial(self._lists_now, query, readable)))
        return replace(query, lists=lists)

    def _lists_now(self, query: NewQuery, readable: MayRead) -> PivotLists:
        """Runs on a thread of the builds."""
        name = new_query_name()
        intended = intend_lists(self._state.definitions, name, query.sql, query.dialect, readable)
        if intended is None:
            return ()
        try:
            self._builds.build(name, lambda: intended)
            return self._read(name, intended.keys)[0]
        finally:
            self._writer.call(partial(self._drop, name))

    def _read(self, query: str, keys: int) -> tuple[PivotLists, RelationSnapshot]:
        """The lists of so many keys, as rows of their query. Raises Invalid if a value cannot be computed,
        TooManyColumns, Conflict if the query has ended."""
        snapshot, most = self._state.engine.snapshot, self._state.definitions.limits.columns
        relation = snapshot.relations.get(query)
        if relation is None or relation.failure is not None:
            raise Conflict("what a PIVOT reads was dropped or altered", "try again", code="table_changed")
        if errors := snapshot.errors(query, most=1):
            raise Invalid(f"a value of a PIVOT cannot be computed: {errors[0][0]}")
        words, counts = snapshot.rows(query, snapshot.upper - 1)
        if len(counts) > most:
            raise TooManyColumns(
                f"a PIVOT has {len(counts)} values, and a result at most {most} columns",
                "group by the values, or raise FRESHET_PLAN_COLUMNS",
            )
        rows = decode_rows(words, relation.schema, self._state.engine.dictionary)
        return lists_of(rows, keys), relation

    def stop(self) -> None:
        """Follows nothing any more. Blocks. Call it while the writer still runs."""
        with self._lock:
            self._is_over = True
        if self._loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(self._cancelled(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    # On the writer's thread

    def consider(self) -> None:
        """Tells the loop if the views or the rows of their lists are others than those that it knows."""
        definitions, relations = self._state.definitions, self._state.engine.snapshot.relations
        is_told = definitions.known is not self._known
        if is_told:
            self._known, last = definitions.known, self._views
            self._views = {name: view for name, view in definitions.all.items() if view.details.lists}
            is_told = bool(self._views or last)
        followed = self._followed.values()
        if is_told or any(relations.get(it.query) is not it.seen for it in followed):
            self._tell()

    def _tell(self) -> None:
        with self._lock:
            if self._is_over:
                return
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                run = self._loop.run_forever
                self._thread = threading.Thread(target=run, name="freshet-pivots", daemon=True)
                self._thread.start()
            self._loop.call_soon_threadsafe(self._beat)

    def _drop(self, query: str) -> None:
        self._state.definitions.queries.drop([query])
        self._state.definitions.clock.stop_unless_read()

    # On the loop

    def _beat(self) -> None:
        for name in self._views.keys() - self._followed.keys():
            it = _Followed()
            self._followed = {**self._followed, name: it}
            it.task = asyncio.ensure_future(self._keep(name, it))
        for name, it in self._followed.items():
            it.beat.set()
            if name not in self._views:
                it.end()

    async def _cancelled(self) -> None:
        for it in self._followed.values():
            it.end()
        tasks = [it.task for it in self._followed.values() if it.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, name: str, it: _Followed) -> None:
        """Lets a view have the columns of its data, as long as it leaves them to the data."""
        try:
            await self._bring(name, it)
        finally:
            it.is_over = True  # what follows is not cancelled any more
            self._note(name, None)
            with suppress(Unavailable):  # the service ends, and its engine with it
                await self._writer.run(partial(self._drop, it.query))
            self._followed = {other: there for other, there in self._followed.items() if other != name}
            if not self._is_over:
                self._beat()  # another view may have the name by now

    async def _bring(self, name: str, it: _Followed) -> None:
        retry = _RETRY
        while (view := self._views.get(name)) is not None:
            it.beat.clear()
            began = monotonic()
            fault = await self._fault(view, it)
            self._note(name, fault)
            await asyncio.sleep((monotonic() - began) * _REST)
            if fault is None:
                retry = _RETRY
                await it.beat.wait()
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(it.beat.wait(), retry)
            retry = min(2 * retry, _LONGEST_RETRY)

    def _note(self, name: str, fault: str | None) -> None:
        kept = {other: notice for other, notice in self.notices.items() if other != name}
        self.notices = (
            kept if fault is None else {**kept, name: f"its columns are not those of its data: {fault}"}
        )

    async def _fault(self, view: Definition, it: _Followed) -> str | None:
        """Brings the columns of a view up to its data. Returns why that cannot be done."""
        try:
            await self._follow(view, it)
            lists, it.seen = self._read(it.query, len(view.details.lists))
            if lists != view.details.lists:
                await self._remake(view, lists)
        except (PlannerError, ServiceError, EngineError) as error:
            return error.message
        return None

    async def _follow(self, view: Definition, it: _Followed) -> None:
        """Builds the query of the lists if it is not there."""
        text, there = (view.sql, view.dialect), self._state.engine.snapshot.relations.get(it.query)
        if there is not None and there.failure is None and it.text == text:
            return
        if it.query:
            await self._writer.run(partial(self._drop, it.query))
        it.query, it.text, it.seen = new_query_name(), text, None
        await waited(self._builds.start(partial(self._build, it, it.query, view)))

    def _build(self, it: _Followed, query: str, view: Definition) -> None:
        """Runs on a thread of the builds."""
        of, texts = self._state.definitions, (view.sql, view.dialect)
        intended = intend_lists(of, query, *texts, sees=view.details.sees)
        assert intended is not None
        self._builds.build(query, lambda: intended)
        if it.is_over:  # it was dropped before it was there
            self._writer.call(partial(self._drop, query))

    async def _remake(self, view: Definition, lists: PivotLists) -> None:
        """Replaces a view by itself under other lists. Columns that another view reads stay, also if their
        values are gone."""
        query = NewQuery(view.name, view.sql, view.dialect, lists, is_same_text=True)
        try:
            await self._replacements.replace([query])
        except Conflict as error:
            last = view.details.lists
            kept = tuple(
                (*now, *(value for value in then if value not in now))
                for now, then in zip(lists, last, strict=True)
            )
            if error.code == "in_use" and kept not in (last, lists):
                await self._replacements.replace([replace(query, lists=kept)])
            raise
