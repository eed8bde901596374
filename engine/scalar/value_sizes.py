"""The largest value that an expression may make.

`s || s` over `s || s` doubles a value with each step, so a short query could fill the memory. A value over
the limit is a failure of its row, and the values below it are at most that large.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.plan.list_elements import MOST_ELEMENTS

LARGEST = 1 << 25
"""Bytes of a text."""
SHORT = 10_000
"""Most characters of a constant that is written into the text of a query."""
_SHOWN = 1_000


def is_too_large(value: object) -> bool:
    """Whether a Python value is larger than a value may be."""
    return isinstance(value, str | bytes) and len(value) > LARGEST


def too_large(values: pa.Array) -> np.ndarray | None:
    """bool[n]: the values that are too large; None if there are none."""
    if values.nbytes <= min(LARGEST, MOST_ELEMENTS):
        return None
    kind = values.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        sizes, most = pc.list_value_length(values), MOST_ELEMENTS
    elif pa.types.is_map(kind):
        lengths = np.diff(values.offsets.to_numpy())
        sizes, most = pa.array(lengths, mask=values.is_null().to_numpy(zero_copy_only=False)), MOST_ELEMENTS
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        sizes, most = pc.binary_length(values), LARGEST
    else:
        return None
    found = pc.fill_null(pc.greater(sizes, most), False).to_numpy(zero_copy_only=False)
    return found if found.any() else None


def shortened(text: str) -> str:
    """The text as messages show it."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
