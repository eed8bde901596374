"""The reference implementation of differential dataflow, a program in Rust that is run beside ours.

`FRESHET_REFERENCE` names the program. Called with a workload, it prints a line for the load and for each size
of change. Its data have the distribution of ours, but are not the same rows.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from bench.measure import Timing
from bench.phase_figures import PhaseFigures
from bench.workloads.base import LOAD

PROGRAM = "FRESHET_REFERENCE"
WORKLOADS = {"W1": "w1v", "W1-cores": "w1v", "W2": "w2v", "W2-cores": "w2v", "W3": "w3v"}
"""What the program calls our workloads, with views that can be read."""
PATIENCE = 600
"""Seconds."""
_LINE = re.compile(
    r"\S+ (?:(?P<load>load)|replace (?P<batch>\d+)) +n=(?P<count>\d+) .*"
    r"median +(?P<median>[\d.]+) ms +p99 +(?P<p99>[\d.]+) ms +mean +(?P<mean>[\d.]+) .*"
    r"cpu +(?P<processor>[\d.]+)s +peak +(?P<peak>\d+) MB"
)


class Unreadable(Exception):
    """The program says something else than figures."""


def program() -> Path | None:
    """The program, if the environment names one. Raises FileNotFoundError if it is not there."""
    named = os.environ.get(PROGRAM)
    if not named:
        return None
    if not Path(named).is_file():
        raise FileNotFoundError(f"{PROGRAM} names {named}, and there is no such file")
    return Path(named)


def run(program: Path, workload: str) -> list[PhaseFigures]:
    """The program's figures for one of `WORKLOADS`. Raises CalledProcessError, TimeoutExpired, Unreadable."""
    command = [str(program), WORKLOADS[workload]]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    return [_phase(line) for line in printed.splitlines()]


def _phase(line: str) -> PhaseFigures:
    found = _LINE.match(line)
    if found is None:
        raise Unreadable(f"the reference prints {line!r}, which is no line of figures")
    count = int(found["count"])
    timing = Timing(
        median=float(found["median"]) / 1e3,
        p99=float(found["p99"]) / 1e3,
        total=float(found["mean"]) / 1e3 * count,
        count=count,
        processor=float(found["processor"]),
    )
    return PhaseFigures(
        LOAD if found["load"] else int(found["batch"]), timing, int(found["peak"]) * 1_000_000
    )
