"""Sessions whose driver is a JVM of ours. PySpark knows one at a time in a process."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from engine.errors import SparkUnavailable
from engine.spark.configuration import SparkOptions, python
from engine.spark.jvm import Jvm


class Classic:
    """A session, and the JVM behind it."""

    def __init__(self, options: SparkOptions, stopping: threading.Event) -> None:
        """Opens it. SparkUnavailable if it cannot be, or `stopping` is set meanwhile."""
        # Of what goes wrong between us and the JVM it would log what it raises, and of the rest every call.
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
        try:
            return self._jvm.is_alive() and not self._context._jsc.sc().isStopped()
        except (Py4JError, OSError):
            return False

    def close(self) -> None:
        if not self._jvm.is_alive():
            self._context._jsc = None  # it would be told to stop
        with suppress(OSError):
            self._context.stop()
        _forget()
        self._jvm.close()


def _forget() -> None:
    """PySpark keeps the gateway of its one JVM for good; without it the next session gets a new one."""
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _reason(error: BaseException) -> str:
    """The first line of what went wrong: the rest is a stack of Java's."""
    cause = getattr(error, "java_exception", None)
    return str(error if cause is None else cause.toString()).strip().splitlines()[0]
