"""The end of a process at its deadline, whatever its threads do, and whatever the machine does."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.service.client import PATIENCE

ROOT = Path(__file__).parents[2]
BUSY = "while True: pass"
STUCK = "import ctypes; ctypes.PyDLL(None).sleep(3600)"
"""Holds the interpreter's lock, so that no other thread of Python runs."""


def ended(program: str, grace: float, stalls: bool = False) -> tuple[int, str]:
    """The exit code of a program that is to end after a second, and what it has said."""
    text = f"""
from service.process import deadline
deadline._GRACE = {grace}
deadline.end_by(1)
print("begun", flush=True)
{program}
"""
    with subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        if stalls:
            process.send_signal(signal.SIGSTOP)
            time.sleep(2)
            process.send_signal(signal.SIGCONT)
        try:
            return process.wait(PATIENCE), process.stderr.read()
        finally:
            process.kill()


@pytest.mark.parametrize("stalls", [False, True])
def test_a_process_ends_in_its_seconds(stalls: bool) -> None:
    code, said = ended(BUSY, PATIENCE, stalls)
    assert code == 0 and "not everything was finished within 1 s" in said


def test_a_process_whose_threads_cannot_run_ends_too() -> None:
    code, said = ended(STUCK, 0.5)
    assert code == 1 and "Timeout" in said
