"""Blocks that stay open between statements: BEGIN, any number of messages, COMMIT.

A block is one epoch or none. Its statements see one state, with the block's own changes to tables:

| isolation | state |
|---|---|
| READ COMMITTED | the newest at each statement, until the block's first change; from then on that one |
| REPEATABLE READ, SERIALIZABLE, READ ONLY | the newest at the block's first statement |

At COMMIT nothing that the block has read may have changed since. If it has, a block of READ COMMITTED is
computed again over the newest state, and takes effect if every statement has the result that the client has
seen; any other fails, and the client sends it again. So no update is lost, and no lock is held.

A definition takes effect at once, so it can only be where the block has changed no rows, and ROLLBACK does
not undo it. Comments and indexes, which change no answer, wait for COMMIT where the block has changed rows;
roles and rights never matter to its rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from engine.errors import EngineError
from engine.state.watched_snapshot import WatchedSnapshot
from planner.errors import PlannerError
from planner.limits import within
from planner.parsing.script import Piece
from planner.statements.comment_statements import Comment
from planner.statements.index_statements import CreateIndex
from planner.statements.replacement_statements import REPLACING
from planner.statements.statements import Delete, Insert, Merge, Statement, Truncate, Update
from service.changes.table_changes import Applied, TableChanges
from service.definitions.known_relations import KnownRelations
from service.definitions.readable import Readable
from service.errors import Conflict, ServiceError
from service.reading.duck import QueryEvaluator
from service.running.view_timeline import ViewTimeline
from service.sql.allowing import ACCOUNTS, allow_queries, seen
from service.sql.block_lookups import BlockLookup, outdated
from service.sql.branching import BRANCHING
from service.sql.defining import DEFINING
from service.sql.point_lookups import PointLookups
from service.sql.script_failures import numbered, restless
from service.sql.script_run import ScriptRun, noticed
from service.sql.tasks import Result, StatementTask, name_of, task_of
from service.writing.epochs import Drafted
from service.writing.transaction import Mark, Transaction

_CHANGES = Insert | Update | Delete | Merge | Truncate
_LATER = Comment | CreateIndex
"""Definitions that can wait for COMMIT."""
_REPLAYS = 5
"""Times that a block is computed again at COMMIT."""
_COMPARED = 1_000
"""The most statements of a block that is computed again."""
_Repeatable = StatementTask | BlockLookup
_COMPARED_BYTES = 1 << 20
"""The most bytes of an answer that is kept to be compared."""


@dataclass(frozen=True)
class _Savepoint:
    """`mark` are the changes up to it, `done` and `later` the numbers of statements."""

    name: str
    mark: Mark
    done: int
    later: int


@dataclass(eq=False)
class OpenBlock:
    """`pins` says that all statements see the state of the first one. `is_implicit` blocks are the statements
    of one message: a definition among them commits what came before it."""

    timeline: ViewTimeline
    read_only: bool = False
    pins: bool = False
    is_implicit: bool = False
    has_defined: bool = False
    """Whether a definition has taken effect."""
    began: float = field(default_factory=time.time)
    """Seconds since 1970."""
    later: list[_LATER] = field(default_factory=list)
    """Definitions that wait for COMMIT."""
    _transaction: Transaction | None = None
    _snapshot: WatchedSnapshot | None = None
    _holding: ExitStack = field(default_factory=ExitStack)
    _done: list[tuple[_Repeatable, Result] | None] = field(default_factory=list)
    """What has run since the state was taken; None for what cannot be computed again."""
    _savepoints: list[_Savepoint] = field(default_factory=list)

    @property
    def changes(self) -> int:
        return 0 if self._transaction is None else self._transaction.changes

    @property
    def _is_fixed(self) -> bool:
        """Whether the next statement sees the state of the one before."""
        return self._transaction is not None and bool(self.pins or self.changes)

    @property
    def known(self) -> KnownRelations:
        """The definitions that the next statement sees."""
        if self._transaction is None or not self._is_fixed:
            return self.timeline.readable.known
        return self._transaction.known

    def transaction(self) -> Transaction:
        """The transaction, over the state that the next statement sees."""
        if not self._is_fixed:
            self._begin()
        assert self._transaction is not None
        return self._transaction

    def _begin(self) -> None:
        self._holding.close()
        self._holding.enter_context(self.timeline.dictionary.holding())
        readable = self.timeline.readable
        self._snapshot = WatchedSnapshot(readable.snapshot)
        self._transaction = Transaction(self._snapshot, readable.known, self.timeline.dictionary)
        self._done.clear()
        mark = self._transaction.mark()
        self._savepoints = [replace(one, mark=mark, done=0) for one in self._savepoints]

    def go_to(self, timeline: ViewTimeline) -> None:
        """Lets the statements be on another branch. Raises Conflict if one has run already."""
        if self._transaction is not None:
            raise Conflict(
                "the block has begun on another branch",
                "SET branch before BEGIN",
                code="branch_in_block",
            )
        self.timeline = timeline

    def pin(self) -> None:
        """Lets all statements that follow see one state, so that what they read is checked at COMMIT."""
        self.transaction()
        self.pins = True

    def close(self) -> None:
        """Discards the block's changes."""
        self._holding.close()
        self._transaction = self._snapshot = None
        self._done.clear()
        self._savepoints.clear()
        self.later.clear()

    def must_write(self) -> None:
        """Raises if the block may not change anything."""
        if self.read_only:
            raise Conflict(
                "the block is READ ONLY, so nothing can be changed in it",
                "begin it without READ ONLY",
                code="block_read_only",
            )
        self.timeline.must_lead()

    def done(self, task: _Repeatable, result: Result) -> None:
        """Notes the result of a statement."""
        if self.pins or not self.changes or task.of_catalogs:
            return  # it is never computed again
        is_small = result.answer is None or result.nbytes <= _COMPARED_BYTES
        if len(self._done) >= _COMPARED:
            self._done = [None]
        self._done.append((task, result) if is_small and task.is_repeatable else None)

    def apply(self, changes: Mapping[str, TableChanges]) -> int:
        """Changes tables. Returns the number of changes."""
        applied = self.transaction().apply(changes)
        self._done.append(None)
        return sum(map(len, applied.values()))

    # Savepoints

    def save(self, name: str) -> None:
        mark = self.transaction().mark()
        self._savepoints.append(_Savepoint(name, mark, len(self._done), len(self.later)))

    def release(self, name: str) -> None:
        """Forgets a savepoint and those after it. Raises Conflict if there is none of the name."""
        del self._savepoints[self._place(name) :]

    def return_to(self, name: str) -> None:
        """Discards the changes since a savepoint, which stays."""
        place = self._place(name)
        to = self._savepoints[place]
        del self._savepoints[place + 1 :]
        if self._transaction is not None:
            self._transaction.return_to(to.mark)
        del self._done[to.done :]
        del self.later[to.later :]

    def _place(self, name: str) -> int:
        for place in reversed(range(len(self._savepoints))):
            if self._savepoints[place].name == name:
                return place
        raise Conflict(
            f"there is no savepoint called {name}", "name one with SAVEPOINT", code="unknown_savepoint"
        )

    # The end

    def draft(self) -> Drafted[None]:
        assert self._transaction is not None and self._snapshot is not None
        return Drafted(self._snapshot, self._transaction, None)

    def again(self) -> list[tuple[_Repeatable, Result]] | None:
        """The statements that can be computed again; None if that is not possible."""
        if self.pins or any(done is None for done in self._done):
            return None
        return [done for done in self._done if done is not None]


