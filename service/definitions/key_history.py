"""Whether a history could be that of a table with a primary key."""

from __future__ import annotations

import numpy as np

from engine.state.distinct import differs, grouped


def repeats(delta: np.ndarray, key: tuple[int, ...]) -> bool:
    """Whether two rows have one key at an epoch. `delta` int64[W + 2, n] has differences, with their epochs
    and counts in the last lines."""
    if not delta.shape[1]:
        return False
    order, group, _ = grouped(np.ascontiguousarray(delta[list(key)]))
    times, counts = delta[-2][order], delta[-1][order]
    by_time = np.lexsort((times, group))
    group, times, counts = group[by_time], times[by_time], counts[by_time]
    sums = np.cumsum(counts)
    begins = np.flatnonzero(differs(group))
    before = np.concatenate(([0], sums[begins[1:] - 1]))
    sums -= np.repeat(before, np.diff(begins, append=len(group)))
    ends = np.append(differs(group)[1:] | differs(times)[1:], True)
    return bool((sums[ends] > 1).any())
