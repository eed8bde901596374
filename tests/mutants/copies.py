"""Copies of the tree, in which a fault is planted and taken out again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.fault import ROOT, Fault

LEFT_OUT = (".*", "__pycache__", "build", "*.egg-info", "faults")
"""What no named test reads."""


class Copy:
    """A copy of the tree below a directory, with compiled kernels of its own in `cache`."""

    def __init__(self, directory: Path, cache: Path) -> None:
        self.root = directory
        shutil.copytree(ROOT, directory, ignore=shutil.ignore_patterns(*LEFT_OUT))
        self._environment = os.environ | {
            "PYTHONPATH": str(directory),
            "NUMBA_CACHE_DIR": str(cache),
            "PYTHONHASHSEED": "0",
            "FRESHET_SEED": "0",
        }

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """The copy has the fault as long as this lasts."""
        changed = fault.apply(self.root)
        try:
            for path, text in changed.items():
                (self.root / path).write_text(text)
            yield
        finally:
            for path in changed:
                shutil.copy2(ROOT / path, self.root / path)

    def run(self, tests: Sequence[str], seconds: float | None = None) -> tuple[int, str]:
        """pytest's exit code and what it says; raises TimeoutExpired."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider"]
        command += ["--hypothesis-seed=0", *tests]
        done = subprocess.run(
            command, cwd=self.root, env=self._environment, capture_output=True, text=True, timeout=seconds
        )
        return done.returncode, done.stdout + done.stderr
