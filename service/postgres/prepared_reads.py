"""Prepared point reads: what a session keeps of a statement that was one, so that it is run again at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.parsing.parameters import Parameters
from planner.parsing.script import Piece
from service.pgformats.wire_types import WireColumn
from service.pgformats.word_fields import WordWriter, word_writers
from service.postgres.circumstances import Circumstances
from service.reading.point_reads import PointRead
from service.sql.prepared import PreparedStatements, Shape

_FORMATS = 4
"""The most combinations of formats that are kept for a statement."""


@dataclass(eq=False)
class PreparedRead:
    """A point read with the columns of its answer. `writers` are by the formats of these."""

    read: PointRead
    columns: tuple[WireColumn, ...]
    circumstances: Circumstances
    writers: dict[tuple[int, ...], list[WordWriter] | None] = field(default_factory=dict)

    def writers_for(self, formats: tuple[int, ...]) -> list[WordWriter] | None:
        """How words become fields in these formats; None if they do not one by one."""
        if formats not in self.writers:
            if len(self.writers) == _FORMATS:
                self.writers.clear()
            self.writers[formats] = word_writers(
                self.read.query.schema.types, self.columns, formats, self.circumstances.reading.zone
            )
        return self.writers[formats]


def prepared_read(
    statements: PreparedStatements,
    circumstances: Circumstances,
    piece: Piece,
    parameters: Parameters,
    columns: tuple[WireColumn, ...],
) -> PreparedRead | None:
    """The point read of names of `public` that a statement was which has just been run; None if its values
    came with types."""
    if any(given.type is not None for given in parameters.given.values()):
        return None
    shape = Shape.of(piece.excerpt(0).text, piece.dialect, parameters)
    _, read = statements.kept(shape, circumstances.known)
    return None if read is None or not read.is_light else PreparedRead(read, columns, circumstances)
