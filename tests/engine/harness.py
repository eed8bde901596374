"""What engine tests share: small schemas, deltas from rows, bags from snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import BIGINT, Column, Schema

Row = tuple[int, ...]
Bag = Counter[Row]
Change = tuple[Row, int]


def schema(width: int) -> Schema:
    """`width` BIGINT columns without NULLs."""
    return Schema(tuple(Column(f"c{i}", BIGINT, nullable=False) for i in range(width)))


def source(name: str, width: int) -> Source:
    return Source(name, schema(width))


def delta(width: int, changes: Iterable[tuple[Row, int, int]]) -> np.ndarray:
    """(row, epoch, diff) as a delta int64[W + 2, n]."""
    lines = [(*row, epoch, diff) for row, epoch, diff in changes]
    return np.ascontiguousarray(np.array(lines, np.int64).reshape(-1, width + 2).T)


def bag(engine: Engine, name: str, epoch: int | None = None) -> Bag:
    """The rows of a relation with their counts."""
    words, counts = engine.snapshot.rows(name, epoch)
    return Counter(dict(zip(map(tuple, words.T.tolist()), counts.tolist(), strict=True)))


def rows(engine: Engine, name: str, epoch: int | None = None) -> list[Row]:
    """The rows of a relation, in order, as often as they count."""
    return sorted(bag(engine, name, epoch).elements())


def apply(engine: Engine, changes: Mapping[str, Iterable[Change]]) -> int:
    """Publish (row, diff) changes of sources as one epoch, which is returned."""
    epoch = engine.snapshot.upper
    deltas = {
        name: delta(len(engine.snapshot.schema(name)), [(row, epoch, diff) for row, diff in lines])
        for name, lines in changes.items()
    }
    stage = engine.stage(deltas, epoch + 1)
    assert not stage.failed
    stage.publish()
    return epoch


def insert(engine: Engine, name: str, *rows: Row) -> int:
    return apply(engine, {name: [(row, 1) for row in rows]})


def delete(engine: Engine, name: str, *rows: Row) -> int:
    return apply(engine, {name: [(row, -1) for row in rows]})
