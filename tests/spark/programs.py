"""Programs in a process of their own, because PySpark has one classic session a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = """
import os, signal, sys, time
from pathlib import Path
from engine.spark.sessions import Sessions, SparkOptions
scratch = Path(sys.argv[1])
"""


SECONDS = 3600 if os.environ.get("FRESHET_CLUSTER") else 600
"""The longest time of a program in seconds; a soak's runs for long."""


def path_without_java(directory: Path) -> Path:
    """A directory for PATH with the programs that Spark's scripts call, except Java."""
    programs = directory / "programs"
    programs.mkdir()
    for name in ("bash", "sh", "env", "dirname", "ps"):
        found = shutil.which(name)
        if found:
            (programs / name).symlink_to(found)
    return programs


def run(program: str, scratch: Path, environment: Mapping[str, str] = os.environ, ended_by: int = 0) -> str:
    """The output of the program, which can use the names of the prelude, and `scratch`.

    AssertionError if it fails, or does not end by the expected signal.
    """
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(program), str(scratch)],
        cwd=ROOT,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert answer.returncode == -ended_by, answer.stderr
    return answer.stdout
