"""A PostgreSQL of our own, for tests: reached by a Unix socket, and without fsync."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench.wire.own_postgres import own_postgres

_OPTIONS = ("listen_addresses=", "fsync=off", "timezone=UTC", "max_connections=20")


@dataclass(frozen=True)
class Server:
    """A running server: `socket` is the directory of its socket."""

    socket: Path

    def connect(self, database: str = "postgres", **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        options = {"host": str(self.socket), "user": "postgres", "dbname": database, **options}
        return psycopg.connect(autocommit=True, **options)

    def new_database(self) -> str:
        """Makes an empty database, and gives its URL."""
        name = f"catalog_{time.time_ns()}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, database: str) -> str:
        """For SQLAlchemy."""
        return f"postgresql+psycopg://postgres@/{database}?host={self.socket}"


@contextmanager
def running(where: Path) -> Iterator[Server]:
    """A new server with the programs of `where`."""
    with own_postgres(where, _OPTIONS, _answers) as (socket, _):
        yield Server(socket)


def _answers(socket: Path) -> bool:
    try:
        Server(socket).connect().close()
    except psycopg.OperationalError:
        return False
    return True
