"""What a statement of the session's own gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from service.pgformats.data_rows import AnswerRows
from service.reading.duck import Answer


@dataclass(frozen=True, eq=False)
class OwnResult:
    """The tag, and the rows if there are any."""

    tag: str
    rows: AnswerRows | None = None


def answer_of_texts(names: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]) -> Answer:
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    return Answer(names, ("VARCHAR",) * len(names), pa.Table.from_arrays(columns, list(names)))
