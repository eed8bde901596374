from __future__ import annotations

import re

import pytest

from bench.http import Answered
from bench.measure import Timing
from bench.reference import FIGURES, LOAD, PATHWAY, REFERENCE
from bench.reference import seconds as reported
from bench.report import document, facts
from bench.run import Result
from bench.table import HEADER, against, duration, engine_row, http_row, markdown, text
from bench.workloads import FULL
from tests.docs.markdown import ROOT

ROUNDS = Result(
    workload="W1",
    title="W1 degrees",
    rows=5_000_000,
    batch=1_000,
    changes=200_000,
    timing=Timing(median=2.2e-3, p99=4e-3, total=0.25, count=100),
    peak=400_000_000,
    duckdb=0.44,
)
LOADED = Result("W9", "W9 nothing", 10, LOAD, 10, Timing(0.5, 0.5, 0.5, 1), 1_000, 1.0)
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
    assert dict(zip(HEADER, engine_row(ROUNDS, True), strict=True)) == {
        "workload": "W1 degrees",
        "replaced": "1,000",
        "rounds": "100",
        "median": "2.20 ms",
        "99th pct": "4.00 ms",
        "rows/s": "800,000",
        "peak memory": "400 MB, 80 B/row",
        "DuckDB": "440 ms",
        "against DuckDB": "200× as fast",
        "reference": "1.10 ms",
        "against reference": "takes 2.0× as long",
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
    header = next(line for line in lines if line.startswith("| workload"))
    assert tuple(cell.strip() for cell in header.strip("|").split("|")) == HEADER


def test_a_load_has_no_percentile_and_may_have_no_reference() -> None:
    line = dict(zip(HEADER, engine_row(LOADED, True), strict=True))
    assert line["replaced"] == "load"
    assert (line["99th pct"], line["reference"], line["against reference"]) == ("–", "–", "–")


def test_in_miniature_nothing_is_compared_with_the_reference() -> None:
    assert engine_row(ROUNDS, False)[-3:] == ("–", "–", "–")


def test_a_line_of_the_service_counts_rows_by_the_clock_on_the_wall() -> None:
    line = dict(zip(HEADER, http_row(ANSWERED), strict=True))
    assert (line["rows/s"], line["goal"], line["reference"]) == ("2,500", "2,000 rows/s", "–")


@pytest.mark.parametrize("form", [text, markdown])
def test_columns_are_aligned(form) -> None:
    lines = form([engine_row(ROUNDS, True), engine_row(LOADED, True), http_row(ANSWERED)]).splitlines()
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1
    assert lines[2].lstrip("| ").startswith("W1 degrees")


def test_the_page_holds_the_table_and_the_figures_of_others() -> None:
    rows = [engine_row(ROUNDS, True)]
    page = document(facts(0.5), rows, 5, 100_000)
    assert markdown(rows) in page
    assert f"W1, {PATHWAY}: load 37.0 s, 1 replaced 220 µs" in page
    assert "meanwhile other work kept 0.5 cores busy" in page


def test_every_reported_figure_has_its_line() -> None:
    for figure in FIGURES:
        batches = {LOAD} | {phase.batch for phase in FULL[figure.workload].args[0].phases}
        assert figure.batch in batches
    assert all(reported(REFERENCE, name, 1) is not None for name in ("W1", "W2", "W3"))
