"""IN with lists: one node whatever its length, and DuckDB's answer, with NULLs too."""

from __future__ import annotations

import random
from collections import Counter

import duckdb
import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.plan.expressions import OneOf, walk
from engine.plan.nodes import Filter, Source
from engine.runtime.engine import Engine
from engine.schema import DATE, DOUBLE, INTEGER, TEXT, Column, Schema, numeric
from planner import PlannerError, Relation, plan_query
from planner.explain import explain
from tests.seeds import SEED

COLUMNS = {"i": INTEGER, "s": TEXT, "d": DATE, "n": numeric(10, 2), "x": DOUBLE}
SCHEMA = Schema((Column("id", INTEGER, False), *(Column(name, type) for name, type in COLUMNS.items())))
CATALOG = {"t": Relation("t", SCHEMA, Source("t", SCHEMA), (0,))}
SQL_TYPES = "id INTEGER, i INTEGER, s VARCHAR, d DATE, n DECIMAL(10, 2), x DOUBLE"
LITERALS = {
    "i": ["1", "2", "3", "-4", "5.0", "6.5", "'7'", "3000000000", "NULL"],
    "s": ["'a'", "'b'", "''", "'it''s'", "'{0}'", "NULL"],
    "d": ["'2024-01-01'", "DATE '2024-01-02'", "'2024-02-29'", "'2024-1-3'", "NULL"],
    "n": ["1", "1.5", "2.50", "-3.25", "4.125", "1e1", "'5.5'", "NULL"],
    "x": ["1", "1.5", "0.1", "-0.0", "1e300", "'2'", "NULL"],
}
VALUES = {
    "i": ["1", "2", "3", "-4", "5", "7", "9", "NULL"],
    "s": ["'a'", "'b'", "''", "'it''s'", "'{0}'", "'c'", "NULL"],
    "d": ["DATE '2024-01-01'", "DATE '2024-01-02'", "DATE '2024-01-03'", "DATE '2024-02-29'", "NULL"],
    "n": ["1", "1.5", "2.5", "-3.25", "4.13", "10", "5.5", "NULL"],
    "x": ["1", "1.5", "0.1", "0", "1e300", "2", "NULL"],
}
FORMS = [
    "{c} IN ({l})",
    "{c} NOT IN ({l})",
    "({c} IN ({l})) IS NULL",
    "coalesce({c} IN ({l}), id > 3)",
    "{c} IN ({l}) OR {c} IN ({m}) OR id = 2",
    "{c} NOT IN ({l}) AND {c} NOT IN ({m})",
    "CASE WHEN {c} IN ({l}) THEN 1 WHEN {c} NOT IN ({m}) THEN 2 END = 2",
]


def test_answers_are_duckdbs() -> None:
    rng = random.Random(SEED)
    duck = duckdb.connect()
    duck.execute(f"CREATE TABLE t ({SQL_TYPES})")
    for id in range(40):
        duck.execute(f"INSERT INTO t VALUES ({id}, {', '.join(rng.choice(VALUES[c]) for c in COLUMNS)})")
    engine = Engine()
    engine.create_source("t", SCHEMA)
    rows = duck.execute("SELECT * FROM t").fetchall()
    words = encode_rows(rows, SCHEMA, engine.dictionary)
    upper = engine.snapshot.upper
    marks = np.stack([np.full(len(rows), upper), np.ones(len(rows), np.int64)])
    engine.stage({"t": np.concatenate([words, marks])}, upper + 1).publish()
    for number in range(60):
        column = rng.choice(list(COLUMNS))
        lists = [", ".join(rng.choices(LITERALS[column], k=rng.randint(1, 12))) for _ in range(2)]
        sql = f"SELECT id FROM t WHERE {rng.choice(FORMS).format(c=column, l=lists[0], m=lists[1])}"
        engine.create_view(f"v{number}", plan_query(sql, CATALOG, "duckdb").plan)
        found, counts = engine.snapshot.rows(f"v{number}")
        ids = decode_rows(found, engine.snapshot.schema(f"v{number}"), engine.dictionary)
        assert Counter(dict(zip(ids, counts.tolist(), strict=True))) == Counter(
            duck.execute(sql).fetchall()
        ), sql


@pytest.mark.parametrize(
    "where",
    [
        "i IN ({ints})",
        "i = ANY(ARRAY[{ints}])",
        "s IN ({texts})",
        "d IN ({dates})",
        "n IN ({numbers})",
        "i NOT IN ({ints})",
        "i IN ({ints}) OR i IN (7, 8, 9) OR i = 3",
    ],
)
def test_a_long_list_is_one_expression(where: str) -> None:
    count = 3_000
    lists = {
        "ints": ", ".join(map(str, range(count))),
        "texts": ", ".join(f"'{i}'" for i in range(count)),
        "dates": ", ".join(f"'{1000 + i}-01-01'" for i in range(count)),
        "numbers": ", ".join(f"{i}.5" for i in range(count)),
    }
    planned = plan_query(f"SELECT id FROM t WHERE {where.format(**lists)}", CATALOG)
    node = planned.plan
    while not isinstance(node, Filter):
        (node,) = node.inputs
    tests = [part for part in walk(node.predicate) if isinstance(part, OneOf)]
    assert [len(test.values) for test in tests] == [count]
    assert sum(1 for _ in walk(node.predicate)) <= 4
    for stage in ("logical", "optimized", "dataflow"):
        assert len(explain(planned, stage)) < 3_000


def test_equal_sets_are_equal_plans() -> None:
    texts = ["i IN (3, 1, 2)", "i = 1 OR i = 2 OR i = 3 OR i = 2", "i IN (1, 2) OR i IN (2, 3)"]
    plans = {plan_query(f"SELECT id FROM t WHERE {text}", CATALOG).plan for text in texts}
    assert len(plans) == 1
    other = plan_query("SELECT id FROM t WHERE i IN (1, 2, 4)", CATALOG).plan
    assert other not in plans


def test_long_lists_that_differ_are_different_plans() -> None:
    many = [", ".join(map(str, range(start, 100))) for start in (0, 0, 1)]
    wheres = [f"i IN ({some}, {last}) AND i > 0" for some, last in zip(many, (200, 201, 200), strict=True)]
    assert len({plan_query(f"SELECT id FROM t WHERE {where}", CATALOG).plan for where in wheres}) == 3


def test_a_bad_element_is_refused() -> None:
    with pytest.raises(PlannerError, match="'2024-02-30' is not a value of type DATE"):
        plan_query("SELECT id FROM t WHERE d IN ('2024-01-01', '2024-02-28', '2024-02-30')", CATALOG)
