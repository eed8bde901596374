"""The interesting times of a group, as chains that are swept one after another.

A group's output can change only at joins of its rows' times, at least one of them new. The coordinate with
the most values is swept; a chain fixes the other coordinates, at a join of the rows' values there. Each chain
reads the rows at or below it once, in order of the swept coordinate, so the work is the number of rows times
the number of chains.

At times before `start`, all rows lie strictly below the chain in some coordinate, or none is new: the
difference there is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.operators.operator import Step
from engine.state.distinct import distinct


@dataclass(frozen=True)
class Chain:
    """The rows at or below a chain.

    `rows` [n] are sorted by `positions` [n] in the swept coordinate; `strict` [n] has a bit for each other
    coordinate in which a row lies strictly below the chain.
    """

    rows: np.ndarray
    positions: np.ndarray
    strict: np.ndarray
    bits: int
    start: int
    base: int = 0
    shift: int = 0

    def time(self, position: int) -> int:
        """The time at a position, as a word."""
        return self.base | position << self.shift

    def times(self, positions: np.ndarray) -> np.ndarray:
        """The times at positions [n], as words."""
        return self.base | positions << self.shift

    def old(self, is_new: np.ndarray) -> np.ndarray:
        """Which of the chain's rows count as published; none if all published rows come before the start."""
        old = ~is_new[self.rows]
        return old & old[self.positions >= self.start].any()


def chains(times: np.ndarray, is_new: np.ndarray, rounds: np.ndarray, step: Step) -> Iterator[Chain]:
    """The chains of a group whose rows are at `times` [n], words, and at `rounds` [n, d] up to the step's."""
    depth = len(step.rounds)
    strict = ((rounds < step.array) << np.arange(depth)).sum(axis=1)
    if not len(step.masks):
        # All published rows come before all new ones.
        positions = np.where(is_new, times, -1)
        order = np.argsort(positions, kind="stable")
        chain = _chain(positions[order], is_new[order], strict[order], depth, order)
        if chain is not None:
            yield chain
        return
    fields = times[:, None] & step.masks
    swept = max(range(fields.shape[1]), key=lambda c: len(np.unique(fields[:, c])))
    shift = _shift(int(step.masks[swept]))
    order = np.argsort(fields[:, swept], kind="stable")
    others = np.delete(fields, swept, axis=1)[order]
    positions = fields[order, swept] >> shift
    is_new, strict = is_new[order], strict[order]
    bits = depth + others.shape[1]
    for least in _closed(others):
        below = np.flatnonzero((others <= least).all(axis=1))
        outer = (others[below] < least) << np.arange(depth, bits)
        chain = _chain(positions[below], is_new[below], strict[below] | outer.sum(axis=1), bits, order[below])
        if chain is not None:
            yield replace(chain, base=int(least.sum()), shift=shift)


def _chain(
    positions: np.ndarray, is_new: np.ndarray, strict: np.ndarray, bits: int, rows: np.ndarray
) -> Chain | None:
    """A chain of sorted rows, or None if no time on it is interesting."""
    if not is_new.any():
        return None
    start = int(positions[is_new].min())
    for bit in range(bits):
        level = positions[strict & (1 << bit) == 0]
        if not len(level):
            return None
        start = max(start, int(level.min()))
    return Chain(rows, positions, strict, bits, start)


def _closed(others: np.ndarray) -> np.ndarray:
    """The joins of the rows of `others` [n, c], in an order that extends the product order."""
    known = distinct(others.T).T
    if others.shape[1] < 2:
        return known
    found = set(map(tuple, known.tolist()))
    work = list(found)
    while work:
        one = work.pop()
        for other in tuple(found):
            join = tuple(map(max, one, other))
            if join not in found:
                found.add(join)
                work.append(join)
    return np.array(sorted(found), np.int64)


def _shift(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
