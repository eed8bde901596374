"""Translates window functions for the kernels: `engine.kernels.windows` and `engine.kernels.regions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.kernels import windows as kernels
from engine.kernels.coding import Codes
from engine.kernels.prefixes import PARTS
from engine.kernels.regions import PEERS, REACH, SHAPE
from engine.operators.window import Functions
from engine.plan.window_functions import EXTREMES, PLACES, SUMS, Window, Windowed, WindowFunction
from engine.schema import Schema

KINDS = {
    WindowFunction.ROW_NUMBER: kernels.ROW_NUMBER,
    WindowFunction.RANK: kernels.RANK,
    WindowFunction.VALUE: kernels.VALUE,
    WindowFunction.FIRST: kernels.FIRST,
    WindowFunction.LAST: kernels.LAST,
    WindowFunction.COUNT: kernels.COUNT,
    WindowFunction.SUM: kernels.SUM,
    WindowFunction.AVG: kernels.AVG,
    WindowFunction.MIN: kernels.MIN,
    WindowFunction.MAX: kernels.MAX,
}


def is_compiled(f: Windowed, input: Schema) -> bool:
    """Whether `engine.kernels.windows` computes the function: no frames by distance, no sums of floats, no
    extremes of texts, and neither of wide numbers."""
    if f.distances is not None:
        return False
    if f.argument is None:
        return True
    type = input.types[f.argument]
    if f.function in EXTREMES:
        return not (type.is_interned or type.may_be_wide)
    return f.function not in (WindowFunction.SUM, WindowFunction.AVG) or not (
        type.is_float or type.may_be_wide
    )


def window_functions(
    node: Window,
    keys: Sequence[int],
    order: Mapping[int, Codes],
    rest: Sequence[int],
    defaults: Sequence[int],
) -> Functions:
    """The functions of a window over a trace of the columns `keys`, `order` and `rest`.

    `defaults` has a word for each function: its result where the row that it reads is outside the group.
    """
    words = words_of_columns(keys, order, rest)
    schema = node.input.schema
    summed = tuple(dict.fromkeys(words[f.argument] for f in node.functions if _has_slots(f)))  # type: ignore[index]
    slots = [1 + PARTS * summed.index(words[f.argument]) if _has_slots(f) else 0 for f in node.functions]  # type: ignore[index]
    wide = [
        i for i, f in enumerate(node.functions) if f.function is WindowFunction.SUM and f.type.may_be_wide
    ]
    lines = np.zeros((len(node.functions), kernels.FIELDS), np.int64)
    for line, f, slot, default in zip(lines, node.functions, slots, defaults, strict=True):
        scale = 0 if f.argument is None else schema.types[f.argument].scale or 0
        word = 0 if f.argument is None else words[f.argument]
        bounded, start = f.start is not None, f.start or 0
        line[:] = (KINDS[f.function], word, slot, start, f.end, bounded, f.peers, default, 10**scale, -1)
    lines[wide, kernels.HIGH] = range(len(lines), len(lines) + len(wide))
    running = [f for f in node.functions if f.function in EXTREMES and not f.is_bounded]
    extremes = [(words[f.argument], 1 if f.function is WindowFunction.MIN else -1) for f in running]  # type: ignore[index]
    return Functions(
        lines,
        _shape(node, keys, order),
        np.array(summed, np.int64),
        np.array(sorted(_counted(node.functions, slots)), np.int64),
        np.array(extremes, np.int64).reshape(-1, 2),
        labels_of(node.functions),
    )


def labels_of(functions: Sequence[Windowed]) -> tuple[str, ...]:
    """What messages call the functions."""
    return tuple(f"{f.function.value}, whose result is {f.type}" for f in functions)


def words_of_columns(keys: Sequence[int], order: Mapping[int, Codes], rest: Sequence[int]) -> dict[int, int]:
    """The word of a trace that determines a column: the last of the words that it was coded into."""
    words: dict[int, int] = {}
    width = 0
    for column in (*keys, *order, *rest):
        width += len(order[column]) if column in order else 1
        words[column] = width - 1
    return words


def _has_slots(f: Windowed) -> bool:
    return f.function in SUMS and f.argument is not None


def _counted(functions: Sequence[Windowed], slots: Sequence[int]) -> set[int]:
    """The slots that add up all rows from a group's beginning; of two halves the high one."""
    counted: set[int] = set()
    for f, slot in zip(functions, slots, strict=True):
        if f.function in PLACES or (f.function in SUMS and not f.is_bounded):
            counted.add(slot)
            if f.function in (WindowFunction.SUM, WindowFunction.AVG):
                counted.add(slot + 1)
    return counted


def _shape(node: Window, keys: Sequence[int], order: Mapping[int, Codes]) -> np.ndarray:
    """How far the consequences of a change reach."""
    behind = ahead = 0
    for f in node.functions:
        if f.function not in PLACES and not f.peers:
            ahead = max(ahead, f.end)
            behind = max(behind, -f.end if f.start is None else -f.start)
    shape = np.empty(SHAPE, np.int64)
    shape[REACH] = ahead + behind
    by = {ordering[0] for ordering in node.order[: node.peers]} - set(keys)
    needs_peers = any(f.function is WindowFunction.RANK or f.peers for f in node.functions)
    shape[PEERS] = len(keys) + sum(len(order[column]) for column in by) if needs_peers else -1
    return shape
