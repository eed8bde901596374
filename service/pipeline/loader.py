"""A scan into a table, as one epoch, by the engine of this process."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pyarrow as pa

from engine.codec import decode_rows, encode_arrow
from engine.schema import Schema
from service.catalog import Receipt
from service.changes import Applied, Op, TableChanges
from service.definitions import Definition
from service.errors import Conflict, Invalid, Overloaded
from service.pipeline.jobs import DONE, Job, write
from service.pipeline.runs import Run
from service.pipeline.scan import ERROR
from service.resolve import RowConflict
from service.runtime import Runtime

SHOWN = 5
"""Bad rows that a failure tells of."""
_PAUSE = 0.2
"""Seconds between two attempts to get into the writer's queue."""


def load(runtime: Runtime, run: Run, definition: Definition, rows: pa.Table, skip_bad: bool) -> Job:
    """The rows of a scan, computed, into the table; the job as it is done.

    Invalid if a row is bad and none may be, Conflict if a key is there already; Cancelled
    as long as the writer has not taken the rows.
    """
    judged = rows.column(ERROR)
    bad = len(rows) - judged.null_count
    if bad and not skip_bad:
        raise bad_rows(bad, judged.drop_null()[:SHOWN].to_pylist())
    good = rows.filter(judged.is_null()) if bad else rows
    words = encode_arrow(good.drop_columns([ERROR]), definition.schema, runtime.dictionary)
    job = replace(run.job, rows=words.shape[1], skipped=bad)
    changes = TableChanges.of(Op.INSERT, definition.schema, words)
    applied = _commit(runtime, run, definition, changes, receipt_of(job))
    return job.ended(DONE, epoch=applied.epoch)


def receipt_of(job: Job) -> Receipt:
    """What makes the job done in the transaction of its epoch."""
    return lambda connection, applied: write(connection, job.ended(DONE, epoch=applied.epoch))


def bad_rows(count: int, messages: list[str]) -> Invalid:
    """What the author of a load is told of rows that do not fit the table."""
    rest = count - len(messages)
    more = f"; and {rest} more" if rest else ""
    return Invalid(
        f"{count} bad {'row' if count == 1 else 'rows'}: {'; '.join(messages)}{more}",
        '"bad_rows": "skip" leaves them out and counts them',
        code="bad_rows",
    )


def _commit(
    runtime: Runtime, run: Run, definition: Definition, changes: TableChanges, receipt: Receipt
) -> Applied:
    """Waits for room in the writer's queue, and then for the epoch."""
    while True:
        run.check()
        try:
            return runtime.commit({definition.name: changes}, receipt)
        except Overloaded:
            time.sleep(_PAUSE)
        except RowConflict as error:
            raise _key_exists(error, definition, changes.words[:, error.place], runtime) from None


def _key_exists(error: RowConflict, definition: Definition, row: np.ndarray, runtime: Runtime) -> Conflict:
    key = definition.relation.key or ()
    schema = Schema(tuple(definition.schema.columns[i] for i in key))
    (values,) = decode_rows(np.ascontiguousarray(row[list(key), None]), schema, runtime.dictionary)
    named = ", ".join(f"{name} = {value!r}" for name, value in zip(schema.names, values, strict=True))
    return Conflict(
        f"table {definition.name} has a row of key {named} already, or the load has two",
        "nothing was loaded",
        code=error.code,
    )
