"""Scans: tasks that read rows, and run the operators that need no exchange on them.

The messages of a scan join those of the shards' first superstep. Rows come as record batches, which the
scan's judge turns into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from engine.supersteps.messages import Message
from engine.supersteps.shard import EXAMPLES
from engine.supersteps.superstep_program import RunLevel
from engine.supersteps.worker import Worker

BAD_ROW = "bad row"
"""Stands in an error for the fingerprint of a failed operator: a row cannot be inserted. The message says
why."""
GATHERED = 1 << 18
"""Rows that are sorted together. Merging a few long runs is faster than sorting all rows at once."""


def scan(worker: Worker, table: str, number: int, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
    """The messages of scan task `number`, which reads `batches` of a table's rows."""
    spec = worker.spec
    dictionary = worker.dictionary(())
    shard = worker.stateless_shard(number % spec.shards, dictionary)
    first = shard.program.instructions[0]
    if not isinstance(first, RunLevel):
        raise RuntimeError("the first instruction of a program is not RunLevel")
    asked = spec.job.scans[table]
    keeper = worker.keeper(shard)
    for batch in gathered(batches):
        judged = asked.judge.judged(batch, dictionary)
        faults = judged.messages(EXAMPLES)
        if faults and not asked.skip_bad:
            shard.error = (BAD_ROW, faults[0], "")
            break
        words = judged.good
        shard.count(words.shape[1], int(judged.bad.sum()), tuple(faults))
        times = np.empty((2, words.shape[1]), np.int64)
        times[0], times[1] = spec.job.epoch, 1
        shard.rendered.inputs[table].pending = np.ascontiguousarray(np.concatenate((words, times)))
        yield from shard.run(first)
        yield from keeper.outs()
    yield from worker.new_texts(dictionary)
    yield from keeper.scanned()


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
