"""Files that this process reads, against Spark's reading of the same files: columns, rows and faults of rows.

A case says which reader takes it. Nothing is compared where this process leaves a file to Spark.
"""

from __future__ import annotations

import bz2
import gzip
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from engine.codec.arrow_texts import is_text
from engine.codec.json import decode_rows
from engine.schema import BIGINT, DATE, INTEGER, JSON, TEXT, TIMESTAMP, Column, Schema
from engine.spark.sessions import Sessions
from engine.state.dictionary import Dictionary
from service.pipeline.judge import match, row_judge
from service.pipeline.local_files import ColumnsFound, LocalReader, SparkNeeded
from service.pipeline.local_readers import open_here
from service.pipeline.locations import Location, to_read
from service.pipeline.readers import FrameSource, read_frame
from service.pipeline.spark_options import reader_options
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.jobs import ROWS, done, failed

SCHEMA = Schema((Column("id", BIGINT, False), Column("name", TEXT), Column("day", DATE), Column("doc", JSON)))
TYPED = Schema(
    (
        Column("id", INTEGER),
        Column("name", TEXT),
        Column("day", TEXT),
        Column("at", TIMESTAMP),
        Column("x", TEXT),
    )
)
MOST = 1 << 30
Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Case:
    """Files below a directory, and who reads them."""

    files: Files
    here: bool = True
    options: Mapping[str, str | bool] = ()  # type: ignore[assignment]
    path: str = ""


