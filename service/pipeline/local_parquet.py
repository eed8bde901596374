"""Parquet files read in this process, as Spark reads them.

Columns are those of all files together. Spark's are Spark's: files whose columns have different types, and
those of old Spark versions, whose calendar was another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet

from engine.codec.arrow_texts import is_text
from service.decoding.parquet_chunks import column_chunks
from service.pipeline.local_files import LocalFile, SparkNeeded, numbered, value_column, with_values

_BATCH = 1 << 16
"""Rows that are read at once: few enough for their memory to be used again by the next ones."""
_SHARED_BYTES, _SMALL = 4, 1 << 12
"""Texts that take at most so many bytes each, besides those of a small dictionary, are few distinct ones."""
_OLD = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_VERSION = b"org.apache.spark.version"


class LocalParquet:
    """Some files of Parquet. Their footers are read when it is made, which may raise SparkNeeded."""

    corrupt: str = ""

    def __init__(self, files: Sequence[LocalFile], options: Mapping[str, str], names: Sequence[str]) -> None:
        self.progress = 0.0
        self.columns: dict[str, pa.DataType] = {}
        self._files = [file for file in files if file.size]
        self.expected = 0
        for file in self._files:
            self._look(file)
        if not self._files:
            raise SparkNeeded("all files are empty")

    def _look(self, file: LocalFile) -> None:
        """Adds the columns of a file."""
        found = _opened(file, ())
        about = found.metadata.metadata or {}
        if any(mark in about for mark in _OLD) or about.get(_VERSION, b"3").startswith((b"1", b"2")):
            raise SparkNeeded(f"{file.path.name} has the calendar of an old version of Spark")
        columns = {field.name: _plain(field.type) for field in found.schema_arrow}
        if len(columns) < len(found.schema_arrow):
            raise SparkNeeded("two columns have the same name")
        for name, type in with_values(columns, file).items():
            if self.columns.setdefault(name, type) != type:
                raise SparkNeeded(f"column {name} has different types")
        with_values(self.columns, LocalFile(file.path, {}, 0))
        self.expected += max(found.metadata.num_rows, 0)  # whatever a broken footer says

    def look(self) -> None:
        """All columns are known from the beginning."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns with these names. Texts stay shared where the file has them so."""
        done = 0
        for file in self._files:
            for batch in _read(file, names):
                columns = [self._column(file, batch, name) for name in names]
                done += batch.num_rows
                self.progress = min(1.0, done / max(self.expected, 1))
                yield numbered(columns)

    def _column(self, file: LocalFile, batch: pa.RecordBatch, name: str) -> pa.Array:
        if name in file.values:
            return value_column(file, name, batch.num_rows)
        place = batch.schema.get_field_index(name)
        return pa.nulls(batch.num_rows) if place < 0 else batch.column(place)


def _read(file: LocalFile, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    found = _opened(file, ())
    there = [name for name in names if name in found.schema_arrow.names]
    with file.reading():
        first = next(column_chunks(found), [])
    shared = [name for name in there if _is_shared(found, first, name)]
    if not there:
        for start in range(0, found.metadata.num_rows, _BATCH):
            nothing = pa.nulls(min(_BATCH, found.metadata.num_rows - start))
            yield pa.RecordBatch.from_arrays([nothing], names=["nothing"])
        return
    with file.reading():
        for batch in _opened(file, shared).iter_batches(_BATCH, columns=there, use_threads=True):
            for name in shared:
                batch.column(name).validate(full=True)  # PyArrow does not look whether a place in it exists
            yield batch


def _opened(file: LocalFile, shared: Sequence[str]) -> pyarrow.parquet.ParquetFile:
    with file.reading():
        return pyarrow.parquet.ParquetFile(
            str(file.path), read_dictionary=list(shared), coerce_int96_timestamp_unit="us"
        )


def _is_shared(
    file: pyarrow.parquet.ParquetFile, first: Sequence[pyarrow.parquet.ColumnChunkMetaData], name: str
) -> bool:
    """Whether the texts of a column have dictionaries that are worth it, by its chunk among the `first`: each
    then needs a word only once."""
    if not is_text(file.schema_arrow.field(name).type):
        return False
    chunk = next((chunk for chunk in first if chunk.path_in_schema == name), None)
    if chunk is None:
        return False
    size = chunk.total_uncompressed_size
    return chunk.has_dictionary_page and size < _SHARED_BYTES * chunk.num_values + _SMALL


def _plain(type: pa.DataType) -> pa.DataType:
    """A type without what does not belong to its values."""
    if isinstance(type, pa.BaseExtensionType):
        return _plain(type.storage_type)
    return type.value_type if pa.types.is_dictionary(type) else type
