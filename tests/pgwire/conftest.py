"""A PostgreSQL door, and connections to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor


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
