"""Random views over random histories: each row is explained, and the explanation alone makes it again.

FRESHET_WHY is the number of pairs of a view and a row. `python -m tests.service.why_hunt` is the long hunt.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.seeds import SEED, few
from tests.service.why_hunt import hunted
from tests.service.why_pairs import faults_of, told

PAIRS = int(os.environ.get("FRESHET_WHY", few(12)))


def test_explanations_make_their_rows(capsys: pytest.CaptureFixture[str]) -> None:
    counted: Counter[str] = Counter()
    seed = SEED
    while counted["pairs"] < PAIRS:
        for fault in faults_of(seed, counted):
            pytest.fail(fault)
        seed += 1
    with capsys.disabled():
        print(f"\n{told(counted)}")


def test_a_hunt_for_wrong_explanations_goes_on_where_it_stopped(tmp_path: Path) -> None:
    files = ["--state", str(tmp_path / "state.json"), "--found", str(tmp_path / "found.txt"), "--rows", "1"]
    pairs = []
    for last in ("0", "1"):
        assert hunted(["--last", last, *files]) == 0
        pairs.append(json.loads((tmp_path / "state.json").read_text())["counted"]["pairs"])
    assert pairs[1] > pairs[0] > 0
