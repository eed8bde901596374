"""Expressions over a table of two columns, by a view and by an ad-hoc query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache

import pyarrow as pa

from engine.codec.json import decode_rows
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import INTEGER, Schema, Type
from planner import Relation, plan_query
from planner.adhoc.adhoc_query import adhoc_query
from planner.parsing.script import split
from service.reading.duck import Duck
from service.reading.given_tables import arrow_table
from tests.planner.samples import schema
from tests.planner.test_engine import delta

_NUMBER = re.compile(r"-?\d+\.\d+")
Pair = tuple[object, object]


def viewed(
    dialect: str, types: tuple[Type, Type], rows: Sequence[Pair], expressions: Sequence[str]
) -> list[list]:
    """The values of each expression over columns a and b, row by row."""
    columns = schema(k=INTEGER, a=types[0], b=types[1])
    engine = Engine()
    engine.create_source("x", columns, None)
    catalog = {"x": Relation("x", columns, Source("x", columns), None)}
    engine.create_view("v", plan_query(_query(expressions), catalog, dialect).plan)
    numbered = Counter((number, *row) for number, row in enumerate(rows))
    engine.stage({"x": delta(numbered, columns, engine, 1)}, 2).publish()
    assert not engine.snapshot.errors("v", 1)
    words, _ = engine.snapshot.rows("v", 1)
    held = sorted(decode_rows(words, engine.snapshot.schema("v"), engine.dictionary))
    return [[plain(row[place + 1]) for row in held] for place in range(len(expressions))]


def _query(expressions: Sequence[str]) -> str:
    items = ", ".join(f"{expression} AS v{place}" for place, expression in enumerate(expressions))
    return f"SELECT k, {items} FROM x"


@cache
def duck() -> Duck:
    return Duck()


def asked(
    dialect: str, types: tuple[Type, Type], rows: Sequence[Pair], expressions: Sequence[str]
) -> list[list]:
    """The same of an ad-hoc query."""
    (piece,) = split(f"{_query(expressions)} ORDER BY k", dialect)
    columns = schema(k=INTEGER, a=types[0], b=types[1])
    query = adhoc_query(piece.parse(), {"x": Relation("x", columns, Source("x", columns), None)})
    answer = duck().run(query, {query.references[0].alias: _arrow(columns, rows)})
    return [[plain(value) for value in column.to_pylist()] for column in answer.table.columns[1:]]


def _arrow(columns: Schema, rows: Sequence[Pair]) -> pa.Table:
    engine = Engine()
    numbered = Counter((number, *row) for number, row in enumerate(rows))
    words = delta(numbered, columns, engine, 1)
    return arrow_table((words[: len(columns)], words[-1]), columns, engine.dictionary)


def plain(value: object) -> object:
    """A value as Python's, whichever door it came through."""
    if isinstance(value, str):
        for read in (date.fromisoformat, datetime.fromisoformat):
            try:
                return read(value)
            except ValueError:
                continue
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return round(float(value), 9)
    if isinstance(value, float) or type(value).__name__ == "Decimal":
        return round(float(value), 9)  # type: ignore[arg-type]
    return value
