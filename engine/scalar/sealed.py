"""A DuckDB database in memory that can open nothing, and whose configuration is locked.

It has no files, no network, no extensions but the built-in ones, and no access to the program's variables.
Its time zone is UTC. Callers add further settings.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb

from engine.patience import Patience

_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unredacted_secrets": False,
    "temp_directory": "",
}


def sealed(
    config: dict[str, str | bool | int | float | list[str]], statements: Sequence[str] = ()
) -> duckdb.DuckDBPyConnection:
    """The database with additional settings, locked after running `statements`."""
    connection = duckdb.connect(":memory:", config={**_CLOSED, **config})
    for statement in ("SET GLOBAL TimeZone = 'UTC'", *statements, "SET GLOBAL lock_configuration = true"):
        connection.execute(statement).fetchall()
    return connection


@contextmanager
def interrupted_after(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what the connection still runs after `seconds`, until the context ends.

    DuckDB reacts between two chunks of rows, not inside a function. A stall is not the query's time.
    """
    done = threading.Event()

    def interrupt() -> None:
        if Patience(seconds).wait(done.wait):
            return
        while not done.wait(0.01):  # an interrupt between two steps is lost
            connection.interrupt()

    clock = threading.Thread(target=interrupt)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()
