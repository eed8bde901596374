"""Names of internal views in the engine: indexes of tables, which no client sees."""

from __future__ import annotations

_INDEX = "\0"
"""Begins the name of an index in the engine, and divides it. No relation has such a name."""


def index_name(table: str, what: str) -> str:
    """The name of one of a table's indexes in the engine."""
    return f"{_INDEX}{table}{_INDEX}{what}"


def table_of_index(name: str) -> str | None:
    """The table of the index that the engine knows by this name; None if it is no index."""
    return name.split(_INDEX)[1] if name.startswith(_INDEX) else None
