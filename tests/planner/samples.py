"""Small tables with NULLs and duplicates, and the check that a plan answers as DuckDB does."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache

from engine.plan.nodes import Source
from engine.schema import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    Column,
    Schema,
    Type,
    array_of,
    enumeration,
    numeric,
)
from planner import Catalog, PlannedQuery, Relation, plan_query
from planner.sql_types import UNTYPED, from_duckdb
from tests.oracle.interpreter import interpret
from tests.oracle.referee import Bag, Referee, comparable, same_bag

MOOD = enumeration("happy", "sad")


def schema(**types: Type) -> Schema:
    return Schema(tuple(Column(name, type) for name, type in types.items()))


SCHEMAS: Mapping[str, Schema] = {
    "t": schema(a=INTEGER, b=TEXT, c=DOUBLE),
    "u": schema(a=INTEGER, d=BIGINT, e=BOOLEAN),
    "k": Schema((Column("id", INTEGER, False), Column("p", numeric(10, 2)), Column("q", SMALLINT, False))),
    "days": schema(id=INTEGER, day=DATE, at=TIMESTAMP, note=TEXT),
    "edges": Schema(
        (Column("src", INTEGER, False), Column("dst", INTEGER, False), Column("w", INTEGER, False))
    ),
    "none": schema(a=INTEGER, b=TEXT),
    "things": schema(
        id=INTEGER,
        ts=TIMESTAMPTZ,
        clock=TIME,
        span=INTERVAL,
        data=BYTEA,
        tag=UUID,
        doc=JSON,
        mood=MOOD,
        xs=array_of(INTEGER),
        words=array_of(TEXT),
    ),
}

ROWS: Mapping[str, list[tuple]] = {
    "t": [
        (1, "x", 1.5),
        (1, "x", 1.5),
        (2, None, 2.5),
        (None, "y", None),
        (None, "y", -0.5),
        (3, "Zed", 4.0),
        (4, "", 0.0),
    ],
    "u": [(1, 10, True), (1, 11, False), (2, None, None), (None, 20, True), (5, 50, False), (5, 50, False)],
    "k": [(1, Decimal("1.50"), 1), (2, Decimal("-2.25"), 2), (3, None, 1), (4, Decimal("100.00"), 3)],
    "days": [
        (1, date(2020, 1, 31), datetime(2020, 1, 31, 12, 30), "a%b"),
        (2, date(1999, 12, 31), datetime(1999, 12, 31, 23, 59, 59, 5), "naïve"),
        (3, None, None, None),
    ],
    "edges": [(1, 2, 4), (2, 3, 1), (3, 1, 1), (1, 3, 7), (3, 4, 2), (6, 6, 1), (4, 5, 3)],
    "none": [],
    "things": [
        (
            1,
            datetime(2024, 3, 31, 0, 30, tzinfo=UTC),
            time(10, 30),
            timedelta(days=1, hours=2),
            b"ab\xff",
            uuid.UUID(int=7),
            '{"a":{"b":[1,2.5,"x"]},"n":1}',
            "happy",
            (1, 2, None),
            ("x", "it's"),
        ),
        (
            2,
            datetime(2023, 12, 31, 23, 59, 59, 5, tzinfo=UTC),
            time(0),
            timedelta(seconds=-90),
            b"",
            uuid.UUID(int=2**127),
            '[1,{"a":null}]',
            "sad",
            (),
            (None,),
        ),
        (3, None, None, None, None, None, None, None, None, None),
        (
            4,
            datetime(2024, 3, 31, 0, 30, tzinfo=UTC),
            time(23),
            timedelta(),
            b"ab",
            uuid.UUID(int=7),
            '"s"',
            "sad",
            (3, 1),
            (),
        ),
    ],
}


def catalog() -> Catalog:
    keys = {"k": (0,)}
    return {name: Relation(name, s, Source(name, s), keys.get(name)) for name, s in SCHEMAS.items()}


@cache
def referee() -> Referee:
    """DuckDB over the sample rows."""
    made = Referee(SCHEMAS)
    for name, rows in ROWS.items():
        made.load(name, rows)
    return made


def planned(sql: str, dialect: str = "postgres") -> PlannedQuery:
    return plan_query(sql, catalog(), dialect)


def answer(query: PlannedQuery) -> Bag:
    """What the plan gives over the sample rows."""
    rows = interpret(query.plan, {name: Counter(rows) for name, rows in ROWS.items()})
    return Counter({tuple(map(comparable, row)): count for row, count in rows.items()})


def check(sql: str, reference: str | None = None, dialect: str = "postgres") -> None:
    """The plan of `sql` answers as DuckDB does to `reference` (the same SQL if not given)."""
    query = planned(sql, dialect)
    ours, theirs = answer(query), referee().rows(reference or sql, dialect)
    assert same_bag(ours, theirs), f"{sql}\nours:   {_shown(ours)}\ntheirs: {_shown(theirs)}"
    if reference is None and "/" not in sql:
        types = [from_duckdb(name, huge=BIGINT) for name in referee().types(sql, dialect)]
        assert list(query.schema.types) == [INTEGER if type is UNTYPED else type for type in types], sql


def _shown(bag: Bag) -> str:
    return ", ".join(sorted(f"{row}×{count}" for row, count in bag.items()))
