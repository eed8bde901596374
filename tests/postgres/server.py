"""A PostgreSQL of our own: made in a temporary directory, reached by a Unix socket, stopped and deleted.

Its programs are the machine's (Debian's package `postgresql`); initdb does not run as root, so root lends it
an account that has no rights.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

_ACCOUNTS = ("postgres", "nobody")
_SECONDS = 240  # that a start may take
_OPTIONS = ("listen_addresses=", "fsync=off", "timezone=UTC", "max_connections=20")


@dataclass(frozen=True)
class Server:
    """A running server: `socket` is the directory of its socket."""

    socket: Path

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(host=str(self.socket), user="postgres", dbname=database, autocommit=True)

    def new_database(self) -> str:
        """Makes an empty database, and gives its URL."""
        name = f"catalog_{time.time_ns()}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, database: str) -> str:
        """For SQLAlchemy."""
        return f"postgresql+psycopg://postgres@/{database}?host={self.socket}"


def programs() -> Path | None:
    """The directory of initdb and postgres; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    return max(
        Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda each: int(each.parent.name)
    )


@contextmanager
def running(where: Path) -> Iterator[Server]:
    """A new server with the programs of `where`."""
    directory = Path(tempfile.mkdtemp(prefix="freshet-postgres-"))
    account = _account()
    try:
        if account:
            shutil.chown(directory, account["user"], account["group"])
        data = directory / "data"
        command = [
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
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=directory, **account)
        options = [part for option in _OPTIONS for part in ("-c", option)]
        with (directory / "log").open("wb") as log:
            server = subprocess.Popen(
                [where / "postgres", "-D", data, "-k", directory, *options],
                stdout=log, stderr=log, cwd=directory, **account,
            )  # fmt: skip
        try:
            yield _ready(Server(directory), server)
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


def _ready(server: Server, process: subprocess.Popen[bytes]) -> Server:
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            server.connect().close()
            return server
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((server.socket / "log").read_text()) from None
            time.sleep(0.05)
