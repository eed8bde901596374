"""Random queries in the words of every proven dialect mean what the canonical ones mean, at every epoch.

FRESHET_FOREIGN is the number of queries a dialect, 1 unless set, or 6 in `make soak`. The queries
are the same in every run.
"""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path

import pytest

from tests.dialects.hunt import hunted
from tests.dialects.random_queries import Outcome, ask
from tests.dialects.spellings import DIALECTS
from tests.seeds import few
from tests.share import SHARE

WANTED = int(os.environ.get("FRESHET_FOREIGN", few(6)))
A_CASE = 24 if SHARE == 1 else 8
"""Queries of a case."""


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """What came of as many cases as give every dialect its number of queries, or a fault."""
    outcome = Outcome()
    for seed in count():
        left = [dialect for dialect in DIALECTS if outcome.right[dialect] < WANTED]
        if not left:
            return outcome
        ask(seed, left, outcome, A_CASE)
    raise AssertionError("there are no more cases")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_mean_what_the_canonical_ones_mean(outcome: Outcome, dialect: str) -> None:
    faults = [str(fault) for fault in outcome.faults if fault.dialect == dialect]
    assert not faults, "\n".join([f"{len(faults)} of {outcome.right[dialect] + len(faults)}", *faults])
    assert outcome.right[dialect] >= WANTED


def test_a_hunt_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--state", str(tmp_path / "state.json"), "--found", str(tmp_path / "found.txt")]
    assert hunted(["postgres", "--last", "0", *files]) == 0
    first = json.loads((tmp_path / "state.json").read_text())
    assert first["seed"] == 1
    assert hunted(["postgres", "--last", "1", *files]) == 0
    second = json.loads((tmp_path / "state.json").read_text())
    assert second["seed"] == 2
    assert second["right"]["postgres"] > first["right"]["postgres"] > 0
    assert (tmp_path / "found.txt").read_text() == ""
    assert "0 faults" in capsys.readouterr().out.splitlines()[-1]
