"""Compiling kernels in the background of a running service.

Code that needs a kernel sooner compiles it itself; others find what this process has compiled.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

from engine.kernels.build import missing

_log = logging.getLogger("freshet.kernels")
_NICE = "10"


class Compiling:
    """A process that compiles missing kernels, if there are any. It ends with the service."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kernels", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        if self._process is not None:
            self._process.terminate()

    def _run(self) -> None:
        count = len(missing())
        if not count or self._ended.is_set():
            return
        workers = max(1, (os.cpu_count() or 1) - 1)
        _log.info("%d kernels are not compiled on this machine yet; compiling them in the background", count)
        command = [sys.executable, "-m", "engine.kernels.build", "--workers", str(workers)]
        self._process = subprocess.Popen(["nice", "-n", _NICE, *command], stderr=subprocess.DEVNULL)
        if self._process.wait() == 0:
            _log.info("all kernels are compiled")
