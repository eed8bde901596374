"""A loop that few rows enter: one shard gets all of them, and runs the whole loop.

Exchanging in every round costs more than the work of a small loop. Every shard can read the files of the
whole state, so only new rows have to be brought together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from engine.kernels.narrow.narrow_rows import as_matrix
from engine.operators.arrangement import Arrangement
from engine.operators.loop import Loop
from engine.operators.multijoin import MultiJoinOperator
from engine.operators.operator import Operator


@dataclass(frozen=True, eq=False)
class Offer:
    """What an operator outside a loop brings in: a delta, or an arrangement's new batch."""

    source: Operator
    is_batch: bool
    rows: np.ndarray

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.rows.shape[0 if self.is_batch else 1]

    def exported(self) -> np.ndarray:
        """The rows, encoded for another process."""
        return self.source.export_rows(self.rows) if isinstance(self.source, Arrangement) else self.rows

    @staticmethod
    def imported(source: Operator, is_batch: bool, rows: np.ndarray) -> Offer:
        """The offer that another shard exported."""
        return Offer(source, is_batch, source.import_rows(rows) if isinstance(source, Arrangement) else rows)


def entering(loop: Loop) -> Iterator[Offer]:
    """What enters the loop in this shard."""
    for source in loop.inputs:
        yield from (Offer(source, False, delta) for delta in source.out)
        if isinstance(source, Arrangement) and source.batch is not None:
            yield Offer(source, True, as_matrix(source.batch))


@contextmanager
def entered(loop: Loop, offers: Sequence[Offer]) -> Iterator[None]:
    """Within this context, the loop's inputs have the changes that all shards offered."""
    own = {
        source: (source.out, source.batch if isinstance(source, Arrangement) else None)
        for source in loop.inputs
    }
    for part in loop.parts():
        if isinstance(part, MultiJoinOperator):
            part.wide = None
    for source in loop.inputs:
        mine = [offer for offer in offers if offer.source is source]
        source.out = [offer.rows for offer in mine if not offer.is_batch]
        if isinstance(source, Arrangement):
            batches = [offer.rows for offer in mine if offer.is_batch]
            source.show(source.trace.merge_all(batches, 0) if batches else None)
    yield
    for source, (out, batch) in own.items():
        source.out = out
        if isinstance(source, Arrangement):
            source.show(batch)
