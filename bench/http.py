"""The service over HTTP: bulk NDJSON, then single rows, into a table under the views of W1.

The service runs as a process of its own on a loopback port with a new data directory, so every answered
change is in its log. A POST is answered once its change is durable and visible; at the end the views are read
and compared with what was sent.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from bench import measure
from bench.client import drive, post
from bench.data import SEED, random_words
from bench.duck import WrongAnswer
from bench.measure import Timing
from bench.workloads.degrees import VIEWS

NDJSON = "application/x-ndjson"
JSON = "application/json"
DELTAS = "/v1/tables/edges/deltas"
START_SECONDS = 120.0
STOP_SECONDS = 30.0


@dataclass(frozen=True)
class Load:
    """`count` POSTs of `batch` new rows each by `clients` clients, and the performance goal."""

    title: str
    batch: int
    count: int
    clients: int
    content_type: str
    goal: str


FULL = (
    Load("HTTP bulk, 1 client", 100_000, 10, 1, NDJSON, "100,000 rows/s"),
    Load("HTTP single row, 1 client", 1, 1_000, 1, JSON, "median 1 ms"),
    Load("HTTP single row, 32 clients", 1, 20_000, 32, JSON, "8,000 rows/s"),
    Load("HTTP single row, 256 clients", 1, 20_000, 256, JSON, "8,000 rows/s"),
)
QUICK = (
    Load("HTTP bulk, 1 client", 100, 5, 1, NDJSON, "100,000 rows/s"),
    Load("HTTP single row, 1 client", 1, 20, 1, JSON, "median 1 ms"),
    Load("HTTP single row, 32 clients", 1, 200, 32, JSON, "8,000 rows/s"),
    Load("HTTP single row, 256 clients", 1, 512, 256, JSON, "8,000 rows/s"),
)
NODES = 100_000


@dataclass(frozen=True)
class Answered:
    """The figures of a load: `elapsed` seconds from first request to last answer, and the service's `peak`
    bytes."""

    title: str
    batch: int
    timing: Timing
    elapsed: float
    peak: int
    goal: str


def run(loads: tuple[Load, ...]) -> list[Answered]:
    """Start a service, send it the loads in order, check its views, stop it. Raises WrongAnswer."""
    rng = np.random.default_rng(SEED)
    sent = []
    answered = []
    with (
        TemporaryDirectory(prefix="freshet-bench-") as directory,
        service(Path(directory)) as (port, process),
    ):
        _create(port)
        baseline = measure.resident(process)
        for load in loads:
            edges = random_words(rng, ((0, NODES), (0, NODES)), load.batch * load.count)
            requests = _requests(load, edges)
            measure.reset_peak(process)
            busy, start = measure.busy(process), time.perf_counter()
            durations = drive(("127.0.0.1", port), requests, load.clients)
            elapsed = time.perf_counter() - start
            timing = Timing.of(durations, measure.busy(process) - busy)
            held = measure.peak(process) - baseline
            answered.append(Answered(load.title, load.batch, timing, elapsed, held, load.goal))
            sent.append(edges)
        _compare(port, np.concatenate(sent, axis=1))
    return answered


@contextmanager
def service(directory: Path, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[int, int]]:
    """A running service with its state in `directory` and `more` settings; yields its port and process id."""
    port = _free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FRESHET_")}
    settings = {
        "FRESHET_DATA": str(directory),
        "FRESHET_PORT": str(port),
        "FRESHET_POSTGRES_PORT": "0",
        "FRESHET_HOST": "127.0.0.1",
    }
    settings |= more
    with (directory / "output").open("wb") as output:
        process = _start(environment | settings, output)
        try:
            _await_ready(process, port, directory / "output")
            yield port, process.pid
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(environment: Mapping[str, str], output: BinaryIO) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "service"]
    return subprocess.Popen(command, env=environment, stdout=output, stderr=output)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _await_ready(process: subprocess.Popen[bytes], port: int, output: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            call(port, "GET", "/readyz")
            return
        except (OSError, Refused):
            time.sleep(0.1)
    raise Refused(f"the service did not become ready:\n{output.read_text(errors='replace')}")


class Refused(Exception):
    """The service answers with an error, or does not start."""


def call(port: int, method: str, path: str, body: object = None, timeout: float = 60) -> bytes:
    """The body of the answer to a body in JSON. Raises Refused if it is an error."""
    content = None if body is None else json.dumps(body).encode()
    return sent(port, method, path, content, JSON, NDJSON, timeout)


def sent(
    port: int, method: str, path: str, content: bytes | None, type: str, accept: str, timeout: float = 60
) -> bytes:
    """The body of the answer to any body, in the content type `accept`. Raises Refused if it is an error."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, content, {"Content-Type": type, "Accept": accept})
        response = connection.getresponse()
        answer = response.read()
    finally:
        connection.close()
    if response.status >= 300:
        raise Refused(f"{method} {path} answers {response.status}: {answer.decode(errors='replace')}")
    return answer


def _create(port: int) -> None:
    columns = [{"name": name, "type": "BIGINT", "nullable": False} for name in ("src", "dst")]
    call(port, "POST", "/v1/tables", {"name": "edges", "columns": columns})
    for view in VIEWS:
        call(port, "POST", "/v1/views", {"name": view.name, "sql": view.sql})


def _requests(load: Load, edges: np.ndarray) -> list[bytes]:
    changes = [f'{{"insert":{{"src":{src},"dst":{dst}}}}}' for src, dst in edges.T.tolist()]
    if load.content_type == JSON:
        return [post(DELTAS, f"[{change}]".encode(), JSON) for change in changes]
    batches = (changes[at : at + load.batch] for at in range(0, len(changes), load.batch))
    return [post(DELTAS, "\n".join(batch).encode(), NDJSON) for batch in batches]


def _compare(port: int, edges: np.ndarray) -> None:
    """Check that the histogram of degrees is that of the edges that were sent."""
    lines = call(port, "GET", "/v1/views/histogram/rows").splitlines()
    answer = {row["degree"]: row["nodes"] for row in map(json.loads, lines)}
    degrees = np.unique(edges[0], return_counts=True)[1]
    values, counts = np.unique(degrees, return_counts=True)
    expected = dict(zip(values.tolist(), counts.tolist(), strict=True))
    if answer != expected:
        raise WrongAnswer(f"the service's histogram is {answer}; the edges that were sent have {expected}")
