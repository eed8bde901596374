"""FROM clauses as trees: parentheses, commas, LATERAL, APPLY, and the order of merged columns."""

from __future__ import annotations

import re

import pytest

from engine.codec.json import decode_rows
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import INTEGER, Column, Schema, array_of
from planner import Relation, plan_query
from planner.errors import PlannerError

Rows = list[tuple[object, ...]]
WITH = (
    "WITH la(x) AS (VALUES (1), (2)), lb(x) AS (VALUES (2), (3)), lists(l) AS (VALUES (ARRAY[1, 2])), "
    "t1(f1, f3) AS (VALUES (1, 9)), t2(f1, f2) AS (VALUES (1, 2)), t4(f3, f4) AS (VALUES (9, 4)) "
)


def answer(sql: str, dialect: str = "postgres") -> tuple[list[str], Rows]:
    """The names of the columns, and the rows in order."""
    engine = Engine()
    planned = plan_query(sql, {}, dialect)
    engine.create_view("v", planned.plan)
    words, counts = engine.snapshot.rows("v", 0)
    rows = decode_rows(words, engine.snapshot.schema("v"), engine.dictionary)
    copies = [row for row, count in zip(rows, counts.tolist(), strict=True) for _ in range(count)]
    return list(planned.schema.names), sorted(copies, key=repr)


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("((SELECT 1 AS x) a LEFT JOIN (SELECT 2 AS y) b ON false)", [(1, None)]),
        ("((SELECT x FROM la) p CROSS JOIN lb q)", [(1, 2), (1, 3), (2, 2), (2, 3)]),
        ("((VALUES (1)) v CROSS JOIN (VALUES (2)) w) AS q(a, b)", [(1, 2)]),
        ("(((SELECT 1)))", [(1,)]),
        ("((SELECT 1) UNION ALL (SELECT 2)) q", [(1,), (2,)]),
        ("((la) CROSS JOIN ((lb)))", [(1, 2), (1, 3), (2, 2), (2, 3)]),
        ("la JOIN lb JOIN t1 ON true ON la.x = lb.x", [(2, 2, 1, 9)]),
        ("la JOIN unnest(ARRAY[2, 3]) u(v) RIGHT JOIN lb ON u.v = lb.x ON la.x = lb.x", [(2, 2, 2)]),
    ],
)
def test_parentheses(source: str, rows: Rows) -> None:
    assert answer(f"{WITH} SELECT * FROM {source}")[1] == rows


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (
            "la, LATERAL (SELECT la.x AS k) l RIGHT JOIN lb ON l.k = lb.x",
            [(1, None, 2), (1, None, 3), (2, 2, 2), (2, None, 3)],
        ),
        (
            "la, LATERAL (SELECT la.x AS k) l FULL JOIN lb ON l.k = lb.x",
            [(1, 1, None), (1, None, 2), (1, None, 3), (2, 2, 2), (2, None, 3)],
        ),
        ("la, LATERAL (SELECT la.x + 1) l(x) NATURAL JOIN lb", [(1, 2), (2, 3)]),
        ("lists, unnest(lists.l) u(v) RIGHT JOIN lb ON u.v = lb.x", [([1, 2], 2, 2), ([1, 2], None, 3)]),
        (
            "la, generate_series(1, la.x) g(v) LEFT JOIN lb ON v = lb.x",
            [(1, 1, None), (2, 1, None), (2, 2, 2)],
        ),
        ("la, lb JOIN (t1 CROSS JOIN LATERAL (SELECT la.x) l(y)) ON lb.x = y", [(2, 2, 1, 9, 2)]),
        ("la JOIN unnest(ARRAY[2]) u(v) LEFT JOIN lb ON v = lb.x ON true", [(1, 2, 2), (2, 2, 2)]),
        ("la, LATERAL (SELECT lb.x AS f3 FROM lb WHERE lb.x = la.x) l", [(2, 2)]),
        ("(SELECT 5 AS c) o, LATERAL (SELECT 1 AS c WHERE c = 5) i", [(5, 1)]),
        ("la, (LATERAL (SELECT la.x AS k) l CROSS JOIN t1)", [(1, 1, 1, 9), (2, 2, 1, 9)]),
    ],
)
def test_commas_bind_weaker_than_joins(source: str, rows: Rows) -> None:
    assert answer(f"{WITH} SELECT * FROM {source}")[1] == rows


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (
            "(SELECT 1, 1 AS c), LATERAL (SELECT * FROM (SELECT c) LEFT JOIN LATERAL (SELECT c) ON true)",
            [(1, 1, 1, 1)],
        ),
        ("(VALUES (1)) x(lb), LATERAL (VALUES (lb)) y(c)", [(1, 1)]),
        ("(SELECT ARRAY[42, 43]) t(a) JOIN LATERAL (SELECT unnest(t.a)) u(b) ON true",
         [([42, 43], 42), ([42, 43], 43)]),
        ("(SELECT 42) t(a) CROSS JOIN LATERAL (SELECT t.a + 1)", [(42, 43)]),
        ("(SELECT 1) a(x), LATERAL (SELECT x + 1) b(y), LATERAL (SELECT x + y) c(z)", [(1, 2, 3)]),
        ("(SELECT 1) a(x) LEFT JOIN LATERAL (SELECT x WHERE x > 1) b(y) ON true", [(1, None)]),
    ],
)  # fmt: skip
def test_lateral_over_constants(source: str, rows: Rows) -> None:
    assert answer(f"SELECT * FROM {source}")[1] == rows