@dataclass(frozen=True, eq=False)
class BlockRun(ScriptRun):
    """Runs statements in a block, for a caller."""

    block: OpenBlock | None = None

    @property
    def _open(self) -> OpenBlock:
        assert self.block is not None
        return self.block

    @property
    def timeline(self) -> ViewTimeline:
        return self._open.timeline

    async def run_in_block(self, piece: Piece, lookups: PointLookups) -> Result:
        """The result of one statement. Raises ScriptFailed."""
        with numbered(piece), self._timed(piece, ()):
            self.caller.check()
            found = await self._looked_up(piece, lookups)
            if found is not None:
                return found
            statement = await self._lane(piece.length).run(self._parsed, piece)
            await self._check_allowed(statement)
            if isinstance(statement, DEFINING | ACCOUNTS | BRANCHING | REPLACING):
                return noticed(await self._defined(statement), statement)
            if isinstance(statement, _CHANGES):
                self._open.must_write()
            self._open.transaction()
            statement = await self._counted(statement)
            task = await self._lane(piece.length).run(self._task, statement)
            result = await self._ran(task)
            self._open.done(task, result)
            return noticed(result, statement)

    async def _looked_up(self, piece: Piece, lookups: PointLookups) -> Result | None:
        """The result of a statement that is a point read of what the block has not changed."""
        text, given, names = piece.excerpt(0).text, piece.parameters, self.names()
        known = self._open.known
        read = await lookups.read(text, piece.dialect, given, names, known, self.caller.principal)
        if read is None:
            return None
        transaction = self._open.transaction()
        again = BlockLookup(read, given.given)
        if not again.is_answerable(transaction):
            return None
        readable = Readable(transaction.snapshot, transaction.known)
        answer = await lookups.answer(read, readable, given.given)
        if answer is None:
            return None
        result = Result("SELECT", readable.newest, answer=answer)
        self._open.done(again, result)
        return result

    async def _defined(self, statement: Statement) -> Result:
        block = self._open
        block.must_write()
        if block.changes and block.is_implicit:
            await self.commit()
        if block.changes and isinstance(statement, _LATER):
            return self._postponed(statement)
        if block.changes and not isinstance(statement, ACCOUNTS):
            raise Conflict(
                "a definition follows a change of rows in the same block",
                "definitions take effect at once: COMMIT before it, or put it first",
                code="definition_in_block",
            )
        if not block.changes:
            block.close()
        result = await self._alone(statement)
        block.has_defined = True
        told = f"{result.statement} has taken effect at once: ROLLBACK does not undo it"
        return result if block.is_implicit else replace(result, notices=(told,))

    def _postponed(self, statement: _LATER) -> Result:
        """Keeps a definition for COMMIT. Raises NotFound if what it is about does not exist."""
        transaction = self._open.transaction()
        match statement:
            case Comment(name=name, view=view):
                transaction.known.get(name, view=view)
            case CreateIndex(relation=relation):
                transaction.known.get(relation)
        self._open.later.append(statement)
        return Result(name_of(statement), transaction.snapshot.upper - 1)

    async def _ran(self, task: StatementTask) -> Result:
        times = await self._times(task.queries)
        transaction = self._open.transaction()

        def work(duck: QueryEvaluator) -> Result:
            self.caller.check()
            return task.run(self._sight(times, duck, transaction, task.statement))

        if not task.queries:
            return await self.planning.run(work, self.queries.of_writer(self.caller))
        is_change = isinstance(task.statement, _CHANGES)
        line = self.queries.changers if is_change else self.queries.readers
        return await line.in_turn(self.caller, work)

    def _task(self, statement: Statement) -> StatementTask:
        """The task of a statement, by the definitions that the block sees."""
        known = self._open.transaction().known
        principal = self.caller.principal
        with within(self._limits):
            task = task_of(statement, seen(known.all, principal), self.runtime.dictionary, self._system)
        allow_queries(task.queries, principal)
        return task

    async def commit(self) -> list[str]:
        """Makes the block's changes one epoch and ends the block, then makes the definitions that have
        waited. Returns why one of these has failed, for each that has: the rows are there then."""
        later = list(self._open.later)
        await self._commit()
        return [told for told in [await self._made_late(statement) for statement in later] if told]

    async def _made_late(self, statement: _LATER) -> str:
        try:
            await self._alone(statement)
        except (ServiceError, EngineError, PlannerError) as error:
            return (
                f"{name_of(statement)} had no effect, and the rows of the block are stored: {error.message}"
            )
        return ""

    async def _commit(self) -> None:
        block = self._open
        try:
            if not block.changes:
                return
            draft = block.draft()
            await self.planning.run(draft.transaction.check_references)
            if await self.timeline.settle(draft) is None:
                await self._computed_again()
        finally:
            block.close()

    async def _computed_again(self) -> Applied:
        """Makes the changes over the newest state, if every statement still has its result."""
        again = self._open.again()
        if again is None:
            raise outdated()
        times = await self._times([query for task, _ in again for query in task.queries])

        def work(duck: QueryEvaluator, transaction: Transaction) -> bool:
            for task, seen_result in again:
                self.caller.check()
                sight = self._sight(times, duck, transaction, task.statement)
                if not _is_same(task.run(sight), seen_result):
                    return False
            return True

        for _ in range(_REPLAYS):
            draft = await self.queries.changers.in_turn(
                self.caller, lambda duck: self.timeline.draft(lambda transaction: work(duck, transaction))
            )
            if not draft.result:
                raise outdated()
            applied = await self.timeline.settle(draft)
            if applied is not None:
                return applied
        raise restless()


def _is_same(result: Result, seen_result: Result) -> bool:
    """Whether a statement has the count and the rows that the client has seen."""
    if result.count != seen_result.count or (result.answer is None) != (seen_result.answer is None):
        return False
    if result.answer is None or seen_result.answer is None:
        return True
    return result.answer.types == seen_result.answer.types and result.answer.table.equals(
        seen_result.answer.table
    )
