"""Joining a large batch of changes with a trace in parts: pairs are counted, then written side by side."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from engine.kernels.join import find_pairs, join, room_for_pairs, write_pairs
from engine.kernels.narrow.narrow_rows import Batch, as_matrix
from engine.kernels.parallel import threads


def join_batch(
    batch: Batch,
    epoch: int,
    table: np.ndarray,
    key: int,
    width: int,
    depth: int,
    rounds: np.ndarray,
    columns: np.ndarray,
    masks: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int]:
    """As `engine.kernels.join.join`; the pairs of a large batch come in the order of its parts."""
    if len(batch) < threads.LARGE:
        return join(as_matrix(batch), epoch, table, key, width, depth, rounds, columns, masks)  # type: ignore[no-any-return]
    parts = threads.parts_of(len(batch))
    found = threads.each(lambda part: find_pairs(batch[part], table, key, width, depth, rounds), parts)
    now = [0, *accumulate(now for _, now, _ in found)]
    later = [0, *accumulate(later for _, _, later in found)]
    out, rest, excess = room_for_pairs(now[-1], later[-1], len(batch), table, rounds, columns)

    def write(place: int) -> None:
        if not len(found[place][0]):
            return
        write_pairs(
            batch[parts[place]],
            epoch,
            table,
            found[place][0],
            width,
            depth,
            rounds,
            columns,
            masks,
            out,
            now[place],
            rest,
            later[place],
        )

    if not excess:
        threads.each(write, range(len(parts)))
    return out, rest, excess
