"""Sizes are of a real service; the page shows a view's own share, and docs/sizing.md is such a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.__main__ import BY_NAME, main
from bench.sizing import run
from bench.sizing.page import AT_REST, CHANGING, at_rest, changing, page
from bench.sizing.run import Sizes
from bench.sizing.subjects import SUBJECTS, TABLES, TREE, VIEWS, parents
from tests.docs.markdown import ROOT

pytestmark = pytest.mark.usefixtures("forked")

TABLE = Sizes(TABLES[0], 80.4, 7.0, 33.0, 115.0, 118.0, 3.0, 2.5, 142_000_000)
VIEW = Sizes(VIEWS[0], 104.4, 7.0, 53.0, 130.0, 118.0, 3.5, 2.6, 143_000_000)


def test_a_service_is_filled_and_killed_and_then_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of the four starts of a measurement; the other two are starts and nothing else."""
    monkeypatch.setattr(run, "CHANGES", 2)
    monkeypatch.setattr(run, "SINGLES", 3)
    rng = np.random.default_rng(1)
    _, log = run.load(VIEWS[-1], 400, tmp_path, rng)
    assert log > 400
    _, epoch = run.change(VIEWS[-1], 400, tmp_path, rng)
    assert 20 < epoch < 2_000


def test_trees_have_four_levels_and_a_node_keeps_its_level() -> None:
    ids = np.arange(3 * TREE)
    for seed in (1, 2):
        above = np.array(parents(ids, np.random.default_rng(seed))["a0"])
        depth = np.zeros(len(ids), int)
        at = above.copy()
        while (at >= 0).any():
            depth += at >= 0
            at = np.where(at >= 0, above[at], -1)
        assert np.bincount(depth).tolist() == [3, 12, 48, 192]
        assert depth.mean() == pytest.approx(2.7, abs=0.02)


def test_a_view_is_shown_with_its_table_and_alone() -> None:
    assert at_rest(TABLE, TABLE) == ("2 integers", "80 B", "7 B", "33 B")
    assert at_rest(VIEW, TABLE)[1:] == ("104 B (+ 24 B)", "7 B", "53 B (+ 20 B)")
    assert changing(TABLE)[1:] == ("118 B", "115 B", "3.00 s", "2.50 s", "142 MB")


def test_the_page_in_the_documents_has_every_table_and_view() -> None:
    shown = (ROOT / "docs/sizing.md").read_text()
    assert [shown.count(f"| {subject.name} ") for subject in SUBJECTS] == [2] * len(SUBJECTS)
    made = page("- facts", 1_000_000, [TABLE, VIEW])
    headings = [line for line in made.splitlines() if line.startswith("#")]
    assert headings == [line for line in shown.splitlines() if line.startswith("#")]
    headers = [line for line in shown.splitlines() if line.startswith(f"| {AT_REST[0]} ")]
    assert [tuple(map(str.strip, line.strip("|").split("|"))) for line in headers] == [AT_REST, CHANGING]


def test_it_runs_only_if_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"{BY_NAME[-2]}, {BY_NAME[-1]}; if none, all but the last {len(BY_NAME)}" in " ".join(
        capsys.readouterr().out.split()
    )
