"""What the processes of one run of the tests share: a directory, as long as the run lasts.

The first of them makes it, before it starts others: they find it in the environment.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_VARIABLE = "FRESHET_TEST_RUN"


def begin() -> None:
    """Make the directory, unless this process is one of several."""
    if _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = f"{os.getpid()}:{tempfile.mkdtemp(prefix='freshet-run-')}"


def end() -> None:
    """Remove the directory, if this process has made it."""
    if _VARIABLE in os.environ and pid_of_run() == os.getpid():
        shutil.rmtree(of_run(), ignore_errors=True)
        del os.environ[_VARIABLE]


def of_run() -> Path:
    begin()
    return Path(os.environ[_VARIABLE].partition(":")[2])


def pid_of_run() -> int:
    """The process with which the run ends."""
    begin()
    return int(os.environ[_VARIABLE].partition(":")[0])
