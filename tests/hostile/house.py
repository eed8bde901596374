"""The service under attack: started, watched, started again when it is gone.

A guard ends the process when its memory is over `most`, so that an attack that succeeds does not take the
machine with it. A service that does not answer any more is ended too. It is started again over the same
directory, for what an attack has left in the log is an attack as well; and over an empty one if that fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
from contextlib import suppress
from pathlib import Path

import httpx

from bench.measure import anonymous
from tests.hostile import canary
from tests.hostile.door import Door
from tests.hostile.watcher import Watcher
from tests.service.client import Process

SETTINGS = {
    "FRESHET_HEAD_SECONDS": "3",
    "FRESHET_PAUSE_SECONDS": "3",
    "FRESHET_BODY_SECONDS": "10",
    "FRESHET_SPARK": "never",
    "FRESHET_PLAN_SECONDS": "8",
    "FRESHET_QUERY_SECONDS": "8",
    "FRESHET_QUERIES_WAITING": "4",
    "FRESHET_BUILD_SECONDS": "8",
    "FRESHET_LOG_LEVEL": "warning",
}
BIG = 100_000
SETUP = (
    *canary.SETUP,
    "CREATE TABLE h_one (n BIGINT)",
    "INSERT INTO h_one VALUES (1)",
    "CREATE TABLE h_thousand (a BIGINT)",
    "INSERT INTO h_thousand SELECT * FROM generate_series(1, 1000)",
    "CREATE TABLE h_big (a BIGINT, b TEXT)",
    f"INSERT INTO h_big SELECT i, 'text ' || i % 5000 FROM generate_series(1, {BIG}) AS s (i)",
)
BASE = canary.KEPT | {"h_one", "h_thousand", "h_big"}
"""Tables and views that attacks find, and leave as they are."""
_START = 240.0
"""Seconds that a start may take."""


class House:
    """One service at a time, with its watcher."""

    def __init__(self, directory: Path, patience: float, most: int) -> None:
        """`patience`: the seconds after which a service that answers nothing is taken for dead."""
        self._directory = directory
        self._patience = patience
        self._most = most
        self._number = 0
        self._ended = threading.Event()
        self.over = False
        self.process: Process | None = None
        self.watcher: Watcher | None = None
        self._guard = threading.Thread(target=self._keep, daemon=True)
        self._guard.start()

    @property
    def door(self) -> Door:
        assert self.process is not None
        return Door(self.process.port, self._patience)

    @property
    def _data(self) -> Path:
        return self._directory / f"data{self._number}"

    def open(self) -> None:
        """Starts a service over an empty directory."""
        self._number += 1
        self._start()
        self.door.prepare(*SETUP)
        self.watcher = Watcher(self.door.port)

    def again(self) -> str:
        """Ends the service and starts it again. Returns how that went."""
        self._leave()
        try:
            self._start()
        except RuntimeError as error:
            self._leave()
            shutil.rmtree(self._data)
            self.open()
            return f"it cannot start over its own directory: {str(error)[-300:]}"
        self.watcher = Watcher(self.door.port)
        return ""

    def close(self) -> None:
        self._ended.set()
        self._guard.join()
        self._leave()

    def memory(self) -> int:
        """Bytes of memory that are in no file; 0 if the process is gone."""
        with suppress(OSError):
            if self.process is not None:
                return anonymous(self.process.pid)
        return 0

    def is_alive(self, since: int) -> bool:
        """Whether the service answers, and takes a change that was due after the moment."""
        assert self.process is not None and self.watcher is not None
        try:
            with self._client() as http:
                healthy = http.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False
        return healthy and self.watcher.answered_after(since, self._patience)

    def tidy(self) -> str:
        """Drops what an attack has made. Returns what cannot be dropped."""
        with self._client() as http:
            for kind in ("views", "tables"):
                while found := self._strange(http, kind):
                    statuses = {name: http.delete(f"/v1/{kind}/{name}").status_code for name in found}
                    if 204 not in statuses.values():
                        return f"{kind} that cannot be dropped: {statuses}"
        return ""

    def _client(self) -> httpx.Client:
        url = self.door.url
        return httpx.Client(base_url=url, timeout=self._patience, verify=False, trust_env=False)

    def faults(self) -> int:
        """Tracebacks in the log of the service."""
        return 0 if self.process is None else self.process.output().count("Traceback (most recent call last)")

    def _strange(self, http: httpx.Client, kind: str) -> list[str]:
        found = http.get(f"/v1/{kind}").json()[kind]
        return [relation["name"] for relation in found if relation["name"] not in BASE]

    def _start(self) -> None:
        self.over = False
        self.process = Process(self._data, SETTINGS, fresh=True)
        self.process.wait_ready(_START)

    def _leave(self) -> None:
        if self.watcher is not None:
            self.watcher.stop()
            self.watcher = None
        if self.process is not None:
            self.process.kill()

    def _keep(self) -> None:
        while not self._ended.wait(0.05):
            if self.memory() > self._most and self.process is not None:
                self.over = True
                os.kill(self.process.pid, signal.SIGKILL)
