"""What the kernel of a reduce reads: groups or, at times of several coordinates, chains of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine.kernels.chains import BEFORE, FROM, GROUP, IS_OLD, list_chains, unroll_chains
from engine.kernels.layers import table_of
from engine.kernels.lookup import BLOCK, find_ranges

MOST_ROWS = 1 << 16
"""Rows of chains that are unrolled together, unless a single chain has more."""


class Groups(NamedTuple):
    """The groups `keys` [m, P] of a table, of which `published` lines are published, read at `rounds`.

    `batches` are those of the table; whoever uses the table keeps them alive.
    """

    keys: np.ndarray
    table: np.ndarray
    published: int
    rounds: np.ndarray
    batches: Sequence[np.ndarray] = ()

    @property
    def depth(self) -> int:
        """The number of rounds of a row."""
        return len(self.rounds)

    def blocks(self) -> Iterator[Groups]:
        """The groups, a part at a time."""
        for first in range(0, len(self.keys), BLOCK):
            yield self._replace(keys=self.keys[first : first + BLOCK])


def at_chains(groups: Groups, width: int, masks: np.ndarray) -> tuple[Iterator[Groups], np.ndarray]:
    """The chains of groups whose rows have `width` words, as groups at epochs, a part at a time; and lines
    (rounds, key) to visit in later rounds.

    The key of a chain is its number in its part, then its group's key. See `engine.kernels.chains`.
    """
    keys, table, published, rounds, _ = groups
    lows, highs = find_ranges(table, keys)
    chains, later = list_chains(keys, table, published, rounds, width, masks, lows, highs)

    def unrolled() -> Iterator[Groups]:
        for part in _parts(chains):
            bits = len(rounds) + len(masks) - 1 + int(part[:, IS_OLD].any())
            *rows, ends = unroll_chains(part, table, published, rounds, width, masks, lows, highs, bits)
            before, after = (
                [piece for piece in np.split(some, until[:-1]) if len(piece)]
                for some, until in zip(rows, ends, strict=True)
            )
            numbered = np.column_stack((np.arange(len(part)), keys[part[:, GROUP]]))
            batches = [*before, *after]
            yield Groups(numbered, table_of(batches), len(before), np.ones(bits, np.int64), batches)

    return unrolled(), later


def _parts(chains: np.ndarray) -> Iterator[np.ndarray]:
    """The chains, divided so that each part has about MOST_ROWS rows."""
    if not len(chains):
        return
    rows = np.cumsum(chains[:, BEFORE] + chains[:, FROM])
    yield from np.split(chains, 1 + np.flatnonzero(np.diff(rows // MOST_ROWS)))
