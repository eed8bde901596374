"""Rows as columns into a service and out of it, without a load: posted, exported, and read as a whole.

The lines of TPC-H, with their 16 columns, are posted to a table without views as Arrow and as NDJSON; a table
of two integers is posted too. Then all lines are exported, and read over HTTP. Each way is taken a few times.
The first answer is compared with the number of lines.
"""

from __future__ import annotations

import io
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from bench import measure
from bench.bulk import LINES_A_SCALE, WAIT, ended
from bench.bulk_files import COLUMNS
from bench.data import SEED
from bench.duck import WrongAnswer
from bench.http import NDJSON, call, sent, service
from bench.suite.tpch.tables import generate

ARROW, CSV = "application/vnd.apache.arrow.stream", "text/csv"
TAKES = 5
A_POST = 100_000
"""Rows of one post."""
HEAD = """\

## Columns in and out

The same lines in one service, without views: posted over HTTP in bodies of {post:,} rows, exported as Parquet
to a directory, and read as a whole over HTTP by a client that does nothing with the bytes. Each figure is the
median of {takes} takes: seconds, rows a second, megabytes a second as they are sent or written, and the
processor seconds of the service.

| what | columns | rows | taken | rows/s | MB/s | processor |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Way:
    """One way: its medians in seconds, and the bytes that were sent or written."""

    what: str
    columns: int
    rows: int
    size: int
    seconds: float
    busy: float


def run(lines: int) -> list[Way]:
    """All ways, one after another. Raises WrongAnswer."""
    with TemporaryDirectory(prefix="freshet-ways-") as name:
        directory = Path(name)
        generate(lines / LINES_A_SCALE, directory / "files")
        measure.warm()
        (directory / "data").mkdir()
        with service(directory / "data", {"FRESHET_LOAD_ROOTS": name}) as (port, process):
            found = []
            for way in _ways(directory, port, process):
                found.append(way)
                print(text(found[-1:]), flush=True)
        return found


def head() -> str:
    """What stands above the lines of the table."""
    return HEAD.format(post=A_POST, takes=TAKES)


def text(ways: list[Way]) -> str:
    """The lines of the table."""
    return "\n".join(map(_line, ways))


def _line(way: Way) -> str:
    figures = (
        f"{way.rows:,}",
        f"{way.seconds:.3f} s",
        f"{way.rows / way.seconds:,.0f}",
        f"{way.size / way.seconds / 1e6:,.0f}",
        f"{way.busy:.2f} s",
    )
    return f"| {way.what} | {way.columns} | {' | '.join(figures)} |"


def _ways(directory: Path, port: int, process: int) -> Iterator[Way]:
    lines = pyarrow.parquet.read_table(directory / "files" / "lineitem.parquet")
    pairs = np.random.default_rng(SEED).integers(0, 1_000_000, (2, A_POST))
    edges = pa.table({"source": pairs[0], "target": pairs[1]})
    call(port, "POST", "/v1/tables", {"sql": "CREATE TABLE edges (source BIGINT, target BIGINT)"})
    for table in ("lines", "posted"):
        call(port, "POST", "/v1/tables", {"sql": f"CREATE TABLE {table} ({COLUMNS})"})
    some = lines.slice(0, A_POST)
    for what, table, rows, body, type in (
        ("Arrow posted", "edges", edges, _arrow(edges), ARROW),
        ("Arrow posted", "posted", some, _arrow(some), ARROW),
        ("NDJSON posted", "posted", some, _ndjson(some), NDJSON),
    ):
        post = _posted(port, table, body, type)
        yield _taken(what, rows.num_columns, rows.num_rows, process, post)
    load = {"table": "lines", "format": "parquet", "path": str(directory / "files" / "lineitem.parquet")}
    if ended(port, "loads", load)["rows"] != lines.num_rows:
        raise WrongAnswer("not all lines were loaded")
    counted = lines.num_columns, lines.num_rows
    yield _taken("exported as Parquet", *counted, process, _exported(port, directory / "exported"))
    for what, type in (("read as Arrow", ARROW), ("read as NDJSON", NDJSON), ("read as CSV", CSV)):
        yield _taken(what, *counted, process, _read(port, type))
    with pyarrow.ipc.open_stream(_rows(port, ARROW)) as reader:
        if (rows := reader.read_all().num_rows) != lines.num_rows:
            raise WrongAnswer(f"{rows} rows were read instead of {lines.num_rows}")


def _taken(what: str, columns: int, rows: int, process: int, take: Callable[[], int]) -> Way:
    """The medians of a few takes; `take` returns how many bytes went over the wire or to the disk."""
    size, seconds, busy = 0, [], []
    for _ in range(TAKES):
        before, start = measure.busy(process), time.perf_counter()
        size = take()
        seconds.append(time.perf_counter() - start)
        busy.append(measure.busy(process) - before)
    return Way(what, columns, rows, size, statistics.median(seconds), statistics.median(busy))


def _posted(port: int, table: str, body: bytes, type: str) -> Callable[[], int]:
    def post() -> int:
        sent(port, "POST", f"/v1/tables/{table}/deltas", body, type, NDJSON, WAIT)
        return len(body)

    return post


def _exported(port: int, place: Path) -> Callable[[], int]:
    request = {"table": "lines", "format": "parquet", "path": str(place), "mode": "overwrite"}

    def export() -> int:
        ended(port, "exports", request)
        return sum(file.stat().st_size for file in place.iterdir())

    return export


def _read(port: int, type: str) -> Callable[[], int]:
    return lambda: len(_rows(port, type))


def _rows(port: int, type: str) -> bytes:
    return sent(port, "GET", "/v1/tables/lines/rows", None, NDJSON, type, WAIT)


def _arrow(rows: pa.Table) -> bytes:
    body = io.BytesIO()
    with pyarrow.ipc.new_stream(body, rows.schema) as writer:
        writer.write_table(rows)
    return body.getvalue()


def _ndjson(rows: pa.Table) -> bytes:
    return b"".join(json.dumps({"insert": row}, default=str).encode() + b"\n" for row in rows.to_pylist())
