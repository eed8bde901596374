"""Prepared point reads: what a session keeps of a statement that was one, so that it is run again at once."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from engine.schema import Type
from engine.state.snapshot import Snapshot
from planner.parsing.parameters import Given, Parameters
from planner.parsing.script import Piece
from service.errors import Invalid
from service.pgformats.data_rows import data_row
from service.pgformats.value_formats import result_formats
from service.pgformats.wire_types import WireColumn, WireType
from service.pgformats.word_fields import WordWriter, word_rows, word_writers
from service.postgres import backend_messages as out
from service.postgres.circumstances import Circumstances
from service.postgres.frontend_messages import BindMessage
from service.postgres.parameter_values import ReadsGiven, given_readers, is_plain
from service.reading.found_rows import FoundRows
from service.reading.point_reads import PointRead
from service.reading.reads import check_health
from service.sql.prepared import PreparedStatements, Shape

_FORMS = 4
"""The most combinations of formats that are kept for a statement."""
_READY = out.ready(b"I")
_TAILS = [out.command_complete(f"SELECT {size}") + _READY for size in range(16)]
"""The ends of answers of a few rows."""


@dataclass(frozen=True, eq=False)
class ReadForm:
    """A read with its values and its rows in certain formats: what turns bytes into parameters, and words
    into fields."""

    parameters: Sequence[tuple[str, ReadsGiven]]
    writers: Sequence[WordWriter]
    description: bytes
    """The message RowDescription."""

    def given(self, values: Sequence[bytes | None]) -> Mapping[str, Given] | None:
        """The parameters by their names; None if there are more or fewer. Raises InvalidValue."""
        if len(values) != len(self.parameters):
            return None
        return {name: read(data) for (name, read), data in zip(self.parameters, values, strict=True)}

    def answer(self, found: FoundRows, is_described: bool) -> bytes:
        """The messages from BindComplete to ReadyForQuery."""
        size = found.size
        rows = map(data_row, word_rows(found.words, self.writers, found.dictionary))
        head = out.BOUND + self.description if is_described else out.BOUND
        tail = _TAILS[size] if size < len(_TAILS) else out.command_complete(f"SELECT {size}") + _READY
        return b"".join((head, *rows, tail))


@dataclass(eq=False)
class PreparedRead:
    """A point read with the `types` of its parameters, the types that are `wanted` in their places, and the
    columns of its answer. `forms` are by the formats of parameters and columns."""

    read: PointRead
    types: Sequence[WireType]
    wanted: Sequence[Type | None]
    columns: tuple[WireColumn, ...]
    circumstances: Circumstances
    forms: dict[tuple[tuple[int, ...], tuple[int, ...]], ReadForm | None] = field(default_factory=dict)
    checked: weakref.ref[Snapshot] | None = None
    """The last snapshot in which the relation was found healthy."""

    def check_health(self, snapshot: Snapshot) -> None:
        """Raises unless the relation can be read at the newest epoch."""
        if self.checked is None or self.checked() is not snapshot:
            check_health(self.read.definition, snapshot, snapshot.upper - 1)
            self.checked = weakref.ref(snapshot)

    def form(self, bind: BindMessage) -> ReadForm | None:
        """The read in the formats of a Bind; None if it cannot be answered at once in these."""
        formats = bind.formats, bind.result_formats
        if formats not in self.forms:
            if len(self.forms) == _FORMS:
                self.forms.clear()
            self.forms[formats] = self._form(*formats)
        return self.forms[formats]

    def _form(self, formats: tuple[int, ...], results: tuple[int, ...]) -> ReadForm | None:
        zone = self.circumstances.reading.zone
        try:
            readers = given_readers(formats, self.types, self.wanted, zone)
            spread = result_formats(results, len(self.columns))
        except Invalid:
            return None
        writers = word_writers(self.read.query.schema.types, self.columns, spread, zone)
        if writers is None:
            return None
        parameters = [(str(place), read) for place, read in enumerate(readers, 1)]
        return ReadForm(parameters, writers, out.row_description(self.columns, spread))


def prepared_read(
    statements: PreparedStatements,
    circumstances: Circumstances,
    piece: Piece,
    parameters: Parameters,
    types: Sequence[WireType],
    wanted: Sequence[Type | None],
    columns: tuple[WireColumn, ...],
) -> PreparedRead | None:
    """The point read of names of `public` that a statement was which has just been run; None if a value is no
    plain literal in its place."""
    if not all(is_plain(type.kind, want) for type, want in zip_longest(types, wanted)):
        return None
    shape = Shape.of(piece.excerpt(0).text, piece.dialect, parameters)
    _, read = statements.kept(shape, circumstances.known)
    if read is None or not read.is_light:
        return None
    return PreparedRead(read, types, wanted, columns, circumstances)
