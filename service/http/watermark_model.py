"""The JSON shape of a table's watermark, and of the rows that came too late for it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from engine.codec.timestamps import timestamp_text
from service.changes.lateness import Lateness
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.telemetry.late_rows import LateRows


class WatermarkModel(BaseModel):
    """A table takes no row whose `column` is before `at`, which is null as long as it has no time. `late`
    counts the rows that were left out since the service started, and `late_rows` has the newest."""

    column: str
    delay_seconds: float
    at: str | None
    late: int
    late_rows: list[list[Any]]


def watermark_model(
    definition: Definition, readable: Readable, late: LateRows, reads: bool
) -> WatermarkModel | None:
    """The watermark of a table; None if it has none. Only who `reads` its rows sees those that came late."""
    lateness = Lateness.of(definition.relation, readable.snapshot)
    if lateness is None or definition.watermark is None:
        return None
    at = None if lateness.mark is None else timestamp_text(lateness.mark)
    name, rows = definition.name, late.newest(definition.name) if reads else []
    return WatermarkModel(
        column=definition.watermark.column,
        delay_seconds=definition.watermark.delay / 1_000_000,
        at=at,
        late=late.count(name),
        late_rows=[list(row) for row in rows],
    )
