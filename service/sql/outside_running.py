"""Statements about data outside, as the SQL door runs them: the pipeline, which it does not know, does the
rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from engine.codec.arrow import encode_arrow
from planner.statements.outside import OUTSIDE, CopyFiles, CreateSource
from planner.statements.statements import CreateTable
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.running.runtime import Runtime
from service.sql.defining import answer_schema


class Outside(Protocol):
    """The pipeline: it takes a statement, and the columns and words of the rows that a COPY writes, and gives
    the number of rows or an answer."""

    async def run(
        self, statement: OUTSIDE, caller: Caller, rows: Any
    ) -> tuple[int | None, Answer | None]: ...

    def given(self, schema: Any, words: Any) -> Any: ...


async def run_outside(
    statement: OUTSIDE,
    runtime: Runtime,
    outside: Outside,
    caller: Caller,
    define: Callable[[CreateTable], Awaitable[int]],
    answer: Callable[[CopyFiles], Awaitable[Answer]],
) -> tuple[int | None, Answer | None]:
    """Runs a statement. `define` makes the table of a source, which goes again if the source cannot be made;
    `answer` answers the query of a COPY."""
    if isinstance(statement, CopyFiles) and statement.query is not None:
        found = await answer(statement)
        schema = answer_schema(found)
        with runtime.dictionary.holding():
            words = encode_arrow(found.table, schema, runtime.dictionary)
            return await outside.run(statement, caller, outside.given(schema, words))
    if not isinstance(statement, CreateSource) or statement.table is None:
        return await outside.run(statement, caller, None)
    table = statement.table
    is_new = table.name not in runtime.definitions()
    await define(table)
    try:
        return await outside.run(statement, caller, None)
    except BaseException:
        if is_new:
            await runtime.drop_table(table.name, missing_ok=True)
        raise
