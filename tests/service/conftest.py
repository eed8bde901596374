"""A service in this process, and one in a process of its own, each over a fresh data directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from engine.spark.sessions import Sessions
from service.settings.settings import Settings
from tests.postgres.server import Server
from tests.service.client import Client, Process
from tests.service.jobs import ROWS


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(settings) as client:
        yield client


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts processes over one data directory, and kills those that still run at the end."""
    started: list[Process] = []

    def start(*, fresh: bool = False, **environment: str) -> Process:
        process = Process(tmp_path / "data", environment, fresh=fresh)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()


@pytest.fixture
def shared_catalog(postgres: Server) -> str:
    """The URL of an empty database."""
    return postgres.new_database()


@pytest.fixture
def bulk(settings: Settings, sessions: Sessions) -> Iterator[Client]:
    """A service that shares the Spark session of all tests."""
    with Client(settings, sessions) as client:
        yield client


@pytest.fixture
def data(settings: Settings) -> Path:
    """The directory that clients may load from."""
    settings.data.mkdir(exist_ok=True)
    return settings.data


@pytest.fixture
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with a table `rows` of every type."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE rows AS {ROWS}")
        yield connection
