"""The suites whose queries are estimated and then built, with their rows as they are before any view."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.suite.nexmark import queries as nexmark
from bench.suite.nexmark import schema as nexmark_schema
from bench.suite.nexmark.events import Events
from bench.suite.tables import Change, Tables
from bench.suite.tpch import queries as tpch
from bench.suite.tpch import schema as tpch_schema
from bench.suite.tpch.tables import Business, generate
from engine.codec.arrow import encode_arrow
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from planner.relation import Relation
from tests.property.check import delta_of
from tests.tpcds.domains import domains
from tests.tpcds.rows import Rows
from tests.tpcds.schema import TABLES
from tests.tpcds.texts import fetched

_SEED = 1
_SIDE_KEYS = 100


@dataclass(frozen=True, eq=False)
class Subject:
    """A suite: an engine with its tables, and its queries by name, in a dialect."""

    name: str
    engine: Engine
    relations: Mapping[str, Relation]
    queries: Mapping[str, str]
    dialect: str

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(self.engine.snapshot.relations[name].size for name in self.relations)


def _tpch(scale: float, texts: Path | None) -> Subject:
    with TemporaryDirectory(prefix="freshet-costs-") as directory:
        generate(scale, Path(directory))
        tables = Business()
        rows = tables.load(Path(directory))
    return _of_suite("TPC-H", tpch.QUERIES, tpch_schema.RELATIONS, tables, rows)


def _nexmark(events: float, texts: Path | None) -> Subject:
    tables = Events()
    rows = {**tables.side_input(_SIDE_KEYS), **tables.happen(round(events))}
    return _of_suite("Nexmark", nexmark.QUERIES, nexmark_schema.RELATIONS, tables, rows)


def _of_suite(
    name: str,
    queries: Mapping[str, str],
    relations: Mapping[str, Relation],
    tables: Tables,
    rows: Change,
) -> Subject:
    tables.close()
    engine = _engine_with(relations)
    words = {
        table: encode_arrow(difference.new, relations[table].schema, engine.dictionary)
        for table, difference in rows.items()
    }
    ends = {table: np.ones((2, its.shape[1]), np.int64) for table, its in words.items()}
    deltas = {table: np.ascontiguousarray(np.concatenate([its, ends[table]])) for table, its in words.items()}
    engine.stage(deltas, 2).publish()
    return Subject(name, engine, relations, queries, "postgres")


def _tpcds(facts: float, texts: Path | None) -> Subject:
    """The 99 queries over random rows that fit them: so many of each table of facts for each query. `texts`
    is a directory with sqlglot's source distribution, or for it."""
    queries = fetched(texts)
    relations = {
        table.name: Relation(table.name, table.schema, Source(table.name, table.schema), table.key)
        for table in TABLES.values()
    }
    engine = _engine_with(relations)
    made = Rows(random.Random(_SEED), {number: domains(query) for number, query in queries.items()})
    changes = made.load(2, round(facts))
    deltas = {
        name: delta_of([(1, change) for change in changes if change.table == name], table.schema, engine)
        for name, table in TABLES.items()
    }
    engine.stage({name: delta for name, delta in deltas.items() if delta.shape[1]}, 2).publish()
    named = {f"q{number:02}": query for number, query in sorted(queries.items())}
    return Subject("TPC-DS", engine, relations, named, "duckdb")


def _engine_with(relations: Mapping[str, Relation]) -> Engine:
    engine = Engine()
    for name, relation in relations.items():
        engine.create_source(name, relation.schema, relation.key or None)
    return engine


SUBJECTS: Mapping[str, Callable[[float, Path | None], Subject]] = {
    "tpch": _tpch,
    "nexmark": _nexmark,
    "tpcds": _tpcds,
}
FULL = {"tpch": 0.1, "nexmark": 500_000.0, "tpcds": 60.0}
QUICK = {"tpch": 0.01, "nexmark": 20_000.0, "tpcds": 2.0}
"""The scale of TPC-H, the events of Nexmark, and the rows of each table of facts for a query of TPC-DS."""
