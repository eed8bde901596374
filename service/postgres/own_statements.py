"""The statements that a session runs itself: each kind by a function of its own, found by its type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from planner.parsing.parameters import Parameters
from planner.statements.prepare_statements import Deallocate, Execute, Prepare
from service.errors import Invalid
from service.postgres import session_statements as s
from service.postgres.block_statements import (
    begin,
    commit,
    release,
    return_to,
    rollback,
    savepoint,
    set_transaction,
)
from service.postgres.client_session import ClientSession
from service.postgres.cursor_statements import close, declare, fetch
from service.postgres.maintenance_statements import lock, maintain
from service.postgres.own_result import OwnResult
from service.postgres.prepared_statements import Portal, PreparedStatement
from service.postgres.session_readers import session_statement
from service.postgres.setting_statements import (
    discard,
    nothing,
    refused,
    reset,
    set_setting,
    setting_calls,
    show,
)


async def run_own(session: ClientSession, statement: s.SessionStatement) -> OwnResult:
    """Runs a statement that the session runs itself."""
    run: Callable[[ClientSession, Any], Awaitable[OwnResult]] = _RUNNERS[type(statement)]
    return await run(session, statement)


async def prepare(session: ClientSession, statement: Prepare) -> OwnResult:
    declared = tuple(session.type_called(words) for words in statement.types)
    inner = statement.statement
    prepared = PreparedStatement(inner.source, inner, session_statement(inner), declared)
    await session.check(prepared)
    session.objects.keep_statement(statement.name, prepared)
    return OwnResult("PREPARE")


async def execute(session: ClientSession, statement: Execute) -> OwnResult:
    """The arguments are expressions: a query computes them."""
    prepared = session.objects.statement(statement.name)
    types = await session.types_of(prepared)
    if len(statement.arguments) != len(types):
        raise Invalid(
            f"{len(statement.arguments)} values are given, and the statement {statement.name} has "
            f"{len(types)} parameters",
            code="invalid_query",
        )
    portal = Portal(prepared, await _arguments(session, statement, prepared))
    await session.run_portal(portal)
    return OwnResult(portal.tag, portal.rows)


async def _arguments(session: ClientSession, statement: Execute, prepared: PreparedStatement) -> Parameters:
    if not statement.arguments:
        return Parameters({}, True)
    types = await session.types_of(prepared)
    parts = (
        f"CAST(CAST(({argument.text}) AS {type.name}) AS TEXT)"
        if type.element is None
        else f"({argument.text})"
        for argument, type in zip(statement.arguments, types, strict=True)
    )
    (piece,) = await session.runs.pieces(f"SELECT {', '.join(parts)}")
    result = await session.runs.run(piece)
    assert result.answer is not None
    row = [column[0].as_py() for column in result.answer.table.columns]
    return session.parameters_of_texts(row, types, prepared.wanted)


async def deallocate(session: ClientSession, statement: Deallocate) -> OwnResult:
    if statement.name is None:
        session.objects.statements.clear()
        return OwnResult("DEALLOCATE ALL")
    session.objects.statement(statement.name)
    del session.objects.statements[statement.name]
    return OwnResult("DEALLOCATE")


async def _copy(session: ClientSession, statement: s.CopyStatement) -> OwnResult:
    return OwnResult(await session.copy(statement.piece))


async def _subscribe(session: ClientSession, statement: s.SubscribeStatement) -> OwnResult:
    raise Invalid(
        "a SUBSCRIBE has no end, so it cannot be a statement by itself",
        "write DECLARE name CURSOR FOR SUBSCRIBE ..., or COPY (SUBSCRIBE ...) TO STDOUT",
        code="unsupported_sql",
    )


_RUNNERS: dict[type, Callable[[ClientSession, Any], Awaitable[OwnResult]]] = {
    s.BeginBlock: begin,
    s.CommitBlock: commit,
    s.RollbackBlock: rollback,
    s.Savepoint: savepoint,
    s.ReleaseSavepoint: release,
    s.RollbackToSavepoint: return_to,
    s.SetSetting: set_setting,
    s.SetTransaction: set_transaction,
    s.SetConstraints: nothing,
    s.ShowSetting: show,
    s.ResetSetting: reset,
    s.SettingCalls: setting_calls,
    s.Discard: discard,
    Prepare: prepare,
    Execute: execute,
    Deallocate: deallocate,
    s.DeclareCursor: declare,
    s.FetchCursor: fetch,
    s.CloseCursor: close,
    s.CopyStatement: _copy,
    s.SubscribeStatement: _subscribe,
    s.Unlisten: nothing,
    s.LockTables: lock,
    s.Maintain: maintain,
    s.Refused: refused,
}
