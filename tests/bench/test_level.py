"""Costs that should be level: every service takes every step, and the table has a line for each."""

from __future__ import annotations

import pytest

from bench import level
from bench.__main__ import main
from bench.level import STEPS, Load, Subject, run, text

pytestmark = pytest.mark.usefixtures("forked")


def test_services_take_all_steps_by_turns() -> None:
    subjects = run((Load(0, 5), Load(2, 150_000)), 2)
    assert [len(times) for subject in subjects for times in subject.taken.values()] == [2] * 2 * len(STEPS)
    assert [subject.epoch for subject in subjects] == [3, 4]  # a load of one body or two, and two posts
    lines = text(subjects).splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == ["unrelated views", "rows", *STEPS]
    assert lines[3].startswith("| 2 ")
    assert " 150,000 " in lines[3]


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Subject(0, Load(7, 5), 0, {step: [1_000, 3_000_000, 2_000] for step in STEPS})
    monkeypatch.setattr(level, "run", lambda loads, rounds: [measured])
    main(["--quick", "level"])
    assert capsys.readouterr().out.count(" 2.00 µs ") == len(STEPS)
