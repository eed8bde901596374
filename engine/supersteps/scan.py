"""Scans: tasks that read rows, and run the operators that need no exchange on them.

The messages of a scan join those of the shards' first superstep. Rows come as record batches, which the
scan's judge turns into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from engine.judging.row_judge import JudgedRows
from engine.supersteps.messages import Message
from engine.supersteps.superstep_program import RunLevel
from engine.supersteps.worker import Worker

BAD_ROW = "bad row"
"""Stands in an error for the fingerprint of a failed operator: a row cannot be inserted. The message says
why."""
GATHERED = 1 << 18
"""Rows that are sorted together. Merging a few long runs is faster than sorting all rows at once."""
EXAMPLES = 10
"""Most error messages of bad rows that are reported."""


def scan(worker: Worker, table: str, number: int, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
    """The messages of scan task `number`, which reads `batches` of a table's rows."""
    spec = worker.spec
    dictionary = worker.dictionary(())
    shard = worker.stateless_shard(number % spec.shards, dictionary)
    first = shard.program.instructions[0]
    if not isinstance(first, RunLevel):
        raise RuntimeError("the first instruction of a program is not RunLevel")
    asked = spec.scanned[table]
    rows = ScannedRows(asked.skip_bad)
    keeper = worker.keeper(shard)
    for batch in gathered(batches):
        words = rows.good(asked.judge.judged(batch, dictionary))
        if rows.error is not None:
            shard.error = (BAD_ROW, rows.error, "")
            break
        times = np.empty((2, words.shape[1]), np.int64)
        times[0], times[1] = spec.epoch, 1
        shard.rendered.inputs[table].pending = np.ascontiguousarray(np.concatenate((words, times)))
        yield from shard.run(first)
        yield from keeper.outs()
    shard.scanned = rows.counted()
    yield from worker.new_texts(dictionary)
    yield from keeper.notes()


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in batches of about `GATHERED` rows, or in one."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.num_rows
        if size >= GATHERED:
            yield pa.concat_batches(waiting)
            waiting, size = [], 0
    if size:
        yield pa.concat_batches(waiting)


class ScannedRows:
    """What a task has read so far. `error` is the message of a bad row, if bad rows fail the scan."""

    def __init__(self, skip_bad: bool) -> None:
        self.error: str | None = None
        self._skip_bad = skip_bad
        self._taken = 0
        self._skipped = 0
        self._examples: list[str] = []

    def good(self, judged: JudgedRows) -> np.ndarray:
        """The words of the good rows of a batch."""
        bad = int(judged.bad.sum())
        if bad:
            messages = judged.messages(EXAMPLES)
            if not self._skip_bad:
                self.error = messages[0]
            self._examples = (self._examples + messages)[:EXAMPLES]
        good = judged.good
        self._skipped += bad
        self._taken += good.shape[1]
        return good

    def counted(self) -> tuple[int, int, tuple[str, ...]]:
        """Rows taken, rows left out, and the first error messages."""
        return self._taken, self._skipped, tuple(self._examples)
