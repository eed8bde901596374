"""Spark's readers: files or a query as a frame, with the columns found in them.

Formats without types (CSV, JSON) are read as text, after a first pass that finds the columns' names. So one
judge reads every value (`engine.judging`), and no type is guessed. A record that cannot be read is not
dropped: it goes to a column of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from service.errors import Invalid
from service.pipeline.locations import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CORRUPT = "_corrupt_record"
_AS_TEXTS = ("variant", "interval year", "interval month")


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A frame, its data columns with their types in Arrow, and the name of the column of records that could
    not be read, or empty."""

    frame: DataFrame
    columns: Mapping[str, pa.DataType]
    corrupt: str = ""

    def select(self, names: Sequence[str], also: Sequence[str] = ()) -> DataFrame:
        """The frame's columns with these names, and SQL of further ones."""
        return self.frame.selectExpr(*map(spark_identifier, names), *also)


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
        return _found(session.read.format(format).options(**options).load(list(place.paths)))

    return read


def _jdbc(
    session: SparkSession, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    return _found(session.read.format("jdbc").options(**options).load())


def _found(frame: DataFrame) -> FrameSource:
    """The frame, with types that Arrow does not have as texts."""
    columns = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    if any(type.startswith(_AS_TEXTS) for type in columns.values()):
        frame = frame.selectExpr(*(_as_arrow_has(name, type) for name, type in columns.items()))
    found = frame.limit(0).toArrow().schema
    return FrameSource(frame, dict(zip(found.names, found.types, strict=True)))


def _as_arrow_has(name: str, type: str) -> str:
    column = spark_identifier(name)
    if not type.startswith(_AS_TEXTS):
        return column
    text = f"to_json({column})" if type.startswith("variant") else f"CAST({column} AS string)"
    return f"{text} AS {column}"


def spark_identifier(name: str) -> str:
    """A column's name in Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def _csv(
    session: SparkSession, place: Location, options: Mapping[str, str], names: Sequence[str]
) -> FrameSource:
    found = session.read.options(**options).csv(list(place.paths)).columns
    _check_blank_lines(session, place, options)
    if options["header"] != "true":
        found = [*names, *found[len(names) :]][: len(found)]
    checks = {"columnPruning": "false", "enforceSchema": "false"}
    return _as_text(session, "csv", place, {**options, **checks}, found)


def _check_blank_lines(session: SparkSession, place: Location, options: Mapping[str, str]) -> None:
    """Raise Invalid for files of one column with a blank line, which is a NULL: Spark would leave it out."""
    paths = list(place.paths)
    alone = {name: value for name, value in options.items() if name != "basePath"}
    if len(session.read.options(**alone).csv(paths).columns) != 1:
        return
    breaks = {"lineSep": options["lineSep"]} if "lineSep" in options else {}
    if session.read.options(**breaks).text(paths).where("trim(value) = ''").take(1):
        raise Invalid(
            "the files have one column and a blank line, which Spark does not tell from no row",
            "write NULL as a word, and name it with the option nullValue",
            code="invalid_option",
        )


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
    return FrameSource(
        reader.schema(schema).load(list(place.paths)), dict.fromkeys(names, pa.string()), CORRUPT
    )


_READERS: dict[str, Callable[..., FrameSource]] = {
    "parquet": _typed("parquet"),
    "orc": _typed("orc"),
    "text": _typed("text"),
    "csv": _csv,
    "json": _json,
    "jdbc": _jdbc,
}
