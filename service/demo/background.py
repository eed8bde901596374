"""The service in the background: started, found again and stopped by a pid file.

`start` gives the service the working directory of the caller and the environment that
it is told, waits until it is ready and leaves it running. `stop` asks the process of the pid file to end
(SIGTERM) and waits for it; a pid that now belongs to some other program is left alone.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

COMMAND = "-m service"
READY_SECONDS = 600.0
STOP_SECONDS = 60.0


class CannotStart(Exception):
    """Says why the service did not start, and what to do about it."""


@dataclass(frozen=True)
class Background:
    """A service whose pid file and log are in `directory`."""

    directory: Path

    @property
    def pid_file(self) -> Path:
        return self.directory / "pid"

    @property
    def log_file(self) -> Path:
        return self.directory / "log"

    @property
    def pid(self) -> int | None:
        """The pid of the service that `start` left running, if it still does."""
        try:
            pid = int(self.pid_file.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if COMMAND in _command_of(pid) else None

    def start(self, host: str, port: int, environment: Mapping[str, str]) -> int:
        """Starts the service and returns its pid when it is ready; CannotStart if it never is."""
        if _is_taken(host, port):
            hint = f"choose another: FRESHET_PORT={port + 1}"
            raise CannotStart(f"port {port} on {host} is in use by another program; {hint}")
        self.directory.mkdir(parents=True, exist_ok=True)
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, *COMMAND.split()],
            {**environment, "FRESHET_HOST": host, "FRESHET_PORT": str(port)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(self.log_file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
        self.pid_file.write_text(f"{pid}\n")
        self._wait(pid, f"{url(host, port)}/readyz")
        return pid

    def stop(self) -> int | None:
        """Stops the service that `start` left running; its pid, or None if there is none."""
        pid = self.pid
        self.pid_file.unlink(missing_ok=True)
        if pid is None:
            return None
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while _command_of(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        return pid

    def _wait(self, pid: int, ready: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not _is_ready(ready):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.pid_file.unlink(missing_ok=True)
                code = os.waitstatus_to_exitcode(status)
                raise CannotStart(f"the service ended with code {code}:\n{self._last_lines()}")
            if time.monotonic() > deadline:
                self.stop()
                raise CannotStart(
                    f"the service was not ready after {READY_SECONDS:.0f} s:\n{self._last_lines()}"
                )
            time.sleep(0.05)

    def _last_lines(self) -> str:
        return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-15:])


def url(host: str, port: int) -> str:
    """Where a client on this machine reaches a service that listens on `host`:`port`."""
    return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"


def _command_of(pid: int) -> str:
    """The command line of a live process, or an empty string."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return ""
    answer = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()


def _is_taken(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def _is_ready(ready: str) -> bool:
    try:
        with urllib.request.urlopen(ready, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False
