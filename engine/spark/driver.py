"""The driver's side of Spark, where PySpark is imported: sessions opened and closed, classic and Connect.

PySpark knows one classic session in a process, so there is one `Classic` at a time.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from contextlib import suppress
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from engine.errors import SparkUnavailable
from engine.spark.configuration import SparkOptions, python
from engine.spark.jvm import Jvm


class Driver(Protocol):
    """An open session."""

    session: SparkSession

    def is_alive(self) -> bool:
        """Whether the session can still be used, as far as can be seen without running anything."""

    def close(self) -> None:
        """Stops the session, or what is left of it."""


def open_driver(options: SparkOptions, stopping: threading.Event) -> Driver:
    """A new session. SparkUnavailable if there is none to be had, or `stopping` is set meanwhile."""
    # Of what goes wrong between us and the JVM it would log what it raises, and of the rest every call.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    return Remote(options) if options.remote else Classic(options, stopping)


class Classic:
    """A session whose driver is a JVM of ours."""

    def __init__(self, options: SparkOptions, stopping: threading.Event) -> None:
        self._jvm = Jvm(options, stopping)
        try:
            self._context = SparkContext(gateway=self._jvm.gateway)
            self._context.pythonExec = python(options)
            self.session = SparkSession(self._context)
        except Exception as error:
            _forget()
            self._jvm.close()
            raise SparkUnavailable(f"Spark does not start on {options.master}: {_reason(error)}") from error

    def is_alive(self) -> bool:
        try:
            return self._jvm.is_alive() and not self._context._jsc.sc().isStopped()
        except (Py4JError, OSError):
            return False

    def close(self) -> None:
        with warnings.catch_warnings(), suppress(Py4JError, OSError):
            # Of a JVM that has died PySpark warns that it cannot be stopped, or fails to reach it.
            warnings.simplefilter("ignore")
            self._context.stop()
        self._context.stop()  # what a failure left in this process
        _forget()
        self._jvm.close()


class Remote:
    """A session on a Connect server."""

    def __init__(self, options: SparkOptions) -> None:
        try:
            self.session = SparkSession.builder.remote(options.remote).config(map=dict(options.conf)).create()
        except (PySparkException, ImportError) as error:
            raise SparkUnavailable(
                f"Spark cannot be reached at {options.remote}: {_reason(error)}",
            ) from error

    def is_alive(self) -> bool:
        try:
            self.session.conf.get("spark.sql.session.timeZone")
        except PySparkException:
            return False
        return True

    def close(self) -> None:
        self.session.stop()
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # PySpark's mark that all sessions are Connect's


def _forget() -> None:
    """PySpark keeps the gateway of its one JVM for good; without it the next session gets a new one."""
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _reason(error: BaseException) -> str:
    """The first line of what went wrong: the rest is a stack of Java's."""
    cause = getattr(error, "java_exception", None)
    return str(error if cause is None else cause.toString()).strip().splitlines()[0]
