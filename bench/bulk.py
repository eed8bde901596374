"""Bulk loads of TPC-H through the service, computed in its process and on Spark.

The tables of a scale factor come as Parquet files from `tpchgen-cli`. Views of Q1, Q3 and Q5 and a recursion
are created before the first row. The small tables are loaded first, then the lines, which is the timed part.
Then single rows are posted, and a new view over the lines is hydrated. Every view is compared with DuckDB's
answer over the same files.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from bench import measure
from bench.duck import WrongAnswer
from bench.http import Refused, call, service
from bench.suite.tpch.schema import TABLES
from bench.suite.tpch.tables import generate

LINES_A_SCALE = 6_001_215
"""Lines at scale factor 1 (TPC-H specification, 4.2.5)."""
SIZES = (1_000_000, 5_000_000)
QUICK = (30_000,)
"""With fewer lines, some suppliers have a part twice."""
HERE, SPARK = MODES = (2_000_000_000, 10_000)
"""Values of FRESHET_SPARK_ROWS: Spark computes changes with at least this many rows."""
READ_BYTES = {HERE: "4294967296", SPARK: "0"}
"""Values of FRESHET_LOCAL_LOAD_BYTES: what the service reads itself."""
SINGLES = 200
WAIT = 3600.0
PAGE = "bulk.md"
VIEWS = {
    "q1": """
        SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price,
            sum(l_extendedprice * (1 - l_discount)) AS discounted, count(*) AS lines
        FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus""",
    "q3": """
        SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
        FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
        WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority""",
    "q5": """
        SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
        FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
            JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey
            JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
        WHERE r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
        GROUP BY n_name""",
    "near": """
        WITH RECURSIVE near (nation, hops) AS (
            SELECT 0, 0 UNION SELECT (nation * 7 + 3) % 25, hops + 1 FROM near WHERE hops < 12)
        SELECT n_name, hops FROM near JOIN nation ON n_nationkey = nation""",
}
HYDRATED = """
    SELECT l_shipmode, l_suppkey, count(*) AS lines, sum(l_quantity) AS quantity
    FROM lineitem GROUP BY l_shipmode, l_suppkey"""
"""A view that is created over existing lines."""
HEAD = """\
# TPC-H in bulk

`python -m bench bulk` writes this page. A load (`/v1/loads`) brings parquet files into a service with views
of Q1, Q3, Q5 and a recursion. *Load* is the time until every view shows the lines. In the rows *process*,
the service reads the files and computes; in the rows *Spark*, Spark does both. *Hydration* is the
time of a new view over the lines, and *one line* the median of a single posted line. The views are compared
with DuckDB's answers. *Processor* is the processor time of the load, in all processes. *Memory* is the peak
of the service's process, without Spark's processes. Where other work kept the cores busy, only processor
times can be compared.

{facts}

| lines | computed by | load | lines/s | processor | hydration | one line | memory |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Bulk:
    """The figures of one size and mode: seconds of the load, of its processor time, of a hydration and of a
    posted row (median), and the peak bytes of the service's process."""

    lines: int
    mode: int
    load: float
    busy: float
    hydration: float
    single: float
    peak: int


def run(sizes: Sequence[int], modes: Sequence[int] = MODES) -> list[Bulk]:
    """Every size in the modes. Raises WrongAnswer."""
    found: list[Bulk] = []
    for lines in sizes:
        with TemporaryDirectory(prefix="freshet-bulk-") as directory:
            files = Path(directory) / "files"
            generate(lines / LINES_A_SCALE, files)
            measure.warm()
            for mode in modes:
                found.append(_measured(files, mode, Path(directory) / str(mode)))
                print(text(found[-1:]), flush=True)
    return found


def page(facts: str, rows: Sequence[Bulk]) -> str:
    """The page docs/bulk.md."""
    return HEAD.format(facts=facts) + text(rows)


def text(rows: Sequence[Bulk]) -> str:
    """The lines of the table."""
    return "\n".join(map(_line, rows))


