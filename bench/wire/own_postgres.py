"""A PostgreSQL of our own: made in a temporary directory, stopped and deleted.

Its programs are the machine's (Debian's package `postgresql`); initdb does not run as root, so root lends it
an account that has no rights. Benchmarks and tests start it here.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_ACCOUNTS = ("postgres", "nobody")
_OPTIONS = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
"""Those of initdb."""
_SECONDS = 240
"""Seconds that a start may take."""


def programs() -> Path | None:
    """The directory of initdb and postgres; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    places = Path("/usr/lib/postgresql").glob("*/bin")
    return max(places, default=None, key=lambda each: int(each.parent.name))


@contextmanager
def own_postgres(
    where: Path, options: Sequence[str], answers: Callable[[Path], bool]
) -> Iterator[tuple[Path, int]]:
    """A new server with the programs of `where`: the directory of its socket, and its process.

    `answers` tells, from that directory, whether the server can be spoken to. Raises RuntimeError if it does
    not start.
    """
    directory = Path(tempfile.mkdtemp(prefix="freshet-postgres-"))
    account = _account()
    try:
        if account:
            shutil.chown(directory, account["user"], account["group"])
        data = directory / "data"
        made: list[str | Path] = [where / "initdb", "-D", data, *_OPTIONS]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd=directory, **account)
        given = [part for option in options for part in ("-c", option)]
        command: list[str | Path] = [where / "postgres", "-D", data, "-k", directory, *given]
        with (directory / "log").open("wb") as log:
            server: subprocess.Popen[bytes] = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=directory, **account
            )
        try:
            _await_answer(server, directory, answers)
            yield directory, server.pid
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


def _await_answer(server: subprocess.Popen[bytes], directory: Path, answers: Callable[[Path], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not answers(directory):
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start: {(directory / 'log').read_text()}")
        time.sleep(0.05)
