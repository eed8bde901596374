"""Shards: the division of an arrangement's rows by a hash of their key.

Rows whose keys have the same words have the same shard in every arrangement and every process. The shard
decides where a change is processed and into which file new rows go. Reading the files of other shards does no
harm, because operators look up the keys of a change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels import shards as kernels
from engine.kernels.layers import SPREAD
from engine.kernels.narrow.narrow_rows import Batch, as_matrix


def key_words(key: int) -> int:
    """By how many of their first words the rows of a trace with that `key` are divided."""
    return 1 if key == SPREAD else key


def split_by_shard(rows: Batch, words: int, shards: int) -> Sequence[Batch]:
    """The rows of each shard of a batch, by their first `words` words; sorted rows stay sorted.

    Without words, all rows are in shard 0.
    """
    if words == 0 or shards == 1:
        return [rows, *(rows[:0] for _ in range(shards - 1))]
    divided, ends = kernels.split(np.ascontiguousarray(as_matrix(rows)), words, shards)
    return np.split(divided, ends[:-1])
