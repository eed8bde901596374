"""A PostgreSQL door, and connections to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench.wire.own_postgres import programs
from service.settings.settings import Settings
from tests import clients
from tests.pgwire.door import PostgresDoor
from tests.postgres.server import Server, running


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresDoor]:
    """One service for the tests of a module, which use tables of their own."""
    settings = Settings(data=Path(tmp_path_factory.mktemp("postgres")) / "data", query_workers=2)
    with PostgresDoor(settings) as door:
        yield door


@pytest.fixture
def connection(door: PostgresDoor) -> Iterator[psycopg.Connection]:
    with door.connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL as the referee."""
    where = programs()
    if where is None:
        clients.missing("initdb", "on Debian it is in the package postgresql")
    with running(where) as server:
        yield server
