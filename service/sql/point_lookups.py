"""Point lookups: which statements are point reads, and their answers at the state that a statement sees.

Names are resolved anew for each statement, by its session's search path, so a statement that is kept counts
only as long as its table's name means the same relation.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.parsing.namespace import Namespace
from planner.parsing.parameters import Given, Parameters
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.definitions.known_relations import KnownRelations
from service.definitions.readable import Readable
from service.reading.found_rows import FoundRows
from service.reading.lanes import Lane, Lanes
from service.reading.point_reads import AT_ONCE, MOST, PointRead
from service.reading.reads import check_health
from service.sql.prepared import PreparedStatements, Shape


class PointLookups:
    """Statements are prepared in the lane of planning, and run in that of lookups unless they are light."""

    def __init__(self, prepared: PreparedStatements, lanes: Lanes) -> None:
        self._prepared = prepared
        self._planning: Lane = lanes.planning
        self._lane: Lane = lanes.lookups

    async def read(
        self,
        text: str,
        dialect: str,
        parameters: Parameters,
        names: Namespace,
        known: KnownRelations,
        principal: Principal,
    ) -> PointRead | None:
        """The point read that a text is; None if it is none, or the principal may not read its relation."""
        shape = Shape.of(text, dialect, parameters, names)
        is_known, read = self._prepared.kept(shape, known, names)
        if not is_known and shape.is_likely:
            read = await self._planning.run(self._prepared.prepare, shape, known, names)
        if read is None or not principal.may(Privilege.SELECT, read.definition.name):
            return None
        return read

    async def answer(
        self, read: PointRead, readable: Readable, given: Mapping[str, Given], as_of: int | None = None
    ) -> FoundRows | None:
        """The rows; None if DuckDB has to answer. Raises what `check_health` raises."""
        found = _answer(read, readable, given, as_of, AT_ONCE) if read.is_light else None
        return found or await self._lane.run(_answer, read, readable, given, as_of, MOST)


def _answer(
    read: PointRead, readable: Readable, given: Mapping[str, Given], as_of: int | None, most: int
) -> FoundRows | None:
    """The rows, if the read takes a look at no more than `most` differences."""
    check_health(read.definition, readable.snapshot, readable.newest if as_of is None else as_of)
    return read.run(readable.snapshot, as_of, given, most)
