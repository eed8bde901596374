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
not undo it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from engine.state.watched_snapshot import WatchedSnapshot
from planner.limits import within
from planner.parsing.script import Piece
from planner.statements.statements import Delete, Insert, Merge, Statement, Truncate, Update
from service.changes.table_changes import Applied, TableChanges
from service.definitions.known_relations import KnownRelations
from service.definitions.readable import Readable
from service.errors import Conflict
from service.reading.duck import QueryEvaluator
from service.running.runtime import Runtime
from service.sql.allowing import ACCOUNTS, allow_queries, seen
from service.sql.block_lookups import BlockLookup, outdated
from service.sql.defining import DEFINING
from service.sql.point_lookups import PointLookups
from service.sql.script_failures import numbered, restless
from service.sql.script_run import ScriptRun
from service.sql.tasks import Result, StatementTask, task_of
from service.writing.epochs import Drafted
from service.writing.transaction import Mark, Transaction

_CHANGES = Insert | Update | Delete | Merge | Truncate
_REPLAYS = 5
"""Times that a block is computed again at COMMIT."""
_COMPARED = 1_000
"""The most statements of a block that is computed again."""
_Repeatable = StatementTask | BlockLookup
_COMPARED_BYTES = 1 << 20
"""The most bytes of an answer that is kept to be compared."""


@dataclass(eq=False)
class OpenBlock:
    """`pins` says that all statements see the state of the first one. `is_implicit` blocks are the statements
    of one message: a definition among them commits what came before it."""

    runtime: Runtime
    read_only: bool = False
    pins: bool = False
    is_implicit: bool = False
    has_defined: bool = False
    """Whether a definition has taken effect."""
    _transaction: Transaction | None = None
    _snapshot: WatchedSnapshot | None = None
    _holding: ExitStack = field(default_factory=ExitStack)
    _done: list[tuple[_Repeatable, Result] | None] = field(default_factory=list)
    """What has run since the state was taken; None for what cannot be computed again."""
    _savepoints: list[tuple[str, Mark, int]] = field(default_factory=list)

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
            return self.runtime.readable.known
        return self._transaction.known

    def transaction(self) -> Transaction:
        """The transaction, over the state that the next statement sees."""
        if not self._is_fixed:
            self._begin()
        assert self._transaction is not None
        return self._transaction

    def _begin(self) -> None:
        self._holding.close()
        self._holding.enter_context(self.runtime.dictionary.holding())
        readable = self.runtime.readable
        self._snapshot = WatchedSnapshot(readable.snapshot)
        self._transaction = Transaction(self._snapshot, readable.known, self.runtime.dictionary)
        self._done.clear()
        for place, (name, _, _) in enumerate(self._savepoints):
            self._savepoints[place] = name, self._transaction.mark(), 0

    def close(self) -> None:
        """Discards the block's changes."""
        self._holding.close()
        self._transaction = self._snapshot = None
        self._done.clear()
        self._savepoints.clear()

    def must_write(self) -> None:
        """Raises if the block may not change anything."""
        if self.read_only:
            raise Conflict(
                "the block is READ ONLY, so nothing can be changed in it",
                "begin it without READ ONLY",
                code="block_read_only",
            )
        self.runtime.must_lead()

    def done(self, task: _Repeatable, result: Result) -> None:
        """Notes the result of a statement."""
        if self.pins or not self.changes:
            return  # it is never computed again
        is_small = result.answer is None or result.nbytes <= _COMPARED_BYTES
        if len(self._done) >= _COMPARED:
            self._done = [None]
        self._done.append((task, result) if is_small else None)

    def apply(self, changes: Mapping[str, TableChanges]) -> None:
        """Changes tables."""
        self.transaction().apply(changes)
        self._done.append(None)

    # Savepoints

    def save(self, name: str) -> None:
        self._savepoints.append((name, self.transaction().mark(), len(self._done)))

    def release(self, name: str) -> None:
        """Forgets a savepoint and those after it. Raises Conflict if there is none of the name."""
        del self._savepoints[self._place(name) :]

    def return_to(self, name: str) -> None:
        """Discards the changes since a savepoint, which stays."""
        place = self._place(name)
        _, mark, done = self._savepoints[place]
        del self._savepoints[place + 1 :]
        if self._transaction is not None:
            self._transaction.return_to(mark)
        del self._done[done:]

    def _place(self, name: str) -> int:
        for place in reversed(range(len(self._savepoints))):
            if self._savepoints[place][0] == name:
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

    async def run_in_block(self, piece: Piece, lookups: PointLookups) -> Result:
        """The result of one statement. Raises ScriptFailed."""
        with numbered(piece), self._timed(piece, ()):
            self.caller.check()
            found = await self._looked_up(piece, lookups)
            if found is not None:
                return found
            statement = await self._lane(piece.length).run(self._parsed, piece)
            await self._check_allowed(statement)
            if isinstance(statement, DEFINING | ACCOUNTS):
                return await self._defined(statement)
            if isinstance(statement, _CHANGES):
                self._open.must_write()
            self._open.transaction()
            task = await self._lane(piece.length).run(self._task, statement)
            result = await self._ran(task)
            self._open.done(task, result)
            return result

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
        if block.changes:
            raise Conflict(
                "a definition follows a change of rows in the same block",
                "definitions take effect at once: COMMIT before it, or put it first",
                code="definition_in_block",
            )
        block.close()
        result = await self._alone(statement)
        block.has_defined = True
        return result

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

    async def commit(self) -> int:
        """Makes the block's changes one epoch and ends the block. Returns the newest epoch."""
        block = self._open
        try:
            if not block.changes:
                return self.runtime.snapshot.upper - 1
            draft = block.draft()
            await self.planning.run(draft.transaction.check_references)
            applied = await self.runtime.settle(draft) or await self._computed_again()
            return applied.epoch
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
                self.caller, lambda duck: self.runtime.draft(lambda transaction: work(duck, transaction))
            )
            if not draft.result:
                raise outdated()
            applied = await self.runtime.settle(draft)
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