CSV = {
    "plain": Case({"a.csv": 'id,name,day\n1,a,2024-01-01\n2,,\n3,"",\n'}),
    "no line break at the end": Case({"a.csv": "id,name\n1,a\n2,b"}),
    "carriage returns": Case({"a.csv": "id,name\r\n1,a\r\n2,b\r\n"}),
    "a byte order mark": Case({"a.csv": b"\xef\xbb\xbfid,name\n1,a\n"}),
    "quotes": Case({"a.csv": 'id,name\n1,"a ""b"", c"\n"2"," kept "\n3, kept \n'}),
    "ragged rows and bad values": Case({"a.csv": "id,name\n1,a\nx,b\n3\n4,d,e\n,f\n6,\n7,g,h,i\n"}),
    "only ragged rows": Case({"a.csv": "id,name\n1\n2\n3,4,5\n"}),
    "blank lines": Case({"a.csv": "id,name\n\n1,a\n\n\n2,b\n"}),
    "one column": Case({"a.csv": 'id\n1\n""\nx\n2\n'}),
    "no rows": Case({"a.csv": "id,name\n"}),
    "several files": Case({"a.csv": "id,name\n1,a\n", "b.csv": "id,name\n2,b\nx\n", "c.csv": ""}),
    "packed": Case(
        {"a.csv.gz": gzip.compress(b"id,name\n1,a\n"), "b.csv.bz2": bz2.compress(b"id,name\n2,b\n")}
    ),
    "directories": Case({"day=2024-01-01/a.csv": "id\n1\n", "day=2024-01-02/deep/b.csv": "id\n2\n"}, False),
    "directories with values": Case(
        {"name=01/day=2024-01-01/a.csv": "id\n1\n", "name=a%2Fb/day=2024-01-02/b.csv": "id\n2\n"}
    ),
    "a directory without a value": Case(
        {"name=__HIVE_DEFAULT_PARTITION__/a.csv": "id\n1\n", "name=b/b.csv": "id\n2\n"}
    ),
    "a pattern": Case({"x/a.csv": "id\n1\n", "y/a.csv": "id\n2\n", "x/b.txt": "no\n"}, path="**/*.csv"),
    "no header": Case({"a.csv": "1;x\n2;-\n3\n;\n"}, options={"header": False, "sep": ";", "nullValue": "-"}),
    "other quotes": Case({"a.csv": "id,name\n1,'a,''b'''\n"}, options={"quote": "'", "escape": "'"}),
    "line breaks in quotes": Case({"a.csv": 'id,name\n1,"a\nb"\n2,c\n'}, options={"multiLine": True}),
    "a line break in quotes without the option": Case({"a.csv": 'id,name\n1,"a\nb"\n'}, False),
    "a quote within a field": Case({"a.csv": 'id,name\n1,5" disk\n'}, False),
    "something after a quote": Case({"a.csv": 'id,name\n1,"a"b\n'}, False),
    "an open quote": Case({"a.csv": 'id,name\n1,a\n2,"b\n'}, False),
    "an open quote with line breaks": Case({"a.csv": 'id,name\n1,"a\n2,b\n'}, False, {"multiLine": True}),
    "a line of spaces": Case({"a.csv": "id,name\n1,a\n  \n"}, False),
    "a name twice": Case({"a.csv": "id,name,name\n1,a,b\n"}, False),
    "names that differ by case": Case({"a.csv": "id,name,NAME\n1,a,b\n"}, False),
    "other columns in another file": Case({"a.csv": "id,name\n1,a\n", "b.csv": "name,id\nb,2\n"}, False),
    "no text": Case({"a.csv": b"id,name\n1,\xff\n"}, False),
    "another encoding": Case({"a.csv": "id\n1\n".encode("utf-16")}, False, {"encoding": "UTF-16"}),
    "comments": Case({"a.csv": "id\n#x\n1\n"}, False, {"comment": "#"}),
    "a damaged file": Case({"a.csv.gz": gzip.compress(b"id,name\n1,a\n" * 1000)[:40]}, False),
    "no file has bytes": Case({"a.csv": ""}, False),
}
JSONS = {
    "plain": Case(
        {"a.json": '{"id": 1, "name": "a"}\n{"name": null, "id": "2", "day": "2024-01-01"}\n{"id":3}'}
    ),
    "numbers and words": Case(
        {"a.json": '{"id": 1.0, "name": 1.50}\n{"id": 2, "name": -1E5}\n{"id":3,"name":true}'}
    ),
    "structures": Case(
        {
            "a.json": '{"id": 1, "doc": {"x": 1.50, "y": [1, null, "}"]}}\n'
            '{"id": 2, "doc": [ ], "name": {"a":  1}}\n'
        }
    ),
    "escapes": Case({"a.json": r'{"id": 1, "name": "\"\\\/\b\f\n\r\t\u00e9\u2713\ud83d\ude00"}' + "\n"}),
    "unicode": Case({"a.json": '{"id": 1, "name": "naïve ✓ 😀"}\r\n\r\n{"id": 2}\r\n'}),
    "broken lines": Case(
        {"a.json": '{"id": 1}\n{"id": \n{"id": 2, "more": \n{"id" 3}\n{"id": 01}\n{"id": "x"}\n'}
    ),
    "broken first": Case({"a.json": '{"name": "a\n{"id": 1}\n'}),
    "empty objects": Case({"a.json": '{"id": 1}\n{}\n'}),
    "several files": Case({"a.json": '{"id": 1}\n', "b.jsonl": '{"name": "b", "id": 2}', "c.json": ""}),
    "packed": Case({"a.json.gz": gzip.compress(b'{"id": 1}\n{"id": 2}\n')}),
    "directories with values": Case({"name=a/a.json": '{"id": 1}\n', "name=b/a.json": '{"id": 2}\n'}),
    "a name twice": Case({"a.json": '{"id": 1, "id": 2}\n'}, False),
    "an array": Case({"a.json": '{"id": 1}\n[{"id": 2}, {"id": 3}]\n'}, False),
    "other quotes": Case({"a.json": "{\"id\": 1}\n{'id': 2}\n"}, False),
    "something after an object": Case({"a.json": '{"id": 1} x\n'}, False),
    "no number": Case({"a.json": '{"id": 1}\n{"id": NaN}\n'}, False),
    "half a pair": Case({"a.json": '{"id": 1, "name": "\\ud83d"}\n'}, False),
    "a broken structure": Case({"a.json": '{"id": 1, "doc": {"a" 1}}\n'}, False),
    "an option": Case({"a.json": '{"id": 1}\n'}, False, {"multiLine": True}),
}
LINES = {
    "lines": Case({"a.txt": "one\n\n two, \r\nthree\rfour"}),
    "several": Case({"a.txt": "one\n", "b.txt.gz": gzip.compress(b"two\n"), "c.txt": ""}),
    "an option": Case({"a.txt": "one\ntwo"}, False, {"wholetext": True}),
}


def written(directory: Path, files: Files) -> None:
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@dataclass(frozen=True)
class Found:
    """The names of the columns, the rows, and the faults of bad rows, as bags."""

    columns: frozenset[str]
    rows: Counter
    faults: Counter


def judged(source: LocalReader | FrameSource, schema: Schema, renamed: Mapping[str, str]) -> Found:
    """All that a reader finds, by the judge of loads."""
    matched = match(source.columns, "t", schema, renamed, True)
    loose = Schema(
        tuple(replace(c, nullable=c.nullable or i not in matched) for i, c in enumerate(schema.columns))
    )
    judge, names = row_judge(source.columns, matched, loose, source.corrupt)
    if isinstance(source, FrameSource):
        batches = source.select(names).toArrow().to_batches()
    else:
        try:
            batches = list(source.batches(names))
        except ColumnsFound:
            source.look()
            return judged(source, schema, renamed)
    dictionary = Dictionary()
    rows: list[tuple] = []
    faults: list[str] = []
    for batch in batches:
        found = judge.judged(batch, dictionary)
        rows += decode_rows(found.good, schema, dictionary)
        faults += found.messages(batch.num_rows)
    return Found(frozenset(source.columns), Counter(map(repr, rows)), Counter(faults))


