"""Services that share a catalog in PostgreSQL and a state directory: one leads, the others wait."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import httpx
import psycopg

from freshet import Connection
from tests.ports import free_port
from tests.service.client import Process
from tests.service.door import Door
from tests.service.waiting import wait_until

SILENCE = os.environ.get("FRESHET_LEADER_MILLISECONDS", "6000")
"""Milliseconds after which a silent leader is deposed. The default is too few for the busiest machine."""


class Instances:
    """Two services with the same `environment`, each on a port of its own. `door` has both addresses and the
    key of an admin."""

    def __init__(self, place: Path, url: str, environment: Mapping[str, str]) -> None:
        self._place = place
        self._environment = {
            "FRESHET_DATABASE_URL": url,
            "FRESHET_STATE": str(place / "state"),
            "FRESHET_STANDBY": "yes",
            "FRESHET_LEADER_MILLISECONDS": SILENCE,
            "PYTHONFAULTHANDLER": "1",
            **environment,
        }
        self._ports = [free_port() for _ in range(2)]
        self._postgres_ports = [free_port() for _ in range(2)]
        self.processes = [self._started(0)]
        self.processes[0].wait_ready()
        self.processes.append(self._started(1))
        self.processes[1].wait_ready()
        self.leading = 0
        self.door = Door.guarded([process.url for process in self.processes])
        wait_until(lambda: self.standby.http.get("/v1/status").status_code == 401)

    def _started(self, number: int) -> Process:
        environment = {
            **self._environment,
            "FRESHET_PORT": str(self._ports[number]),
            "FRESHET_POSTGRES_PORT": str(self._postgres_ports[number]),
        }
        return Process(self._place / f"data-{number}", environment)

    @property
    def leader(self) -> Process:
        return self.processes[self.leading]

    @property
    def standby(self) -> Process:
        return self.processes[1 - self.leading]

    def of(self, process: Process) -> Connection:
        """A connection to one of the services alone."""
        return self.door.at(process.url).connect()

    def of_postgres(self, process: Process) -> psycopg.Connection:
        """A connection to one of the services alone, over PostgreSQL's protocol."""
        port = self._postgres_ports[self.processes.index(process)]
        given = {"user": "boss", "password": self.door.key, "dbname": "freshet", "connect_timeout": 240}
        return psycopg.connect(host="127.0.0.1", port=port, autocommit=True, **given)

    def kill_leader(self) -> None:
        self.leader.kill()

    def pause_leader(self) -> None:
        os.kill(self.leader.pid, signal.SIGSTOP)

    def wake_last_leader(self) -> None:
        os.kill(self.standby.pid, signal.SIGCONT)

    def switch(self) -> None:
        """Waits until the standby leads."""
        self.leading = 1 - self.leading
        with httpx.Client(timeout=240) as http:
            wait_until(lambda: leads(self.leader, http))

    def start_standby(self) -> None:
        """Starts the process again that has led last."""
        self.standby.kill()  # it has ended, or does so now
        self.processes[1 - self.leading] = self._started(1 - self.leading)
        self.standby.wait_ready()

    def wait_followed(self) -> None:
        """Waits until the standby has followed all epochs and definitions of a leader that is at rest."""
        with self.of(self.leader) as leader, self.of(self.standby) as standby:

            def newest(of: Connection) -> list[object]:
                found = of.status()
                return [found[name] for name in ("epoch", "tables", "views")]

            wait_until(lambda: newest(standby) == newest(leader))

    def close(self) -> None:
        for process in self.processes:
            process.kill()


def leads(process: Process, http: httpx.Client) -> bool:
    try:
        answer = http.get(f"{process.url}/readyz", params={"role": "leader"})
    except httpx.TransportError:
        return False
    return answer.status_code == 200
