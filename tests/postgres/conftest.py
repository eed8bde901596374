"""One PostgreSQL for all tests of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.wire.own_postgres import programs
from tests import clients
from tests.postgres.server import Server, running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    where = programs()
    if where is None:
        clients.missing("initdb", "on Debian it is in the package postgresql")
    with running(where) as server:
        yield server
