"""The keys that a large request names, to be compared with what other requests change meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.kernels.arrange import arrange
from engine.kernels.lookup import find_ranges
from engine.kernels.narrow.narrow_rows import table_of
from engine.state.distinct import distinct
from engine.state.snapshot import Snapshot
from service.changes.table_changes import TableChanges
from service.definitions.definition import Definition

_NO_ROUNDS = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class TouchedKeys:
    """By table, the columns of its key, and the keys as a sorted batch; without a key, a row is its own.

    Tables are left out whose changes fit whatever else has changed: inserts into a bag.
    """

    tables: Mapping[str, tuple[list[int], np.ndarray]]

    @staticmethod
    def of(parts: Mapping[str, tuple[Definition, TableChanges]]) -> TouchedKeys:
        tables = {}
        for name, (definition, changes) in parts.items():
            key = definition.relation.key
            if key is None and not changes.ops.any():
                continue
            columns = list(range(len(definition.schema)) if key is None else key)
            lines = np.zeros((len(columns) + 2, len(changes)), np.int64)
            lines[:-2] = changes.words[columns]
            lines[-1] = 1
            tables[name] = columns, arrange(lines, np.arange(len(columns) + 1), _NO_ROUNDS)
        return TouchedKeys(tables)

    def meet(self, snapshot: Snapshot, since: int) -> bool:
        """Whether a row with one of the keys has changed after epoch `since`. Costs these changes."""
        until = snapshot.upper - 1
        return since < until and any(
            _has_any(batch, snapshot.changes(name, since, until)[columns])
            for name, (columns, batch) in self.tables.items()
        )


def _has_any(batch: np.ndarray, keys: np.ndarray) -> bool:
    """Whether the batch has one of the keys [K, m]."""
    lows, highs = find_ranges(table_of([batch]), np.ascontiguousarray(distinct(keys).T))
    return bool((highs > lows).any())
