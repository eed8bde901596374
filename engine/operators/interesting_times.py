"""What the kernel of a reduce reads: groups or, at times of several coordinates, chains of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine.kernels.chains import BEFORE, FROM, GROUP, IS_OLD, list_chains, unroll_chains
from engine.kernels.lookup import BLOCK, find_ranges
from engine.kernels.narrow.narrow_rows import Batch, table_of
from engine.state.packed_times import BITS

MOST_ROWS = 1 << 16
"""Rows of chains that are unrolled together, unless a single chain has more."""

_EPOCHS = np.array([(1 << BITS) - 1], np.int64)
"""The one coordinate of times that are totally ordered."""


class Groups(NamedTuple):
    """The groups `keys` [m, P] of a table, of which `published` lines are published, read at `rounds`.

    `batches` are those of the table; whoever uses the table keeps them alive. What the groups give counts
    with the `sign`.
    """

    keys: np.ndarray
    table: np.ndarray
    published: int
    rounds: np.ndarray
    batches: Sequence[Batch] = ()
    sign: int = 1

    @property
    def depth(self) -> int:
        """The number of rounds of a row."""
        return len(self.rounds)

    @property
    def no_visits(self) -> np.ndarray:
        """No lines (rounds, key) to visit in later rounds."""
        return np.empty((0, self.depth + self.keys.shape[1]), np.int64)

    def blocks(self) -> Iterator[Groups]:
        """The groups, a part at a time."""
        for first in range(0, len(self.keys), BLOCK):
            yield self._replace(keys=self.keys[first : first + BLOCK])


def at_chains(
    groups: Groups, width: int, masks: np.ndarray, corners: bool
) -> tuple[Iterator[Groups], np.ndarray]:
    """The chains of groups whose rows have `width` words, as groups at epochs, a part at a time; and lines
    (rounds, key) to visit in later rounds.

    The key of a chain is its number in its part, then its group's key. With `corners` each corner of a chain
    is a group of its own, without rounds, and parts differ in their signs. See `engine.kernels.chains`.
    """
    keys, table, published, rounds, *_ = groups
    masks = masks if len(masks) else _EPOCHS
    lows, highs = find_ranges(table, keys)
    chains, later = list_chains(keys, table, published, rounds, width, masks, lows, highs)

    def unrolled() -> Iterator[Groups]:
        for part in _parts(chains):
            bits = len(rounds) + len(masks) - 1 + int(part[:, IS_OLD].any())
            for sign in (1, -1) if corners else (0,):
                *rows, ends = unroll_chains(
                    part, table, published, rounds, width, masks, lows, highs, bits, sign
                )
                before, after = (
                    [piece for piece in np.split(some, until[:-1]) if len(piece)]
                    for some, until in zip(rows, ends, strict=True)
                )
                batches = [*before, *after]
                each = 1 << bits if corners else 1
                numbered = np.column_stack(
                    (np.arange(len(part) * each), keys[np.repeat(part[:, GROUP], each)])
                )
                kept = np.ones(0 if corners else bits, np.int64)
                yield Groups(numbered, table_of(batches), len(before), kept, batches, sign or 1)

    return unrolled(), later


def _parts(chains: np.ndarray) -> Iterator[np.ndarray]:
    """The chains, divided so that each part has about MOST_ROWS rows."""
    if not len(chains):
        return
    rows = np.cumsum(chains[:, BEFORE] + chains[:, FROM])
    yield from np.split(chains, 1 + np.flatnonzero(np.diff(rows // MOST_ROWS)))
