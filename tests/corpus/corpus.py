"""The queries of `queries.sql`, by section, and the tables that they read: `none` is always empty."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.planner.samples import SCHEMAS
from tests.property.schemas import Table

FILE = Path(__file__).with_name("queries.sql")
KEYS = {"k": (0,)}
TABLES = tuple(Table(name, SCHEMAS[name], KEYS.get(name)) for name in ("t", "u", "k", "days", "edges"))
EMPTY = Table("none", SCHEMAS["none"])


@cache
def sections() -> dict[str, list[str]]:
    """The queries of each section, in the order of the file."""
    found: dict[str, list[str]] = {}
    for line in FILE.read_text().splitlines():
        if line.startswith("-- # "):
            queries = found.setdefault(line.removeprefix("-- # "), [])
        elif line.endswith(";"):
            queries.append(line.removesuffix(";"))
    return found


def queries() -> list[str]:
    return [sql for section in sections().values() for sql in section]


def queries_without_windows() -> list[str]:
    """Those that the oracle can answer, which runs a plan by itself and knows no window functions."""
    return [sql for sql in queries() if " OVER (" not in sql]
