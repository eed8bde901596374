"""A DuckDB database in memory that can open nothing, and whose configuration is locked.

It has no files, no network, no extensions but the built-in ones, and no access to the program's variables.
Its time zone is UTC. Callers add further settings.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

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
