"""Lines of JSON objects as columns of cells: texts and places in the data, before any value is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from engine.kernels.scanning.cell_texts import gathered_cells
from engine.kernels.scanning.json_lines import MISSING, NULL_CELL, UNKNOWN, json_lines

__all__ = ["MISSING", "UNKNOWN", "JsonCells", "is_unicode", "line_at", "scan_lines"]


@dataclass(frozen=True, eq=False)
class JsonCells:
    """Rows of cells. `kinds` uint8[C, n] are those of `engine.kernels.scanning.json_lines`; `ops` int8[n] are
    the lines' operations, and `lines` int64[n] the places where they begin. `end` is where the scanner has
    stopped, and `why` the reason."""

    data: np.ndarray
    ops: np.ndarray
    lines: np.ndarray
    begins: np.ndarray
    stops: np.ndarray
    kinds: np.ndarray
    end: int
    why: int

    def __len__(self) -> int:
        return len(self.ops)

    def texts(self, place: int) -> pa.Array | None:
        """The texts of a column, NULL for null and where it is missing; None if one has a strange escape."""
        kinds, begins, stops = self.kinds[place], self.begins[place], self.stops[place]
        valid = kinds > NULL_CELL
        out = np.empty(int((stops - begins)[valid].sum()), np.uint8)
        offsets = np.empty(len(kinds) + 1, np.int64)
        size = gathered_cells(self.data, begins, stops, kinds, offsets, out)
        if size < 0:
            return None
        validity = None if valid.all() else pa.array(valid).buffers()[1]
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(out[:size])]
        return pa.Array.from_buffers(pa.large_string(), len(kinds), buffers)

    def line(self, row: int) -> bytes:
        """The text of a row's line."""
        return line_at(self.data, int(self.lines[row]))


def scan_lines(data: np.ndarray, at: int, names: Sequence[str], is_wrapped: bool, most: int) -> JsonCells:
    """The cells of up to `most` lines from the place `at`, with the columns `names`.

    With `is_wrapped`, a line is an operation with its row.
    """
    encoded = [name.encode() for name in names]
    ends = np.zeros(len(names) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=ends[1:])
    known = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    begins, stops = np.empty((2, len(names), most), np.int64)
    kinds = np.zeros((len(names), most), np.uint8)
    ops, lines = np.empty(most, np.int8), np.empty(most, np.int64)
    rows, end, why = json_lines(data, at, known, ends, is_wrapped, ops, lines, begins, stops, kinds)
    return JsonCells(
        data,
        ops[:rows],
        lines[:rows],
        np.ascontiguousarray(begins[:, :rows]),
        np.ascontiguousarray(stops[:, :rows]),
        np.ascontiguousarray(kinds[:, :rows]),
        int(end),
        int(why),
    )


def is_unicode(data: np.ndarray) -> bool:
    """Whether bytes are UTF-8."""
    offsets = np.array([0, len(data)], np.int64)
    try:
        pa.Array.from_buffers(
            pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        ).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def line_at(data: np.ndarray, at: int) -> bytes:
    """The line that begins at a place, without its end."""
    text = data.data[at:]
    size = 256
    while (end := bytes(text[:size]).find(b"\n")) < 0 and size < len(text):
        size *= 4
    return bytes(text[: end if end >= 0 else len(text)])
