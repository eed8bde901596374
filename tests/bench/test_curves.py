"""The cost curves in miniature: each is measured, and a page has tables and the same plots each time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bench.__main__ import DOCUMENT, main
from bench.curves import page, times
from bench.curves.base import Axis, Curve, Plot
from bench.curves.cluster import NETWORK, Exchange
from bench.curves.cores import Divided, dividing, makespan
from bench.curves.epochs import history
from bench.curves.run import CURVES, measure
from engine.kernels.parallel import threads

SOME = Curve(
    "Some",
    "Read it so.",
    (
        Plot("times", Axis("rows"), Axis("time", "s"), {"a": [(1, 1e-3), (10, 2e-3)], "b": [(10, 1.5)]}),
        Plot("sizes", Axis("rows", log=False), Axis("memory", "B", log=False), {"a": [(1, 0), (2, 3e6)]}),
    ),
)


@pytest.mark.parametrize("name", CURVES)
def test_every_curve(name: str) -> None:
    curve = measure(name, quick=True)
    assert page.tables(curve)
    for plot in curve.plots:
        for points in plot.lines.values():
            xs = [x for x, _ in points]
            assert xs == sorted(set(xs))
            assert all(y >= 0 for _, y in points)


def test_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.__main__.apart", lambda work, name, quick: SOME)
    before = {path: path.read_bytes() for path in DOCUMENT.parent.rglob("*") if path.is_file()}
    main(["--quick", "curves"])
    assert "**times**" in capsys.readouterr().out
    assert before == {path: path.read_bytes() for path in DOCUMENT.parent.rglob("*") if path.is_file()}
    main(["--quick", "curves", "--output", str(tmp_path / "page.md")])
    assert "## Some" in (tmp_path / page.NAME).read_text()
    assert {path.stem for path in tmp_path.rglob("*.svg")} == set(CURVES)


def test_the_page_has_tables_and_plots_that_do_not_change(tmp_path: Path) -> None:
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        page.write("- a machine", {"some": SOME}, folder / page.NAME)
        written.append((folder / "curves" / "some.svg").read_bytes())
    assert written[0] == written[1]
    text = (tmp_path / "a" / page.NAME).read_text()
    assert "![Some](curves/some.svg)" in text
    assert "- a machine" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    assert ["rows", "a", "b"] in rows
    assert ["1", "1.00 ms", "–"] in rows
    assert ["10", "2.00 ms", "1.50 s"] in rows
    assert ["2", "3.0 MB"] in rows


def test_a_history_ends_where_it_began() -> None:
    delta = history(1_000, 20, 2, 50)
    assert np.array_equal(np.unique(delta[-2]), np.arange(50))
    assert np.cumsum(delta[-1]).max() < 40
    counts: Counter[tuple[int, ...]] = Counter()
    for *row, _, diff in delta.T.tolist():
        counts[tuple(row)] += diff
        assert counts[tuple(row)] >= 0
    assert not any(counts.values())


def test_times_are_all_produced() -> None:
    curve = times.measure(times.Size((7,), (4,)))
    produced = {name: points[0][0] for name, points in curve.plots[0].lines.items()}
    assert produced["chains"] == 8
    assert produced["grid"] == 4 * 5


def test_parts_are_taken_by_whoever_is_free() -> None:
    assert makespan([3, 1, 1, 1], 2) == 3
    assert makespan([1, 1, 1, 3], 2) == 4
    assert makespan([1, 2, 3], 1) == 6
    assert makespan([1, 2, 3], 64) == 3
    assert Divided(10, [[3, 1, 1, 1], [2, 2]]).on(2) == 10 - 3 - 2


def test_only_the_outermost_division_is_noted() -> None:
    def inner(number: int) -> int:
        return sum(threads.each(lambda part: number * part, range(3)))

    each = threads.each
    with dividing() as divided:
        assert threads.each(inner, [1, 2]) == [3, 6]
    assert [len(parts) for parts in divided.pieces] == [2]
    assert divided.on(1) == divided.whole >= sum(divided.pieces[0])
    assert threads.each is each


def test_only_what_leaves_a_machine_passes_the_network() -> None:
    assert Exchange([1.0] * 16, [int(NETWORK)] * 16).passing == 0
    assert Exchange([1.0] * 17, [int(NETWORK)] + [0] * 16).passing == 1
