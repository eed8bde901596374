"""Arranging a large delta in parts: its rows are divided by key, and each part is arranged on its own.

Splitters, which are taken from a sample of the rows, lie between the parts. Equal rows are always in one part
(`engine.kernels.parallel.key_parts`). So the batch is the one that `engine.kernels.arrange` makes. A large
one is narrow from the beginning: its rows never lie in memory as words, but those of a part at a time.

If most of the splitters are equal, many rows are: then stretches of the delta are arranged on their own, and
the few rows that are left of them are added up.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.arrange import NOWHERE, arrange, arrange_sums, consolidate, distinct_keys
from engine.kernels.compiled import kernel
from engine.kernels.group_sums import MANY_ROWS, sums_of_few
from engine.kernels.narrow.narrow_rows import NARROW, Batch, as_matrix
from engine.kernels.parallel import threads
from engine.kernels.parallel.key_parts import KeptRows, KeyParts, leading

_NO_SLOTS = np.empty((0, 3), np.int64)


def arrange_delta(
    delta: np.ndarray, order: np.ndarray, rounds: np.ndarray, keep: np.ndarray | None = None
) -> Batch:
    """As `engine.kernels.arrange.arrange`; a large delta is arranged in parts. If there is a `keep`, the rows
    for which it is true, which are many."""
    if delta.shape[1] < threads.LARGE:
        return arrange(delta, order, rounds)  # type: ignore[no-any-return]
    return _arranged(KeptRows(delta, keep), order, rounds, _NO_SLOTS)


def arrange_delta_sums(
    delta: np.ndarray,
    order: np.ndarray,
    rounds: np.ndarray,
    slots: np.ndarray,
    keep: np.ndarray | None = None,
) -> Batch:
    """As `engine.kernels.arrange.arrange_sums`, in the way of `arrange_delta`."""
    if delta.shape[1] < threads.LARGE:
        return _sums(delta, order, rounds, slots)
    return _arranged(KeptRows(delta, keep), order, rounds, slots)


def _sums(delta: np.ndarray, order: np.ndarray, rounds: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """As `engine.kernels.arrange.arrange_sums`; many rows of few groups are not sorted."""
    if delta.shape[1] >= MANY_ROWS:
        found: np.ndarray = sums_of_few(delta, order, rounds, slots)
        if found.shape[1]:
            return found
    return arrange_sums(delta, order, rounds, slots)  # type: ignore[no-any-return]


def _arranged(kept: KeptRows, order: np.ndarray, rounds: np.ndarray, slots: np.ndarray) -> Batch:
    between = kept.splitters(order)
    columns, own_slots = _needed(kept.delta, order, slots)
    own_order = np.arange(len(order))

    def arranged(part: np.ndarray) -> np.ndarray:
        if len(slots):
            return _sums(part, own_order, rounds, own_slots)
        return arrange(part, own_order, rounds)  # type: ignore[no-any-return]

    if 2 * (1 + np.count_nonzero((between[1:] != between[:-1]).any(axis=1))) <= len(between):
        rows = threads.each(lambda stretch: arranged(kept.taken(stretch, columns)), kept.stretches)
        return consolidated_rows(threads.joined(rows), len(order) + len(rounds))  # type: ignore[no-any-return]
    parts = KeyParts(kept, columns, order, between)
    batch = parts.replaced(arranged) if len(slots) or len(rounds) else parts.ordered()
    # A loop's batches are matrices, and so are small ones.
    return as_matrix(batch) if len(rounds) or len(batch) < NARROW else batch


def _needed(delta: np.ndarray, order: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The delta's rows that are needed: those that `order` names, those that the slots read, and the diffs;
    and the slots, which read the others of these."""
    columns = order.tolist()
    arguments = [column for column in np.unique(slots[:, 1:]).tolist() if column not in (NOWHERE, *columns)]
    columns += arguments
    places = {column: place for place, column in enumerate(columns)} | {NOWHERE: NOWHERE}
    own = [(kind, places[one], places[other]) for kind, one, other in slots.tolist()]
    return np.array([*columns, len(delta) - 1]), np.array(own, np.int64).reshape(-1, 3)


def keys_of(batch: Batch, width: int) -> np.ndarray:
    """As `engine.kernels.arrange.distinct_keys`; those of a large batch are found in parts."""
    if len(batch) < threads.LARGE:
        return distinct_keys(as_matrix(batch), width)  # type: ignore[no-any-return]
    stretches = threads.parts_of(len(batch))
    found = threads.each(lambda stretch: distinct_keys(leading(batch, stretch, width), width), stretches)
    for place in range(1, len(found)):
        if np.array_equal(found[place][0], found[place - 1][-1]):
            found[place - 1] = found[place - 1][:-1]
    return threads.joined(found)


@kernel("int64[:,::1](int64[:,::1], int64)")
def consolidated_rows(rows, lead):
    """As `engine.kernels.arrange.consolidate`."""
    return consolidate(rows, lead)
