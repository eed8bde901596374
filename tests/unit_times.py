"""`python -m tests.unit_times REPORT`: what `LONG` in `tests/balance.py` is to be, by a report of a run.

`python -m pytest -n auto --junitxml REPORT` writes one, best on a machine that does nothing else.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tests.balance import unit

LEAST = 4.0
"""Seconds from which on a unit is long."""


def unit_times(report: Path) -> dict[str, float]:
    """The seconds of each unit, the longest first."""
    times: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        times[unit(f"{case.attrib['classname'].replace('.', '/')}.py")] += float(case.attrib["time"])
    return dict(times.most_common())


if __name__ == "__main__":
    for name, seconds in unit_times(Path(sys.argv[1])).items():
        if seconds >= LEAST:
            print(f'    "{name}",  # {seconds:.1f} s')
