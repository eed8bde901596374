"""The SQL door: runs a script's statements one after another, each with a result.

A script stops at the first statement that fails; `ScriptFailed` has its number, and what came before it
stands. The statements between BEGIN and COMMIT are one epoch: they see one state, which is still the newest
when their changes are made. If one of them fails, or the block ends with ROLLBACK, none of them takes effect.
Definitions (CREATE, ALTER, DROP) take effect at once, so they cannot be in a block.

Everything that runs for a caller ends when the caller leaves, unless its changes are being made already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from planner.adhoc.adhoc_query import AdhocQuery
from planner.errors import InvalidQuery, InvalidSyntax, PlannerError
from planner.limits import PlanningLimits, within
from planner.long_texts import LONG, is_long_query
from planner.parsing.namespace import Namespace
from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece, split
from planner.parsing.search_path import namespace
from planner.parsing.type_names import spelled_out_piece
from planner.statements.row_statements import returns_rows
from planner.statements.show_create import identifier
from planner.statements.statement_reader import parse_statement
from planner.statements.statements import (
    Begin,
    Commit,
    Delete,
    Explain,
    Insert,
    LongQuery,
    Merge,
    Rollback,
    Select,
    SetSearchPath,
    ShowColumns,
    ShowCreate,
    ShowSchemas,
    ShowSearchPath,
    ShowTables,
    ShowViews,
    Statement,
    Truncate,
    Update,
)
from service.accounts.principals import readable_by
from service.accounts.privileges import Privilege
from service.definitions.readable import Readable
from service.errors import Conflict
from service.pgcatalog.system_tables import RELATIONS, SystemTables
from service.reading.callers import Caller
from service.reading.duck import Answer, QueryEvaluator
from service.reading.kept_answers import KeptAnswers
from service.reading.lanes import Lane, Lanes
from service.reading.point_reads import AT_ONCE, MOST, PointRead
from service.reading.queries import Queries
from service.reading.reads import check_health
from service.running.runtime import Runtime
from service.sql.allowing import ACCOUNTS, allow, allow_queries, observed_by, schemas_seen, seen, seen_of
from service.sql.defining import DEFINING, define
from service.sql.granting import change_accounts
from service.sql.prepared import PreparedStatements, Shape
from service.sql.recorded import recorded
from service.sql.script_session import ScriptSession
from service.sql.sight import Sight
from service.sql.system_catalogs import SystemCatalogs
from service.sql.tasks import Result, StatementTask, name_of, task_of, texts
from service.telemetry.slow_statements import SlowStatements
from service.writing.transaction import Transaction

_DRAFTS = 5
"""Times that statements run beside the writer, before they run in its turn."""
_OF_SESSION = (SetSearchPath, ShowSearchPath)
_SHOWS = (ShowColumns, ShowCreate, ShowSchemas, ShowTables, ShowViews)
_READS = (Explain, LongQuery, Select, *_SHOWS, *_OF_SESSION)


DoorParts = tuple[Runtime, Queries, Lane, Lane, SlowStatements, SystemCatalogs]


class ScriptFailed(Exception):
    """Statement `index` of a script failed with `error`. Earlier ones stand, except those of its block."""

    def __init__(self, index: int, error: Exception) -> None:
        super().__init__(f"statement {index}: {error}")
        self.index = index
        self.error = error


class SqlDoor:
    """Statements are parsed and planned in the lane `planning`, those with a long text in `long_texts`.

    A point read needs neither, once it is prepared, and no worker.
    """

    def __init__(self, runtime: Runtime, queries: Queries, lanes: Lanes) -> None:
        self._runtime = runtime
        self._queries = queries
        self._planning = lanes.planning
        self._long_texts = lanes.long_texts
        self._lookups = lanes.lookups
        self._catalogs = SystemCatalogs(runtime)
        settings = runtime.settings
        self.prepared = PreparedStatements(runtime, settings.prepared_bytes, settings.planning_limits)
        self.kept = KeptAnswers[Result](settings.kept_answer_bytes, settings.kept_answer_seconds)
        """Results whose rows are read page by page."""
        self.slow = SlowStatements()

    @property
    def parts(self) -> DoorParts:
        """What every run of statements needs."""
        runtime, queries, planning, long_texts = (
            self._runtime,
            self._queries,
            self._planning,
            self._long_texts,
        )
        return runtime, queries, planning, long_texts, self.slow, self._catalogs

    async def run(
        self,
        script: str,
        dialect: str,
        caller: Caller,
        parameters: Parameters = NO_PARAMETERS,
        rows_last: bool = False,
        as_of: int | None = None,
        session: ScriptSession | None = None,
    ) -> list[Result]:
        """The statements' results. Raises InvalidSyntax if the script cannot be split, else ScriptFailed.

        The statements share the `session`, which outlives the script if the caller keeps it.

        With `rows_last`, the last statement has to return rows; else InvalidQuery, before anything runs. With
        `as_of`, queries read that epoch, and no statement may change anything.
        """
        run = ScriptRun(*self.parts, caller, session or ScriptSession(), as_of)
        found = await self._found(run, script, dialect, parameters)
        if found is not None:
            return [found]
        return await run.run(await run.pieces(script, dialect, parameters, rows_last))

    async def run_piece(self, piece: Piece, caller: Caller, session: ScriptSession) -> Result:
        """The result of one statement that is not in a block. Raises ScriptFailed."""
        run = ScriptRun(*self.parts, caller, session)
        found = await self._found(run, piece.excerpt(0).text, piece.dialect, piece.parameters)
        if found is not None:
            return found
        (result,) = await run.run([piece])
        return result

    async def _found(self, run: ScriptRun, text: str, dialect: str, parameters: Parameters) -> Result | None:
        """The result of a text that is a point read; None if it is none, or if DuckDB has to answer."""
        if not run.is_in_public:
            return None
        caller, as_of, readable = run.caller, run.as_of, self._runtime.readable
        shape = Shape.of(text, dialect, parameters)
        is_known, read = self.prepared.kept(shape, readable.known)
        if not is_known and shape.is_likely:
            read = await self._planning.run(self.prepared.prepare, shape, readable.known)
        if read is None or not caller.principal.may(Privilege.SELECT, read.definition.name):
            return None
        caller.check()
        found = _answered(read, readable, parameters, as_of, AT_ONCE) if read.is_light else None
        return found or await self._lookups.run(_answered, read, readable, parameters, as_of, MOST)


def _answered(
    read: PointRead, readable: Readable, parameters: Parameters, as_of: int | None, most: int
) -> Result | None:
    """The result of a point read, if it takes a look at no more than `most` differences."""
    snapshot = readable.snapshot
    epoch = readable.newest if as_of is None else as_of
    try:
        check_health(read.definition, snapshot, epoch)
    except Exception as error:
        raise ScriptFailed(0, error) from error
    answer = read.run(snapshot, epoch, parameters.given, most)
    return None if answer is None else Result("SELECT", readable.newest, answer=answer)


@dataclass(frozen=True, eq=False)
class ScriptRun:
    """One run of a script, for a caller."""

    runtime: Runtime
    queries: Queries
    planning: Lane
    long_texts: Lane
    slow: SlowStatements
    catalogs: SystemCatalogs
    caller: Caller
    session: ScriptSession
    as_of: int | None = None

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
                statement = await self._lane(piece.length).run(self._parsed, piece)
                await self._check_allowed(statement)
                if self.as_of is not None:
                    _check_reads(statement)
                _check_block(statement, block)
                if block or isinstance(statement, Begin):
                    block.append(statement)
                if isinstance(statement, Commit | Rollback):
                    results += map(noticed, await self._together(block), block)
                    block = []
                elif not block:
                    results.append(noticed(await self._alone(statement), statement))
        if block:
            with numbered(block[0].piece):
                raise InvalidQuery("BEGIN has no COMMIT: no statement after it has run", "add COMMIT")
        return results

    def _timed(self, piece: Piece, block: Sequence[Statement]) -> AbstractContextManager[None]:
        """Inside the context, a piece runs; at its end a block does, whose text counts then."""
        text = "; ".join([*(statement.source for statement in block), piece.source])
        return self.slow.timing(text, self.caller.principal.id)

    async def _alone(self, statement: Statement) -> Result:
        if isinstance(statement, SetSearchPath | ShowSearchPath):
            return self._of_session(statement)
        if isinstance(statement, DEFINING | ACCOUNTS):
            async with self._recorded(statement):
                return Result(name_of(statement), await self._define(statement))
        with self.runtime.dictionary.holding():
            task = await self._lane(statement.piece.length).run(self._task, statement)
            if task.plain is not None:
                applied = await self.runtime.apply(task.plain)
                return Result(name_of(statement), applied.epoch, count=applied.changes)
            if isinstance(statement, Insert | Update | Delete | Merge | Truncate):
                _, (result,) = await self._transact([task])
                return result
            return await self._read(task)

    def _of_session(self, statement: SetSearchPath | ShowSearchPath) -> Result:
        """Sets or shows the search path."""
        epoch = self.runtime.snapshot.upper - 1
        if isinstance(statement, SetSearchPath):
            self.session.search_path = statement.path
            return Result(name_of(statement), epoch)
        path = ", ".join(map(identifier, self.session.search_path))
        return texts(name_of(statement), epoch, ("search_path",), [[path]])

    async def _define(self, statement: Statement) -> int:
        """Runs a statement about definitions or accounts. Returns its epoch."""
        runtime = self.runtime
        if isinstance(statement, ACCOUNTS):
            known, schemas = runtime.readable.known, runtime.schemas()
            await self.planning.run(change_accounts, statement, runtime.accounts, known, schemas)
            return runtime.snapshot.upper - 1
        return await define(statement, runtime, self._ask, readable_by(self.caller.principal))

    async def _check_allowed(self, statement: Statement) -> None:
        """Raises Forbidden if the caller may not run the statement, Unauthenticated if its key is gone."""
        principal = self.caller.principal = self.runtime.accounts.renewed(self.caller.principal)
        if isinstance(statement, DEFINING | ACCOUNTS) and not principal.is_admin:
            async with self._recorded(statement, changes=False):
                allow(statement, principal)
        else:
            allow(statement, principal)

    def _recorded(self, statement: Statement, changes: bool = True) -> AbstractAsyncContextManager[None]:
        return recorded(statement, self.caller, self.runtime.accounts, self.planning, changes)

    async def _together(self, block: Sequence[Statement]) -> list[Result]:
        """The results of a block, from BEGIN to COMMIT: one epoch or none."""
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

    async def _ask(self, query: AdhocQuery) -> Answer:
        """The answer to a query over the newest state."""
        times = await self._times([query])
        return await self.queries.readers.in_turn(
            self.caller, lambda duck: self._sight(times, duck).ask(query)
        )

    async def _transact(
        self, tasks: Sequence[StatementTask], undone: bool = False
    ) -> tuple[int, list[Result]]:
        """Runs tasks as one epoch. Returns the epoch and results; `undone` discards the changes.

        The tasks run beside the writer, and again if what they have read has changed by the time it could
        make their changes. After a few times they run in the writer's turn, which is short.
        """
        times = await self._times([query for task in tasks for query in task.queries])
        runtime = self.runtime

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
                self.caller, lambda duck: runtime.draft(partial(work, duck))
            )
            applied = await runtime.settle(draft)
            if applied is not None:
                return applied.epoch, [replace(result, epoch=applied.epoch) for result in draft.result]
        try:
            applied, results = await runtime.transact(partial(work, self.queries.of_writer(self.caller)))
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
        lane = self._lane(task.statement.piece.length)
        return await lane.run(work, self.queries.of_writer(self.caller))

    def _sight(
        self,
        times: Mapping[datetime, int],
        duck: QueryEvaluator,
        transaction: Transaction | None = None,
        statement: Statement | None = None,
    ) -> Sight:
        """A sight of the newest state, or of what a transaction sees."""
        runtime = self.runtime
        readable = (
            runtime.readable if transaction is None else Readable(transaction.snapshot, transaction.known)
        )
        known = seen_of(readable.known, self.caller.principal, statement)
        return Sight(
            replace(readable, known=known),
            times,
            duck,
            runtime.dictionary,
            lambda view: observed_by(self.caller.principal, runtime.observe(view)),
            runtime.size,
            self._limits,
            transaction,
            self.as_of,
            schemas=schemas_seen(runtime.schemas(), known.all, self.caller.principal),
        )

    async def _times(self, queries: Sequence[AdhocQuery]) -> dict[datetime, int]:
        """The epochs of the times that the queries refer to."""
        references = [r for query in queries for r in query.references]
        times = {r.timestamp for r in references if r.timestamp is not None}
        return {time: await self.runtime.epoch_at(time) for time in times}

    def _lane(self, length: int) -> Lane:
        """The lane for a text of this length."""
        return self.long_texts if length >= LONG else self.planning

    # In the lanes of planning

    @property
    def _limits(self) -> PlanningLimits:
        return self.runtime.settings.planning_limits

    def _split(self, script: str, dialect: str, parameters: Parameters) -> Sequence[Piece]:
        with within(self._limits):
            return split(script, dialect, parameters)

    def _parsed(self, piece: Piece) -> Statement:
        with within(self._limits):
            piece = spelled_out_piece(replace(piece, names=self._names()), self.runtime.types())
            return LongQuery(piece) if is_long_query(piece) else parse_statement(piece)

    @property
    def is_in_public(self) -> bool:
        """Whether names without a schema are those of `public`, whatever exists."""
        return self._names().is_default

    def _names(self) -> Namespace:
        """What names without a schema mean now."""
        runtime, principal = self.runtime, self.caller.principal

        def relations() -> list[str]:
            return [
                *seen(runtime.definitions(), principal),
                *filter(principal.sees, runtime.builds),
                *RELATIONS,
            ]

        path = self.session.search_path
        temporary = self.session.temporary
        return namespace(path, principal.name, runtime.schemas(), relations, runtime.types, temporary)

    def _system(self) -> SystemTables:
        """The system catalogs as the caller sees them."""
        return self.catalogs.of(self.caller.principal, self._names().path, self.caller.settings)

    def _task(self, statement: Statement) -> StatementTask:
        principal = self.caller.principal
        with within(self._limits):
            definitions = seen(self.runtime.definitions(), principal)
            task = task_of(statement, definitions, self.runtime.dictionary, self._system)
        allow_queries(task.queries, principal)
        return task


def noticed(result: Result, statement: Statement) -> Result:
    """The result with what its statement's author should know."""
    notices = statement.piece.notices
    return replace(result, notices=(*result.notices, *notices)) if notices else result


