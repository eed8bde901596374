"""Kills the processes of Spark's tasks with SIGKILL: Python workers, and executors if they are processes."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

DAEMON = b"engine.spark.daemon"
EXECUTOR = b"CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Process:
    """A process started by this one or its children. `parent` is the command line of its parent."""

    pid: int
    command: bytes
    parent: bytes

    @property
    def is_worker(self) -> bool:
        """Whether it is a Python that runs tasks. The daemon forks these, so they have its command line."""
        return DAEMON in self.command and DAEMON in self.parent

    @property
    def is_executor(self) -> bool:
        return EXECUTOR in self.command


def processes() -> list[Process]:
    """All processes that this process has started, directly or indirectly."""
    parents: dict[int, int] = {}
    commands: dict[int, bytes] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            pid = int(directory.name)
            parents[pid] = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
            commands[pid] = (directory / "cmdline").read_bytes()
    ours = {os.getpid()}
    found: list[Process] = []
    waiting = [os.getpid()]
    while waiting:
        above = waiting.pop()
        children = [pid for pid, parent in parents.items() if parent == above and pid not in ours]
        ours.update(children)
        waiting += children
        found += [Process(pid, commands.get(pid, b""), commands.get(above, b"")) for pid in children]
    return found


class Killer:
    """Kills one process at a time, after random pauses of at most `pause` seconds.

    A `share` of the victims are executors. `workers` and `executors` count the kills.
    """

    def __init__(self, rng: random.Random, pause: float, share: float = 0) -> None:
        self.workers = self.executors = 0
        self._rng = rng
        self._pause = pause
        self._share = share
        self._done = threading.Event()

    @property
    def killed(self) -> int:
        return self.workers + self.executors

    @contextmanager
    def killing(self, most: int) -> Iterator[None]:
        """Kills while the block runs, at most this many."""
        self._done.clear()
        thread = threading.Thread(target=self._run, args=(self.killed + most,))
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()

    def _run(self, until: int) -> None:
        while self.killed < until and not self._done.wait(self._rng.uniform(0, self._pause)):
            executors = self._rng.random() < self._share
            victims = [it.pid for it in processes() if (it.is_executor if executors else it.is_worker)]
            if victims:
                with suppress(ProcessLookupError):
                    os.kill(self._rng.choice(victims), signal.SIGKILL)
                    self.executors += executors
                    self.workers += not executors
