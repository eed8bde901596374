"""DECLARE, FETCH, MOVE and CLOSE."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa

from service.errors import Invalid, NotFound
from service.pgformats.data_rows import AnswerRows
from service.postgres import session_statements as s
from service.postgres.client_session import ClientSession
from service.postgres.own_result import OwnResult
from service.postgres.prepared_statements import Portal, PreparedStatement
from service.postgres.session_readers import session_statement

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}


async def declare(session: ClientSession, statement: s.DeclareCursor) -> OwnResult:
    if not statement.hold:
        session.runs.must_be_in_block("DECLARE without WITH HOLD")
    piece = statement.query
    prepared = PreparedStatement(piece.source, piece, session_statement(piece))
    portal = Portal(prepared, session.parameters, is_cursor=True, holds=statement.hold)
    if isinstance(prepared.own, s.SubscribeStatement):
        portal.subscription = await session.subscription(piece)
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


async def fetch(session: ClientSession, statement: s.FetchCursor) -> OwnResult:
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
        raise NotFound(f"the cursor {statement.name} has no rows", code="unknown_cursor")
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


async def close(session: ClientSession, statement: s.CloseCursor) -> OwnResult:
    if statement.name is None:
        session.objects.close_cursors()
        return OwnResult("CLOSE CURSOR ALL")
    session.objects.portal(statement.name)
    session.objects.close_portal(statement.name)
    return OwnResult("CLOSE CURSOR")
