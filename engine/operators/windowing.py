"""Translates window functions for the kernels: `engine.kernels.neighbours.copy_frames` and `regions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from engine.codec.values import float_word
from engine.kernels.coding import ENTRY, Codes, codes_of
from engine.kernels.neighbours import arguments, bests, regions, sliding
from engine.kernels.neighbours import copy_frames as frames
from engine.kernels.neighbours.prefixes import slot_of_column
from engine.kernels.neighbours.totals import FURTHER, HIGH, OF_OTHERS, VALUES
from engine.plan.window_functions import EXTREMES, PLACES, SUMS, Window, Windowed, WindowFunction
from engine.schema import Type

_KINDS = {function: getattr(sliding, function.name) for function in WindowFunction}
"""What the kernel calls each function: it has the same names."""

Item = TypeVar("Item")

_FARTHEST = 2**61
"""Frames that reach over more rows count as this; no group has so many."""


@dataclass(frozen=True, eq=False)
class Functions:
    """A window's functions, as the kernel takes them: their `lines`, the `shape` of a region, and what is
    running from a group's first row on (see `engine.kernels.neighbours.regions`)."""

    lines: np.ndarray
    shape: np.ndarray
    summed: np.ndarray
    counted: np.ndarray
    exact: np.ndarray
    extremes: np.ndarray
    named: tuple[Windowed, ...]

    @cached_property
    def numbered(self) -> Functions:
        """The same functions of rows that a number leads."""
        lines, shape, exact, extremes = (
            some.copy() for some in (self.lines, self.shape, self.exact, self.extremes)
        )
        lines[:, frames.WORD] += lines[:, frames.WORD] >= 0
        shape[regions.PEERS] += shape[regions.PEERS] >= 0
        exact[:, 0] += 1
        extremes[:, bests.WORD] += 1
        return replace(self, lines=lines, shape=shape, summed=self.summed + 1, exact=exact, extremes=extremes)

    def label(self, f: int) -> str:
        """What messages call a function."""
        return f"{self.named[f].function.value}, whose result is {self.named[f].type}"


def entries_of(node: Window, order: Mapping[int, Codes]) -> dict[int, Codes]:
    """The columns whose entries in the dictionary functions read, those of the `order` apart, with codes in
    which a trace has them behind all others: there they change no order."""
    found: dict[int, Codes] = {}
    for f in node.functions:
        column = f.argument
        if column is None or column in order:
            continue
        match _sort(f, node.input.schema.types[column]):
            case arguments.TEXT:
                found[column] = ((1, 0, ENTRY),)
            case arguments.WIDE:
                found[column] = codes_of(False, False, True, True)
    return found


def window_functions(
    node: Window,
    keys: Sequence[int],
    order: Mapping[int, Codes],
    rest: Sequence[int],
    entries: Mapping[int, Codes],
    defaults: Sequence[int],
) -> Functions:
    """The functions of a window over a trace of the columns `keys`, `order`, `rest` and `entries`.

    `defaults` has a word for each function: its result where the row that it reads is outside the group.
    """
    words = _words_of_columns(keys, order, rest, entries)
    types = node.input.schema.types
    by = types[node.order[0][0]] if node.order else None
    running = _Running()
    lines = np.empty((len(node.functions), frames.FIELDS), np.int64)
    further = len(lines)
    for line, f, default in zip(lines, node.functions, defaults, strict=True):
        word, sort, scale = -1, arguments.NUMBER, 0
        if f.argument is not None:
            type = types[f.argument]
            word, sort, scale = words[f.argument], _sort(f, type), type.scale or 0
        base = -1 if f.is_bounded else running.base(f, word, sort)
        line[:-1] = (_KINDS[f.function], word, sort, *_frame(f, by), default, 10**scale, base)
        line[-1] = further if _is_finished_here(f, sort) else -1
        further += FURTHER * _is_finished_here(f, sort)
    return Functions(
        lines,
        _shape(node, keys, order, by),
        np.array(running.summed, np.int64),
        np.array(sorted(running.counted), np.int64),
        np.array(running.exact, np.int64).reshape(-1, 2),
        np.array(running.extremes, np.int64).reshape(-1, bests.EXTREME),
        node.functions,
    )


