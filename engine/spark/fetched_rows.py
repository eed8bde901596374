"""The rows of a classic session's frame in this process, a few partitions at a time.

Spark's own way, `toArrow`, holds all rows in the driver before the first of them is here, and refuses more
than `spark.driver.maxResultSize`. Here a job brings one partition. A few jobs run ahead of the partition that
is read, so the driver and this process never hold more than these, however many rows there are, and Spark
reads while what it has read is taken. Partitions come in their order.

Spark holds a partition as a whole. So files are divided into small ones. Rows that come in few large ones, as
those of a packed file or of a query do, are spread over more by a shuffle of their batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from math import ceil
from typing import Any

import pyarrow as pa
from pyspark.serializers import NoOpSerializer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.column import Column
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DecimalType
from pyspark.util import InheritableThread, local_connect_and_auth

from engine.codec.decimals import decimals_of

_SPLIT, _SPLIT_BYTES = "spark.sql.files.maxPartitionBytes", 8 << 20
"""The setting of the most bytes of a file that are one partition, and those that are read here."""
_ROWS = 1 << 19
"""The most rows of a partition, as far as the number of all rows tells it."""
_SPREAD = 200
"""The most partitions that rows are spread over: Spark writes so many without sorting anything."""
_AHEAD = 8
"""The most partitions, besides the one that is read, that are on their way."""


def fetched_rows(
    session: SparkSession, frame: DataFrame, most: float
) -> Generator[pa.RecordBatch, None, None]:
    """The rows of a frame, of which there are no more than `most`.

    The jobs have the tags and the description that the calling thread's have.
    """
    partitions = _Partitions(session, frame, most)
    limit = min(session.sparkContext.defaultParallelism, _AHEAD)
    coming: deque[Future[list[pa.RecordBatch]]] = deque()
    try:
        with _settings_of_tasks(session):
            for number in range(partitions.count):
                coming.append(partitions.begun(number))
                if len(coming) > limit:
                    yield from coming.popleft().result()
            while coming:
                yield from coming.popleft().result()
    finally:
        for partition in coming:
            partition.exception()  # none goes on when its reader has gone


class _Partitions:
    """A frame's rows as batches of Arrow in Spark."""

    def __init__(self, session: SparkSession, frame: DataFrame, most: float) -> None:
        self._context = session.sparkContext
        decimals = {place: type for place, type in enumerate(_types(frame)) if _is_long(type)}
        plain = _with_longs(session, frame, decimals) if decimals else frame
        self._schema = to_arrow_schema(plain.schema, timezone="UTC", prefers_large_types=True)
        self._decimals = {place: pa.decimal128(t.precision, t.scale) for place, t in decimals.items()}
        with _divided(session):
            self._batches = plain._jdf.toArrowBatchRdd().toJavaRDD()
            self.count: int = self._batches.getNumPartitions()
        if most > _ROWS * self.count:
            self.count = int(min(_SPREAD, ceil(most / _ROWS)))
            self._batches = self._batches.repartition(self.count)

    def begun(self, number: int) -> Future[list[pa.RecordBatch]]:
        """A partition that another thread fetches."""
        future: Future[list[pa.RecordBatch]] = Future()

        def run() -> None:
            try:
                future.set_result(self._fetched(number))
            except BaseException as error:
                future.set_exception(error)

        InheritableThread(target=run, name="spark-fetch", daemon=True).start()
        return future

    def _fetched(self, number: int) -> list[pa.RecordBatch]:
        jvm: Any = self._context._jvm
        numbers = jvm.java.util.ArrayList()
        numbers.add(number)
        address, secret, server = jvm.PythonRDD.runJob(self._context._jsc.sc(), self._batches, numbers)
        stream, socket = local_connect_and_auth(address, secret)
        try:
            socket.settimeout(None)
            batches = [self._batch(message) for message in NoOpSerializer().load_stream(stream)]
        finally:
            stream.close()
            socket.close()
        server.getResult()  # raises if not all was sent: the end of the stream does not tell
        return batches

    def _batch(self, message: bytes) -> pa.RecordBatch:
        batch = pa.ipc.read_record_batch(pa.py_buffer(message), self._schema)
        columns = batch.columns
        for place, type in self._decimals.items():
            columns[place] = decimals_of(columns[place], type)
        return pa.RecordBatch.from_arrays(columns, names=self._schema.names) if self._decimals else batch


def _types(frame: DataFrame) -> list[Any]:
    return [field.dataType for field in frame.schema.fields]


def _is_long(type: Any) -> bool:
    """Whether Spark itself has values of the type as integers of 64 bits."""
    return isinstance(type, DecimalType) and type.precision <= 18


def _with_longs(session: SparkSession, frame: DataFrame, decimals: dict[int, Any]) -> DataFrame:
    """The frame with the integers of its decimals. Spark would make three objects of each for Arrow, which
    takes about as long as to read it."""
    jvm: Any = session._jvm
    sql = jvm.org.apache.spark.sql
    output = frame._jdf.queryExecution().analyzed().output()
    columns = []
    for place, name in enumerate(frame.columns):
        found = output.apply(place)
        if place in decimals:
            found = sql.catalyst.expressions.UnscaledValue(found)
        columns.append(Column(sql.classic.ExpressionUtils.column(found)).alias(name))
    return frame.select(*columns)


@contextmanager
def _divided(session: SparkSession) -> Iterator[None]:
    """Within this context, files are divided into small partitions."""
    before = session.conf.get(_SPLIT) or ""
    session.conf.set(_SPLIT, _SPLIT_BYTES)
    try:
        yield
    finally:
        session.conf.set(_SPLIT, before)


@contextmanager
def _settings_of_tasks(session: SparkSession) -> Iterator[None]:
    """Within this context, jobs that this thread or one of its threads begins have the session's settings, as
    Spark gives them to its own queries."""
    context = session.sparkContext
    names = [name for name in session.conf.getAll if name.startswith("spark.sql.")]
    for name in names:
        context.setLocalProperty(name, session.conf.get(name) or "")
    try:
        yield
    finally:
        for name in names:
            context.setLocalProperty(name, None)  # type: ignore[arg-type]  # unsets it
