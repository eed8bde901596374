"""The page about the system catalogs lists the relations that have rows, and all functions."""

from __future__ import annotations

import re
from pathlib import Path

from planner.catalog_queries.backend_signals import SIGNALS
from planner.catalog_queries.catalog_functions import FUNCTIONS, ROWS
from service.pgcatalog.system_tables import FILLED

_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "postgres-catalog.md").read_text()


def test_relations_with_rows_are_listed() -> None:
    table = _PAGE.split("<!-- relations -->")[1].split("`pg_proc` has")[0]
    listed = set()
    for schema, names in re.findall(r"\| `(\w+)` \| (.+) \|", table):
        listed |= {f"{schema}.{name}" for name in re.findall(r"`(\w+)`", names)}
    assert listed == set(FILLED)


def test_functions_are_listed() -> None:
    listed = re.findall(r"`(\w+)`", _PAGE.split("<!-- functions -->")[1].split("Casts to")[0])
    assert sorted(listed) == sorted({*FUNCTIONS, *ROWS, *SIGNALS})