class _Running:
    """What functions read that are running from a group's first row on, each thing once."""

    def __init__(self) -> None:
        self.summed: list[int] = []
        self.counted: set[int] = set()
        self.exact: list[tuple[int, int]] = []
        self.extremes: list[tuple[int, int, int]] = []

    def base(self, f: Windowed, word: int, sort: int) -> int:
        """Where the kernel finds what a function begins with; -1 if it begins with nothing."""
        if f.function in EXTREMES:
            direction = 1 if f.function is WindowFunction.MIN else -1
            return _place(self.extremes, (word, direction, sort))
        if f.function in SUMS and sort != arguments.NUMBER:
            return _place(self.exact, (word, sort)) * OF_OTHERS
        if f.function not in SUMS | PLACES:
            return -1
        slot = 0 if word < 0 else slot_of_column(_place(self.summed, word))
        self.counted.add(slot + VALUES)
        if f.function in (WindowFunction.SUM, WindowFunction.AVG):
            self.counted.add(slot + HIGH)
        return slot


def _place(items: list[Item], item: Item) -> int:
    """The item's place in a list, to which it is added if it is new."""
    if item not in items:
        items.append(item)
    return items.index(item)


def _words_of_columns(
    keys: Sequence[int], order: Mapping[int, Codes], rest: Sequence[int], entries: Mapping[int, Codes]
) -> dict[int, int]:
    """The word of a trace that determines a column: the last of the words that it was coded into."""
    words: dict[int, int] = {}
    width = 0
    for column, size in (
        *((column, 1) for column in keys),
        *((column, len(codes)) for column, codes in order.items()),
        *((column, 1) for column in rest),
        *((column, len(codes)) for column, codes in entries.items()),
    ):
        width += size
        words[column] = width - 1
    return words


def _sort(f: Windowed, type: Type) -> int:
    """How the kernel takes a function's argument."""
    if f.function in EXTREMES and type.is_interned:
        return arguments.TEXT
    if f.function not in EXTREMES | SUMS or f.function is WindowFunction.COUNT:
        return arguments.NUMBER
    return arguments.WIDE if type.may_be_wide else arguments.FLOAT if type.is_float else arguments.NUMBER


def _is_finished_here(f: Windowed, sort: int) -> bool:
    """Whether a total may be too wide for the kernel to finish it."""
    if f.function not in (WindowFunction.SUM, WindowFunction.AVG):
        return False
    return sort == arguments.WIDE or (f.function is WindowFunction.SUM and f.type.may_be_wide)


def _frame(f: Windowed, by: Type | None) -> tuple[int, int, int, int]:
    """Where frames start and end."""
    if f.distances is not None:
        low, high = f.distances
        if by is not None and by.is_float:
            low, high = float_word(low), float_word(high)
        return frames.DISTANCE, int(low), frames.DISTANCE, int(high)
    start = (frames.UNBOUNDED, 0) if f.start is None else (frames.ROWS, _rows(f.start))
    is_by_peers = f.peers or f.function is WindowFunction.RANK
    return *start, *((frames.PEER, 0) if is_by_peers else (frames.ROWS, _rows(f.end)))


def _rows(distance: int) -> int:
    return min(max(distance, -_FARTHEST), _FARTHEST)


def _shape(node: Window, keys: Sequence[int], order: Mapping[int, Codes], by: Type | None) -> np.ndarray:
    """How far the consequences of a change reach: over so many rows, to the end of peers, and along the
    order's column to the furthest row whose frame has the change, and from there to the furthest row in its
    frame."""
    behind = ahead = 0
    for f in node.functions:
        if f.function not in PLACES and not f.peers and f.distances is None:
            ahead = max(ahead, _rows(f.end))
            behind = max(behind, -_rows(f.end if f.start is None else f.start))
    near = [f.distances for f in node.functions if f.distances is not None]
    span = max(0, *(high for _, high in near)) - min(0, *(low for low, _ in near)) if near else -1
    is_float = bool(near) and by is not None and by.is_float
    columns = {ordering[0] for ordering in node.order[: node.peers]} - set(keys)
    needs_peers = any(f.function is WindowFunction.RANK or f.peers for f in node.functions)
    shape = np.empty(regions.SHAPE, np.int64)
    shape[regions.REACH] = ahead + behind
    shape[regions.PEERS] = len(keys) + sum(len(order[column]) for column in columns) if needs_peers else -1
    shape[regions.SPAN] = float_word(span) if is_float else span
    shape[regions.IS_FLOAT] = is_float
    return shape
