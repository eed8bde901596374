"""Rows of frames in this process: they are Spark's own, in bounded memory, all of them or an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from engine.spark import fetched_rows
from engine.spark.sessions import Sessions, cancel, described
from tests.spark.programs import run

EVERY_TYPE = """
    SELECT id, CAST(id AS SMALLINT) AS small, CAST(id AS FLOAT) AS part, id % 2 = 0 AS flag,
        CAST(id / 7 AS DECIMAL(15, 2)) AS part2, CAST(IF(id % 5 = 0, NULL, -id) AS DECIMAL(18, 3)) AS some,
        CAST(999999999999999999BD - id AS DECIMAL(18, 0)) AS most, CAST(id AS DECIMAL(1, 0)) AS one,
        CAST(id - 999999999999999999BD AS DECIMAL(18, 0)) AS least,
        CAST(id AS DECIMAL(38, 4)) * 1000000000000000000BD AS wide, CAST(NULL AS DECIMAL(3, 1)) AS none,
        'x' || id AS `a b`, IF(id = 3, NULL, 'Ünï') AS A, 1 AS `c.d`, CAST('ab' AS BINARY) AS bytes,
        DATE '1700-01-01' + CAST(id AS INT) AS day, TIMESTAMP_SECONDS(id) AS zoned,
        TIMESTAMP_NTZ '1850-01-01 00:00:00.000001' AS at, ARRAY(id, NULL) AS list,
        NAMED_STRUCT('p', id, 'q', CAST(id AS DECIMAL(5, 1))) AS pair, MAP('k', id) AS map, NULL AS nothing
    FROM range(0, 9, 1, 3)
"""


def test_values_of_every_type_are_those_of_spark(spark: SparkSession, sessions: Sessions) -> None:
    frame = spark.sql(EVERY_TYPE)
    batches = list(sessions.fetched(frame, 9))
    assert [batch.num_rows for batch in batches] == [3, 3, 3]
    table = pa.Table.from_batches(batches)
    table.validate(full=True)
    expected = frame.toArrow()
    assert table.schema.types == expected.schema.types and table.column_names == expected.column_names
    assert table.to_pylist() == expected.to_pylist()


def test_no_rows(spark: SparkSession, sessions: Sessions) -> None:
    assert sum(batch.num_rows for batch in sessions.fetched(spark.range(0), 0)) == 0
    assert list(sessions.fetched(spark.range(5).where("id > 7"), 5)) == []


def test_files_come_in_small_parts_that_are_in_order(
    spark: SparkSession, sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_rows, "_SPLIT_BYTES", 1000)
    lines = [f"line {number}" for number in range(2000)]
    (tmp_path / "lines").write_text("\n".join(lines))
    before = spark.conf.get(fetched_rows._SPLIT)
    batches = list(sessions.fetched(spark.read.text(str(tmp_path / "lines")), 2000))
    assert len(batches) > 10
    assert pa.Table.from_batches(batches)["value"].to_pylist() == lines
    assert spark.conf.get(fetched_rows._SPLIT) == before


def test_many_rows_of_one_part_are_spread(
    spark: SparkSession, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_rows, "_ROWS", 1000)
    size = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(size)
    spark.conf.set(size, 100)
    try:
        frame = spark.range(0, 4950, 1, 1)
        partitions = fetched_rows._Partitions(spark, frame, 4950)
        parts = [[batch.num_rows for batch in partitions.begun(number).result()] for number in range(5)]
        found = pa.Table.from_batches(list(sessions.fetched(frame, 4950)))
    finally:
        spark.conf.set(size, str(before))
    assert partitions.count == 5 and sum(map(sum, parts)) == 4950
    assert all(len(part) in (9, 10, 11) for part in parts)
    assert sorted(found["id"].to_pylist()) == list(range(4950))


def test_tasks_have_the_settings_of_the_session(spark: SparkSession, sessions: Sessions) -> None:
    with closing(sessions.fetched(spark.range(0, 20, 1, 20), 20)) as batches:
        next(batches)
        zone = spark.sparkContext.getLocalProperty("spark.sql.session.timeZone")
    assert zone == "UTC"
    assert spark.sparkContext.getLocalProperty("spark.sql.session.timeZone") is None


def test_a_part_that_fails_fails_all(spark: SparkSession, sessions: Sessions) -> None:
    frame = spark.range(0, 10, 1, 5).selectExpr("IF(id = 7, raise_error('seven is bad'), id) AS id")
    found = []
    with pytest.raises((PySparkException, Py4JError), match="seven is bad"):
        found.extend(sessions.fetched(frame, 10))
    assert [batch["id"].to_pylist() for batch in found] == [[0, 1], [2, 3], [4, 5]]
    assert not fetching()


def test_a_reader_may_leave(spark: SparkSession, sessions: Sessions) -> None:
    with closing(sessions.fetched(spark.range(0, 100, 1, 50), 100)) as batches:
        assert next(batches)["id"].to_pylist() == [0, 1]
    assert not fetching()
    assert spark.range(3).count() == 3


def test_rows_that_are_awaited_can_be_cancelled(spark: SparkSession, sessions: Sessions) -> None:
    def forever(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(3600)
        yield from batches

    failed: list[Exception] = []

    def read() -> None:
        with described(spark, "rows without end", "unending"):
            try:
                list(sessions.fetched(spark.range(0, 9, 1, 3).mapInArrow(forever, "id long"), 9))
            except (PySparkException, Py4JError) as error:
                failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    while reader.is_alive():
        cancel(spark, "unending")
        reader.join(0.1)
    assert len(failed) == 1 and not fetching()


def fetching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "spark-fetch"]


def test_more_rows_than_the_driver_takes_at_once(tmp_path: Path) -> None:
    """In many parts, and in one; Spark's own way refuses them. If Spark dies, no one takes some of the rows
    for all of them."""
    run(
        """
        from engine.spark import fetched_rows
        fetched_rows._ROWS = 1 << 16
        conf = {"spark.driver.maxResultSize": "1m"}
        sessions = Sessions(SparkOptions(scratch, master="local[2,4]", memory="1g", conf=conf))
        spark, rows = sessions.get(), 1_000_000
        for parts in (16, 1):
            frame = spark.range(0, rows, 1, parts)
            refused = False
            try:
                frame.toArrow()
            except Exception as error:
                assert "spark.driver.maxResultSize" in str(error), error
                refused = True
            assert refused
            seen = bytearray(rows)
            for batch in sessions.fetched(frame, rows):
                for number in batch["id"].to_pylist():
                    seen[number] += 1
            assert seen == b"\\1" * rows
        batches = sessions.fetched(spark.range(0, rows, 1, 500), rows)
        got = next(batches).num_rows
        os.kill(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
        died = False
        try:
            for batch in batches:
                got += batch.num_rows
        except Exception:
            died = True
        assert died and got < rows
        sessions.stop()
        """,
        tmp_path,
    )
