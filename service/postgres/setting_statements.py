"""SET, SHOW, RESET and DISCARD, and the functions about settings."""

from __future__ import annotations

from service.errors import Conflict, Invalid, ServiceError
from service.pgformats.data_rows import AnswerRows
from service.postgres import session_statements as s
from service.postgres.client_session import ClientSession
from service.postgres.own_result import OwnResult, answer_of_texts
from service.reading.duck import Answer


async def set_setting(session: ClientSession, statement: s.SetSetting) -> OwnResult:
    if statement.local and (session.runs.block is None or session.runs.block.is_implicit):
        session.notice("25P01", "SET LOCAL has an effect only in a block")
    before = session.settings.get("branch")
    session.settings.set(statement.name, statement.value, statement.local)
    if session.settings.get("branch") != before:
        _check_branch(session, before)
    return OwnResult("SET")


def _check_branch(session: ClientSession, before: str) -> None:
    """Raises what keeps the session from its branch, and leaves it on the one before."""
    try:
        _ = session.runs.timeline
    except ServiceError:
        session.settings.set("branch", before)
        raise


async def show(session: ClientSession, statement: s.ShowSetting) -> OwnResult:
    return OwnResult("SHOW", AnswerRows.of(show_answer(session, statement)))


def show_answer(session: ClientSession, statement: s.ShowSetting) -> Answer:
    if statement.name == "ALL":
        return answer_of_texts(("name", "setting", "description"), session.settings.all())
    value = session.settings.shown(statement.name)
    return answer_of_texts((_column_name(statement.name),), [(value,)])


def _column_name(name: str) -> str:
    return {"timezone": "TimeZone", "datestyle": "DateStyle", "intervalstyle": "IntervalStyle"}.get(
        name.lower(), name.lower()
    )


async def setting_calls(session: ClientSession, statement: s.SettingCalls) -> OwnResult:
    values: list[str | None] = []
    for call in statement.calls:
        if call.value is not None:
            value = call.value
            if value.startswith("$"):
                given = session.parameters.given.get(value[1:])
                value = "" if given is None or given.value is None else str(given.value)
            session.settings.set(call.name, value, call.local)
        try:
            values.append(session.settings.shown(call.name))
        except Invalid:
            if not call.missing_ok:
                raise
            values.append(None)
    names = tuple(call.column for call in statement.calls)
    return OwnResult("SELECT 1", AnswerRows.of(answer_of_texts(names, [tuple(values)])))


async def reset(session: ClientSession, statement: s.ResetSetting) -> OwnResult:
    if statement.name == "ALL":
        session.settings.reset_all()
    else:
        session.settings.set(statement.name, None)
    return OwnResult("RESET")


async def discard(session: ClientSession, statement: s.Discard) -> OwnResult:
    if statement.what == "ALL":
        if session.runs.block is not None and not session.runs.block.is_implicit:
            raise Conflict("DISCARD ALL cannot be in a block", "COMMIT first", code="definition_in_block")
        session.settings.reset_all()
        session.objects.close()
        session.objects.statements.clear()
    if statement.what in ("ALL", "SEQUENCES"):
        session.runs.numbers.clear()
    if statement.what != "PLANS" and statement.what != "SEQUENCES":
        await session.runs.temporary.drop(session.runs.runtime)
    return OwnResult(f"DISCARD {statement.what}")


async def nothing(session: ClientSession, statement: object) -> OwnResult:
    tags: dict[type, str] = {s.Unlisten: "UNLISTEN"}
    return OwnResult(tags.get(type(statement), "SET"))


async def refused(session: ClientSession, statement: s.Refused) -> OwnResult:
    raise Invalid(statement.message, statement.hint, code="unsupported_sql")
