"""Estimates beside the truth: a few views are estimated and built, and the page takes their figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.costs import page
from bench.costs.run import Foretold, is_near, run
from bench.costs.subjects import SUBJECTS

ABSENT = "SELECT nothing FROM bid"
FOUND = [
    Foretold("TPC-H", "q01", 2.0, 1_000_000, 4, 1.5, 1_100_000, 4, 0.3),
    Foretold("TPC-H", "q02", 9.0, 5_000_000, 4, 1.5, 1_100_000, 4, 0.3, is_least=True),
    Foretold("TPC-H", "q03", refusal="no such thing"),
    Foretold("Nexmark", "q00", 0.0001, 10, 4, 0.004, 3_000, 4, 0.3),
]


@pytest.mark.parametrize(
    ("ratio", "near"), [(0.49, False), (0.5, True), (1.0, True), (2.0, True), (2.1, False)]
)
def test_a_factor_of_two(ratio: float, near: bool) -> None:
    assert is_near(ratio) == near


def test_what_is_very_little_is_foretold() -> None:
    assert (FOUND[3].time_ratio, FOUND[3].memory_ratio) == (1.0, 1.0)


def test_views_are_estimated_built_and_dropped() -> None:
    subject = SUBJECTS["nexmark"](2_000, None)
    some = {name: subject.queries[name] for name in ("q00", "q05")} | {"absent": ABSENT}
    shown: list[Foretold] = []
    found = run(replace(subject, queries=some), shown.append)
    assert found == shown
    assert [one.name for one in found if not one.refusal] == ["q00", "q05"]
    assert found[0].rows == found[0].true_rows == 1_840
    assert all(is_near(one.memory_ratio) for one in found[:2])
    assert set(subject.engine.snapshot.relations) == set(subject.relations)


def test_the_page_has_a_table_for_each_suite() -> None:
    text = page.text(FOUND)
    assert "Of 2 views, the time of 1 (50 %) and the memory of 1 (50 %)" in text
    assert "Not built: q03 (no such thing)." in text
    assert "at least 5.000 MB" in text
    assert text.index("### TPC-H") < text.index("### Nexmark")


def test_figures_take_the_place_of_older_ones(tmp_path: Path) -> None:
    document = tmp_path / page.NAME
    document.write_text("before\n<!-- figures -->\nformer\n<!-- end of figures -->\nafter\n")
    page.write(document, "- a machine", FOUND)
    page.write(document, "- another machine", FOUND)
    text = document.read_text()
    assert text.startswith("before\n<!-- figures -->\n\n- another machine\n")
    assert text.endswith("\n<!-- end of figures -->\nafter\n")
    assert "former" not in text and "- a machine" not in text
