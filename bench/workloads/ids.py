"""W6: an id for every distinct row of a table of integers.

SQL cannot express it: DuckDB numbers the distinct rows, which is comparable work with other ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.data import SEED, choose, random_words, replace
from bench.workloads.base import Deltas, Phase, View, integers
from engine.plan.nodes import Source
from engine.plan.row_ids import Intern

SCHEMAS = {"records": integers("value")}
VIEWS: tuple[View, ...] = (
    View(
        "ids",
        "SELECT value, row_number() OVER () AS id FROM (SELECT DISTINCT value FROM records)",
        plan=Intern(Source("records", SCHEMAS["records"])),
        compared=1,
    ),
)
BOUNDS = ((-(2**63) + 1, 2**63 - 1),)
"""So large a range that hardly any value comes twice."""


@dataclass(frozen=True)
class Size:
    rows: int
    phases: tuple[Phase, ...]


class Ids:
    schemas = SCHEMAS
    views = VIEWS

    def __init__(self, size: Size) -> None:
        self.title = f"W6 ids, {size.rows:,} integers"
        self.phases = size.phases
        self._rng = np.random.default_rng(SEED)
        self.tables = {"records": random_words(self._rng, BOUNDS, size.rows)}

    def change(self, batch: int, epoch: int) -> Deltas:
        records = self.tables["records"]
        positions = choose(self._rng, records.shape[1], batch)
        return {"records": replace(records, positions, random_words(self._rng, BOUNDS, batch), epoch)}
