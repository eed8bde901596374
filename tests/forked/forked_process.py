"""Starts as `subprocess.Popen` makes them, of a process that has loaded the service already."""

from __future__ import annotations

import atexit
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import cycle
from pathlib import Path

from tests.forked.template import Start
from tests.run import of_run, pid_of_run

_AT_LOAD = ("PYTHON", "NUMBA_", "OMP_", "OPENBLAS_", "LD_", "MALLOC_", "ARROW_")
"""How variables begin that Python and libraries read when they are loaded."""
_AFTER_ALL = {"PYTHONFAULTHANDLER"}
"""Those that a template heeds all the same."""
_SEEDS = ("1", "2")
"""Seeds of hashes. A service and the one that is started after it have sets in different orders, as ever."""
_ROOT = Path(__file__).parents[2]
"""Where templates find what they load: the first test that needs one may be in a directory of its own."""
_DEAD = "the template has died"


def can_fork(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a template can become this program."""
    changed = {name for name, value in environment.items() if os.environ.get(name) != value}
    at_load = {name for name in changed if name.startswith(_AT_LOAD)} - _AFTER_ALL
    return hasattr(os, "pidfd_open") and arguments[0] == "-m" and not at_load


class ForkedProcess:
    """What the tests use of `subprocess.Popen`; `output` is where its errors go. Its other output is lost."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], output: int) -> None:
        self.returncode: int | None = None
        self._ended, told = os.pipe()
        self._reading = threading.Lock()
        weakref.finalize(self, os.close, self._ended)  # threads may wait for it until then
        nothing = os.open(os.devnull, os.O_RDWR)
        os.umask(umask := os.umask(0o077))
        start = Start(list(arguments), dict(environment), os.getcwd(), umask)
        try:
            self.pid = _next_template().start(start, [nothing, nothing, output, told])
        finally:
            os.close(nothing)
            os.close(told)

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            with self._reading:
                if self.returncode is None:
                    told = os.read(self._ended, 16)
                    if not told:
                        raise RuntimeError(_DEAD)
                    self.returncode = int(told)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Running:
    """A template, which is started unless another process of the run has done so. Any thread may ask it for a
    start."""

    def __init__(self, seed: str) -> None:
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        place = of_run() / f"template-{seed}"
        with open(f"{place}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                _start_template(place, seed)
            self._socket.connect(str(place))
        atexit.register(self._socket.close)

    def start(self, start: Start, files: Sequence[int]) -> int:
        with self._lock:
            socket.send_fds(self._socket, [start.message()], files)
            answer = self._socket.recv(16)
        if not answer:
            raise RuntimeError(_DEAD)
        return int(answer)


def _start_template(place: Path, seed: str) -> None:
    """It ends with the run, not with this process, and so is no `Popen` that this one would wait for."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, open(os.devnull, "w") as nothing:
        listener.bind(str(place))
        listener.listen()
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "tests.forked.template", str(pid_of_run())],
            os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(_ROOT)},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, listener.fileno(), 0),
                (os.POSIX_SPAWN_DUP2, nothing.fileno(), 1),
            ],
        )


_template = cache(_Running)
_turns = cycle(_SEEDS)


def _next_template() -> _Running:
    """Templates take turns."""
    return _template(next(_turns))
