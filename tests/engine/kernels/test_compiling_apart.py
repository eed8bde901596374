"""Processes that compile kernels end with the one for which they do it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

COMPILE = """
import os, sys, time
from engine.kernels import build

def sleep(place):
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    build.compile_one = sleep
    build.compile_all([0, 1], 2)
"""


def is_there(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no signal for it")
@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_none_is_left_behind(end: str, tmp_path: Path) -> None:
    script = tmp_path / "compile_apart.py"
    script.write_text(COMPILE)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        children = [int(process.stdout.readline()) for _ in range(2)]
        assert all(map(is_there, children))
        getattr(process, end)()
    until = time.monotonic() + 30
    while any(map(is_there, children)):
        assert time.monotonic() < until, "processes that compile are left behind"
        time.sleep(0.01)
