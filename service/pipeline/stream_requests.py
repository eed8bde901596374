"""Requests for sources and sinks, as HTTP's bodies and SQL's statements give them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from service.names import fold_name, fold_relation
from service.pipeline.locations import to_watch, to_write
from service.pipeline.sinks import SinkDefinition
from service.pipeline.source_catalog import SourceDefinition
from service.pipeline.spark_options import Value, reader_options
from service.settings.settings import Settings

Envelope = Literal["changes", "debezium"]
Unit = Literal["milliseconds", "microseconds", "nanoseconds"]


class NewSource(BaseModel):
    """A directory to watch. With `envelope`, a line is a change as `/deltas` takes it, or Debezium's.

    `timestamps` is the unit of moments that Debezium writes as numbers without a schema.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    table: str
    format: Literal["parquet", "csv", "json", "orc", "text"]
    path: str
    options: dict[str, Value] = {}
    envelope: Envelope | None = None
    timestamps: Unit | None = None
    trigger_seconds: float = Field(default=1.0, ge=0, le=86_400)
    files_per_batch: int = Field(default=100, ge=1, le=10_000)
    bad_rows: Literal["fail", "skip"] = "fail"

    def definition(self, settings: Settings) -> SourceDefinition:
        """What a source is made of. Raises Invalid for a path or an option that is not allowed."""
        path = to_watch(self.path, settings)
        options = reader_options("text" if self.envelope else self.format, self.options)
        return SourceDefinition(
            fold_name(self.name),
            fold_relation(self.table),
            self.format,
            str(path),
            options,
            self.envelope,
            self.timestamps,
            self.trigger_seconds,
            self.files_per_batch,
            self.bad_rows,
        )


class NewSink(BaseModel):
    """`from` is the first epoch whose changes are wanted; by default the view's current rows come first."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str
    view: str
    format: Literal["parquet"] = "parquet"
    path: str
    first: int | None = Field(default=None, alias="from", ge=0)
    interval_seconds: float = Field(default=10.0, gt=0, le=86_400)

    def definition(self, settings: Settings) -> SinkDefinition:
        """What a sink is made of. Raises Invalid for a path that is not allowed."""
        path = to_write(self.path, settings)
        return SinkDefinition(
            fold_name(self.name), fold_relation(self.view), str(path), self.first, self.interval_seconds
        )
