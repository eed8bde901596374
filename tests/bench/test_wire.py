"""The PostgreSQL door beside PostgreSQL: every figure is taken, and a wrong answer ends the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main
from bench.duck import WrongAnswer
from bench.wire import page, run
from bench.wire.figures import Figure, Line, table
from bench.wire.frontend import Exchange, answer
from bench.wire.generator import NAME, WireClient, drive
from bench.wire.run import Sizes, measure
from bench.wire.systems import FRESHET, POSTGRES, freshet

pytestmark = pytest.mark.usefixtures("forked")

TINY = Sizes(1, 5, 32, 32, 1, 2)


def test_every_figure_is_taken_of_every_system() -> None:
    figures = measure(TINY)
    assert len(figures) == 10
    systems = {frozenset(line.by_system) for line in figures.values()}
    assert len(systems) == 1 and FRESHET in systems.pop()
    counts = {name: line.by_system[FRESHET].operations for name, line in figures.items()}
    assert counts["COPY out, csv: rows"] == 5 and counts["point reads, 32 connections"] == 32
    assert counts["from commit to 2 followers"] == 2


def test_a_wrong_answer_is_found(tmp_path: Path) -> None:
    with freshet(tmp_path) as system:
        wrong = [Exchange(run.run(NAME, "1"), answer("SELECT 1", ("2",)))]
        for lists in ([wrong], [wrong, wrong]):
            with pytest.raises(WrongAnswer):
                drive(system.port, "SELECT $1::int", lists)
        with WireClient(system.port) as client, pytest.raises(WrongAnswer, match="nope"):
            client.run("SELECT nope")


def test_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figures = {
        "reads": Line(
            "fast", False, {FRESHET: Figure(4, [1_000] * 4, 2.0, 1.0), POSTGRES: Figure(8, [], 2.0, 1.0)}
        ),
        "followers": Line("", True, {FRESHET: Figure(4, [1_000] * 4, 2.0, 1.0)}),
    }
    assert " 0.50 " in table(figures) and " fast " in table(figures)
    monkeypatch.setattr(run, "measure", lambda sizes, progress: figures)
    main(["--quick", "--output", str(tmp_path / "benchmarks.md"), "postgres"])
    assert "from commit" in (tmp_path / page.NAME).read_text()
