"""Narrow batches: each column takes as many bytes as its words need, and a column of one word none.

A word is stored as its distance from the column's least word. So a row of small numbers, with an epoch and a
diff that are the same in all rows, takes a few bytes instead of eight a word. The large batches of a trace
are narrow. Kernels read them in place, as they read matrices (`engine.kernels.narrow.batch_type`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import (
    ADDRESS,
    COLUMNS,
    FORMAT,
    INDEX,
    KEY,
    ROWS,
    STRIDE,
    WIDTH,
    layer,
    register,
    rows_at,
)
from engine.kernels.narrow.batch_type import BASE, LINE, MASK, OFFSET, WORD, load, store
from engine.kernels.parallel import threads

Places = slice | np.ndarray

NARROW = 4096
"""Batches of at least this many rows are narrow."""
_NO_ENDS = np.empty((2, 0), np.int64)
_BLOCK = 512
"""Rows that are looked at together."""


@kernel("int64[:,::1](int64[:,::1])")
def ends_of(batch):
    """int64[2, columns]: the least and the greatest word of each column, of at least one row.

    Rows are looked at a block at a time, which stays in the cache from column to column.
    """
    rows, columns = batch.shape
    ends = np.empty((2, columns), np.int64)
    ends[0] = batch[0]
    ends[1] = batch[0]
    for start in range(0, rows, _BLOCK):
        stop = min(start + _BLOCK, rows)
        for c in range(columns):
            least, greatest = ends[0, c], ends[1, c]
            for i in range(start, stop):
                least = min(least, batch[i, c])
                greatest = max(greatest, batch[i, c])
            ends[0, c] = least
            ends[1, c] = greatest
    return ends


@njit
def store_bytes(out, at, word, mask):
    """Write the bytes of a word that a mask leaves; the least significant comes first, as in `store`."""
    while mask != 0:
        out[at] = word & 255
        at += 1
        word >>= 8
        mask = np.int64(np.uint64(mask) >> np.uint64(8))


@kernel("boolean(int64[:,::1], int64[:,::1], int64, uint8[::1], int64, int64[:,::1])")
def write_rows(batch, format, stride, out, first, ends):
    """Write the rows of a matrix as rows of `out` from row `first` on; false if they do not fit the format.

    `ends` [2, D] has the least and the greatest words of the last columns so far, and gets those of these
    rows. A word is written with eight bytes, and what follows overwrites those that are not its own. The last
    rows are written byte by byte: behind them may be rows that another thread has written.
    """
    rows, columns = batch.shape
    whole = max(rows - WORD, 0)
    lost = np.int64(0)
    address = out.ctypes.data + first * stride
    for i in range(whole):
        for c in range(columns):
            word = batch[i, c] - format[c, BASE]
            lost |= word & ~format[c, MASK]
            store(address + format[c, OFFSET], word)  # type: ignore[call-arg]
        address += stride
    for i in range(whole, rows):
        for c in range(columns):
            word = batch[i, c] - format[c, BASE]
            lost |= word & ~format[c, MASK]
            store_bytes(out, (first + i) * stride + format[c, OFFSET], word, format[c, MASK])
    for d in range(ends.shape[1]):
        least, greatest = ends[0, d], ends[1, d]
        c = columns - ends.shape[1] + d
        for i in range(rows):
            least = min(least, batch[i, c])
            greatest = max(greatest, batch[i, c])
        ends[0, d], ends[1, d] = least, greatest
    return lost == 0


@kernel("void(int64[:,::1], int64, int64, int64[::1], int64[:,::1])")
def read_stretch(table, index, low, columns, out):
    """The words of some columns of a batch, which is narrow, in the rows from `low` on.

    They fill `out` [rows, columns]; a block of rows stays in the cache from column to column.
    """
    stride = table[index, STRIDE]
    lines = rows_at(table[index, FORMAT], table[index, WIDTH], LINE)
    for start in range(0, out.shape[0], _BLOCK):
        block = out[start : start + _BLOCK]
        for k in range(columns.shape[0]):
            mask, base = lines[columns[k], MASK], lines[columns[k], BASE]
            at = table[index, ADDRESS] + (low + start) * stride + lines[columns[k], OFFSET]
            for i in range(block.shape[0]):
                block[i, k] = (load(at) & mask) + base  # type: ignore[call-arg]
                at += stride


@kernel("void(int64[:,::1], int64, int64[:,::1])")
def read_columns(table, low, out):
    """As `read_stretch`, for all columns, each of which fills a row of `out` [columns, rows]."""
    stride = table[0, STRIDE]
    lines = rows_at(table[0, FORMAT], table[0, WIDTH], LINE)
    for c in range(out.shape[0]):
        mask, base = lines[c, MASK], lines[c, BASE]
        at = table[0, ADDRESS] + low * stride + lines[c, OFFSET]
        for i in range(out.shape[1]):
            out[c, i] = (load(at) & mask) + base  # type: ignore[call-arg]
            at += stride


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1])")
def read_places(table, places, columns):
    """The words of some columns in the rows at some places of a table's first batch."""
    batch = layer(table, 0)
    out = np.empty((places.shape[0], columns.shape[0]), np.int64)
    for k in range(places.shape[0]):
        for c in range(columns.shape[0]):
            out[k, c] = batch[places[k], columns[c]]
    return out


