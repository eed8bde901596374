"""BEGIN, COMMIT, ROLLBACK, savepoints and SET TRANSACTION."""

from __future__ import annotations

from service.errors import Invalid
from service.postgres import session_statements as s
from service.postgres.client_session import ClientSession
from service.postgres.own_result import OwnResult

_PINNED = ("repeatable read", "serializable")


async def begin(session: ClientSession, statement: s.BeginBlock) -> OwnResult:
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
        await session.commit()
    runs.roll_back()
    runs.begin(read_only or isolation in _PINNED, read_only)
    settings.begin_block()
    settings.set("transaction_isolation", isolation, local=True)
    settings.set("transaction_read_only", "on" if read_only else "off", local=True)
    return OwnResult("BEGIN")


_ISOLATIONS = ("read uncommitted", "read committed", *_PINNED)


async def set_transaction(session: ClientSession, statement: s.SetTransaction) -> OwnResult:
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


async def commit(session: ClientSession, statement: s.CommitBlock) -> OwnResult:
    runs = session.runs
    if runs.block is None or runs.block.is_implicit:
        session.notice("25P01", "there is no block to end")
        await session.commit_implicit()
        return OwnResult("COMMIT")
    if session.has_failed:
        return await rollback(session, s.RollbackBlock(statement.chain))
    pins, read_only = runs.block.pins, runs.block.read_only
    try:
        await session.commit()
    except BaseException:
        session.end_block(False)
        raise
    session.end_block(True)
    _chain(session, statement.chain, pins, read_only)
    return OwnResult("COMMIT")


async def rollback(session: ClientSession, statement: s.RollbackBlock) -> OwnResult:
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


def _chain(session: ClientSession, chain: bool, pins: bool, read_only: bool) -> None:
    if chain:
        session.runs.begin(pins, read_only)
        session.settings.begin_block()


async def savepoint(session: ClientSession, statement: s.Savepoint) -> OwnResult:
    session.runs.must_be_in_block("SAVEPOINT").save(statement.name)
    return OwnResult("SAVEPOINT")


async def release(session: ClientSession, statement: s.ReleaseSavepoint) -> OwnResult:
    session.runs.must_be_in_block("RELEASE").release(statement.name)
    return OwnResult("RELEASE")


async def return_to(session: ClientSession, statement: s.RollbackToSavepoint) -> OwnResult:
    session.runs.must_be_in_block("ROLLBACK TO").return_to(statement.name)
    session.has_failed = False
    return OwnResult("ROLLBACK")
