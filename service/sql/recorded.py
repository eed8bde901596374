"""Statements as acts: the audit log tells which of them changed definitions or accounts, or failed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from planner.statements.statements import Statement
from service.accounts.accounts import Accounts
from service.accounts.audit import DONE, Act, acting
from service.errors import problem_of
from service.reading.callers import Caller
from service.reading.lanes import Lane


@asynccontextmanager
async def recorded(
    statement: Statement, caller: Caller, accounts: Accounts, lane: Lane, changes: bool = True
) -> AsyncIterator[None]:
    """Inside the context, a caller runs a statement. The log gets its entry with the statement's change; at
    the end if nothing was changed, or if the statement failed. Without `changes`, only a failure counts."""
    act = Act(caller.principal, caller.address, statement.source)
    token = acting.set(act)
    outcome = DONE
    try:
        yield
    except Exception as error:
        problem = problem_of(error)
        outcome = str(500 if problem is None else problem.status)
        raise
    finally:
        acting.reset(token)
        if outcome != DONE or (changes and not act.is_recorded):
            await lane.run(accounts.record, act, outcome)
