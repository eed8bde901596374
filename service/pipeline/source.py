"""A source: a directory whose files Spark's Structured Streaming hands on in micro-batches, each an epoch.

The stream is of the files' names alone. Which files a batch has is decided once and
written to the stream's checkpoint before the batch begins, and Spark gives a batch again
until it has been told that it is applied; what is in the files is read then, by the
readers that loads use.

It waits out what passes (no room in the writer's queue, a database that is away, Spark
that has died). Anything else is the end of it, with the reason kept, until it is resumed
and takes up the batch that it failed at.
"""

from __future__ import annotations

import logging
import threading
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
from service.pipeline.spark_failures import explained
from service.running.runtime import Runtime

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_log = logging.getLogger("freshet.sources")

_PASSING = (SparkUnavailable, Unavailable, Overloaded, SQLAlchemyError)
PAUSE = 5.0
"""Seconds after which what passes is tried again."""
_FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"
_FOR_EVER = "36500d"
"""Spark never reads a file that is this much older than the newest: by default a week, and in silence."""

State = Literal["starting", "running", "stopped", "failed"]


class StreamingSource:
    """One source and its thread. `trouble` is what it waits out at the moment."""

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
        self._thread = threading.Thread(target=self._run, name=f"freshet-source-{self.definition.name}")

    @property
    def record(self) -> SourceRecord:
        """The source as it is now."""
        return replace(self._record, progress=self.progress)

    @property
    def progress(self) -> SourceProgress:
        """How far it has come."""
        return self._intake.progress

    @property
    def checkpoint(self) -> Path:
        """The directory of the stream's checkpoint."""
        return self._runtime.settings.data.resolve() / "pipeline" / "sources" / self.id

    @property
    def state(self) -> State:
        """`starting` until Spark runs the stream, `running`, `failed`, or `stopped` with the service."""
        if self.progress.failure is not None:
            return "failed"
        if self._stopped.is_set():
            return "stopped"
        return "starting" if self._running is None else "running"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the stream, after the batch that is being applied."""
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
        # Spark does not wait for our part of a batch.
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
                    self._ended(explained(error), session)
            self._running = None
            self._stopped.wait(PAUSE)

    def _ended(self, error: Exception, session: SparkSession | None) -> None:
        """What becomes of the source once its stream has ended with an error."""
        if isinstance(error, _PASSING):
            self.trouble = conceal(str(error))
        elif not self._is_alive(session):
            self.trouble = "Spark has ended, and is started again"
        else:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        problem = problem_of(error)
        reason = conceal(f"{type(error).__name__}: {error}") if problem is None else problem.detail
        _log.error("source %s failed: %s", self.definition.name, reason, exc_info=None if problem else error)
        try:
            self._runtime.record(partial(source_catalog.fail, id=self.id, reason=reason))
        except (SQLAlchemyError, ServiceError):
            _log.exception("source %s: its failure could not be kept", self.definition.name)
        self._intake.progress = replace(self.progress, failure=reason)

    def _is_alive(self, session: SparkSession | None) -> bool:
        try:
            return self._sessions.get() is session
        except SparkUnavailable:
            return False

    def _watch(self, session: SparkSession) -> None:
        """Runs the stream until it is stopped; raises what ended it otherwise."""
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
        """What the stream calls for each batch, one after another, on a thread of its own."""
        with self._in_batch:
            try:
                if self._stopped.is_set():
                    raise Unavailable("the source is being stopped", code="shutting_down")
                # Spark says a path twice if another of the batch has a character of its patterns.
                sizes = {Path(row.path.removeprefix("file:")): row.length for row in frame.collect()}
                self._intake.take(frame.sparkSession, batch, sizes)
            except Exception as error:
                self._error = error
                # Spark searches the text of what is raised, and a long one is too deep for its stack.
                raise RuntimeError("the batch was not applied") from None
