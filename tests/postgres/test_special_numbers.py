"""NaN and the infinities of NUMERIC, against PostgreSQL: expressions, and views while rows come and go."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import numpy as np
import psycopg
import pytest

from engine.codec.json import encode_rows
from engine.codec.python import decode_row
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import DOUBLE, INTEGER, TEXT, Column, Schema, numeric
from planner import PlannedQuery, PlannerError, plan_query
from planner.relation import Relation
from tests.postgres.server import Server
from tests.seeds import SEED

WIDE, NARROW = numeric(38, 4), numeric(12, 2)
SCHEMA = Schema(
    (
        *(Column("id", INTEGER), Column("k", INTEGER), Column("x", WIDE), Column("y", WIDE)),
        *(Column("n", NARROW), Column("d", DOUBLE), Column("s", TEXT)),
    )
)
RELATION = Relation("t", SCHEMA, Source("t", SCHEMA))
CATALOG = {"t": RELATION, "public.t": RELATION}
COLUMNS = "(id integer, k integer, x numeric, y numeric, n numeric(12, 2), d double precision, s text)"
NUMBERS = (
    *(None, "NaN", "Infinity", "-Infinity", "0", "1", "-1", "4.2", "-7.7777", "2"),
    *("12345678901234567890123.5", "-99999999999999999999.25", "1000000000000000000"),
)
EXPRESSIONS = (
    *("x + y", "x - y", "x * y", "x % y", "mod(x, y)", "-x", "abs(x)", "x + n", "n - x", "x * 2", "x + 1.5"),
    *("x = y", "x <> y", "x < y", "x <= y", "x > y", "x >= y", "x = 'NaN'", "x < 'Infinity'::numeric"),
    *("x IS DISTINCT FROM y", "x IN ('NaN', '-inf', 1)", "x BETWEEN '-Infinity' AND 0", "n < 'NaN'"),
    *("greatest(x, y)", "least(x, y, 3)", "coalesce(x, y, 'NaN'::numeric)", "nullif(x, 'NaN')"),
    *("ceil(x)", "floor(x)", "round(x)", "round(x, 2)", "trunc(x)", "trunc(x, 1)", "x::float8"),
    *(
        "x::numeric(30, 2)",
        "d::numeric(30, 2)",
        "s::numeric(38, 4)",
        "(x + 0.0000)::text",
        "(x + 0.0000) || 'a'",
        "x::int",
    ),
    *("x::numeric(38, 4)::int", "CASE WHEN n > 1 THEN 'NaN'::numeric ELSE n END", "sign(x)"),
    *("sqrt(x)::float8", "ln(x)::float8", "log(x)::float8", "exp(x / 1e20)::float8", "power(x, 2)::float8"),
    *("(x / y)::float8", "(x / 'Infinity'::numeric)::float8", "power(x, 0)::float8", "(x ^ 3)::float8"),
    *(
        "x::float8::numeric(38, 4) = x",
        "-'Infinity'::numeric",
        "trim_scale(x)",
        "x * 0",
        "'inf'::numeric - x",
    ),
    *("concat(x + 0.0000, s)", "round(sign(x))", "power(2, x / 1e30)::float8"),
    *("CASE WHEN x > 0 THEN x END", "x NOT IN (1, 'NaN')", "x > ALL (ARRAY[y])", "(x, 1) < (y, 1)"),
)
CLOSE = ("sqrt", "ln", "log", "exp", "power", " / ", " ^ ")
"""Expressions whose floats may differ in the last digits from PostgreSQL's numerics."""
WHERE_ELSE = {
    "sign(x)": "the sign of NaN is no TINYINT",
    "concat(x + 0.0000, s)": "DuckDB, which computes this, has no such numbers",
    "round(sign(x))": "the sign of NaN is no TINYINT",
    "x * y": "a product of more than 38 digits",
    "x > ALL (ARRAY[y])": "DuckDB, which computes this, has no such elements",
    "(x / y)::float8": "a quotient by zero is infinite here",
}
VIEWS = (
    "SELECT k, sum(x) AS s, count(x) AS c, count(*) AS n FROM t GROUP BY k",
    "SELECT sum(x) AS s, sum(y) AS u, sum(n) AS v, count(*) AS n FROM t",
    "SELECT k, avg(x)::float8 AS a, min(x) AS b, max(y) AS c FROM t GROUP BY k",
    "SELECT k, sum(DISTINCT x) AS s, count(DISTINCT x) AS c FROM t GROUP BY k",
    "SELECT sum(x) FILTER (WHERE k > 0) AS s, sum(x + y) AS u, sum(-x) AS v FROM t",
    "SELECT x, count(*) AS n FROM t GROUP BY x",
    "SELECT DISTINCT x, y FROM t",
    "SELECT a.id AS a, b.id AS b FROM t AS a JOIN t AS b ON a.x = b.y",
    "SELECT a.id AS a, b.id AS b FROM t AS a JOIN t AS b ON a.x < b.y AND a.k = b.k",
    "SELECT k FROM t GROUP BY k HAVING sum(x) = 'NaN' OR sum(x) > 5",
    "SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 4",
    "SELECT id, x FROM t ORDER BY x, id OFFSET 2",
    "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY id) AS s FROM t",
    "SELECT id, sum(x) OVER (ORDER BY id ROWS 2 PRECEDING) AS s, "
    "avg(x) OVER (PARTITION BY k)::float8 AS a FROM t",
    "SELECT id, min(x) OVER w AS a, max(x) OVER w AS b FROM t WINDOW w AS (ORDER BY id ROWS 1 PRECEDING)",
    "SELECT id, rank() OVER (ORDER BY x) AS r, lag(x) OVER (ORDER BY x, id) AS l FROM t",
    "SELECT id, first_value(x) OVER (PARTITION BY k ORDER BY x DESC, id) AS f FROM t",
    "SELECT s, count(*) AS n FROM (SELECT k, sum(x) AS s FROM t GROUP BY k) AS g GROUP BY s",
    "SELECT id FROM t AS o WHERE x = (SELECT max(x) FROM t AS i WHERE i.k = o.k)",
    "SELECT x FROM t UNION SELECT y FROM t EXCEPT SELECT 'NaN'::numeric",
    "WITH RECURSIVE r(x) AS (SELECT x FROM t UNION SELECT x * 2 FROM r WHERE abs(x) < 100 OR x > 1e30) "
    "SELECT x FROM r",
    "SELECT sum(s) AS s FROM (SELECT k, sum(x) AS s FROM t GROUP BY k UNION ALL SELECT k, n FROM t) AS g",
    "SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x DESC NULLS LAST, id",
    "SELECT k, stddev(x)::float8 AS a, variance(d) AS b FROM t WHERE x > 'NaN' GROUP BY k",
)


