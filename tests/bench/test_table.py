from __future__ import annotations

import re

import pytest

from bench.beside_reference import HEADER as BESIDE
from bench.beside_reference import beside_row
from bench.http import Answered
from bench.measure import Timing
from bench.phase_figures import PhaseFigures
from bench.report import document, facts
from bench.reported import FIGURES, PATHWAY
from bench.run import Result
from bench.table import HEADER, against, duration, engine_row, http_row, markdown, text
from bench.workloads import FULL
from bench.workloads.base import LOAD
from tests.docs.markdown import ROOT

ROUNDS = Result(
    workload="W1",
    title="W1 degrees",
    rows=5_000_000,
    changes=200_000,
    figures=PhaseFigures(1_000, Timing(2.2e-3, p99=4e-3, total=0.25, count=100, processor=0.24), 400_000_000),
    duckdb=0.44,
    reference=PhaseFigures(1_000, Timing(1.1e-3, 8e-3, 0.12, 100, 0.12), 200_000_000),
)
LOADED = Result("W9", "W9 nothing", 10, 10, PhaseFigures(LOAD, Timing(0.5, 0.5, 0.5, 1, 0.4), 1_000), 1.0)
ANSWERED = Answered("HTTP", 1, Timing(2e-3, 9e-3, 40.0, 20_000), 8.0, 50_000_000, "2,000 rows/s")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (17e-6, "17.0 µs"),
        (1.1e-3, "1.10 ms"),
        (0.9, "900 ms"),
        (37.0, "37.0 s"),
        (2e-7, "0.20 µs"),
        (120.4, "120 s"),
    ],
)
def test_durations_have_three_digits(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_a_line_of_rounds_has_ratios() -> None:
    assert dict(zip(HEADER, engine_row(ROUNDS), strict=True)) == {
        "workload": "W1 degrees",
        "replaced": "1,000",
        "rounds": "100",
        "median": "2.20 ms",
        "99th pct": "4.00 ms",
        "processor": "2.40 ms",
        "rows/s": "800,000",
        "peak memory": "400 MB, 80 B/row",
        "DuckDB": "440 ms",
        "against DuckDB": "200× as fast",
        "goal": "–",
    }


@pytest.mark.parametrize(
    ("ours", "theirs", "shown"),
    [
        (1.0, 3.2, "3.2× as fast"),
        (5.0, 1.0, "takes 5.0× as long"),
        (1.0, 1.04, "equally fast"),
        (1.04, 1.0, "equally fast"),
        (1.0, 9.96, "10× as fast"),
        (24.6, 1.22, "takes 20× as long"),
        (50e-6, 0.9, "18,000× as fast"),
    ],
)
def test_a_ratio_says_which_of_the_two_is_slower(ours: float, theirs: float, shown: str) -> None:
    assert against(ours, theirs) == shown


def test_no_ratio_in_the_documents_can_be_misread() -> None:
    """`0.2×` beside `faster` means slower: ratios below one are turned round, and named."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        assert not re.search(r"\b0\.\d×", page.read_text()), page.name


def test_the_benchmarks_have_the_columns_that_are_written_today() -> None:
    lines = (ROOT / "docs/benchmarks.md").read_text().splitlines()
    headers = [line.strip("|").split("|") for line in lines if line.startswith("| workload")]
    assert [tuple(cell.strip() for cell in header) for header in headers] == [HEADER, BESIDE]


def test_a_load_has_no_percentile() -> None:
    line = dict(zip(HEADER, engine_row(LOADED), strict=True))
    assert (line["replaced"], line["99th pct"]) == ("load", "–")


def test_a_line_beside_the_reference_compares_four_figures() -> None:
    assert beside_row(ROUNDS) == (
        *("W1 degrees", "1,000"),
        *("2.20 ms", "1.10 ms", "takes 2.0× as long"),
        *("4.00 ms", "8.00 ms", "2.0× as fast"),
        *("2.40 ms", "1.20 ms", "takes 2.0× as long"),
        *("400 MB", "200 MB", "2.00×"),
    )


def test_without_the_reference_nothing_stands_beside_it() -> None:
    assert beside_row(LOADED) is None
    assert "Not run." in document(facts(0.5), [engine_row(LOADED)], [], 100_000)


def test_a_line_of_the_service_counts_rows_by_the_clock_on_the_wall() -> None:
    line = dict(zip(HEADER, http_row(ANSWERED), strict=True))
    assert (line["rows/s"], line["goal"], line["DuckDB"]) == ("2,500", "2,000 rows/s", "–")


@pytest.mark.parametrize("form", [text, markdown])
def test_columns_are_aligned(form) -> None:
    lines = form([engine_row(ROUNDS), engine_row(LOADED), http_row(ANSWERED)]).splitlines()
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1
    assert lines[2].lstrip("| ").startswith("W1 degrees")


def test_the_page_holds_the_table_and_the_figures_of_others() -> None:
    rows = [engine_row(ROUNDS)]
    beside = [row for row in [beside_row(ROUNDS)] if row is not None]
    page = document(facts(0.5), rows, beside, 100_000)
    assert markdown(rows) in page
    assert markdown(beside, BESIDE) in page
    assert f"W1, {PATHWAY}: load 37.0 s, 1 replaced 220 µs" in page
    assert "meanwhile other work kept 0.5 cores busy" in page


def test_every_reported_figure_has_its_line() -> None:
    for figure in FIGURES:
        batches = {LOAD} | {phase.batch for phase in FULL[figure.workload].args[0].phases}
        assert figure.batch in batches
