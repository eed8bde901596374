"""The functions that Spark's tasks run: from record batches to record batches of messages.

A function holds only the path of the epoch's specification, which a worker process reads once. None of them
needs PySpark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from engine.supersteps.messages import decode_messages, encode_messages
from engine.supersteps.scan import scan
from engine.supersteps.worker import worker_of

Batches = Iterator[pa.RecordBatch]


def superstep(spec: str) -> Callable[[Batches], Batches]:
    """A shard's superstep. The messages of its partition are all messages sent to the shard."""

    def run(batches: Batches) -> Batches:
        messages = list(chain.from_iterable(map(decode_messages, batches)))
        if not messages:
            return iter(())
        (number,) = {message.to for message in messages}
        return encode_messages(worker_of(Path(spec)).superstep(number, messages))

    return run


def scanning(spec: str, table: str) -> Callable[[Batches], Batches]:
    """A scan of one partition's rows; their last column is the partition's number."""

    def run(batches: Batches) -> Batches:
        first = next(batches, None)
        if first is None:
            return iter(())
        number = first.column(first.num_columns - 1)[0].as_py() if first.num_rows else 0
        rows = (batch.select(range(batch.num_columns - 1)) for batch in _all(first, batches))
        return encode_messages(scan(worker_of(Path(spec)), table, number, rows))

    return run


def _all(first: pa.RecordBatch, rest: Iterable[pa.RecordBatch]) -> Batches:
    yield from (batch for batch in chain((first,), rest) if batch.num_rows)
