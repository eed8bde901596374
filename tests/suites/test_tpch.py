"""The 22 queries of TPC-H as views, registered before any data, against DuckDB after every change.

FRESHET_TPCH_SCALE and FRESHET_TPCH_ROUNDS make it larger.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from bench.suite.maintained import Maintained
from bench.suite.tables import Change
from bench.suite.tpch.queries import QUERIES
from bench.suite.tpch.schema import RELATIONS, TABLES
from bench.suite.tpch.tables import Business, generate
from tests.seeds import SEED

SCALE = float(os.environ.get("FRESHET_TPCH_SCALE", "0.005"))
ROUNDS = int(os.environ.get("FRESHET_TPCH_ROUNDS", "5"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tpch")
    generate(SCALE, directory)
    return directory


def drawn(rng: random.Random, tables: Business) -> Change:
    """A random change: one of the refresh functions, or a worse one."""
    name = rng.choice(tuple(TABLES))
    count = rng.choice((1, 3, 20))
    kind = rng.choice((tables.place, tables.cancel, None, None, None))
    if kind is not None:
        return kind(count)
    few = min(count, 2) if name in ("region", "nation") else count
    return tables.remove(name, few) if rng.random() < 0.3 else tables.alter(name, few)


def test_every_view_at_every_epoch(files: Path) -> None:
    rng = random.Random(f"rounds {SEED}")
    tables, maintained = Business(SEED), Maintained(RELATIONS, QUERIES)
    maintained.compare(tables)
    maintained.advance(tables.load(files))
    maintained.compare(tables)
    for _ in range(ROUNDS):
        maintained.advance(drawn(rng, tables))
        maintained.compare(tables)
    for name in TABLES:
        maintained.advance(tables.remove(name, 10**9))
        maintained.compare(tables)
    maintained.advance(tables.load(files))
    maintained.compare(tables)
    tables.close()


def test_every_table_changes_by_itself(files: Path) -> None:
    tables, maintained = Business(seed=SEED), Maintained(RELATIONS, QUERIES)
    maintained.advance(tables.load(files))
    for name in TABLES:
        for change in (tables.alter, tables.remove):
            maintained.advance(change(name, 5))
        maintained.compare(tables)
    tables.close()
