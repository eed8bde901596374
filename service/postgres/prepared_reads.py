"""Prepared point reads: what a session keeps of a statement that was one, so that it is run again at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.schema import Type
from planner.parsing.parameters import Parameters
from planner.parsing.script import Piece
from service.definitions.known_relations import KnownRelations
from service.postgres.backend_messages import WireColumn
from service.postgres.word_fields import WordWriter, word_writers
from service.reading.point_reads import PointRead
from service.running.runtime import Runtime
from service.sql.prepared import PreparedStatements, Shape

_FORMATS = 4
"""The most combinations of formats that are kept for a statement."""


@dataclass(eq=False)
class PreparedRead:
    """A point read with the columns of its answer, and what it was prepared for. `writers` are by the formats of the answer's columns."""

    read: PointRead
    columns: tuple[WireColumn, ...]
    known: KnownRelations
    types: Mapping[str, Type]
    schemas: Mapping[str, int]
    search_path: str
    writers: dict[tuple[int, ...], list[WordWriter] | None] = field(default_factory=dict)

    def holds(self, runtime: Runtime, known: KnownRelations, search_path: str) -> bool:
        """Whether the statement still means the same."""
        return (
            self.known is known
            and self.types is runtime.types()
            and self.schemas is runtime.schemas()
            and self.search_path == search_path
        )

    def writers_for(self, formats: tuple[int, ...]) -> list[WordWriter] | None:
        """How words become fields in these formats; None if they do not one by one."""
        if formats not in self.writers:
            if len(self.writers) == _FORMATS:
                self.writers.clear()
            self.writers[formats] = word_writers(self.read.query.schema.types, self.columns, formats)
        return self.writers[formats]


def prepared_read(
    statements: PreparedStatements,
    runtime: Runtime,
    piece: Piece,
    parameters: Parameters,
    columns: tuple[WireColumn, ...],
    search_path: str,
) -> PreparedRead | None:
    """The point read that a statement was which has just been run; None if its values came with types."""
    if any(given.type is not None for given in parameters.given.values()):
        return None
    known = runtime.readable.known
    _, read = statements.kept(Shape.of(piece.excerpt(0).text, piece.dialect, parameters), known)
    if read is None or not read.is_light:
        return None
    return PreparedRead(read, columns, known, runtime.types(), runtime.schemas(), search_path)
