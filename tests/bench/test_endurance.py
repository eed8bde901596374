"""The steady load, for some seconds: every interval has posts, and nothing fails."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.endurance import Sample, read
from bench.endurance_page import write

pytestmark = pytest.mark.usefixtures("forked")


def test_a_short_churn(tmp_path: Path) -> None:
    output = tmp_path / "churn.csv"
    main(["churn", "--minutes", "0.1", "--every", "2", "--output", str(output)])
    with output.open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) >= 2
    assert sum(int(line["posts"]) for line in lines) > 2
    assert all(int(line["anonymous"]) > 0 for line in lines)
    assert int(lines[-1]["events"]) > 0
    assert int(lines[-1]["failures"]) == 0


def test_the_page(tmp_path: Path) -> None:
    samples = [
        Sample(10.0 * i, 5_000, 9.5, 30.0, 40.0 + i, 10**8, 3, 10**7, 10**6, 70, i, 100 * i, 0)
        for i in range(1, 31)
    ]
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(field.name for field in fields(Sample))
    writer.writerows(map(astuple, samples))
    lines.seek(0)
    assert read(lines) == samples
    write("about", samples, tmp_path / "churn.md")
    page = (tmp_path / "churn.md").read_text()
    assert "In 5 minutes there were 150,000 posts, 30 views" in page
    assert page.count("| 15,000 | 9.5 ms |") == 10
    assert (tmp_path / "curves" / "churn.svg").read_text().startswith("<?xml")
