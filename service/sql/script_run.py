"""Runs a script's statements one after another, each with a result.

A script stops at the first statement that fails; `ScriptFailed` has its number, and what came before it
stands. The statements between BEGIN and COMMIT are one epoch: they see one state, which is still the newest
when their changes are made. If one of them fails, or the block ends with ROLLBACK, none of them takes effect.
Definitions (CREATE, ALTER, DROP) take effect at once, so they cannot be in a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial

from planner.adhoc.adhoc_query import adhoc_query
from planner.errors import InvalidQuery
from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece
from planner.statements.assertion_statements import ShowAssertions
from planner.statements.branch_statements import SetBranch, ShowBranch, ShowBranches
from planner.statements.outside import OUTSIDE, CopyFiles, ShowStreams
from planner.statements.prepare_statements import Deallocate, Prepare
from planner.statements.replacement_statements import REPLACING, PreviewReplacement, ShowReplacements
from planner.statements.row_statements import returns_rows
from planner.statements.schema_statements import SetSearchPath, ShowSchemas, ShowSearchPath
from planner.statements.show_create import identifier
from planner.statements.show_statements import COST, Explain, ShowColumns, ShowCreate, ShowTables, ShowViews
from planner.statements.statements import (
    Begin,
    Commit,
    CreateTable,
    CreateView,
    Delete,
    Insert,
    LongQuery,
    Merge,
    Rollback,
    Select,
    Statement,
    Truncate,
    Update,
)
from service.accounts.principals import readable_by
from service.reading.duck import Answer, QueryEvaluator
from service.running.branches.open_branches import MAIN_NAME
from service.sql.allowing import ACCOUNTS, allow
from service.sql.branching import BRANCHING, change_branches, check_on_main, check_place, set_branch
from service.sql.caller_scope import CallerScope
from service.sql.defining import DEFINING, OF_VIEWS, Notices, answered, define, define_view
from service.sql.granting import change_accounts
from service.sql.outside_running import run_outside
from service.sql.preparing import executed, keep, kept_statement
from service.sql.recorded import recorded
from service.sql.replacing_views import query_of, replace_views, views_of
from service.sql.script_failures import ScriptFailed, numbered, restless
from service.sql.tasks import Result, StatementTask, late_notices, name_of, texts
from service.writing.transaction import Transaction

_DRAFTS = 5
"""Times that statements run beside the writer, before they run in its turn."""
_OF_SESSION = (SetBranch, SetSearchPath, ShowBranch, ShowBranches, ShowSearchPath)
_SHOWS = (ShowAssertions, ShowColumns, ShowCreate, ShowSchemas, ShowTables, ShowViews)
_READS = (Explain, LongQuery, Select, *_SHOWS, *_OF_SESSION)


@dataclass(frozen=True, eq=False)
class ScriptRun(CallerScope):
    """One run of a script, for a caller."""

    async def pieces(
        self, script: str, dialect: str, parameters: Parameters, rows_last: bool
    ) -> Sequence[Piece]:
        lane = self._lane(len(script) + parameters.length)
        pieces = await lane.run(self._split, script, dialect, parameters)
        if rows_last and not (pieces and returns_rows(pieces[-1])):
            raise InvalidQuery(
                "the last statement returns no rows, which only JSON can say",
                "leave out the format, or end the script with a SELECT",
                *(pieces[-1].place() if pieces else (None, None)),
            )
        return pieces

    async def run(self, pieces: Sequence[Piece]) -> list[Result]:
        results: list[Result] = []
        block: list[Statement] = []
        for piece in pieces:
            with numbered(piece), self._timed(piece, block):
                self.caller.check()
                kept = kept_statement(piece)
                if isinstance(kept, Prepare | Deallocate):
                    if block:
                        raise InvalidQuery(f"{piece.words(1)[0]} is inside a block", "put it before BEGIN")
                    name = keep(kept, self.session.prepared)
                    results.append(Result(name, self.runtime.snapshot.upper - 1))
                    continue
                if kept is not None:
                    piece = await executed(kept, piece, self.session.prepared, self._ask_text)
                statement = await self._lane(piece.length).run(self._parsed, piece)
                await self._check_allowed(statement)
                if self.as_of is not None:
                    _check_reads(statement)
                _check_block(statement, block)
                if block or isinstance(statement, Begin):
                    block.append(await self._counted(statement))
                if isinstance(statement, Commit | Rollback):
                    results += map(noticed, await self._together(block), block)
                    block = []
                elif not block:
                    results.append(noticed(await self._alone(statement), statement))
        if block:
            with numbered(block[0].piece):
                raise InvalidQuery("BEGIN has no COMMIT: no statement after it has run", "add COMMIT")
        return results

    async def _alone(self, statement: Statement) -> Result:
        statement = await self._counted(statement)
        if isinstance(statement, _OF_SESSION):
            return self._of_session(statement)
        if isinstance(statement, BRANCHING):
            async with self._recorded(statement):
                return await change_branches(statement, self.session, self.runtime.branches)
        if isinstance(statement, REPLACING):
            is_asking = isinstance(statement, PreviewReplacement | ShowReplacements)
            async with self._recorded(statement, not is_asking):
                readable = readable_by(self.caller.principal)
                return await replace_views(statement, self.runtime, readable)
        if isinstance(statement, DEFINING | ACCOUNTS):
            async with self._recorded(statement):
                epoch, notices = await self._define(statement)
                return Result(name_of(statement), epoch, notices=notices)
        if isinstance(statement, OUTSIDE):
            async with self._recorded(statement, not isinstance(statement, ShowStreams)):
                return await self._reach_out(statement)
        with self.runtime.dictionary.holding():
            task = await self._lane(statement.piece.length).run(self._task, statement)
            if task.plain is not None:
                applied = await self.timeline.apply(task.plain)
                notices = late_notices(applied.late)
                return Result(name_of(statement), applied.epoch, applied.changes, notices=notices)
            if isinstance(statement, Insert | Update | Delete | Merge | Truncate):
                _, (result,) = await self._transact([task])
                return result
            return await self._read(task)

    def _of_session(self, statement: Statement) -> Result:
        """Sets or shows the search path or the branch."""
        epoch, session, name = self.timeline.readable.newest, self.session, name_of(statement)
        match statement:
            case SetSearchPath(path=path):
                session.search_path = path
            case SetBranch():
                set_branch(statement.branch, session, self.runtime)
                return Result(name, self.timeline.readable.newest)
            case ShowBranch():
                return texts(name, epoch, ("branch",), [[session.branch or MAIN_NAME]])
            case ShowBranches():
                branches = self.runtime.branches.all.values()
                rows = [
                    [
                        it.name,
                        it.parent.name or MAIN_NAME,
                        str(it.record.epoch),
                        it.follows and str(it.follows),
                    ]
                    for it in branches
                ]
                return texts(name, epoch, ("branch", "parent", "parted", "follows"), rows)
            case ShowSearchPath():
                shown = ", ".join(map(identifier, session.search_path))
                return texts(name, epoch, ("search_path",), [[shown]])
        return Result(name, epoch)

    async def _ask_text(self, text: str, dialect: str) -> Answer:
        """The answer to a query that reads no relation."""
        (piece,) = await self._lane(len(text)).run(self._split, text, dialect, NO_PARAMETERS)
        statement = await self._lane(len(text)).run(self._parsed, piece)
        if not isinstance(statement, Select):
            raise InvalidQuery("a value is expected")
        return await self._ask(adhoc_query(statement.query.copy(), {}))

    async def _define(self, statement: Statement) -> tuple[int, Notices]:
        """Runs a statement about definitions or accounts. Returns its epoch, and what its author should
        know."""
        runtime = self.runtime
        if isinstance(statement, ACCOUNTS):
            known, schemas = runtime.readable.known, runtime.schemas()
            await self.planning.run(change_accounts, statement, runtime.accounts, known, schemas)
            return runtime.snapshot.upper - 1, ()
        readable = readable_by(self.caller.principal)
        if isinstance(statement, OF_VIEWS):
            return await define_view(statement, self.timeline, readable), ()
        return await define(statement, runtime, self._ask, readable, self._system)

    async def _reach_out(self, statement: OUTSIDE) -> Result:
        """Runs a statement about data outside."""
        runtime = self.runtime

        async def define(table: CreateTable) -> int:
            allow(table, self.caller.principal)
            return (await self._define(table))[0]

        async def answer(copy: CopyFiles) -> Answer:
            assert copy.query is not None
            readable = readable_by(self.caller.principal)
            parts = (copy.query, copy.piece.dialect, runtime, self._ask, readable, self._system)
            return await answered(*parts)

        count, found = await run_outside(statement, runtime, self.outside, self.caller, define, answer)
        return Result(name_of(statement), runtime.snapshot.upper - 1, count=count, answer=found)

    async def _check_allowed(self, statement: Statement) -> None:
        """Raises Forbidden if the caller may not run the statement, Unauthenticated if its key is gone."""
        principal = self.caller.principal = self.runtime.accounts.renewed(self.caller.principal)
        check_place(statement, self.session)
        if isinstance(statement, DEFINING | ACCOUNTS | BRANCHING | REPLACING) and not principal.is_admin:
            async with self._recorded(statement, changes=False):
                allow(statement, principal)
        else:
            allow(statement, principal)

    def _recorded(self, statement: Statement, changes: bool = True) -> AbstractAsyncContextManager[None]:
        return recorded(statement, self.caller, self.runtime.accounts, self.planning, changes)

    async def _together(self, block: Sequence[Statement]) -> list[Result]:
        """The results of a block, from BEGIN to COMMIT: one epoch or none."""
        views = views_of(block)
        if views:
            with numbered(block[-1].piece):
                epoch = await self._replaced_together(views)
            return [Result(name_of(statement), epoch) for statement in block]
        tasks = []
        with self.runtime.dictionary.holding():
            for statement in block[1:-1]:
                with numbered(statement.piece):
                    lane = self._lane(statement.piece.length)
                    tasks.append(await lane.run(self._task, statement))
            end = block[-1]
            with numbered(end.piece):
                epoch, results = await self._transact(tasks, isinstance(end, Rollback))
        return [Result("BEGIN", epoch), *results, Result(name_of(end), epoch)]

    async def _replaced_together(self, views: Sequence[CreateView]) -> int:
        """Gives views new queries at one epoch, which is returned."""
        check_on_main(self.session, "CREATE OR REPLACE VIEW in a block")
        async with AsyncExitStack() as stack:
            for statement in views:
                await stack.enter_async_context(self._recorded(statement))
            readable = readable_by(self.caller.principal)
            return await self.runtime.replace_views([query_of(it) for it in views], readable)

    async def _transact(
        self, tasks: Sequence[StatementTask], undone: bool = False
    ) -> tuple[int, list[Result]]:
        """Runs tasks as one epoch. Returns the epoch and results; `undone` discards the changes.

        The tasks run beside the writer, and again if what they have read has changed by the time it could
        make their changes. After a few times they run in the writer's turn, which is short.
        """
        times = await self._times([query for task in tasks for query in task.queries])
        timeline = self.timeline

        def work(duck: QueryEvaluator, transaction: Transaction) -> list[Result]:
            sight = self._sight(times, duck, transaction)
            results = []
            for task in tasks:
                with numbered(task.statement.piece):
                    self.caller.check()
                    results.append(task.run(sight))
                    self.caller.check()
            if undone:
                transaction.forget()
            return results

        for _ in range(_DRAFTS):
            draft = await self.queries.changers.in_turn(
                self.caller, lambda duck: timeline.draft(partial(work, duck))
            )
            applied = await timeline.settle(draft)
            if applied is not None:
                return applied.epoch, [replace(result, epoch=applied.epoch) for result in draft.result]
        try:
            applied, results = await timeline.transact(partial(work, self.queries.of_writer(self.caller)))
        except ScriptFailed as failed:
            if getattr(failed.error, "code", "") == "query_timeout":
                raise ScriptFailed(failed.index, restless()) from None
            raise
        return applied.epoch, [replace(result, epoch=applied.epoch) for result in results]

    async def _read(self, task: StatementTask) -> Result:
        times = await self._times(task.queries)

        def work(duck: QueryEvaluator) -> Result:
            return task.run(self._sight(times, duck, statement=task.statement))

        if task.queries:
            return await self.queries.readers.in_turn(self.caller, work)
        is_estimate = isinstance(task.statement, Explain) and task.statement.stage == COST
        lane = self.runtime.costs.lane if is_estimate else self._lane(task.statement.piece.length)
        return await lane.run(work, self.queries.of_writer(self.caller))


def noticed(result: Result, statement: Statement) -> Result:
    """The result with what its statement's author should know."""
    notices = statement.notices
    return replace(result, notices=(*result.notices, *notices)) if notices else result


def _check_reads(statement: Statement) -> None:
    if not isinstance(statement, _READS):
        raise InvalidQuery(
            f"{name_of(statement)} cannot run as of an epoch", "leave out as_of, or send the statement alone"
        )


def _check_block(statement: Statement, block: Sequence[Statement]) -> None:
    if isinstance(statement, Begin) and block:
        raise InvalidQuery("BEGIN is inside a block", "blocks cannot be nested: add COMMIT before it")
    if isinstance(statement, _OF_SESSION) and block:
        what = "branch" if isinstance(statement, SetBranch | ShowBranch) else "search_path"
        raise InvalidQuery(f"{name_of(statement)} {what} is inside a block", "put it before BEGIN")
    if isinstance(statement, Commit | Rollback) and not block:
        word = "COMMIT" if isinstance(statement, Commit) else "ROLLBACK"
        raise InvalidQuery(f"{word} has no BEGIN before it", "leave it out: each statement commits")
