"""A session's temporary tables: they are in a schema of their own, `pg_temp_` with the session's number.

The schema is made for the first of them, and dropped with all that is in it when the session ends. What a
crash has left is dropped when the service starts (`service/running/schema_objects.py`).
"""

from __future__ import annotations

from planner.parsing.script import Piece
from planner.relation_names import TEMPORARY
from service.accounts.principals import Principal
from service.running.runtime import Runtime

_SCOPES = ("GLOBAL", "LOCAL")
_WORDS = ("TEMP", "TEMPORARY")


class TemporaryTables:
    """`schema` is their schema; None while there is none."""

    def __init__(self) -> None:
        self.number = 0
        """The session's number, which it gets when it starts."""
        self.schema: str | None = None

    async def make(self, runtime: Runtime, principal: Principal) -> None:
        """Makes the schema, unless it is there. Raises Forbidden and NotLeader."""
        name = f"{TEMPORARY}{self.number}"
        runtime.accounts.renewed(principal).require_defining(name)
        if self.schema is None:
            await runtime.objects.create_temporary_schema(name)
            self.schema = name

    async def drop(self, runtime: Runtime) -> None:
        """Drops all of them."""
        schema, self.schema = self.schema, None
        if schema is not None:
            await runtime.objects.drop_schemas(schema, missing_ok=True, cascade=True)


def makes_temporary_table(piece: Piece) -> bool:
    """Whether a statement is CREATE TEMPORARY TABLE."""
    first, *words = (*piece.words(3), "", "")
    if words[0] in _SCOPES:
        del words[0]
    return first == "CREATE" and words[0] in _WORDS
