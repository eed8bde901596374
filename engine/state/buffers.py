"""Texts in Arrow's layout: their bytes end to end, and int64[n + 1] offsets at which they begin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from engine.errors import InvalidValue

_NOTHING = np.zeros(0, np.uint8)


def buffers_of(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and bytes of one text; InvalidValue if it is not Unicode."""
    try:
        data = np.frombuffer(text.encode(), np.uint8)
    except UnicodeEncodeError:
        raise InvalidValue(f"{text!r} is not Unicode text: it has a lone surrogate") from None
    return np.array([0, data.size], np.int64), data


def text_at(offsets: np.ndarray, data: np.ndarray, row: int) -> str:
    """The text of a row."""
    return data[offsets[row] : offsets[row + 1]].tobytes().decode()


def as_arrow(texts: Sequence[str | None]) -> pa.LargeStringArray:
    """Texts as an array; InvalidValue if one is not Unicode."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as error:
        raise InvalidValue(f"{error.object!r} is not Unicode text: it has a lone surrogate") from None


def buffers(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and bytes of an array of texts."""
    width = np.dtype(np.int32 if pa.types.is_string(texts.type) else np.int64)
    if width == np.int64:
        texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    if len(texts) == 0:
        return np.zeros(1, np.int64), _NOTHING
    bounds = np.frombuffer(offsets, width, len(texts) + 1, texts.offset * width.itemsize)
    return bounds.astype(np.int64, copy=False), _NOTHING if data is None else np.frombuffer(data, np.uint8)
