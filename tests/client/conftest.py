"""A service in a process of its own that the client's tests share, and connections to it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

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


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"t{next(_NUMBERS)}"