def format_for(ends: np.ndarray) -> tuple[np.ndarray, int]:
    """The format of columns with these least and greatest words, and the bytes of a row."""
    format = np.zeros((ends.shape[1], LINE), np.int64)
    stride = 0
    for column, (least, greatest) in enumerate(ends.T.tolist()):
        size = ((greatest - least).bit_length() + 7) // 8
        format[column, OFFSET] = stride
        format[column, MASK] = -1 if size == WORD else (1 << 8 * size) - 1
        format[column, BASE] = least
        stride += size
    return format, stride


def around(ends: Sequence[np.ndarray]) -> np.ndarray:
    """The least and greatest words of several batches together."""
    return np.stack((np.min([e[0] for e in ends], 0), np.max([e[1] for e in ends], 0)))


class NarrowRows:
    """The rows of a narrow batch. What is read from them is a new array; they never change."""

    __slots__ = ("data", "ends", "format", "shape", "stride", "table")

    def __init__(
        self, data: np.ndarray, rows: int, format: np.ndarray, stride: int, ends: np.ndarray
    ) -> None:
        """`data` uint8[rows * stride + 8] has the rows, and `ends` their least and greatest words."""
        self.data = data
        self.format = format
        self.stride = stride
        self.ends = ends
        self.shape = (rows, len(format))
        self.table = np.empty((1, COLUMNS), np.int64)
        """A table of this batch alone."""
        self.register(self.table, 0)

    @staticmethod
    def of(rows: np.ndarray) -> NarrowRows:
        """The rows of a matrix that is not empty."""
        return NarrowRows.joined([rows[part] for part in threads.parts_of(len(rows))])

    @staticmethod
    def joined(batches: Sequence[Batch]) -> NarrowRows:
        """The rows of batches that are not empty, one after the other."""
        ends = around(threads.each(ends_in, batches))
        format, stride = format_for(ends)
        stops = np.cumsum(list(map(len, batches))).tolist()
        data = np.empty(stops[-1] * stride + WORD, np.uint8)

        def write(place: int) -> None:
            first = stops[place] - len(batches[place])
            write_rows(as_matrix(batches[place]), format, stride, data, first, _NO_ENDS)

        threads.each(write, range(len(batches)))
        return NarrowRows(data, stops[-1], format, stride, ends)

    def with_word(self, column: int, word: int) -> NarrowRows:
        """The same rows with another word in a column of one word. The bytes are shared."""
        format, ends = self.format.copy(), self.ends.copy()
        format[column, BASE] = ends[:, column] = word
        format[column, MASK] = 0  # rows that are gone may have had other words
        return NarrowRows(self.data, len(self), format, self.stride, ends)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """The bytes that the rows take."""
        return self.shape[0] * self.stride + WORD

    def __getitem__(self, asked: Places | tuple[Places, int | slice | Sequence[int]]) -> np.ndarray:
        """Some rows, or some columns of them, as of a matrix; rows are a stretch or places."""
        places, chosen = asked if isinstance(asked, tuple) else (asked, slice(None))
        numbers = np.arange(self.shape[1])[chosen]
        columns = np.atleast_1d(numbers)
        if isinstance(places, slice):
            low, high, _ = places.indices(len(self))
            read = np.empty((max(0, high - low), len(columns)), np.int64)
            threads.each(
                lambda part: read_stretch(self.table, 0, low + part.start, columns, read[part]),
                threads.parts_of(len(read)),
            )
        else:
            numbers_of = np.flatnonzero(places) if places.dtype == np.bool_ else places
            read = read_places(self.table, np.asarray(numbers_of, np.int64), columns)
        return read[:, 0] if numbers.ndim == 0 else read

    def tobytes(self) -> bytes:
        """The rows as they are kept, one after the other."""
        return self.data[: self.shape[0] * self.stride].tobytes()

    def register(self, table: np.ndarray, line: int) -> None:
        """Write the batch into a line of a table, without an index."""
        table[line, ADDRESS] = self.data.ctypes.data
        table[line, ROWS], table[line, WIDTH] = self.shape
        table[line, INDEX] = table[line, KEY] = 0
        table[line, STRIDE] = self.stride
        table[line, FORMAT] = self.format.ctypes.data


