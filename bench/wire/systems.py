"""The two servers: a service with its door open, and PostgreSQL 15, each with a new directory for its data.

PostgreSQL has its default settings, fsync too, but for the number of connections.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.duck import WrongAnswer
from bench.http import service
from bench.measure import busy
from bench.wire.generator import WireClient

_ACCOUNTS = ("postgres", "nobody")
"""initdb does not run as root, so root lends it one of these."""
_SECONDS = 60.0
FRESHET, POSTGRES = "Freshet", "PostgreSQL"


@dataclass(frozen=True)
class System:
    """A running server that listens at `port`; `process` is the first of its processes."""

    name: str
    port: int
    process: int

    @property
    def processor(self) -> float:
        """The processor seconds of the server's processes, those that have ended too."""
        living = sum(map(_busy, [self.process, *_children(self.process)]))
        return living + _ended(self.process)


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _busy(process: int) -> float:
    """The processor seconds of a process; 0 if it has just ended, because then its parent has them."""
    try:
        return busy(process)
    except FileNotFoundError:
        return 0.0


def _ended(process: int) -> float:
    """The processor seconds of children that have ended."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[13:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def freshet(directory: Path) -> Iterator[System]:
    port = _free_port()
    settings = {"FRESHET_POSTGRES_PORT": str(port), "FRESHET_POSTGRES_CONNECTIONS": "200"}
    with service(directory, settings) as (_, process):
        yield System(FRESHET, port, process)


def programs() -> Path | None:
    """The directory of PostgreSQL's programs; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    places = Path("/usr/lib/postgresql").glob("*/bin")
    return max(places, default=None, key=lambda each: int(each.parent.name))


def version(where: Path) -> str:
    """As in `PostgreSQL 15.14`."""
    said = subprocess.run([where / "postgres", "--version"], check=True, capture_output=True, text=True)
    return f"{POSTGRES} {said.stdout.split()[2]}"


@contextmanager
def postgres(where: Path) -> Iterator[System]:
    directory = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    account, port = _account(), _free_port()
    options = ["listen_addresses=127.0.0.1", f"port={port}", "max_connections=200", "timezone=UTC"]
    try:
        if account:
            shutil.chown(directory, account["user"], account["group"])
        data = directory / "data"
        initdb: list[str | Path] = [
            where / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=directory, **account)
        given = [part for option in options for part in ("-c", option)]
        with (directory / "log").open("wb") as log:
            command: list[str | Path] = [where / "postgres", "-D", data, "-k", directory, *given]
            server: subprocess.Popen[bytes] = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=directory, **account
            )
        try:
            _await_ready(port, server)
            yield System(POSTGRES, port, server.pid)
        finally:
            server.send_signal(signal.SIGINT)  # it ends all connections, and then itself
            server.wait()
    finally:
        shutil.rmtree(directory)


def _account() -> dict[str, Any]:
    """What a subprocess is started with: nothing, or an account where we are root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(known[name] for name in _ACCOUNTS if name in known)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _await_ready(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            WireClient(port).socket.close()
            return
        except (OSError, WrongAnswer):
            time.sleep(0.05)
    raise RuntimeError("PostgreSQL did not start")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
