"""The whole of it in miniature: every workload agrees with DuckDB, the service with what it was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import profiling, run
from bench.__main__ import DOCUMENT, main
from bench.curve import SHARES
from bench.workloads import QUICK
from bench.workloads.base import LOAD

pytestmark = pytest.mark.usefixtures("forked")


def test_every_workload(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: each in one of its own would load all code anew."""
    monkeypatch.setattr(run, "apart", lambda part, *arguments: part(*arguments))
    before = DOCUMENT.read_bytes() if DOCUMENT.exists() else None
    main(["--quick", *QUICK, "--output", str(tmp_path / "page.md")])
    printed = capsys.readouterr().out
    for title in ("W1 degrees, 5,000 edges", "W1 degrees, 500 edges", "W2 revenue", "W3 reach"):
        assert title in printed
        assert f"| {title}" in (tmp_path / "page.md").read_text()
    assert (DOCUMENT.read_bytes() if DOCUMENT.exists() else None) == before


def test_a_workload_apart() -> None:
    (load, *phases) = run.run("W1-tenth", quick=True)
    assert (load.figures.batch, [phase.figures.batch for phase in phases]) == (LOAD, [1])


def test_tpch(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "TPC-H"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("TPC-H")]
    assert len(lines) == 3


def test_the_service(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "http"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("HTTP")]
    assert len(lines) == 4


@pytest.mark.parametrize("batch", [0, 1])
def test_profile(batch: int) -> None:
    printed = profiling.profile("W1", batch, quick=True)
    assert "stage" in printed
    assert "publish" in printed


def test_curve(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--curve", "W3"])
    header, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(SHARES)
    assert all(line.count(",") == header.count(",") for line in lines)


@pytest.mark.parametrize("arguments", [["W9"], ["--profile", "W1"], ["--profile", "W9:1"]])
def test_arguments_that_name_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert arguments[-1] in capsys.readouterr().err
