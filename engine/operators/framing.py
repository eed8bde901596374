"""Translates functions of frames for the kernel that slides them (`engine.kernels.neighbours.sliding`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.codec.values import float_word
from engine.kernels.coding import Codes
from engine.kernels.neighbours import sliding as kernels
from engine.kernels.regions import PEERS, REACH, SHAPE
from engine.operators.windowing import KINDS, labels_of, words_of_columns
from engine.plan.window_functions import EXTREMES, SUMS, Window, Windowed, WindowFunction
from engine.schema import Schema, Type


@dataclass(frozen=True, eq=False)
class FrameFunctions:
    """A window's functions, as the kernel takes them: `lines`, the `shape` and `extent` of a region, and the
    words of floats that are `summed` from the group's first row on."""

    lines: np.ndarray
    shape: np.ndarray
    extent: np.ndarray
    summed: np.ndarray
    labels: tuple[str, ...]

    @cached_property
    def numbered(self) -> FrameFunctions:
        """The same functions of rows that a number leads."""
        lines, shape = self.lines.copy(), self.shape.copy()
        lines[:, kernels.WORD] += lines[:, kernels.WORD] >= 0
        shape[PEERS] += shape[PEERS] >= 0
        return replace(self, lines=lines, shape=shape, summed=self.summed + 1)


def is_framed(f: Windowed, node: Window) -> bool:
    """Whether the kernel computes the function: an aggregate of a frame by distance, a sum of floats, or an
    extreme of texts; but not of wide numbers, nor of texts of the key."""
    if f.argument is None:
        return f.distances is not None
    type = node.input.schema.types[f.argument]
    if f.function not in SUMS | EXTREMES or type.may_be_wide:
        return False
    if f.function in EXTREMES and type.is_interned:
        return f.argument not in node.keys
    return f.distances is not None or (type.is_float and f.function is not WindowFunction.COUNT)


def text_arguments(node: Window) -> tuple[int, ...]:
    """The columns whose extremes are those of texts, which the trace has as entries."""
    types = node.input.schema.types
    columns = (f.argument for f in node.functions if f.function in EXTREMES)
    return tuple(dict.fromkeys(c for c in columns if c is not None and types[c].is_interned))


def frame_functions(
    node: Window, keys: Sequence[int], order: Mapping[int, Codes], rest: Sequence[int]
) -> FrameFunctions:
    """The functions of a window over a trace of the columns `keys`, `order` and `rest`."""
    schema, functions = node.input.schema, node.functions
    words = words_of_columns(keys, order, rest)
    running = [f for f in functions if _is_running_sum(f, schema)]
    summed = tuple(dict.fromkeys(words[f.argument] for f in running))  # type: ignore[index]
    wide = [i for i, f in enumerate(functions) if f.function is WindowFunction.SUM and f.type.may_be_wide]
    by = schema.types[node.order[0][0]] if node.order else None
    lines = np.zeros((len(functions), kernels.FIELDS), np.int64)
    for line, f in zip(lines, functions, strict=True):
        word = -1 if f.argument is None else words[f.argument]
        sort = kernels.NUMBER if f.argument is None else _sort(f, schema.types[f.argument])
        scale = 0 if f.argument is None else schema.types[f.argument].scale or 0
        base = summed.index(word) if f in running else -1
        line[:] = (KINDS[f.function], word, sort, *_frame(f, by), 10**scale, base, -1)
    lines[wide, kernels.HIGH] = range(len(lines), len(lines) + len(wide))
    return FrameFunctions(
        lines, _shape(node, keys, order), _extent(node, by), np.array(summed, np.int64), labels_of(functions)
    )


def _is_running_sum(f: Windowed, schema: Schema) -> bool:
    if f.is_bounded or f.function not in SUMS or f.argument is None:
        return False
    return schema.types[f.argument].is_float


def _sort(f: Windowed, type: Type) -> int:
    if f.function in EXTREMES and type.is_interned:
        return kernels.TEXT
    return kernels.FLOAT if type.is_float else kernels.NUMBER


def _frame(f: Windowed, by: Type | None) -> tuple[int, int, int, int]:
    """Where frames start and end."""
    if f.distances is not None:
        low, high = f.distances
        if by is not None and by.is_float:
            low, high = float_word(low), float_word(high)
        return kernels.DISTANCE, int(low), kernels.DISTANCE, int(high)
    start = (kernels.UNBOUNDED, 0) if f.start is None else (kernels.ROWS, f.start)
    return *start, *((kernels.PEER, 0) if f.peers else (kernels.ROWS, f.end))


def _shape(node: Window, keys: Sequence[int], order: Mapping[int, Codes]) -> np.ndarray:
    """How many rows a change reaches, and the words in which peers agree."""
    near = [f for f in node.functions if f.distances is None and not f.peers]
    ahead = max((f.end for f in near), default=0)
    behind = max((-f.end if f.start is None else -f.start for f in near), default=0)
    shape = np.empty(SHAPE, np.int64)
    shape[REACH] = max(ahead, 0) + max(behind, 0)
    by = {ordering[0] for ordering in node.order[: node.peers]} - set(keys)
    needs_peers = any(f.peers for f in node.functions)
    shape[PEERS] = len(keys) + sum(len(order[column]) for column in by) if needs_peers else -1
    return shape


def _extent(node: Window, by: Type | None) -> np.ndarray:
    """How far in the order's column a change reaches: to the furthest row whose frame has it, and from there
    to the furthest row in any frame of that one, whose other functions are computed with it."""
    near = [f.distances for f in node.functions if f.distances is not None]
    span = max(0, *(high for _, high in near)) - min(0, *(low for low, _ in near)) if near else -1
    is_float = bool(near) and by is not None and by.is_float
    texts = text_arguments(node)
    extent = np.zeros(kernels.EXTENT, np.int64)
    extent[kernels.SPAN] = float_word(span) if is_float else span
    extent[kernels.TO_END] = any(not f.is_bounded for f in node.functions)
    extent[kernels.FROM_START] = any(not f.is_bounded and f.argument in texts for f in node.functions)
    extent[kernels.IS_FLOAT] = is_float
    return extent
