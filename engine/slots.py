"""Slots: what a reduce of counts, sums and averages adds up, and how its aggregates follow.

Aggregates share slots: two averages of one column need its count and its sum once.
"""

from __future__ import annotations

from engine.kernels import arrange as slots
from engine.kernels import reduce as kernels
from engine.plan import Aggregate, Function, Reduce


class SlotLayout:
    """Which slots a reduce of sums needs, and how its aggregates follow from them."""

    def __init__(self, node: Reduce, columns: tuple[int, ...]) -> None:
        self._slots: list[tuple[int, int]] = [(slots.SLOT_ROWS, 0)]
        self.finish = tuple(self._aggregate(a, node, columns) for a in node.aggregates)
        self.slots = tuple(self._slots)

    def _slot(self, kind: int, word: int) -> int:
        if (kind, word) not in self._slots:
            self._slots.append((kind, word))
        return self._slots.index((kind, word))

    def _aggregate(
        self, a: Aggregate, node: Reduce, columns: tuple[int, ...]
    ) -> tuple[int, int, int, int, int]:
        if a.argument is None:
            return (kernels.COUNT, 0, 0, 0, 1)
        column = node.input.schema.columns[a.argument]
        word = columns[a.argument]
        counted = self._slot(slots.SLOT_NOT_NULL, word) if column.nullable else 0
        if a.function is Function.COUNT:
            return (kernels.COUNT, counted, 0, 0, 1)
        high = self._slot(slots.SLOT_HIGH, word)
        low = self._slot(slots.SLOT_LOW, word)
        kind = kernels.SUM if a.function is Function.SUM else kernels.AVG
        return (kind, counted, high, low, 10 ** (column.type.scale or 0))
