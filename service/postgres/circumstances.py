"""The circumstances of a prepared statement: what its names and moments meant when it was prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planner.parsing.search_path import namespace, search_path
from planner.parsing.vocabulary import Vocabulary
from service.accounts.principals import Principal
from service.definitions.known_relations import KnownRelations
from service.reading.session_zones import UTC_ZONE, SessionZone
from service.running.timeline import Timeline


class SessionReading(NamedTuple):
    """By what a session reads a statement: the text of its search path, its time zone, and the schema of its
    temporary tables."""

    path: str
    zone: SessionZone = UTC_ZONE
    temporary: str | None = None


@dataclass(frozen=True, eq=False)
class Circumstances:
    """Each of the mappings is replaced as a whole when something is defined."""

    known: KnownRelations
    vocabulary: Vocabulary
    schemas: Mapping[str, int]
    reading: SessionReading

    @classmethod
    def now(cls, timeline: Timeline, reading: SessionReading) -> Circumstances:
        return cls(timeline.readable.known, timeline.vocabulary(), timeline.schemas(), reading)

    def hold(self, timeline: Timeline, reading: SessionReading) -> bool:
        """Whether the statement still means the same."""
        return (
            self.known is timeline.readable.known
            and self.vocabulary is timeline.vocabulary()
            and self.schemas is timeline.schemas()
            and self.reading == reading
        )

    def are_public(self, principal: Principal) -> bool:
        """Whether names without a schema are those of `public`, whatever exists."""
        path, _, temporary = self.reading
        names = namespace(search_path(path), principal.name, self.schemas, tuple, dict, temporary)
        return names.is_default
