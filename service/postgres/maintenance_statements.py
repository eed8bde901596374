"""LOCK, and the statements of maintenance, which have nothing to do here.

Nothing waits for a lock. Instead a block that has locked a table sees one state from then on, and its COMMIT
fails if what it has read was changed: it takes effect as if it had run alone, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.catalog_queries import CATALOG, is_system
from service.errors import Conflict
from service.pgcatalog.system_tables import RELATIONS
from service.postgres import session_statements as s
from service.postgres.client_session import ClientSession
from service.postgres.own_result import OwnResult
from service.sql.allowing import seen_of


async def lock(session: ClientSession, statement: s.LockTables) -> OwnResult:
    block = session.runs.must_be_in_block("LOCK TABLE")
    _require(session, statement.relations)
    if statement.pins:
        block.pin()
        session.notice(
            "01000",
            "no lock is held: if what the block reads has changed by its COMMIT, that fails",
            "send the block again after SQLSTATE 40001",
        )
    return OwnResult("LOCK TABLE")


async def maintain(session: ClientSession, statement: s.Maintain) -> OwnResult:
    block = session.runs.block
    if statement.alone and block is not None and not block.is_implicit:
        raise Conflict(
            f"{statement.tag} cannot be in a block", "COMMIT before it", code="definition_in_block"
        )
    _require(session, statement.relations)
    session.notice("01000", statement.told)
    return OwnResult(statement.tag)


def _require(session: ClientSession, relations: Iterable[tuple[str | None, str]]) -> None:
    """Raises NotFound unless the session sees the relations."""
    runs = session.runs
    assert runs.principal is not None
    known = seen_of(runs.runtime.readable.known, runs.principal)
    for schema, name in relations:
        full = runs.relation(schema, name)
        if not is_system(full) and f"{CATALOG}.{full}" not in RELATIONS:
            known.get(full)
