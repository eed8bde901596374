"""The steady load, for some seconds: every interval has posts, and nothing fails."""

from __future__ import annotations

import csv
from pathlib import Path

from bench.__main__ import main


def test_a_short_churn(tmp_path: Path) -> None:
    output = tmp_path / "churn.csv"
    main(["churn", "--minutes", "0.15", "--every", "3", "--output", str(output)])
    with output.open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) >= 2
    assert sum(int(line["posts"]) for line in lines) > 2
    assert all(int(line["anonymous"]) > 0 for line in lines)
    assert int(lines[-1]["events"]) > 0
    assert int(lines[-1]["failures"]) == 0
