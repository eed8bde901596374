"""A source: Spark's Structured Streaming watches a directory and passes its files on in micro-batches.

The stream carries only the files' names. Spark decides a batch's files once, writes them to the stream's
checkpoint before the batch begins, and repeats the batch until it is confirmed. The readers that loads use
then read the files' contents. Each batch becomes an epoch.

A source waits while a fault may pass: the writer's queue is full, the database is away, Spark has died. Any
other error fails the source, which keeps the reason. When it is resumed, it continues with the batch that
failed.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy.exc import SQLAlchemyError

from engine.errors import SparkUnavailable
from engine.spark.sessions import Sessions, cancel
from service.concealing import conceal
from service.errors import Overloaded, ServiceError, Unavailable, problem_of
from service.pipeline import source_catalog
from service.pipeline.intake import Intake
from service.pipeline.source_catalog import SourceProgress, SourceRecord
from service.pipeline.spark_failures import explain_failure
from service.running.runtime import Runtime
from service.settings.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_log = logging.getLogger("freshet.sources")

_PASSING = (SparkUnavailable, Unavailable, Overloaded, SQLAlchemyError)
PAUSE = 5.0
"""Seconds before another attempt after a fault that may pass."""
_FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"
_FOR_EVER = "36500d"
"""Spark silently ignores files that are older than the newest one by this much; the default is a week."""

State = Literal["starting", "running", "stopped", "failed"]


def streams_of(settings: Settings) -> Path:
    """The directory of the checkpoints of all streams, a directory for each source's id."""
    return settings.data.resolve() / "pipeline" / "sources"


class StreamingSource:
    """One source and its thread. `trouble` is the fault that it is waiting out."""

    def __init__(self, runtime: Runtime, sessions: Sessions, record: SourceRecord) -> None:
        self.id = record.id
        self.definition = record.definition
        self.trouble: str | None = None
        self._runtime = runtime
        self._sessions = sessions
        self._record = record
        self._intake = Intake(runtime, sessions, record)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._running: tuple[SparkSession, StreamingQuery] | None = None
        self._in_batch = threading.Lock()
        self._error: Exception | None = None
        self.behind_since: float | None = None
        """When the batch in hand was first tried, by the monotonic clock; None if all files are applied."""
        self._thread = threading.Thread(target=self._run, name=f"freshet-source-{self.definition.name}")

    @property
    def record(self) -> SourceRecord:
        """The source with its current progress."""
        return replace(self._record, progress=self.progress)

    @property
    def progress(self) -> SourceProgress:
        """The source's progress."""
        return self._intake.progress

    @property
    def checkpoint(self) -> Path:
        """The directory of the stream's checkpoint."""
        return streams_of(self._runtime.settings) / self.id

    @property
    def state(self) -> State:
        """`starting` until Spark runs the stream, `running`, `failed`, or `stopped` with the service."""
        if self.progress.failure is not None:
            return "failed"
        if self._stopped.is_set():
            return "stopped"
        return "starting" if self._running is None else "running"

    @property
    def reason(self) -> str | None:
        """Why it has failed, or what it waits for."""
        return self.progress.failure or self.trouble

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the stream, after the current batch is applied."""
        with self._lock:
            self._stopped.set()
            running = self._running
        if running is not None:
            session, query = running
            try:
                cancel(session, self.id)
                query.stop()
            except Exception:
                _log.info("source %s: its stream had ended already", self.definition.name, exc_info=True)
        if self._thread.ident is not None:
            self._thread.join()
        # Spark does not wait for the function that applies a batch.
        with self._in_batch:
            pass

    def _run(self) -> None:
        while self.progress.failure is None and not self._stopped.is_set():
            session = None
            try:
                session = self._sessions.get()
                self._watch(session)
            except Exception as error:
                if not self._stopped.is_set():
                    self._ended(explain_failure(error), session)
            self._running = None
            self._stopped.wait(PAUSE)

    def _ended(self, error: Exception, session: SparkSession | None) -> None:
        """Handles the error that ended the stream."""
        if isinstance(error, _PASSING):
            self.trouble = conceal(str(error))
        elif not self._is_alive(session):
            self.trouble = "Spark has ended and is being restarted"
        else:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        problem = problem_of(error)
        reason = conceal(f"{type(error).__name__}: {error}") if problem is None else problem.detail
        _log.error("source %s failed: %s", self.definition.name, reason, exc_info=None if problem else error)
        try:
            self._runtime.record(partial(source_catalog.record_failure, id=self.id, reason=reason))
        except (SQLAlchemyError, ServiceError):
            _log.exception("source %s: its failure could not be stored", self.definition.name)
        self._intake.progress = replace(self.progress, failure=reason)

    def _is_alive(self, session: SparkSession | None) -> bool:
        try:
            return self._sessions.get() is session
        except SparkUnavailable:
            return False

    def _watch(self, session: SparkSession) -> None:
        """Runs the stream until it is stopped. Raises the error if one ends it."""
        definition = self.definition
        self._intake.refresh()
        self._error = None
        stream = (
            session.readStream.format("binaryFile")
            .schema(_FILES)
            .options(maxFilesPerTrigger=definition.files_per_batch, maxFileAge=_FOR_EVER)
            .load(f"file://{definition.path}")
            .select("path", "length")
        )
        query = (
            stream.writeStream.foreachBatch(self._batch)
            .queryName(f"source {definition.name}")
            .option("checkpointLocation", f"file://{self.checkpoint}")
            .trigger(processingTime=f"{definition.trigger_seconds} seconds")
            .start()
        )
        with self._lock:
            self._running = session, query
            stopped = self._stopped.is_set()
        if stopped:
            query.stop()
        self.trouble = None
        try:
            query.awaitTermination()
        except Exception as error:
            raise self._error or error from None

    def _batch(self, frame: DataFrame, batch: int) -> None:
        """Applies a batch. The stream calls it for one batch after another, on a thread of its own."""
        with self._in_batch:
            try:
                if self._stopped.is_set():
                    raise Unavailable("the source is being stopped", code="shutting_down")
                # Spark repeats a path if another path of the batch has a character of its patterns.
                if self.behind_since is None:
                    self.behind_since = time.monotonic()
                sizes = {Path(row.path.removeprefix("file:")): row.length for row in frame.collect()}
                self._intake.take(frame.sparkSession, batch, sizes)
                self.behind_since = None
            except Exception as error:
                self._error = error
                # Spark searches the text of the exception, and a long one overflows its stack.
                raise RuntimeError("the batch was not applied") from None
