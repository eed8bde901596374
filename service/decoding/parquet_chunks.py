"""What the footer of a file of Parquet says of its column chunks.

PyArrow ends the process if it is asked for a chunk that cannot be: its accessors let no error of the reader
through. A reader of batches without rows looks at the same chunks, and raises.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet


def column_chunks(
    file: pyarrow.parquet.ParquetFile,
) -> Iterator[list[pyarrow.parquet.ColumnChunkMetaData]]:
    """The chunks of each group of rows. Raises pyarrow's errors or OSError."""
    for number in range(file.metadata.num_row_groups):
        for _ in file.reader.iter_batches(0, [number], column_indices=None, use_threads=False):
            pass
        group = file.metadata.row_group(number)
        yield [group.column(place) for place in range(group.num_columns)]
