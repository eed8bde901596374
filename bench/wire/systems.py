"""The two servers: a service with its door open, and PostgreSQL 15, each with a new directory for its data.

PostgreSQL has its default settings, fsync too, but for the number of connections.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.duck import WrongAnswer
from bench.http import service
from bench.measure import busy
from bench.wire.generator import WireClient
from bench.wire.own_postgres import own_postgres

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


def version(where: Path) -> str:
    """As in `PostgreSQL 15.14`."""
    said = subprocess.run([where / "postgres", "--version"], check=True, capture_output=True, text=True)
    return f"{POSTGRES} {said.stdout.split()[2]}"


@contextmanager
def postgres(where: Path) -> Iterator[System]:
    port = _free_port()
    options = ("listen_addresses=127.0.0.1", f"port={port}", "max_connections=200", "timezone=UTC")
    with own_postgres(where, options, lambda _: _answers(port)) as (_, process):
        yield System(POSTGRES, port, process)


def _answers(port: int) -> bool:
    try:
        WireClient(port).socket.close()
    except (OSError, WrongAnswer):
        return False
    return True


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
