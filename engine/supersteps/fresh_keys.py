"""Checks that rows of a scan have keys that their tables do not have yet."""

from __future__ import annotations

import numpy as np

from engine.kernels.lookup import find_ranges
from engine.operators.history import History
from engine.runtime.execution import JobTable
from engine.supersteps.shard import Shard
from engine.supersteps.spec import Spec

TAKEN = "taken"
"""Stands in an error for the fingerprint of a failed operator: a key is taken. The message is the table's
name."""


def check_new_keys(spec: Spec, shard: Shard) -> tuple[str, str, str] | None:
    """The error for the first table in which a scanned row has the key of another row, with the key's
    words."""
    for table in spec.job.tables:
        if table.node.name in spec.job.scans and table.key is not None:
            history: History = shard.rendered.dataflow.operators["history", table.node.name]  # type: ignore
            key = _taken_key(history, table)
            if key is not None:
                return TAKEN, table.node.name, ",".join(map(str, key))
    return None


def _taken_key(history: History, table: JobTable) -> tuple[int, ...] | None:
    """The words of a key that two rows have."""
    batch = history.batch
    if batch is None:
        return None
    width = len(table.key or ())
    keys = np.ascontiguousarray(batch[:, :width])
    twice = batch[:, -1] != 1
    twice[1:] |= (keys[1:] == keys[:-1]).all(axis=1)
    lows, highs = find_ranges(history.trace.table[: history.trace.count], keys)
    held = np.zeros(len(keys), np.int64)
    for layer, rows in enumerate(history.trace.batches()):
        for k in np.flatnonzero(highs[layer] > lows[layer]).tolist():
            held[k] += rows[lows[layer, k] : highs[layer, k], -1].sum()
    taken = keys[twice | (held > 0)]
    return tuple(taken[0].tolist()) if len(taken) else None
