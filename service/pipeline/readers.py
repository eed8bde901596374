"""Spark's readers: files or a query as a frame, with the columns found in them.

Formats without types (CSV, JSON) are read as text, after a first pass that finds the columns' names. So one
set of rules reads every value (`service/pipeline/spark_casts.py`), and no type is guessed. A record that
cannot be read is not dropped: it goes to a column of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.pipeline.locations import Location
from service.pipeline.spark_casts import spark_identifier

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CORRUPT = "_corrupt_record"


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A frame, its data columns with Spark's names of their types, and the name of the column of records
    that could not be read, or empty."""

    frame: DataFrame
    columns: Mapping[str, str]
    corrupt: str = ""


def read_frame(
    session: SparkSession, format: str, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    """The data at a place. `names` are the columns of a CSV file without a header, as far as they go."""
    options = {**options, "basePath": place.base} if place.base else dict(options)
    return _READERS[format](session, place, options, names)


def _typed(format: str) -> Callable[..., FrameSource]:
    def read(
        session: SparkSession, place: Location, options: Mapping[str, str], names: Sequence[str]
    ) -> FrameSource:
        frame = session.read.format(format).options(**options).load(list(place.paths))
        return FrameSource(frame, {f.name: f.dataType.simpleString() for f in frame.schema.fields})

    return read


def _jdbc(
    session: SparkSession, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    frame = session.read.format("jdbc").options(**options).load()
    return FrameSource(frame, {f.name: f.dataType.simpleString() for f in frame.schema.fields})


def _csv(
    session: SparkSession, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    found = session.read.options(**options).csv(list(place.paths)).columns
    if options["header"] != "true":
        found = [*names, *found[len(names) :]][: len(found)]
    checks = {"columnPruning": "false", "enforceSchema": "false"}
    return _as_text(session, "csv", place, {**options, **checks}, found)


def _json(
    session: SparkSession, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    reader = session.read.options(**options, primitivesAsString="true", columnNameOfCorruptRecord=CORRUPT)
    found = [name for name in reader.json(list(place.paths)).columns if name != CORRUPT]
    return _as_text(session, "json", place, options, found)


def _as_text(
    session: SparkSession, format: str, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    schema = ", ".join(f"{spark_identifier(name)} STRING" for name in (*names, CORRUPT))
    reader = session.read.format(format).options(
        **options, mode="PERMISSIVE", columnNameOfCorruptRecord=CORRUPT
    )
    return FrameSource(reader.schema(schema).load(list(place.paths)), dict.fromkeys(names, "string"), CORRUPT)


_READERS: dict[str, Callable[..., FrameSource]] = {
    "parquet": _typed("parquet"),
    "orc": _typed("orc"),
    "text": _typed("text"),
    "csv": _csv,
    "json": _json,
    "jdbc": _jdbc,
}
