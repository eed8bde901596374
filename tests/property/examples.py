"""Views written by hand over random histories of given tables: the referee is asked at every epoch.

FRESHET_EXAMPLES is the number of histories, 1 unless set.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence

import sqlglot

from engine.runtime.engine import Engine
from engine.schema import (
    BIGINT,
    BIT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    Column,
    Schema,
    Type,
    array_of,
    enumeration,
)
from planner.sql_types import data_type
from tests.property.cases import Case, answers
from tests.property.check import Make, check
from tests.property.histories import random_history
from tests.property.schemas import Table
from tests.property.terms import Term
from tests.property.views import View
from tests.seeds import seeds
from tests.share import SHARE

SIMPLE = {str(t): t for t in (SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, TEXT, BOOLEAN, DATE, TIMESTAMP)} | {
    str(t): t for t in (TIME, TIMETZ, BIT, TIMESTAMPTZ, INTERVAL, BYTEA, UUID, JSON, array_of(INTEGER))
}
HISTORIES = int(os.environ.get("FRESHET_EXAMPLES", "1"))
MOOD = enumeration("sad", "ok", "happy")
LENGTH = 8 if SHARE == 1 else 6
"""Epochs of a history."""
SQL = str | tuple[str, str]
"""A query in some dialect; or that, and DuckDB's for the same answer."""


def hold(
    tables: Sequence[str],
    views: Sequence[SQL],
    seeds: Sequence[int] = seeds(HISTORIES),
    length: int = LENGTH,
    make: Make = Engine,
    dialect: str = "postgres",
) -> None:
    """Check that the views hold what the referee says, at every epoch and however history is divided."""
    made = tuple(map(table, tables))
    for seed in seeds:
        history = random_history(random.Random(f"examples {seed}"), made, length)
        named = tuple(View(f"v{i}", query(sql, dialect), (), dialect=dialect) for i, sql in enumerate(views))
        case = Case(seed, made, named, history)
        expected = answers(case)
        missing = [view.sql("duckdb") for view in named if view.name not in expected]
        assert not missing, f"the referee does not take {missing[0]}"
        mismatch = check(case, expected, make)
        assert mismatch is None, f"{_sql_of(mismatch.view, named)}\n{mismatch}"


def _sql_of(name: str, views: Sequence[View]) -> str:
    return next((view.sql() for view in views if view.name == name), name)


def query(sql: SQL, dialect: str = "postgres") -> Term:
    """The query for both sides; DuckDB's is a translation where none is given."""
    if isinstance(sql, str):
        return Term("query", sql, (), sqlglot.transpile(sql, read=dialect, write="duckdb")[0])
    return Term("query", sql[0], (), sql[1])


def table(text: str) -> Table:
    """A table from `name(column TYPE [NOT NULL], ..., [PRIMARY KEY (column, ...)])`; MOOD is a type too."""
    name, _, inside = text.partition("(")
    key = re.search(r", PRIMARY KEY \((.*?)\)", inside)
    columns = []
    for part in _listed(inside.rpartition(")")[0].replace(key[0] if key else "\0", "")):
        column, _, kind = part.partition(" ")
        nullable = not kind.endswith(" NOT NULL")
        columns.append(Column(column, _type(kind.removesuffix(" NOT NULL")), nullable))
    schema = Schema(tuple(columns))
    return Table(name, schema, tuple(schema.index(c) for c in key[1].split(", ")) if key else None)


def _listed(text: str) -> list[str]:
    """The parts between the commas that stand in no parentheses."""
    depth, marked = 0, ""
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        marked += "\n" if letter == "," and not depth else letter
    return [part.strip() for part in marked.split("\n")]


def _type(text: str) -> Type:
    if text == "MOOD":
        return MOOD
    return SIMPLE.get(text) or data_type(sqlglot.parse_one(f"CAST(x AS {text})", read="duckdb").to, "duckdb")
