"""`python -m bench churn`: a service under a steady load for a long time, and what it holds meanwhile.

Writers post single rows at a fixed pace, a client makes and drops views, and feeds follow a view that changes
with every post. At every interval a line of CSV has the latency of the posts, the memory that is in no file,
the state's files, the size of the catalog and the number of open files. Whatever grows without end shows.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import astuple, dataclass, fields
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench import measure
from bench.data import SEED
from bench.http import JSON, Refused, call, service

NAME = "churn"
POSTS = 500
"""Posts a second, of all writers together."""
WRITERS = 16
FEEDS = 20
ROWS, GROUPS = 20_000, 200
SETTINGS = {"FRESHET_HISTORY_SECONDS": "60", "FRESHET_CHECKPOINT_BYTES": str(8 << 20)}
_TABLE = "CREATE TABLE items (id BIGINT PRIMARY KEY, part BIGINT NOT NULL, value BIGINT NOT NULL, note TEXT)"
_VIEWS = {
    "totals": "SELECT part, count(*) AS n, sum(value) AS total FROM items GROUP BY part",
    "high": "SELECT id, value, note FROM items WHERE value > 900",
}
_PASSING = (
    "SELECT part, max(value) AS most FROM items GROUP BY part",
    "SELECT a.id, b.id AS other FROM items AS a JOIN items AS b ON b.id = a.id + 1 WHERE a.value < 10",
    "SELECT id, note FROM items ORDER BY value DESC, id LIMIT 20",
)


@dataclass(frozen=True)
class Sample:
    """An interval that ended `seconds` after the start: its posts, their milliseconds, and what there was."""

    seconds: float
    posts: int
    median: float
    p99: float
    most: float
    anonymous: int
    files: int
    file_bytes: int
    catalog_bytes: int
    descriptors: int
    views: int
    events: int
    failures: int


class Load:
    """The clients of one service. Each runs in a thread until `ended` is set."""

    def __init__(self, port: int) -> None:
        self.ended = threading.Event()
        self.views = 0
        self.events = 0
        self.failures = 0
        self._port = port
        self._waits: list[float] = []
        """Milliseconds of the posts since they were last taken."""
        self._threads = [self._thread(self._write, number) for number in range(WRITERS)]
        self._threads += [self._thread(self._define)]
        self._threads += [self._thread(self._follow) for _ in range(FEEDS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join()

    def taken(self) -> list[float]:
        """The milliseconds of the posts since the last call."""
        waits, self._waits = self._waits, []
        return waits

    def _thread(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        return threading.Thread(target=work, args=arguments)

    def _write(self, number: int) -> None:
        """Posts are due at fixed moments: one that comes late has waited since it was due."""
        chance = random.Random(f"{SEED} {number}")
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        due = time.monotonic()
        while not self.ended.wait(max(0.0, due - time.monotonic())):
            id, value = chance.randrange(ROWS), chance.randrange(1000)
            body = f'[{{"upsert":{{"id":{id},"part":{id % GROUPS},"value":{value},"note":"note {value}"}}}}]'
            connection.request("POST", "/v1/tables/items/deltas", body, {"Content-Type": JSON})
            answer = connection.getresponse()
            answer.read()
            self.failures += answer.status != 200
            self._waits.append((time.monotonic() - due) * 1000)
            due += WRITERS / POSTS
        connection.close()

    def _define(self) -> None:
        """Makes a view every second, and drops it a second later."""
        for number in itertools.count():
            name = f"passing{number}"
            try:
                call(self._port, "POST", "/v1/views", {"name": name, "sql": _PASSING[number % len(_PASSING)]})
                stopped = self.ended.wait(1.0)
                call(self._port, "DELETE", f"/v1/views/{name}")
                self.views += 1
            except (Refused, OSError):
                self.failures += 1
                stopped = self.ended.wait(1.0)
            if stopped:
                return

    def _follow(self) -> None:
        request = (
            b"GET /v1/views/totals/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", self._port), timeout=1.0) as feed:
            feed.sendall(request)
            while not self.ended.is_set():
                with suppress(TimeoutError):
                    received = feed.recv(1 << 16)
                    self.events += received.count(b"event: changes")


def run(minutes: float, every: float, write: Callable[[tuple], object]) -> None:
    """Put a service under load for so many minutes, and write a header and a line every so many seconds."""
    with (
        TemporaryDirectory(prefix="freshet-bench-") as directory,
        service(Path(directory), SETTINGS) as (port, process),
    ):
        call(port, "POST", "/v1/tables", {"sql": _TABLE})
        for name, sql in _VIEWS.items():
            call(port, "POST", "/v1/views", {"name": name, "sql": sql})
        write(tuple(field.name for field in fields(Sample)))
        load = Load(port)
        load.start()
        try:
            start = time.monotonic()
            while time.monotonic() - start < minutes * 60:
                time.sleep(every)
                write(astuple(_sample(load, Path(directory), process, time.monotonic() - start)))
        finally:
            load.stop()


def _sample(load: Load, data: Path, process: int, seconds: float) -> Sample:
    waits = np.array(load.taken() or [0.0])
    files = [size for path in (data / "state").iterdir() if (size := _size(path))]
    return Sample(
        round(seconds, 1),
        len(waits),
        round(float(np.median(waits)), 2),
        round(float(np.quantile(waits, 0.99)), 2),
        round(float(waits.max()), 2),
        measure.anonymous(process),
        len(files),
        sum(files),
        sum(_size(path) for path in data.glob("freshet.db*")),
        len(list(Path(f"/proc/{process}/fd").iterdir())),
        load.views,
        load.events,
        load.failures,
    )


def _size(path: Path) -> int:
    """The bytes of a file; 0 if it has gone meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog=f"python -m bench {NAME}", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds from line to line")
    parser.add_argument("--output", type=Path, help="the file of the lines; without it, they are printed")
    options = parser.parse_args(arguments)
    with options.output.open("w", newline="") if options.output else nullcontext() as file:
        lines = csv.writer(file or sys.stdout, lineterminator="\n")

        def write(line: tuple) -> None:
            lines.writerow(line)
            (file or sys.stdout).flush()

        run(options.minutes, options.every, write)


def read(lines: Iterable[str]) -> list[Sample]:
    """The samples of the lines that `main` wrote."""
    kinds: list[Callable[[str], Any]] = [int if field.type == "int" else float for field in fields(Sample)]
    _, *samples = csv.reader(lines)
    return [Sample(*(kind(cell) for kind, cell in zip(kinds, line, strict=True))) for line in samples]