class NarrowColumn:
    """A column of a narrow batch, read as an array is: some words as an array, or one word."""

    def __init__(self, rows: NarrowRows, column: int) -> None:
        self._rows = rows
        self._column = range(rows.shape[1])[column]
        self._bytes = memoryview(rows.data)  # type: ignore[arg-type]
        self._offset, mask, self._base = rows.format[self._column].tolist()
        self._size = (mask % (1 << 64)).bit_length() // 8

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Places | int | np.integer) -> Any:
        if not isinstance(place, int | np.integer):
            return self._rows[place, self._column]
        start = int(place) * self._rows.stride + self._offset
        return self._base + int.from_bytes(self._bytes[start : start + self._size], sys.byteorder)

    def min(self) -> int:
        """The least word."""
        return int(self._rows.ends[0, self._column])

    def max(self) -> int:
        """The greatest word."""
        return int(self._rows.ends[1, self._column])


Batch = np.ndarray | NarrowRows
"""A batch at rest: a matrix int64[n, columns], or narrow."""


def ends_in(batch: Batch) -> np.ndarray:
    """The least and greatest words of a batch that is not empty."""
    return batch.ends if isinstance(batch, NarrowRows) else ends_of(batch)


def as_matrix(batch: Batch) -> np.ndarray:
    """A batch as a matrix."""
    return batch if isinstance(batch, np.ndarray) else batch[:]


def column_of(batch: Batch, column: int) -> np.ndarray | NarrowColumn:
    """A column of a batch, without a copy."""
    return batch[:, column] if isinstance(batch, np.ndarray) else NarrowColumn(batch, column)


def table_of(batches: Sequence[Batch]) -> np.ndarray:
    """A table over `batches`."""
    table = np.empty((len(batches), COLUMNS), np.int64)
    for line, batch in enumerate(batches):
        register_batch(table, line, batch)
    return table


def register_batch(table: np.ndarray, line: int, batch: Batch) -> None:
    """Write a batch into a line of a table, without an index."""
    if isinstance(batch, np.ndarray):
        register(table, line, batch)
    else:
        batch.register(table, line)
