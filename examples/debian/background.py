"""The service in the background: started, found again and stopped by a pid file.

`start` gives the service the environment of the caller, waits until it is ready and
leaves it running when the caller ends. `stop` asks the process of the pid file to end
(SIGTERM) and waits for it; a pid that now belongs to some other program is left alone.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN_DIRECTORY = ROOT / "build" / "demo"
PID_FILE = RUN_DIRECTORY / "pid"
LOG_FILE = RUN_DIRECTORY / "log"
COMMAND = "-m service"
READY_SECONDS = 300.0
STOP_SECONDS = 60.0


class CannotStart(Exception):
    """Says why the service did not start, and what to do about it."""


def start(host: str, port: int, environment: Mapping[str, str]) -> int:
    """Starts the service and returns its pid when it is ready; CannotStart if it never is."""
    if _is_taken(host, port):
        hint = f"choose another: FRESHET_PORT={port + 1} make demo"
        raise CannotStart(f"port {port} on {host} is in use by another program; {hint}")
    RUN_DIRECTORY.mkdir(parents=True, exist_ok=True)
    with LOG_FILE.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *COMMAND.split()],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    PID_FILE.write_text(f"{process.pid}\n")
    deadline = time.monotonic() + READY_SECONDS
    while not _is_ready(f"http://{host}:{port}/readyz"):
        if process.poll() is not None:
            PID_FILE.unlink(missing_ok=True)
            raise CannotStart(f"the service ended with code {process.returncode}:\n{_last_lines(LOG_FILE)}")
        if time.monotonic() > deadline:
            stop()
            raise CannotStart(
                f"the service was not ready after {READY_SECONDS:.0f} s:\n{_last_lines(LOG_FILE)}"
            )
        time.sleep(0.1)
    return process.pid


def stop() -> int | None:
    """Stops the service that `start` left running; its pid, or None if there is none."""
    pid = running()
    PID_FILE.unlink(missing_ok=True)
    if pid is None:
        return None
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while _command_of(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    return pid


def running() -> int | None:
    """The pid of the service that `start` left running, if it still does."""
    try:
        pid = int(PID_FILE.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return pid if COMMAND in _command_of(pid) else None


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


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _last_lines(path: Path, count: int = 15) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-count:])


def main() -> None:
    pid = stop()
    print("nothing to stop" if pid is None else f"stopped the service, pid {pid}")


if __name__ == "__main__":
    main()
