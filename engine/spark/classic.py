"""Classic sessions, whose driver is a JVM started here. PySpark allows one at a time in a process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import suppress

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from engine.errors import SparkUnavailable
from engine.spark.configuration import SparkOptions, python
from engine.spark.fetched_rows import fetched_rows
from engine.spark.jvm import Jvm


class Classic:
    """A classic session and its JVM."""

    def __init__(self, options: SparkOptions, stopping: threading.Event) -> None:
        """Open the session. Raises SparkUnavailable if that fails, or if `stopping` is set meanwhile."""
        # py4j would log the errors that it raises as well, and at lower levels every call.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self._jvm = Jvm(options, stopping)
        try:
            self._context = SparkContext(gateway=self._jvm.gateway)
            self._context.pythonExec = python(options)
            self.session = SparkSession(self._context)
        except (Py4JError, OSError) as error:
            _forget()
            self._jvm.close()
            raise SparkUnavailable(f"Spark does not start on {options.master}: {_reason(error)}") from error

    def is_alive(self) -> bool:
        """Whether the JVM runs and its context is not stopped."""
        try:
            return self._jvm.is_alive() and not self._context._jsc.sc().isStopped()
        except (Py4JError, OSError):
            return False

    def fetched(self, frame: DataFrame, most: float) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a frame, in bounded memory."""
        return fetched_rows(self.session, frame, most)

    def close(self) -> None:
        """Stop the context and end the JVM."""
        if not self.is_alive():  # the process of a killed JVM may be there longer than what answers
            self._context._jsc = None  # so that it is not asked to stop
        with suppress(OSError):
            self._context.stop()
        _forget()
        self._jvm.close()


def _forget() -> None:
    """Make PySpark forget the context and the gateway of its JVM, so that the next session gets new ones."""
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _reason(error: BaseException) -> str:
    """The first line of the error; the rest is a Java stack trace."""
    cause = getattr(error, "java_exception", None)
    return str(error if cause is None else cause.toString()).strip().splitlines()[0]
