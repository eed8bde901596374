"""The readers of this process, by format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from service.pipeline.local_csv import LocalCsv
from service.pipeline.local_files import LocalFile, LocalReader, SparkNeeded, local_files
from service.pipeline.local_json import LocalJson
from service.pipeline.local_parquet import LocalParquet
from service.pipeline.local_text import LocalText
from service.pipeline.locations import Location
from service.pipeline.spark_options import reader_options

_READERS: Mapping[str, Callable[[Sequence[LocalFile], Mapping[str, str], Sequence[str]], LocalReader]] = {
    "parquet": LocalParquet,
    "csv": LocalCsv,
    "json": LocalJson,
    "text": LocalText,
}


def open_here(
    format: str, place: Location, options: Mapping[str, str], names: Sequence[str], most: int
) -> LocalReader:
    """A reader of the files at a place, of at most `most` bytes. Raises SparkNeeded.

    `names` are the columns of a CSV file without a header, as far as they go.
    """
    reader = _READERS.get(format)
    if reader is None:
        raise SparkNeeded(f"the format {format}")
    if format == "parquet" and options != reader_options(format, {}):
        raise SparkNeeded("options")
    return reader(local_files(place.paths, place.base, most), options, names)
