"""Sizes are of a real service; the page shows a view's own share, and docs/sizing.md is such a page."""

from __future__ import annotations

import pytest

from bench.__main__ import main
from bench.sizing.page import AT_REST, CHANGING, at_rest, changing, page
from bench.sizing.run import Sizes, run
from bench.sizing.subjects import SUBJECTS, TABLES, VIEWS
from tests.docs.markdown import ROOT

TABLE = Sizes(TABLES[0], 80.4, 7.0, 33.0, 115.0, 118.0, 1.2e-3, 3.0, 2.5, 142_000_000)
VIEW = Sizes(VIEWS[0], 104.4, 7.0, 53.0, 130.0, 118.0, 1.3e-3, 3.5, 2.6, 143_000_000)


def test_a_service_is_measured() -> None:
    (sizes,) = run(400, VIEWS[-1:])
    assert sizes.log > 0
    assert sizes.files > 0
    assert sizes.epoch > 0
    assert 0 < sizes.single < sizes.start


def test_a_view_is_shown_with_its_table_and_alone() -> None:
    assert at_rest(TABLE, TABLE) == ("2 integers", "80 B", "7 B", "33 B")
    assert at_rest(VIEW, TABLE)[1:] == ("104 B (+ 24 B)", "7 B", "53 B (+ 20 B)")
    assert changing(TABLE)[1:] == ("118 B", "115 B", "1.20 ms", "3.00 s", "2.50 s", "142 MB")


def test_the_page_in_the_documents_has_every_table_and_view() -> None:
    shown = (ROOT / "docs/sizing.md").read_text()
    assert [shown.count(f"| {subject.name} ") for subject in SUBJECTS] == [2] * len(SUBJECTS)
    made = page("- facts", 1_000_000, [TABLE, VIEW])
    headings = [line for line in made.splitlines() if line.startswith("#")]
    assert headings == [line for line in shown.splitlines() if line.startswith("#")]
    for header in (AT_REST, CHANGING):
        assert all(f" {name} |" in shown for name in header)


def test_it_runs_only_if_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "all but bulk and sizing" in " ".join(capsys.readouterr().out.split())
