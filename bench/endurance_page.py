"""docs/churn.md: an hour of steady load as curves, and every tenth of it as figures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from bench.curves.base import Axis, Curve, Plot
from bench.curves.draw import draw
from bench.endurance import FEEDS, POSTS, ROWS, SETTINGS, WRITERS, Sample, read
from bench.table import Row, markdown

TEXT = """\
# An hour of churn

{writers} writers post {posts} single rows a second to one service: upserts of {rows:,} rows, again and again.
Each post is due at a fixed moment and counts from then on. Two views follow the table, {feeds} changefeeds
follow one of them, and a client makes a view every second and drops it a second later. History is kept for
{history} seconds and a checkpoint is made every {checkpoint} MiB of log. What the service holds should be
level once history is full. `python -m bench churn --output churn.csv` measures it, and
`python -m bench churn-page churn.csv` writes this page. The clients and the service share the machine, and
what else it does shows in the waits.

{facts}

In {minutes:.0f} minutes there were {count:,} posts, {views:,} views that came and went, {events:,} events
in the feeds, and {failures:,} failures.

![An hour of churn](curves/churn.svg)

{table}
"""
NAME = "churn-page"
PAGE = Path(__file__).parents[1] / "docs" / "churn.md"
_POINTS = 60
_LINES = 10
_TIME = Axis("minutes", log=False)


def write(about: str, samples: Sequence[Sample], page: Path) -> None:
    """Write the page, and its plots into a folder beside it; `about` comes from `bench.report.facts`."""
    folder = page.parent / "curves"
    folder.mkdir(parents=True, exist_ok=True)
    draw(curve(samples), folder / "churn.svg")
    last = samples[-1]
    page.write_text(
        TEXT.format(
            writers=WRITERS,
            posts=POSTS,
            rows=ROWS,
            feeds=FEEDS,
            history=SETTINGS["FRESHET_HISTORY_SECONDS"],
            checkpoint=int(SETTINGS["FRESHET_CHECKPOINT_BYTES"]) >> 20,
            facts=about,
            minutes=last.seconds / 60,
            count=sum(sample.posts for sample in samples),
            views=last.views,
            events=last.events,
            failures=last.failures,
            table=_table(samples),
        )
    )


def main(arguments: list[str], about: Callable[[float], str]) -> None:
    """Write the page of the lines in a file; `about` tells of the machine."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {NAME}", description=main.__doc__)
    parser.add_argument("lines")
    parser.add_argument("--busy", type=float, default=0.0, help="cores that other work kept busy meanwhile")
    options = parser.parse_args(arguments)
    with open(options.lines, newline="") as file:
        write(about(options.busy), read(file), PAGE)


def curve(samples: Sequence[Sample]) -> Curve:
    """The plots: what posts waited, the memory and the files."""
    parts = _parts(samples, _POINTS)
    waits = {
        "median": _line(parts, lambda part: float(np.median([it.median for it in part])) / 1e3),
        "99th percentile": _line(parts, lambda part: float(np.median([it.p99 for it in part])) / 1e3),
        "longest": _line(parts, lambda part: max(it.most for it in part) / 1e3),
    }
    memory = {"in no file": _line(parts, lambda part: part[-1].anonymous)}
    files = {
        "state": _line(parts, lambda part: part[-1].file_bytes),
        "catalog and log": _line(parts, lambda part: part[-1].catalog_bytes),
    }
    return Curve(
        "An hour of churn",
        "",
        (
            Plot("how long a post waits", _TIME, Axis("seconds", "s"), waits),
            Plot("memory", _TIME, Axis("bytes", "B", log=False), memory),
            Plot("files", _TIME, Axis("bytes", "B", log=False), files),
        ),
    )


def _parts(samples: Sequence[Sample], most: int) -> list[Sequence[Sample]]:
    """The samples in up to `most` parts that follow each other."""
    bounds = np.linspace(0, len(samples), min(most, len(samples)) + 1).astype(int)
    return [samples[low:high] for low, high in pairwise(bounds)]


def _line(
    parts: Sequence[Sequence[Sample]], figure: Callable[[Sequence[Sample]], float]
) -> list[tuple[float, float]]:
    return [(part[-1].seconds / 60, figure(part)) for part in parts]


def _table(samples: Sequence[Sample]) -> str:
    header = (
        "until minute",
        "posts",
        "median",
        "99th pct",
        "longest",
        "memory",
        "state",
        "catalog and log",
        "descriptors",
    )
    rows: list[Row] = [
        (
            f"{part[-1].seconds / 60:.0f}",
            f"{sum(it.posts for it in part):,}",
            f"{np.median([it.median for it in part]):.1f} ms",
            f"{np.median([it.p99 for it in part]):.1f} ms",
            f"{max(it.most for it in part):.0f} ms",
            f"{part[-1].anonymous / 1e6:,.0f} MB",
            f"{part[-1].file_bytes / 1e6:,.0f} MB",
            f"{part[-1].catalog_bytes / 1e6:,.0f} MB",
            f"{part[-1].descriptors}",
        )
        for part in _parts(samples, _LINES)
    ]
    return markdown(rows, header)
