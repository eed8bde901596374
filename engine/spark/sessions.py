"""Spark sessions: opened in the background, and opened again after one has died.

Only the thread that opens a session imports PySpark, so a process that never needs Spark never pays for it.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from engine.errors import SparkUnavailable
from engine.spark.configuration import SparkOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Sessions", "SparkOptions", "cancel", "described"]


class Driver(Protocol):
    """An open session, classic or remote."""

    session: SparkSession

    def is_alive(self) -> bool:
        """Whether the session seems usable, as far as this shows without running anything."""

    def fetched(self, frame: DataFrame, most: float) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a frame of the session, of which there are no more than `most`."""

    def close(self) -> None:
        """Stop the session, or what is left of it."""


class Sessions:
    """One session at a time. Any thread may call the methods."""

    def __init__(self, options: SparkOptions) -> None:
        self.options = options
        """Which Spark to use, and how."""
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._opening: Future[Driver] | None = None

    @property
    def is_classic(self) -> bool:
        """Whether the driver runs here; if not, a Connect server runs it."""
        return not self.options.remote

    @property
    def state(self) -> str:
        """`none` (never asked for), `starting`, `running` or `failed`; after a failure, the next call opens a
        new one."""
        opening = self._opening
        if opening is None:
            return "none"
        if not opening.done():
            return "starting"
        return "running" if _is_alive(opening) else "failed"

    def start(self) -> None:
        """Start to open a session, if there is none, and return at once."""
        with self._lock:
            self._current()

    def get(self) -> SparkSession:
        """Wait for the session and return it. SparkUnavailable says why there is none; the next call tries
        again."""
        with self._lock:
            opening = self._current()
        return opening.result().session

    def fetched(self, frame: DataFrame, most: float) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a frame of this session, of which there are no more than `most`, as they come: however
        many there are, few are in memory at once."""
        with self._lock:
            opening = self._current()
        return opening.result().fetched(frame, most)

    def stop(self) -> None:
        """Close the session, and open no other."""
        with self._lock:
            self._stopping.set()
            opening, self._opening = self._opening, None
        if opening is not None and opening.exception() is None:
            opening.result().close()

    def _current(self) -> Future[Driver]:
        """The session that is open or opening; a new one if there is none, or the last one died."""
        if self._stopping.is_set():
            raise SparkUnavailable("Spark has been stopped")
        opening = self._opening
        if opening is None or (opening.done() and not _is_alive(opening)):
            self._opening = Future()
            threading.Thread(
                target=self._open, args=(self._opening, opening), name="spark-start", daemon=True
            ).start()
        assert self._opening is not None
        return self._opening

    def _open(self, opening: Future[Driver], dead: Future[Driver] | None) -> None:
        try:
            if dead is not None and dead.exception() is None:
                dead.result().close()
            opening.set_result(_open(self.options, self._stopping))
        except BaseException as error:
            opening.set_exception(error)


def _open(options: SparkOptions, stopping: threading.Event) -> Driver:
    """A new session. The module is imported here because it imports PySpark (half a second, 40 MB)."""
    options.scratch.mkdir(parents=True, exist_ok=True)
    if not options.remote:
        return importlib.import_module("engine.spark.classic").Classic(options, stopping)
    try:
        return importlib.import_module("engine.spark.remote").Remote(options)
    except ImportError as error:
        raise SparkUnavailable(
            f"the client of Spark Connect cannot be imported: {error}", "pip install 'freshet[connect]'"
        ) from error


def _is_alive(opening: Future[Driver]) -> bool:
    return opening.exception() is None and opening.result().is_alive()


@contextmanager
def described(session: SparkSession, text: str, tag: str) -> Iterator[None]:
    """Within this context, Spark lists this thread's jobs as `text`, and `cancel` of the tag ends them.

    A tag has no comma. A Connect server shows the tag in place of the text.
    """
    if _is_remote(session):
        session.addTag(tag)
    else:
        session.sparkContext.addJobTag(tag)
        session.sparkContext.setJobDescription(text)
    try:
        yield
    finally:
        if _is_remote(session):
            session.removeTag(tag)
        else:
            session.sparkContext.removeJobTag(tag)
            session.sparkContext.setJobDescription(None)  # type: ignore[arg-type]  # unsets it


def cancel(session: SparkSession, tag: str) -> None:
    """End the jobs with this tag, in any thread."""
    if _is_remote(session):
        session.interruptTag(tag)
    else:
        # `interruptTag` of a classic session knows only tags that this thread set.
        session.sparkContext.cancelJobsWithTag(tag)


def _is_remote(session: SparkSession) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")
