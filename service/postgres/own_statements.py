"""The statements that a session runs itself: each kind in a function of its own, found by its type."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from planner.parsing.parameters import Parameters
from service.errors import Conflict, Invalid
from service.postgres import session_statements as s
from service.postgres.data_rows import AnswerRows
from service.postgres.prepared_statements import Portal, PreparedStatement
from service.postgres.session import Session
from service.reading.duck import Answer

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_PINNED = ("repeatable read", "serializable")


@dataclass(frozen=True, eq=False)
class OwnResult:
    """The tag, and the rows if there are any."""

    tag: str
    rows: AnswerRows | None = None


async def run_own(session: Session, statement: s.SessionStatement) -> OwnResult:
    """Runs a statement that the session runs itself."""
    run: Callable[[Session, Any], Awaitable[OwnResult]] = _RUNNERS[type(statement)]
    return await run(session, statement)


def answer_of_texts(names: tuple[str, ...], rows: list[tuple[str | None, ...]]) -> Answer:
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    return Answer(names, ("VARCHAR",) * len(names), pa.Table.from_arrays(columns, list(names)))


# Blocks


async def _begin(session: Session, statement: s.BeginBlock) -> OwnResult:
    runs, settings = session.runs, session.settings
    if runs.block is not None and not runs.block.is_implicit:
        session.notice("25001", "there is a block already", "COMMIT or ROLLBACK ends it")
        return OwnResult("BEGIN")
    isolation = statement.isolation or settings.get("default_transaction_isolation")
    read_only = statement.read_only
    if read_only is None:
        read_only = settings.get("default_transaction_read_only") == "on"
    if isolation not in _ISOLATIONS:
        raise Invalid(f"there is no isolation {isolation}", code="invalid_setting")
    if runs.block is not None and runs.block.changes:
        await runs.commit()
    runs.roll_back()
    runs.begin(read_only or isolation in _PINNED, read_only)
    settings.begin_block()
    settings.set("transaction_isolation", isolation, local=True)
    settings.set("transaction_read_only", "on" if read_only else "off", local=True)
    return OwnResult("BEGIN")


_ISOLATIONS = ("read uncommitted", "read committed", *_PINNED)


async def _set_transaction(session: Session, statement: s.SetTransaction) -> OwnResult:
    """SET TRANSACTION: of a block that has not run anything."""
    settings, block = session.settings, session.runs.block
    if statement.session:
        if statement.isolation is not None:
            settings.set("default_transaction_isolation", statement.isolation)
        if statement.read_only is not None:
            settings.set("default_transaction_read_only", "on" if statement.read_only else "off")
        return OwnResult("SET")
    if block is None or block.is_implicit:
        session.notice("25P01", "SET TRANSACTION has an effect only in a block")
        return OwnResult("SET")
    if statement.isolation is not None:
        settings.set("transaction_isolation", statement.isolation, local=True)
        block.pins = block.pins or statement.isolation in _PINNED
    if statement.read_only is not None:
        settings.set("transaction_read_only", "on" if statement.read_only else "off", local=True)
        block.read_only = statement.read_only
        block.pins = block.pins or statement.read_only
    return OwnResult("SET")


async def _commit(session: Session, statement: s.CommitBlock) -> OwnResult:
    runs = session.runs
    if runs.block is None or runs.block.is_implicit:
        session.notice("25P01", "there is no block to end")
        await session.commit_implicit()
        return OwnResult("COMMIT")
    if session.has_failed:
        return await _rollback(session, s.RollbackBlock(statement.chain))
    pins, read_only = runs.block.pins, runs.block.read_only
    try:
        await runs.commit()
    except BaseException:
        session.end_block(False)
        raise
    session.end_block(True)
    _chain(session, statement.chain, pins, read_only)
    return OwnResult("COMMIT")


async def _rollback(session: Session, statement: s.RollbackBlock) -> OwnResult:
    block = session.runs.block
    if block is None or block.is_implicit:
        session.notice("25P01", "there is no block to end")
        session.runs.roll_back()
        return OwnResult("ROLLBACK")
    pins, read_only = block.pins, block.read_only
    if session.runs.roll_back():
        session.notice("01000", "what the block has defined stays: definitions take effect at once")
    session.end_block(False)
    _chain(session, statement.chain, pins, read_only)
    return OwnResult("ROLLBACK")


def _chain(session: Session, chain: bool, pins: bool, read_only: bool) -> None:
    if chain:
        session.runs.begin(pins, read_only)
        session.settings.begin_block()


async def _savepoint(session: Session, statement: s.Savepoint) -> OwnResult:
    session.runs.must_be_in_block("SAVEPOINT").save(statement.name)
    return OwnResult("SAVEPOINT")


async def _release(session: Session, statement: s.ReleaseSavepoint) -> OwnResult:
    session.runs.must_be_in_block("RELEASE").release(statement.name)
    return OwnResult("RELEASE")


async def _return(session: Session, statement: s.RollbackToSavepoint) -> OwnResult:
    session.runs.must_be_in_block("ROLLBACK TO").return_to(statement.name)
    session.has_failed = False
    return OwnResult("ROLLBACK")


# Settings


async def _set(session: Session, statement: s.SetSetting) -> OwnResult:
    if statement.local and (session.runs.block is None or session.runs.block.is_implicit):
        session.notice("25P01", "SET LOCAL has an effect only in a block")
    session.settings.set(statement.name, statement.value, statement.local)
    return OwnResult("SET")


async def _show(session: Session, statement: s.ShowSetting) -> OwnResult:
    return OwnResult("SHOW", AnswerRows.of(show_answer(session, statement)))


def show_answer(session: Session, statement: s.ShowSetting) -> Answer:
    if statement.name == "ALL":
        rows = [(name, value, "") for name, value in session.settings.all()]
        return answer_of_texts(("name", "setting", "description"), rows)
    value = session.settings.get(statement.name)
    return answer_of_texts((_column_name(statement.name),), [(value,)])


def _column_name(name: str) -> str:
    return {"timezone": "TimeZone", "datestyle": "DateStyle", "intervalstyle": "IntervalStyle"}.get(
        name.lower(), name.lower()
    )


async def _setting_calls(session: Session, statement: s.SettingCalls) -> OwnResult:
    values: list[str | None] = []
    for call in statement.calls:
        if call.value is not None:
            value = call.value
            if value.startswith("$"):
                given = session.parameters.given.get(value[1:])
                value = "" if given is None or given.value is None else str(given.value)
            session.settings.set(call.name, value, call.local)
        try:
            values.append(session.settings.get(call.name))
        except Invalid:
            if not call.missing_ok:
                raise
            values.append(None)
    names = tuple(call.column for call in statement.calls)
    return OwnResult("SELECT 1", AnswerRows.of(answer_of_texts(names, [tuple(values)])))


async def _reset(session: Session, statement: s.ResetSetting) -> OwnResult:
    if statement.name == "ALL":
        session.settings.reset_all()
    else:
        session.settings.set(statement.name, None)
    return OwnResult("RESET")


async def _discard(session: Session, statement: s.Discard) -> OwnResult:
    if statement.what == "ALL":
        if session.runs.block is not None and not session.runs.block.is_implicit:
            raise Conflict("DISCARD ALL cannot be in a block", "COMMIT first", code="definition_in_block")
        session.settings.reset_all()
        session.objects.close()
        session.objects.statements.clear()
    return OwnResult(f"DISCARD {statement.what}")


async def _nothing(session: Session, statement: object) -> OwnResult:
    return OwnResult("UNLISTEN" if isinstance(statement, s.Unlisten) else "SET")


async def _refused(session: Session, statement: s.Refused) -> OwnResult:
    raise Invalid(statement.message, statement.hint, code="unsupported_sql")


# Prepared statements


async def _prepare(session: Session, statement: s.PrepareStatement) -> OwnResult:
    declared = tuple(session.type_called(words) for words in statement.types)
    inner = statement.statement
    prepared = PreparedStatement(inner.source, inner, s.session_statement(inner), declared)
    session.objects.keep_statement(statement.name, prepared)
    return OwnResult("PREPARE")


async def _execute(session: Session, statement: s.ExecuteStatement) -> OwnResult:
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


async def _arguments(
    session: Session, statement: s.ExecuteStatement, prepared: PreparedStatement
) -> Parameters:
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


async def _deallocate(session: Session, statement: s.Deallocate) -> OwnResult:
    if statement.name is None:
        session.objects.statements.clear()
        return OwnResult("DEALLOCATE ALL")
    session.objects.statement(statement.name)
    del session.objects.statements[statement.name]
    return OwnResult("DEALLOCATE")


# Cursors


async def _declare(session: Session, statement: s.DeclareCursor) -> OwnResult:
    if not statement.hold:
        session.runs.must_be_in_block("DECLARE without WITH HOLD")
    piece = statement.query
    prepared = PreparedStatement(piece.source, piece, s.session_statement(piece))
    portal = Portal(prepared, session.parameters, is_cursor=True, holds=statement.hold)
    if isinstance(prepared.own, s.SubscribeStatement):
        portal.subscription = session.subscription(piece)
        portal.is_run = True
    elif prepared.own is not None:
        raise piece.unsupported("a cursor is for a query", "write DECLARE name CURSOR FOR SELECT ...")
    else:
        await session.run_portal(portal)
        if portal.rows is None or not portal.tag.startswith("SELECT"):
            raise piece.unsupported("a cursor is for a query", "write DECLARE name CURSOR FOR SELECT ...")
    session.objects.keep_portal(statement.name, portal)
    session.objects.check_bytes()
    return OwnResult("DECLARE CURSOR")


async def _fetch(session: Session, statement: s.FetchCursor) -> OwnResult:
    portal = session.objects.portal(statement.name)
    word = "MOVE" if statement.move else "FETCH"
    if portal.subscription is not None:
        if statement.direction != "NEXT":
            raise Invalid("a cursor FOR SUBSCRIBE only goes forward", code="unsupported_sql")
        with session.runs.calling() as caller:
            seconds = _seconds(statement.timeout)
            answer = await portal.subscription.take(statement.count, seconds, caller)
        rows = AnswerRows.of(answer, portal.subscription.columns)
    elif portal.rows is None:
        raise Conflict(f"the cursor {statement.name} has no rows", code="unknown_cursor")
    else:
        rows = _moved(portal, statement)
    if statement.move:
        return OwnResult(f"MOVE {rows.size}")
    return OwnResult(f"{word} {rows.size}", rows)


def _moved(portal: Portal, statement: s.FetchCursor) -> AnswerRows:
    """The rows that a FETCH names. `portal.at` is the number of rows before the cursor, itself included."""
    assert portal.rows is not None
    table, size = portal.rows.answer.table, portal.rows.size
    count = size + 1 if statement.count is None else statement.count
    match statement.direction:
        case "NEXT" if count > 0:
            start, stop = min(portal.at, size), min(portal.at + count, size)
            portal.at = stop if stop - start == count else size + 1
            found = table.slice(start, stop - start)
        case "PRIOR" if count > 0:
            stop = max(min(portal.at, size + 1) - 1, 0)
            start = max(stop - count, 0)
            portal.at = start + 1 if stop - start == count else 0
            found = table.slice(start, stop - start).take(
                pa.array(range(stop - start - 1, -1, -1), pa.int64())
            )
        case "NEXT" | "PRIOR":
            found = table.slice(max(portal.at - 1, 0), 1 if 1 <= portal.at <= size else 0)
        case direction:
            target = count if direction == "ABSOLUTE" else portal.at + count
            if direction == "ABSOLUTE" and count < 0:
                target = size + 1 + count
            portal.at = min(max(target, 0), size + 1)
            found = table.slice(portal.at - 1, 1) if 1 <= portal.at <= size else table.slice(0, 0)
    return AnswerRows(replace(portal.rows.answer, table=found), portal.rows.columns)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2].rstrip("s") not in {unit.rstrip("s") for unit in _SECONDS} | {
        "second",
        "minute",
    }:
        raise Invalid(f"{text[:100]!r} is not a time", "write WITH (timeout = '1s')", code="invalid_setting")
    unit = {"second": "s", "seconds": "s", "minute": "min", "minutes": "min"}.get(match[2], match[2])
    return float(match[1]) * _SECONDS[unit]


async def _close(session: Session, statement: s.CloseCursor) -> OwnResult:
    if statement.name is None:
        session.objects.close_cursors()
        return OwnResult("CLOSE CURSOR ALL")
    session.objects.portal(statement.name)
    session.objects.close_portal(statement.name)
    return OwnResult("CLOSE CURSOR")


async def _copy(session: Session, statement: s.CopyStatement) -> OwnResult:
    return OwnResult(await session.copy(statement.piece))


async def _subscribe(session: Session, statement: s.SubscribeStatement) -> OwnResult:
    raise Invalid(
        "a SUBSCRIBE has no end, so it cannot be a statement by itself",
        "write DECLARE name CURSOR FOR SUBSCRIBE ..., or COPY (SUBSCRIBE ...) TO STDOUT",
        code="unsupported_sql",
    )


_RUNNERS: dict[type, Callable[[Session, Any], Awaitable[OwnResult]]] = {
    s.BeginBlock: _begin,
    s.CommitBlock: _commit,
    s.RollbackBlock: _rollback,
    s.Savepoint: _savepoint,
    s.ReleaseSavepoint: _release,
    s.RollbackToSavepoint: _return,
    s.SetSetting: _set,
    s.SetTransaction: _set_transaction,
    s.SetConstraints: _nothing,
    s.ShowSetting: _show,
    s.ResetSetting: _reset,
    s.SettingCalls: _setting_calls,
    s.Discard: _discard,
    s.PrepareStatement: _prepare,
    s.ExecuteStatement: _execute,
    s.Deallocate: _deallocate,
    s.DeclareCursor: _declare,
    s.FetchCursor: _fetch,
    s.CloseCursor: _close,
    s.CopyStatement: _copy,
    s.SubscribeStatement: _subscribe,
    s.Unlisten: _nothing,
    s.Refused: _refused,
}