class Both:
    """An engine and a table of PostgreSQL with the same rows."""

    def __init__(self, connection: psycopg.Connection, *planned: PlannedQuery) -> None:
        self.connection, self.planned = connection, planned
        connection.execute(f"CREATE TEMPORARY TABLE t {COLUMNS}")
        self.engine = Engine()
        self.engine.create_source("t", SCHEMA, None)
        for place, query in enumerate(planned):
            self.engine.create_view(f"v{place}", query.plan)
        self.epoch = 0

    def change(self, *changes: tuple[tuple, int]) -> None:
        words = encode_rows([row for row, _ in changes], SCHEMA, self.engine.dictionary)
        self.epoch += 1
        tail = np.array([[self.epoch] * len(changes), [diff for _, diff in changes]], np.int64)
        self.engine.stage({"t": np.concatenate([words, tail])}, self.epoch + 1).publish()
        for row, diff in changes:
            if diff > 0:
                self.connection.execute("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s, %s)", row)
            else:
                self.connection.execute("DELETE FROM t WHERE id = %s", row[:1])

    def rows(self, place: int) -> tuple[list[tuple], int]:
        """The rows of a view, and how many rows fail."""
        schema, dictionary = self.planned[place].schema, self.engine.dictionary
        words, counts = self.engine.snapshot.rows(f"v{place}", self.epoch)
        rows = [decode_row(row, schema, dictionary) for row in words.T.tolist()]
        found = [row for row, count in zip(rows, counts.tolist(), strict=True) for _ in range(count)]
        return found, len(self.engine.snapshot.errors(f"v{place}"))


def row_of(id: int, rng: random.Random) -> tuple:
    """A row with rather many special numbers, none of them infinite in a NUMERIC that cannot be."""
    x, y = rng.choice(NUMBERS), rng.choice(NUMBERS)
    return (
        *(id, rng.randrange(3), x, y, rng.choice(("0", "5.25", "-1", None))),
        *(
            rng.choice((None, "NaN", "Infinity", "-Infinity", 2.5)),
            rng.choice(("nan", "1.5", " -INF ", None)),
        ),
    )


def shown(value: object) -> object:
    """A value in a form in which equal ones are equal: NaN is not, nor is the last digit of an average, which
    PostgreSQL rounds as a NUMERIC first."""
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        value = Decimal(value)
        return (
            f"{value:f}".rstrip("0").rstrip(".") if value.is_finite() and "." in f"{value:f}" else str(value)
        )
    return f"{value:.14g}" if isinstance(value, float) else value


