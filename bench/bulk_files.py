"""Loads of one file by format, read in the process and by Spark, beside DuckDB's reading of the same file.

The lines of TPC-H, with their 16 columns, go into a table without views. A load is timed from the request
until its rows can be read; processor time is that of all processes, Spark's too. The first load of a reader
is the cold one, of 16 rows, and for Spark has the start of its session in it. The last load of a service
finds its kernels loaded and memory that it has used before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from bench import measure
from bench.bulk import LINES_A_SCALE, job_of
from bench.http import call, service
from bench.suite.tpch.schema import TABLES
from bench.suite.tpch.tables import generate

FEW = 16
READERS = {"process": {}, "Spark": {"FRESHET_LOCAL_LOAD_BYTES": "0"}}
"""Settings by who reads the files."""
COPIES = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER", "json": "FORMAT json"}
COLUMNS = TABLES["lineitem"].partition("PRIMARY")[0].strip().rstrip(",")
"""Those of the lines, without a key."""
READS = {"parquet": "read_parquet('{}')", "csv": "read_csv('{}')", "json": "read_json('{}')"}
HEAD = """\

## One file by format

A load of one file into a table of 16 columns without views: seconds until its rows can be read, rows a
second, and the processor seconds of all processes. *16 rows* is the first load of a new service, *load* the
next one, and *again* another one into a second table. *DuckDB* is the time in which DuckDB reads the same
file into a table, and *ratio* the load's time divided by it.

| format | rows | read by | 16 rows | load | rows/s | CPU | again | rows/s | CPU | DuckDB | ratio |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class FileLoad:
    """Seconds of one format and reader."""

    format: str
    rows: int
    reader: str
    few: float
    load: float
    busy: float
    again: float
    busy_again: float
    duck: float


def run(lines: int, readers: Sequence[str] = tuple(READERS)) -> list[FileLoad]:
    """Every format with every reader."""
    found = []
    with TemporaryDirectory(prefix="freshet-files-") as name:
        directory = Path(name)
        generate(lines / LINES_A_SCALE, directory / "files")
        source = f"read_parquet('{directory}/files/lineitem.parquet')"
        for format, how in COPIES.items():
            duckdb.sql(f"COPY (FROM {source}) TO '{directory}/all.{format}' ({how})")
            duckdb.sql(f"COPY (FROM {source} LIMIT {FEW}) TO '{directory}/few.{format}' ({how})")
            for reader in readers:
                found.append(_measured(format, reader, directory))
                print(text(found[-1:]), flush=True)
    return found


def text(loads: Sequence[FileLoad]) -> str:
    """The lines of the table."""
    return "\n".join(map(_line, loads))


def _line(load: FileLoad) -> str:
    figures = (
        f"{load.few:.2f} s",
        f"{load.load:.2f} s",
        f"{load.rows / load.load:,.0f}",
        f"{load.busy:.2f} s",
        f"{load.again:.2f} s",
        f"{load.rows / load.again:,.0f}",
        f"{load.busy_again:.2f} s",
        f"{load.duck:.2f} s",
        f"{load.load / load.duck:.1f}",
    )
    return f"| {load.format} | {load.rows:,} | {load.reader} | {' | '.join(figures)} |"


def _measured(format: str, reader: str, directory: Path) -> FileLoad:
    place = directory / f"{format}-{reader}"
    place.mkdir()
    settings = {"FRESHET_LOAD_ROOTS": str(directory), **READERS[reader]}
    with service(place, settings) as (port, process):
        for table in ("few", "many", "more"):
            call(port, "POST", "/v1/tables", {"sql": f"CREATE TABLE {table} ({COLUMNS})"})
        few, _, _ = _timed(port, process, "few", format, directory / f"few.{format}")
        load, busy, rows = _timed(port, process, "many", format, directory / f"all.{format}")
        again, busy_again, _ = _timed(port, process, "more", format, directory / f"all.{format}")
    start = time.perf_counter()
    duckdb.connect().execute(f"CREATE TABLE t AS FROM {READS[format].format(directory / f'all.{format}')}")
    duck = time.perf_counter() - start
    return FileLoad(format, rows, reader, few, load, busy, again, busy_again, duck)


def _timed(port: int, process: int, table: str, format: str, file: Path) -> tuple[float, float, int]:
    """Seconds of a load, processor seconds, and its rows."""
    before, start = measure.busy_with_children(process), time.perf_counter()
    rows = job_of(port, table, file, format)
    return time.perf_counter() - start, measure.busy_with_children(process) - before, rows
