"""docs/benchmarks.md: the table, what it was measured on, how to repeat it and how to read it."""

from __future__ import annotations

import os
import platform
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile

from bench.measure import Timing
from bench.reference import FIGURES, FOOTPRINTS, LOAD
from bench.table import Row, duration, markdown

PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "uvicorn")
SYNCS = 50
BLOCK = b"\0" * 4096

TEXT = """\
# Benchmarks

`make bench` (`python -m bench`) prints this table and writes this page. `python -m bench --quick` does
the same in miniature and `python -m bench W1 W3` only what it names; neither writes the page.

{facts}

{table}

## How to read it

- **Data** come from numpy with seed 1: every run makes the same rows and the same changes.
- **load** is all rows as one epoch. In a round, **replaced** rows go, chosen at random, and as many
  random ones come, in one epoch. The time is from handing the change to the engine until every view
  shows it. Making the change is not timed. The 99th percentile is the nearest rank: of ten rounds it is
  the slowest.
- **rows/s** counts the changes of all rounds, deletions and insertions, over the time of all rounds.
- **peak memory** is the greatest resident set during the line, less what the process held before it
  made its engine (all code loaded, the workload's own rows in place). What is handed to the engine
  counts. B/row is bytes a row of the tables. Each workload runs in a process of its own. For HTTP it is
  the service's, less what it held with empty tables.
- **DuckDB** is the median of {repetitions} runs of the same SQL from scratch, over the same rows at the
  same point of the run, into temporary tables, with its default threads (one a core; the engine
  computes in one thread, so a busy machine slows DuckDB more). **faster** is that over the median of a
  round.
- **reference** is the {reference}; **of it** is our median over it. W1 at a tenth of the size shows
  whether the cost of a small round follows the state's.
- **W6 and W7** intern: distinct rows, or texts, get ids (`engine/plan/row_ids.py`), which SQL has no word
  for; DuckDB numbers the rows instead. The line of 1 replaced shows what is held: for W6 the rows by
  hash (32 bytes) and the view (32 bytes). In W7 each of six texts of a row becomes an id: by six joins
  of whole rows in a chain, or by ids of rows and a join of each attribute by itself, with three of them
  put together again. Texts are 64-bit words in the engine anyway, so interning makes nothing narrower,
  and ids of rows cost more than they save there.
- **TPC-H** is its 22 queries as views at scale 1, registered before the first row. Replaced are orders: a
  round places that many with their lines, the next cancels as many. DuckDB runs the 22 one after another.
- At the end of every workload all rows of its views are compared with DuckDB's (of W6 and W7 how many
  there are, and what is not an id), and the service's histogram with what was sent. A difference ends
  the run with an error: a table that is here has passed.
- **HTTP** is a service with its default settings on the same machine as its clients, its log on the
  disk named above. A POST is answered when its change is durable and visible. The reference column
  holds the goal. The views are those of W1 over {nodes:,} nodes; the lines follow each other on one
  table.

## Other systems, figures as reported

{others}
"""


def facts(others: float) -> str:
    """The machine, the versions and the date, as a Markdown list; `others`: cores that other work kept
    busy."""
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


def document(about: str, rows: list[Row], repetitions: int, reference: str, nodes: int) -> str:
    """The page; `about` comes from `facts`, `nodes` is the size of the HTTP part's graph."""
    return TEXT.format(
        facts=about,
        table=markdown(rows),
        repetitions=repetitions,
        reference=reference,
        nodes=nodes,
        others=_others(),
    )


def _others() -> str:
    """One line a system and workload: its load, its rounds by rows replaced, its memory."""
    lines = []
    for system, workload in dict.fromkeys((f.system, f.workload) for f in FIGURES):
        figures = [f for f in FIGURES if (f.system, f.workload) == (system, workload)]
        rounds = ", ".join(
            f"{'load' if f.batch == LOAD else f'{f.batch:,} replaced'} {duration(f.seconds)}" for f in figures
        )
        memory = next(
            (f"; {f.bytes / 1e9:g} GB" for f in FOOTPRINTS if (f.system, f.workload) == (system, workload)),
            "",
        )
        lines.append(f"- {workload}, {system}: {rounds}{memory}")
    return "\n".join(lines)


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