def bag(rows: list[tuple]) -> Counter:
    return Counter(tuple(map(shown, row)) for row in rows)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_are_postgresqls(postgres: Server, expression: str) -> None:
    planned = plan_query(f"SELECT id, {expression} AS a FROM t", CATALOG, named=True)
    rng = random.Random(SEED)
    pairs = [(x, y) for x in NUMBERS for y in NUMBERS]
    with postgres.connect() as connection:
        both = Both(connection, planned)
        rows = [(*row_of(id, rng)[:2], x, y, *row_of(id, rng)[4:]) for id, (x, y) in enumerate(pairs)]
        both.change(*((row, 1) for row in rows))
        found, failed = both.rows(0)
        got = dict(found)
        expected, broken = {}, 0
        for row in rows:
            try:
                (value,) = connection.execute(f"SELECT {expression} FROM t WHERE id = {row[0]}").fetchone()
            except (psycopg.DataError, psycopg.NotSupportedError):
                broken += 1
                continue
            expected[row[0]] = value
    for id, value in expected.items():
        if expression in WHERE_ELSE and id not in got:
            continue
        if isinstance(value, float) and any(sign in expression for sign in CLOSE):
            assert got[id] == pytest.approx(value, nan_ok=True), rows[id]
        else:
            assert shown(got[id]) == shown(value), rows[id]
    if expression not in WHERE_ELSE:
        assert got.keys() == expected.keys()
        assert bool(failed) == bool(broken)


@pytest.mark.parametrize("seed", range(3))
def test_views_are_postgresqls_at_every_epoch(postgres: Server, seed: int) -> None:
    rng = random.Random(SEED + seed)
    planned = [plan_query(sql, CATALOG, named=True) for sql in VIEWS]
    with postgres.connect() as connection:
        both = Both(connection, *planned)
        held: list[tuple] = []
        for epoch in range(8):
            gone = rng.sample(held, rng.randint(0, len(held))) if epoch != 6 else held
            new = [row_of(100 * epoch + n, rng) for n in range(rng.randint(1, 12))]
            held = [row for row in held if row not in gone] + new
            both.change(*((row, -1) for row in gone), *((row, 1) for row in new))
            for place, sql in enumerate(VIEWS):
                found, failed = both.rows(place)
                assert not failed, (sql, both.engine.snapshot.errors(f"v{place}"))
                assert bag(found) == bag(connection.execute(sql).fetchall()), sql


def test_a_sum_comes_back_exactly_when_its_last_special_leaves(postgres: Server) -> None:
    sql = "SELECT sum(x) AS s, avg(x)::float8 AS a FROM t"
    rows = [
        (n, 0, x, "0", "0", 0.0, "") for n, x in enumerate(("12345678901234567890.5", "NaN", "inf", "-inf"))
    ]
    rows = [
        (*row[:2], {"inf": "Infinity", "-inf": "-Infinity"}.get(row[2], row[2]), *row[3:]) for row in rows
    ]
    with postgres.connect() as connection:
        both = Both(connection, plan_query(sql, CATALOG, named=True))
        both.change(*((row, 1) for row in rows))
        for row in rows[1:]:
            both.change((row, -1))
            assert bag(both.rows(0)[0]) == bag(connection.execute(sql).fetchall())
    assert both.rows(0)[0][0][0] == Decimal("12345678901234567890.5")


@pytest.mark.parametrize(
    ("dialect", "expression", "message"),
    [
        ("postgres", "'Infinity'::numeric(38, 4)", "NUMERIC(38, 4) has no Infinity"),
        ("postgres", "'NaN'::numeric(12, 2)", "NUMERIC(12, 2) has no NaN here"),
        ("duckdb", "'NaN'::decimal(38, 4)", "always fails"),
        ("duckdb", "x = 'NaN'", "is not a value of type NUMERIC(38, 4)"),
        ("redshift", "'NaN'::numeric(38, 4)", "always fails"),
    ],
)
def test_a_constant_that_a_dialect_does_not_have_is_refused(
    dialect: str, expression: str, message: str
) -> None:
    with pytest.raises(PlannerError) as refused:
        plan_query(f"SELECT {expression} AS a FROM t", CATALOG, dialect)
    assert message in refused.value.message


@pytest.mark.parametrize("dialect", ["duckdb", "redshift", "trino"])
def test_elsewhere_a_float_that_is_not_finite_fails_its_row(postgres: Server, dialect: str) -> None:
    planned = plan_query("SELECT CAST(d AS DECIMAL(38, 4)) AS a FROM t", CATALOG, dialect)
    with postgres.connect() as connection:
        both = Both(connection, planned)
        both.change(((1, 0, "1", "1", "1", "NaN", ""), 1), ((2, 0, "1", "1", "1", 2.5, ""), 1))
        assert both.rows(0) == ([(Decimal("2.5000"),)], 1)


def test_a_type_of_whole_numbers_does_not_take_them() -> None:
    sql = "SELECT CAST(CAST(x AS NUMERIC(38, 0)) AS HUGEINT) AS a FROM t"
    planned = plan_query(sql, CATALOG, "duckdb")
    engine = Engine()
    engine.create_source("t", SCHEMA, None)
    engine.create_view("v", planned.plan)
    rows = [(1, 0, "NaN", "1", "1", 1.0, ""), (2, 0, "7", "1", "1", 1.0, "")]
    words = encode_rows(rows, SCHEMA, engine.dictionary)
    engine.stage({"t": np.concatenate([words, np.array([[1, 1], [1, 1]])])}, 2).publish()
    assert engine.snapshot.rows("v", 1)[0].tolist() == [[7]]
    assert len(engine.snapshot.errors("v")) == 1