@pytest.fixture
def both(spark: SparkSession, settings: Settings, data: Path) -> Callable[..., Found | None]:
    """Reads files here and on Spark, and compares. Returns what was found, None if only Spark reads them."""

    def read(
        format: str, path: str, options: Mapping[str, str | bool], schema: Schema, renamed: Mapping[str, str]
    ) -> Found | None:
        place, known = to_read(path, settings), reader_options(format, options)
        try:
            here = judged(open_here(format, place, known, schema.names, MOST), schema, renamed)
        except SparkNeeded:
            return None
        there = judged(read_frame(spark, format, place, known, schema.names), schema, renamed)
        assert here == there, path
        return here

    return read


@pytest.mark.parametrize(
    ("format", "cases", "renamed"),
    [("csv", CSV, {}), ("json", JSONS, {}), ("text", LINES, {"value": "name"})],
    ids=["csv", "json", "text"],
)
def test_what_is_read_here_is_what_spark_reads(
    both: Callable[..., Found | None], data: Path, format: str, cases: Mapping[str, Case], renamed: dict
) -> None:
    schema = SCHEMA if format != "text" else Schema(SCHEMA.columns[1:2])
    wrong = []
    for number, (name, case) in enumerate(cases.items()):
        written(data / str(number), case.files)
        found = both(format, f"{number}/{case.path}", dict(case.options), schema, renamed)
        if (found is not None) != case.here:
            wrong.append(name)
    assert wrong == []


def test_parquet_that_is_read_here(
    both: Callable[..., Found | None], data: Path, duck: duckdb.DuckDBPyConnection
) -> None:
    cases = {
        "rows": ['SELECT id, name, "at", amount AS x FROM rows'],
        "floats": ["SELECT rows.id::DOUBLE AS id, part AS x FROM rows"],
        "misfits": ["SELECT 1.5 AS id, 'a' AS name UNION ALL SELECT 7, NULL"],
        "structures": ["SELECT 1 AS id, {'a': [1, 2], 'b': 'c'} AS x, [1.50, NULL] AS name"],
        "bytes": [r"SELECT 1 AS id, '\xC3\xA9'::BLOB AS x UNION ALL SELECT 2, '\xFF'::BLOB"],
        "moments": ["SELECT 1 AS id, TIMESTAMPTZ '2024-01-01 00:00:00+02' AS \"at\", DATE '2024-01-01' AS x"],
        "several": ["SELECT 1 AS id, 'a' AS name", "SELECT 2 AS id, 'b' AS x", "SELECT 3 AS id LIMIT 0"],
    }
    for name, queries in cases.items():
        (data / name).mkdir()
        for number, query in enumerate(queries):
            duck.execute(f"COPY ({query}) TO '{data}/{name}/{number}.parquet' (FORMAT parquet)")
        assert both("parquet", name, {}, TYPED, {}) is not None, name
    (data / "days" / "day=01").mkdir(parents=True)
    duck.execute(f"COPY (SELECT 1 AS id) TO '{data}/days/day=01/a.parquet' (FORMAT parquet)")
    found = both("parquet", "days", {}, TYPED, {})
    assert found is not None and "'01'" in min(found.rows)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_texts_of_parquet_stay_shared_whatever_wrote_them(data: Path, type: pa.DataType) -> None:
    """A text that many rows have is interned once for them all."""
    texts = [None if i % 7 == 0 else ("few", "texts", "é")[i % 3] for i in range(20_000)]
    many = [f"text {i} of its own" for i in range(20_000)]
    table = pa.table({"few": pa.array(texts, type), "many": pa.array(many, type)})
    pa.parquet.write_table(table, data / "a.parquet")
    place = Location((f"file://{data}/a.parquet",), f"file://{data}")
    reader = open_here("parquet", place, reader_options("parquet", {}), (), MOST)
    assert all(map(is_text, reader.columns.values()))
    (batch,) = reader.batches(["few", "many"])
    assert [pa.types.is_dictionary(column.type) for column in batch.columns] == [True, False]
    found = judged(reader, Schema((Column("few", TEXT), Column("many", TEXT))), {})
    assert found.rows == Counter(map(repr, zip(texts, many, strict=True)))
    assert not found.faults


