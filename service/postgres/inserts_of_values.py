"""INSERTs of plain values that a session runs again: only the values are looked at, not the statement."""

from __future__ import annotations

from dataclasses import dataclass

from planner.parsing.parameters import Parameters
from planner.parsing.script import Piece
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.postgres.circumstances import Circumstances
from service.running.timeline import Timeline
from service.sql.prepared_inserts import PreparedInsert, prepared_insert
from service.telemetry.slow_statements import SlowStatements


@dataclass(frozen=True, eq=False)
class InsertOfValues:
    """`text` is the statement's."""

    insert: PreparedInsert
    circumstances: Circumstances
    text: str

    async def run(
        self, timeline: Timeline, parameters: Parameters, principal: Principal, slow: SlowStatements
    ) -> int | None:
        """Inserts the rows as an epoch, and returns their number; None if the statement has to be planned.

        Raises what a change of a table raises.
        """
        name = self.insert.definition.name
        if not (timeline.accounts.is_current(principal) and principal.may(Privilege.INSERT, name)):
            return None
        in_utc = self.circumstances.reading.zone.is_utc
        with timeline.dictionary.holding():
            changes = self.insert.changes(parameters.given, timeline.dictionary, in_utc)
            if changes is None:
                return None
            with slow.timing(self.text, principal.id):
                return (await timeline.apply({name: changes})).changes


def insert_of_values(timeline: Timeline, piece: Piece, circumstances: Circumstances) -> InsertOfValues | None:
    """What is kept of a statement that has inserted plain values, with names of `public`; None for any
    other."""
    limits = timeline.settings.planning_limits
    insert = prepared_insert(piece, circumstances.known.all, circumstances.vocabulary, limits)
    return None if insert is None else InsertOfValues(insert, circumstances, piece.source)