def _line(row: Bulk) -> str:
    where = "Spark" if row.mode == SPARK else "process"
    figures = (
        f"{row.load:.1f} s",
        f"{row.lines / row.load:,.0f}",
        f"{row.busy:.1f} s",
        f"{row.hydration:.2f} s",
        f"{row.single * 1000:.1f} ms",
        f"{row.peak / 1e9:.1f} GB",
    )
    return f"| {row.lines:,} | {where} | {' | '.join(figures)} |"


def _measured(files: Path, mode: int, directory: Path) -> Bulk:
    directory.mkdir()
    settings = {
        "FRESHET_SPARK_ROWS": str(mode),
        "FRESHET_LOCAL_LOAD_BYTES": READ_BYTES[mode],
        "FRESHET_LOAD_ROOTS": str(files),
        "FRESHET_QUEUE_CHANGES": "100000000",
    }
    with service(directory, settings) as (port, process):
        for name, columns in TABLES.items():
            call(port, "POST", "/v1/tables", {"sql": f"CREATE TABLE {name} ({columns})"})
        for name, sql in VIEWS.items():
            call(port, "POST", "/v1/views", {"name": name, "sql": sql})
        for name in TABLES:
            before, start = measure.busy_with_children(process), time.perf_counter()
            lines = job_of(port, name, files / f"{name}.parquet")
            load = time.perf_counter() - start
            busy = measure.busy_with_children(process) - before
        _compare(port, files, VIEWS)
        single = _singles(port)
        start = time.perf_counter()
        call(port, "POST", "/v1/views", {"name": "hydrated", "sql": HYDRATED}, WAIT)
        hydration = time.perf_counter() - start
        return Bulk(lines, mode, load, busy, hydration, single, measure.peak(process))


def job_of(port: int, table: str, file: Path, format: str = "parquet") -> int:
    """Load a file; returns its number of rows."""
    return ended(port, "loads", {"table": table, "format": format, "path": str(file)})["rows"]


def ended(port: int, kind: str, request: Mapping[str, str]) -> dict:
    """A job of a kind, loads or exports, once it is done. Raises Refused."""
    job = json.loads(call(port, "POST", f"/v1/{kind}", request))["id"]
    while True:
        answer = json.loads(call(port, "GET", f"/v1/{kind}/{job}", timeout=WAIT))
        if answer["state"] == "done":
            return answer
        if answer["state"] != "running":
            raise Refused(f"one of the {kind} is {answer['state']}: {answer['error']}")
        time.sleep(0.01)


def _singles(port: int) -> float:
    """The median seconds of a posted line."""
    seconds = []
    for number in range(SINGLES):
        line: dict[str, object] = {"l_orderkey": 1, "l_linenumber": 1000 + number, "l_suppkey": 1}
        line |= {"l_quantity": 1, "l_extendedprice": 10, "l_discount": 0, "l_shipdate": "1994-01-01"}
        line |= {"l_returnflag": "A", "l_linestatus": "F"}
        start = time.perf_counter()
        call(port, "POST", "/v1/tables/lineitem/deltas", [{"insert": line}])
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _compare(port: int, files: Path, views: dict[str, str]) -> None:
    """Check that the views equal DuckDB's answers over the same files. Raises WrongAnswer."""
    connection = duckdb.connect()
    for name in TABLES:
        connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{files / name}.parquet')")
    for name, sql in views.items():
        lines = call(port, "GET", f"/v1/views/{name}/rows", timeout=WAIT).splitlines()
        got = sorted(tuple(map(_comparable, json.loads(line).values())) for line in lines)
        expected = sorted(tuple(map(_comparable, row)) for row in connection.execute(sql).fetchall())
        if got != expected:
            raise WrongAnswer(
                f"{name} has {len(got)} rows, {got[:3]}; expected {len(expected)}, {expected[:3]}"
            )


def _comparable(value: object) -> str:
    """A value as text; a number without trailing zeros."""
    try:
        return f"{Decimal(str(value)).normalize():f}"
    except InvalidOperation:
        return str(value)