@pytest.mark.parametrize(
    ("dialect", "source", "names"),
    [
        ("postgres", "t1 JOIN t2 USING (f1) JOIN t4 USING (f3)", ["f3", "f1", "f2", "f4"]),
        ("duckdb", "t1 JOIN t2 USING (f1) JOIN t4 USING (f3)", ["f1", "f3", "f2", "f4"]),
        ("postgres", "t4 NATURAL RIGHT JOIN t1", ["f3", "f4", "f1"]),
        ("postgres", "t4 FULL JOIN t1 USING (f3)", ["f3", "f4", "f1"]),
        ("mysql", "t4 JOIN t1 USING (f3)", ["f3", "f4", "f1"]),
        ("sqlite", "t1 JOIN t4 USING (f3)", ["f1", "f3", "f4"]),
        ("postgres", "t1, t1 AS x JOIN t4 USING (f3)", ["f1", "f3", "f3", "f1", "f4"]),
    ],
)
def test_merged_columns_stand_where_the_dialect_has_them(dialect: str, source: str, names: list[str]) -> None:
    tables = {
        "t1": ("f1", "f3"),
        "t2": ("f1", "f2"),
        "t4": ("f3", "f4"),
    }
    catalog = {}
    for name, columns in tables.items():
        schema = Schema(tuple(Column(column, INTEGER) for column in columns))
        catalog[name] = Relation(name, schema, Source(name, schema))
    assert list(plan_query(f"SELECT * FROM {source}", catalog, dialect).schema.names) == names


def test_apply_is_a_lateral_join() -> None:
    both = "SELECT * FROM (SELECT 1 AS x UNION ALL SELECT 2) la {} APPLY (SELECT la.x AS y WHERE la.x = 1) u"
    assert answer(both.format("CROSS"), "tsql")[1] == [(1, 1)]
    assert answer(both.format("OUTER"), "tsql")[1] == [(1, 1), (2, None)]


def test_a_join_without_a_condition_is_no_comma() -> None:
    sql = "SELECT * FROM (SELECT 1) a, (SELECT 2) b JOIN (SELECT 3) c RIGHT JOIN (SELECT 4 AS d) e ON d = 5"
    assert answer(sql, "mysql")[1] == [(1, None, None, 4)]


@pytest.mark.parametrize(
    ("sql", "message", "place"),
    [
        ("SELECT * FROM la JOIN lb", "a JOIN needs ON or USING", (1, 18)),
        ("SELECT * FROM la JOIN lb, la x ON true", "there is a comma between a JOIN and its ON", (1, 18)),
        ("SELECT * FROM la RIGHT JOIN LATERAL (SELECT la.x) c ON true", "RIGHT JOIN LATERAL is not", (1, 18)),
        ("SELECT * FROM la, (SELECT la.x) b", 'no table "la" is visible', (1, 27)),
        ("SELECT 1 IN ((SELECT 1) a CROSS JOIN lb)", r"expected \)", (1, 25)),
        ("SELECT x FROM la, la AS y JOIN lb USING (x)", 'column "x" is ambiguous', (1, 8)),
        ("SELECT * FROM la CROSS JOIN la AS y JOIN lb USING (x)", 'column "x" is ambiguous', (1, 52)),
    ],
)
def test_refusals(sql: str, message: str, place: tuple[int, int]) -> None:
    schema = Schema((Column("x", INTEGER), Column("l", array_of(INTEGER))))
    catalog = {name: Relation(name, schema, Source(name, schema)) for name in ("la", "lb")}
    with pytest.raises(PlannerError) as caught:
        plan_query(sql, catalog)
    assert re.search(message, f"{caught.value.message}; {caught.value.hint}")
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ("(1), ('2'), (NULL)", [(1,), (2,), (None,)]),
        ("('2020-01-2'), (DATE '2020-01-01')", [("2020-01-01",), ("2020-01-02",)]),
        ("('a'), (NULL)", [("a",), (None,)]),
        ("(1), ('2'::text)", [("1",), ("2",)]),
    ],
)
def test_texts_in_values_take_the_type_of_the_others(values: str, rows: Rows) -> None:
    assert answer(f"SELECT v FROM (VALUES {values}) AS q(v)")[1] == rows


def test_a_text_in_values_that_has_no_value_of_the_type() -> None:
    with pytest.raises(PlannerError, match="'x' is not a value of type INTEGER"):
        answer("SELECT v FROM (VALUES (1), ('x')) AS q(v)")