def test_parquet_that_is_sparks(
    both: Callable[..., Found | None], data: Path, duck: duckdb.DuckDBPyConnection
) -> None:
    (data / "types").mkdir()
    duck.execute(f"COPY (SELECT 1 AS id) TO '{data}/types/a.parquet' (FORMAT parquet)")
    duck.execute(f"COPY (SELECT 'x' AS id) TO '{data}/types/b.parquet' (FORMAT parquet)")
    (data / "broken.parquet").write_bytes((data / "types" / "a.parquet").read_bytes()[:-30])
    for path in ("types", "broken.parquet"):
        assert both("parquet", path, {}, TYPED, {}) is None
    old = pa.table({"day": [0]}).replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})
    pa.parquet.write_table(old, data / "old.parquet")
    place = Location((f"file://{data}/old.parquet",), f"file://{data}")
    with pytest.raises(SparkNeeded, match="calendar"):
        open_here("parquet", place, reader_options("parquet", {}), (), MOST)


def test_names_that_come_late(client: Client, data: Path) -> None:
    """Far behind what is read for the names: they are columns as any others."""
    lines = [f'{{"id": {number}, "pad": "{"x" * 400}"}}' for number in range(15_000)]
    (data / "a.json").write_text("\n".join([*lines, '{"id": -1, "name": "late"}']))
    (data / "b.json").write_text("\n".join([*lines, '{"id": -1, "other": "late"}']))
    client.table("t", {"id": "BIGINT", "pad": "TEXT", "name": "TEXT"})
    done(client, "loads", table="t", format="json", path="a.json")
    assert client.rows("t", limit=1) and (-1, None, "late") in client.rows("t", limit=20_000)
    problem = failed(client, "loads", table="t", format="json", path="b.json")
    assert (problem["code"], "other" in problem["detail"]) == ("unknown_column", True)


def test_files_that_are_too_large_here_or_elsewhere(settings: Settings, data: Path) -> None:
    written(data, {"a.csv": "id\n1\n", "b.csv.gz": gzip.compress(b"id\n1\n")})
    options = reader_options("csv", {})
    size = (data / "a.csv").stat().st_size
    place = to_read("a.csv", settings)
    assert open_here("csv", place, options, ("id",), size).columns
    for path, most in (("a.csv", size - 1), ("b.csv.gz", (data / "b.csv.gz").stat().st_size)):
        with pytest.raises(SparkNeeded, match="more than"):
            open_here("csv", to_read(path, settings), options, ("id",), most)
    for format, other in (("csv", Location(("s3a://bucket/a.csv",))), ("orc", place), ("jdbc", Location())):
        with pytest.raises(SparkNeeded):
            open_here(format, other, options, ("id",), MOST)


def test_a_load_needs_no_spark(settings: Settings, data: Path, duck: duckdb.DuckDBPyConnection) -> None:
    """The service's own Spark is never started."""
    duck.execute(f"COPY (FROM ({ROWS}) SELECT id, name) TO '{data}/a.parquet' (FORMAT parquet)")
    written(data, {"b.csv": "id,name\n1000,a\nx,b\n", "c.json": '{"id": 1001}\n', "d.txt": "x\n"})
    with Client(settings) as client:
        client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
        client.table("lines", {"value": "TEXT"})
        assert done(client, "loads", table="t", format="parquet", path="a.parquet")["rows"] == 100
        problem = failed(client, "loads", table="t", format="csv", path="b.csv")
        assert problem["detail"] == "1 bad row: column id: x is not a valid BIGINT"
        job = done(client, "loads", table="t", format="csv", path="b.csv", bad_rows="skip")
        assert (job["rows"], job["skipped"]) == (1, 1)
        done(client, "loads", table="t", format="json", path="c.json")
        done(client, "loads", table="lines", format="text", path="d.txt")
        assert (
            failed(client, "loads", table="t", format="csv", path="b.csv", bad_rows="skip")["code"]
            == "key_exists"
        )
        assert len(client.rows("t")) == 102
        assert client.get("/v1/status").json()["spark"]["session"] == "none"


def test_a_service_may_leave_all_files_to_spark(settings: Settings, sessions: Sessions, data: Path) -> None:
    written(data, {"a.csv": "id,name\n1,a\nx,b\n"})
    with Client(replace(settings, local_load_bytes=0), sessions) as client:
        client.table("t", {"id": "BIGINT", "name": "TEXT"})
        job = done(client, "loads", table="t", format="csv", path="a.csv", bad_rows="skip")
        assert (job["rows"], job["skipped"]) == (1, 1)
        assert client.rows("t") == [(1, "a")]