def restless() -> Conflict:
    """The error of changes that never fit the newest state."""
    return Conflict(
        "what the statement reads changes faster than it can be computed",
        "send it again, or name the rows by their key",
        code="tables_changing",
    )


def _check_reads(statement: Statement) -> None:
    if not isinstance(statement, _READS):
        raise InvalidQuery(
            f"{name_of(statement)} cannot run as of an epoch", "leave out as_of, or send the statement alone"
        )


def _check_block(statement: Statement, block: Sequence[Statement]) -> None:
    if isinstance(statement, Begin) and block:
        raise InvalidQuery("BEGIN is inside a block", "blocks cannot be nested: add COMMIT before it")
    if isinstance(statement, _OF_SESSION) and block:
        raise InvalidQuery(f"{name_of(statement)} search_path is inside a block", "put it before BEGIN")
    if isinstance(statement, Commit | Rollback) and not block:
        word = "COMMIT" if isinstance(statement, Commit) else "ROLLBACK"
        raise InvalidQuery(f"{word} has no BEGIN before it", "leave it out: each statement commits")


@contextmanager
def numbered(piece: Piece) -> Iterator[None]:
    """Turns an exception into the failure of the piece's statement."""
    try:
        yield
    except ScriptFailed:
        raise
    except RecursionError:
        raise ScriptFailed(piece.index, piece.unsupported("the statement is nested too deeply")) from None
    except UnicodeError:
        raise ScriptFailed(piece.index, InvalidSyntax.of_escape().at(*piece.place())) from None
    except PlannerError as error:
        raise ScriptFailed(piece.index, error.at(*piece.place())) from error
    except Exception as error:
        raise ScriptFailed(piece.index, error) from error
