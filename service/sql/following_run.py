"""What a SUBSCRIBE or a COPY names: a relation by the search path, or a query that is maintained."""

from __future__ import annotations

from dataclasses import dataclass

from planner.errors import PlannerError
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt, Piece
from planner.relation_names import full_name
from planner.statements.statements import LongQuery, Select
from service.accounts.principals import readable_by
from service.running.followed_queries import FollowedQuery
from service.sql.allowing import allow
from service.sql.caller_scope import CallerScope
from service.sql.script_failures import numbered


@dataclass(frozen=True, eq=False)
class FollowingRun(CallerScope):
    """Finds what a caller follows."""

    def relation(self, schema: str | None, name: str) -> str:
        """The full name of the relation that is meant."""
        names = self.names()
        return names.meant(name, names.relations) if schema is None else full_name(schema, name)

    async def query(self, piece: Piece) -> FollowedQuery:
        """Maintains a query until the caller leaves it. Raises ScriptFailed."""
        runtime, principal = self.runtime, self.caller.principal
        with numbered(piece):
            queries = self.timeline.queries
            runtime.memory.check("a query that is followed")
            excerpt = await self._lane(piece.length).run(self._text, piece)
            readable = readable_by(principal)
            try:
                return await queries.enter(excerpt.text, piece.dialect, readable, self.caller)
            except PlannerError as error:
                excerpt.relocate(error)
                raise

    def _text(self, piece: Piece) -> Excerpt:
        """The query's text with the schemas of its relations. Raises Forbidden for one that is unreadable."""
        statement = self._parsed(piece)
        if not isinstance(statement, Select | LongQuery):
            raise piece.unsupported("only a query can be followed", "write SUBSCRIBE TO (SELECT ...)")
        allow(statement, self.caller.principal)
        return qualified_text(statement.piece.excerpt(0), piece.dialect, statement.piece.names)
