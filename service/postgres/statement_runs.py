"""Runs statements for a session: at the door of statements, in its block if it has one.

A statement that runs can be cancelled: by another connection, by the end of its own connection, and by
`statement_timeout`. All of them are the caller's leaving.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from engine.schema import Type
from planner.limits import within
from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece, split
from planner.parsing.search_path import search_path
from service.accounts.principals import Principal
from service.errors import Conflict, Unauthenticated, Unavailable
from service.postgres.circumstances import SessionReading
from service.postgres.hall import Hall
from service.postgres.session_settings import SessionSettings
from service.postgres.temporary_tables import TemporaryTables, makes_temporary_table
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.running.branches.open_branches import MAIN_NAME
from service.running.followed_queries import FollowedQuery
from service.running.runtime import Runtime
from service.running.view_timeline import ViewTimeline
from service.sql.branching import check_on_main
from service.sql.caller_scope import DoorParts
from service.sql.describing import DescribingRun
from service.sql.following_run import FollowingRun
from service.sql.open_block import BlockRun, OpenBlock
from service.sql.script_session import GivenNumbers, ScriptSession
from service.sql.tasks import Result
from service.stepped_timer import SteppedTimer

_LONG = 1 << 16
"""Characters of a script that is cut into statements in a thread of its own."""


class StatementRuns:
    """`address` and `principal` are the client's."""

    def __init__(self, hall: Hall, settings: SessionSettings, address: str) -> None:
        self.hall = hall
        self.settings = settings
        self.address = address
        self.principal: Principal | None = None
        self.block: OpenBlock | None = None
        self.temporary = TemporaryTables()
        self.numbers: GivenNumbers = {}
        self._caller: Caller | None = None
        self._is_gone = False
        self.timed_out = False
        """Whether the statement that was cancelled last was so by `statement_timeout`."""

    # Ending what runs

    def cancel(self) -> None:
        """Cancels the statement that runs, if one does."""
        if self._caller is not None:
            self._caller.leave()

    def leave(self) -> None:
        """Cancels the statement that runs, and all that begin later."""
        self._is_gone = True
        self.cancel()

    @contextmanager
    def calling(self) -> Iterator[Caller]:
        """The caller of one statement, who leaves if the statement is cancelled or runs for too long."""
        if self._caller is not None:
            yield self._caller
            return
        assert self.principal is not None
        if not self.runtime.accounts.is_current(self.principal):
            raise Unauthenticated("the key or its rights have changed", "connect anew", code="key_invalid")
        caller = self._caller = Caller(
            self.address, self.principal, self.settings.values, self.temporary.number
        )
        self.timed_out = False
        if self._is_gone:
            caller.leave()
        milliseconds = self.settings.milliseconds("statement_timeout")
        timer = None
        if milliseconds:
            timer = SteppedTimer(
                asyncio.get_running_loop(), milliseconds / 1000, partial(self._time_out, caller)
            )
        try:
            yield caller
        finally:
            self._caller = None
            if timer is not None:
                timer.cancel()

    def _time_out(self, caller: Caller) -> None:
        self.timed_out = True
        caller.leave()

    # Running

    @property
    def reading(self) -> SessionReading:
        """By what statements are read."""
        return SessionReading(self.settings.get("search_path"), self.settings.zone, self.temporary.schema)

    @property
    def runtime(self) -> Runtime:
        runtime = self.hall.runtime
        if runtime is None:
            raise Unavailable("the service is shutting down", code="shutting_down")
        return runtime

    @property
    def timeline(self) -> ViewTimeline:
        """The branch that the session is on. Raises NotFound if it is not there, Conflict if the block that
        is open has begun on another."""
        name = self.settings.get("branch")
        found = self.runtime if name == MAIN_NAME else self.runtime.branches.timeline(name)
        block = self.block
        if block is not None and block.timeline is not found:
            block.go_to(found)
        return found

    async def pieces(self, script: str) -> Sequence[Piece]:
        """The statements of a text. Raises InvalidSyntax."""
        limits = self.hall.settings.planning_limits

        def cut() -> Sequence[Piece]:
            with within(limits):
                return split(script)

        if len(script) < _LONG:
            return cut()
        return await self.hall.lanes.long_texts.run(cut)

    async def run(self, piece: Piece, parameters: Parameters = NO_PARAMETERS) -> Result:
        """The result of a statement. Raises ScriptFailed."""
        piece = replace(piece, parameters=parameters)
        parts = self._parts()
        with self.calling() as caller:
            if makes_temporary_table(piece):
                check_on_main(self._session(), "CREATE TABLE")
                if self.block is not None:
                    self.block.must_write()
                await self.temporary.make(self.runtime, caller.principal)
            if self.block is not None:
                run = BlockRun(*parts, caller, self._session(), None, self.block)
                return await run.run_in_block(piece, self.hall.door.lookups)
            return await self.hall.door.run_piece(piece, caller, self._session())

    async def parameters(self, piece: Piece, given: Sequence[Type | None]) -> tuple[Type | None, ...]:
        """The types of a statement's parameters."""
        parts = self._parts()
        with self.calling() as caller:
            return await DescribingRun(*parts, caller, self._session()).parameters(piece, given)

    async def describe(self, piece: Piece, types: Sequence[Type | None]) -> Answer | None:
        """The columns that a statement returns: an answer without rows."""
        if makes_temporary_table(piece):
            return None  # it can be read only where there is a place for the table
        parts = self._parts()
        with self.calling() as caller:
            return await DescribingRun(*parts, caller, self._session()).answer(piece, types)

    def relation(self, schema: str | None, name: str) -> str:
        """The full name of a relation, by the search path if no schema is written."""
        with self.calling() as caller:
            return FollowingRun(*self._parts(), caller, self._session()).relation(schema, name)

    async def follow(self, piece: Piece) -> FollowedQuery:
        """Maintains a query until it is left."""
        parts = self._parts()
        with self.calling() as caller:
            return await FollowingRun(*parts, caller, self._session()).query(piece)

    def _parts(self) -> DoorParts:
        _ = self.timeline
        return self.hall.door.parts

    def _session(self) -> ScriptSession:
        path = search_path(self.settings.get("search_path"))
        branch = self.settings.get("branch")
        named = None if branch == MAIN_NAME else branch
        return ScriptSession(path, self.temporary.schema, self.numbers, branch=named)

    # Blocks

    def begin(self, pins: bool, read_only: bool, is_implicit: bool = False) -> None:
        self.block = OpenBlock(self.timeline, read_only, pins, is_implicit)

    async def commit(self) -> list[str]:
        """Ends the block by making its changes, and returns what the client should know. Raises Conflict if
        that is not possible any more."""
        block, self.block = self.block, None
        if block is None:
            return []
        parts = self.hall.door.parts
        with self.calling() as caller:
            return await BlockRun(*parts, caller, self._session(), None, block).commit()

    def roll_back(self) -> bool:
        """Ends the block and discards its changes; whether definitions in it stay."""
        block, self.block = self.block, None
        if block is None:
            return False
        block.close()
        return block.has_defined

    def must_be_in_block(self, what: str) -> OpenBlock:
        if self.block is None or self.block.is_implicit:
            raise Conflict(f"{what} needs a block", "send BEGIN first", code="no_block")
        return self.block
