"""The SQL door: a script's statements, one after the other, each with a result.

A script stops at the first statement that fails, with its number in `ScriptFailed`;
what came before it stands. Statements between BEGIN and COMMIT are one epoch: they run
together in the writer's turn, and if one of them fails none has happened. Definitions
(CREATE, DROP) take effect at once and so cannot stand there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from planner.errors import InvalidQuery, PlannerError
from planner.reading import parse_statement
from planner.script import Piece, split
from planner.statements import (
    Begin,
    Commit,
    CreateTable,
    CreateView,
    Delete,
    DropTable,
    DropView,
    Insert,
    Statement,
    Update,
)
from service.adhoc import Sight
from service.duck import Duck, Limits
from service.runtime import Runtime
from service.tasks import Result, Task, name_of, task_of
from service.transaction import Transaction


class ScriptFailed(Exception):
    """Statement `index` of a script failed with `error`; those before it stand, but for a block's."""

    def __init__(self, index: int, error: Exception) -> None:
        super().__init__(f"statement {index}: {error}")
        self.index = index
        self.error = error


class SqlDoor:
    def __init__(self, runtime: Runtime, limits: Limits | None = None) -> None:
        self._runtime = runtime
        self._duck = Duck(limits or Limits())

    def close(self) -> None:
        self._duck.close()

    async def run(self, script: str, dialect: str = "postgres") -> list[Result]:
        """What each statement of the script gives; InvalidSyntax if it cannot be cut, else ScriptFailed."""
        results: list[Result] = []
        block: list[Statement] = []
        for piece in await asyncio.to_thread(split, script, dialect):
            with _numbered(piece):
                statement = await asyncio.to_thread(parse_statement, piece)
                _check_block(statement, block)
                if block or isinstance(statement, Begin):
                    block.append(statement)
                if isinstance(statement, Commit):
                    results += await self._together(block)
                    block = []
                elif not block:
                    results.append(await self._alone(statement))
        if block:
            with _numbered(block[0].piece):
                raise InvalidQuery("BEGIN has no COMMIT: nothing behind it has happened", "end with COMMIT")
        return results

    async def _alone(self, statement: Statement) -> Result:
        if isinstance(statement, CreateTable | CreateView | DropTable | DropView):
            return await self._define(statement)
        task = await asyncio.to_thread(self._task, statement)
        if task.plain is not None:
            applied = await self._runtime.apply(task.plain)
            return Result(name_of(statement), applied.epoch, count=applied.changes)
        if isinstance(statement, Insert | Update | Delete):
            _, (result,) = await self._transact([task])
            return result
        return await self._read(task)

    async def _together(self, block: Sequence[Statement]) -> list[Result]:
        """The results of a block, from BEGIN to COMMIT: one epoch or none."""
        tasks = []
        for statement in block[1:-1]:
            with _numbered(statement.piece):
                tasks.append(await asyncio.to_thread(self._task, statement))
        epoch, results = await self._transact(tasks)
        return [Result("BEGIN", epoch), *results, Result("COMMIT", epoch)]

    async def _define(self, statement: CreateTable | CreateView | DropTable | DropView) -> Result:
        runtime = self._runtime
        match statement:
            case CreateTable(name=name, columns=columns, primary_key=names):
                key = None if names is None else tuple(columns.index(column) for column in names)
                await runtime.create_table(name, columns, key, exists_ok=statement.if_not_exists)
            case DropTable(name=name):
                await runtime.drop_table(name, missing_ok=statement.if_exists)
            case DropView(name=name):
                await runtime.drop_view(name, missing_ok=statement.if_exists)
            case CreateView():
                await self._create_view(statement)
        return Result(name_of(statement), runtime.snapshot.upper - 1)

    async def _create_view(self, statement: CreateView) -> None:
        there = self._runtime.definitions().get(statement.name)
        if statement.if_not_exists and there is not None and there.is_view:
            return
        query, dialect = statement.definition, statement.piece.dialect
        try:
            await self._runtime.create_view(
                statement.name, query.text, dialect, or_replace=statement.or_replace
            )
        except PlannerError as error:
            query.relocate(error)
            raise

    async def _transact(self, tasks: Sequence[Task]) -> tuple[int, list[Result]]:
        """Runs the tasks in the writer's turn; the epoch, and their results at it."""
        times = await self._times(tasks)
        dictionary = self._runtime.dictionary

        def work(transaction: Transaction) -> list[Result]:
            sight = Sight(
                transaction.snapshot,
                transaction.definitions,
                times,
                self._duck,
                dictionary,
                self._runtime.observe,
                transaction,
            )
            results = []
            for task in tasks:
                with _numbered(task.statement.piece):
                    results.append(task.run(sight))
            return results

        applied, results = await self._runtime.transact(work)
        return applied.epoch, [replace(result, epoch=applied.epoch) for result in results]

    async def _read(self, task: Task) -> Result:
        runtime, times = self._runtime, await self._times([task])
        sight = Sight(
            runtime.snapshot, runtime.definitions(), times, self._duck, runtime.dictionary, runtime.observe
        )
        return await asyncio.to_thread(task.run, sight)

    async def _times(self, tasks: Sequence[Task]) -> dict[datetime, int]:
        """The epochs of the times that the tasks refer to."""
        references = [r for task in tasks for query in task.queries for r in query.references]
        times = {r.timestamp for r in references if r.timestamp is not None}
        return {time: await self._runtime.epoch_at(time) for time in times}

    def _task(self, statement: Statement) -> Task:
        return task_of(statement, self._runtime.definitions(), self._runtime.dictionary)


def _check_block(statement: Statement, block: Sequence[Statement]) -> None:
    if isinstance(statement, Begin) and block:
        raise InvalidQuery("BEGIN stands between BEGIN and COMMIT", "a block has no blocks in it")
    if isinstance(statement, Commit) and not block:
        raise InvalidQuery("COMMIT has no BEGIN before it", "every other statement is an epoch of its own")


@contextmanager
def _numbered(piece: Piece) -> Iterator[None]:
    """Turns an exception into the failure of the statement that the piece is."""
    try:
        yield
    except ScriptFailed:
        raise
    except RecursionError:
        raise ScriptFailed(piece.index, piece.unsupported("the statement is nested too deeply")) from None
    except PlannerError as error:
        raise ScriptFailed(piece.index, error.at(*piece.place())) from error
    except Exception as error:
        raise ScriptFailed(piece.index, error) from error
