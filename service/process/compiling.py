"""Loading and compiling kernels in the background of a running service.

The kernels of a small epoch are loaded at once, so that the first change need not wait for them. The server
of child processes, which loads those of large work, begins at once too, unless it runs (`beginning.py`).
Later, when the service has begun its work, kernels that no file has are compiled. Code that needs a kernel
sooner loads or compiles it itself; others find what this process has compiled.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

from engine.kernels.build import missing
from engine.kernels.compiled import load
from engine.kernels.hashing import hash_texts
from engine.kernels.stepping.outermost_step import publish, run_reached
from engine.kernels.texts import insert
from engine.kernels.times import ends_of
from engine.processes import children

PATIENCE = 5.0
"""Seconds until missing kernels are looked for, which takes all of Python's lock for a moment."""

_log = logging.getLogger("freshet.kernels")
_NICE = "10"


class Compiling:
    """A thread that loads kernels, and a process that compiles those that are missing, if there are any. Both
    end with the service."""

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
        children.begin()
        load(run_reached, publish, ends_of, hash_texts, insert)
        if self._ended.wait(PATIENCE):
            return
        count = len(missing())
        if not count or self._ended.is_set():
            return
        workers = max(1, (os.cpu_count() or 1) - 1)
        _log.info("%d kernels are not compiled on this machine yet; compiling them in the background", count)
        command = [sys.executable, "-m", "engine.kernels.build", "--with-parent", "--workers", str(workers)]
        self._process = subprocess.Popen(["nice", "-n", _NICE, *command], stderr=subprocess.DEVNULL)
        if self._process.wait() == 0:
            _log.info("all kernels are compiled")
