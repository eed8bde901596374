"""The reference's lines as figures, and the turns that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import reference, run
from bench.measure import Timing
from bench.phase_figures import PhaseFigures
from bench.workloads import QUICK
from bench.workloads.base import LOAD

_PRINTS = (
    "w3v load                     n=1     min   675.3139 ms  median   675.3139 ms  p99   675.3139 ms"
    "  mean   675.3139 cpu 0.67s peak 149 MB rss 149",
    "w3v replace 1                n=1000  min     0.0317 ms  median     0.4695 ms  p99     8.5785 ms"
    "  mean     0.9784 cpu 0.98s peak 150 MB rss 150",
)


def _printing(path: Path, *lines: str) -> Path:
    """A program that prints the lines."""
    path.write_text("\n".join(("#!/bin/sh", *(f"echo '{line}'" for line in lines))) + "\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return _printing(tmp_path / "prints", *_PRINTS)


def test_lines_are_figures(program: Path) -> None:
    load, one = reference.run(program, "W3")
    assert load == PhaseFigures(LOAD, Timing(0.6753139, 0.6753139, 0.6753139, 1, 0.67), 149_000_000)
    assert (one.batch, one.timing.count, one.peak) == (1, 1_000, 150_000_000)
    assert one.timing.median == pytest.approx(469.5e-6)
    assert one.timing.p99 == pytest.approx(8.5785e-3)
    assert one.timing.processor_each == pytest.approx(0.98e-3)


def test_something_else_than_figures_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(reference.Unreadable, match="killed"):
        reference.run(_printing(tmp_path / "other", "killed"), "W1")


def test_the_environment_names_the_program(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    monkeypatch.delenv(reference.PROGRAM, raising=False)
    assert reference.program() is None
    monkeypatch.setenv(reference.PROGRAM, str(program))
    assert reference.program() == program
    monkeypatch.setenv(reference.PROGRAM, f"{program}-gone")
    with pytest.raises(FileNotFoundError, match="gone"):
        reference.program()


def test_the_reference_takes_its_turns(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    """A size of change that it does not know has nothing beside it."""
    monkeypatch.setattr("bench.workloads.FULL", QUICK)
    monkeypatch.setattr(run, "apart", lambda part, *arguments: part(*arguments))
    monkeypatch.setenv(reference.PROGRAM, str(program))
    load, one, ten = run.run("W3", quick=False)
    assert load.reference is not None
    assert one.reference is not None
    assert (load.reference.batch, one.reference.batch, ten.reference) == (LOAD, 1, None)


def test_the_typical_turn_has_the_median_of_each_figure() -> None:
    turns = [
        PhaseFigures(1, Timing(float(number), 10.0 - number, 2.0 * number, 5, 3.0 * number), number)
        for number in (1, 9, 2)
    ]
    assert PhaseFigures.typical(turns) == PhaseFigures(1, Timing(2.0, 8.0, 4.0, 5, 6.0), 2)
