"""A service in a process of its own that the client's tests share, and connections to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

import freshet
from freshet import Connection
from tests.service.client import Process

_NUMBERS = count()


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    process = Process(tmp_path_factory.mktemp("service"), {})
    try:
        process.wait_ready()
        yield process
    finally:
        process.kill()


@pytest.fixture
def db(service: Process) -> Iterator[Connection]:
    with freshet.connect(service.url) as connection:
        yield connection


@pytest.fixture(scope="package")
def embedded() -> Iterator[Connection]:
    with freshet.connect(embedded=True) as connection:
        yield connection


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"t{next(_NUMBERS)}"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts services over one data directory, on a port if it is told, and kills them at the end."""
    started: list[Process] = []

    def start(port: int | None = None) -> Process:
        environment = {"PYTHONFAULTHANDLER": "1"} | ({} if port is None else {"FRESHET_PORT": str(port)})
        process = Process(tmp_path / "data", environment)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
