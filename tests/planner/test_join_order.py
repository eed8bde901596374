"""In which order inner joins are made: whatever the text's order, along keys, the smallest first."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Filter, Join, Node, Source
from planner import Catalog, Relation, plan_query
from planner.statements.statement_reader import parse_script
from planner.statements.statements import CreateTable
from tests.planner.samples import check, planned
from tests.seeds import each_seed, few

TABLES = """
    CREATE TABLE region (r INTEGER PRIMARY KEY, region_name TEXT);
    CREATE TABLE nation (n INTEGER PRIMARY KEY, n_r INTEGER, nation_name TEXT);
    CREATE TABLE supplier (s INTEGER PRIMARY KEY, s_n INTEGER);
    CREATE TABLE customer (c INTEGER PRIMARY KEY, c_n INTEGER);
    CREATE TABLE orders (o INTEGER PRIMARY KEY, o_c INTEGER, day DATE);
    CREATE TABLE lines (l_o INTEGER, l INTEGER, l_s INTEGER, price INTEGER, PRIMARY KEY (l_o, l));
    CREATE TABLE log (l_o INTEGER, note TEXT)
"""
FROM = ["customer", "orders", "lines", "supplier", "nation", "region"]
WHERE = [
    "c = o_c",
    "o = l_o",
    "s = l_s",
    "c_n = s_n",
    "s_n = n",
    "n_r = r",
    "region_name = 'ASIA'",
    "day > DATE '1994-01-01'",
]


def relation(statement: CreateTable, rows: int | None = None) -> Relation:
    schema, names = statement.columns, statement.primary_key
    key = None if names is None else tuple(map(schema.index, names))
    return Relation(statement.name, schema, Source(statement.name, schema), key, rows=rows)


def catalog(**rows: int) -> Catalog:
    statements = [statement for statement in parse_script(TABLES) if isinstance(statement, CreateTable)]
    return {it.name: relation(it, rows.get(it.name)) for it in statements}


def joins(plan: Node) -> list[Node]:
    """The joins, those that are made first before the others."""

    def walk(node: Node) -> Iterator[Node]:
        for input in node.inputs:
            yield from walk(input)
        if isinstance(node, Join | MultiJoin):
            yield node

    return list(dict.fromkeys(walk(plan)))


def tables(node: Node) -> list[str]:
    """The tables that a node reads, sorted; one as often as it is read."""
    if isinstance(node, Source):
        return [node.name]
    return sorted(name for input in node.inputs for name in tables(input))


def test_a_cycle_of_keys_is_joined_from_its_small_end() -> None:
    sql = f"SELECT nation_name, sum(price) FROM {', '.join(FROM)} WHERE {' AND '.join(WHERE)} GROUP BY 1"
    made = [tables(join) for join in joins(plan_query(sql, catalog()).plan)]
    assert made == [
        ["nation", "region"],
        ["customer", "nation", "region"],
        ["customer", "nation", "orders", "region"],
        ["customer", "lines", "nation", "orders", "region"],
        ["customer", "lines", "nation", "orders", "region", "supplier"],
    ]


@each_seed(few(6))
def test_the_order_of_the_text_makes_no_difference(seed: int) -> None:
    rng = random.Random(seed)
    wanted = plan_query(f"SELECT price FROM {', '.join(FROM)} WHERE {' AND '.join(WHERE)}", catalog()).plan
    names, predicates = rng.sample(FROM, len(FROM)), rng.sample(WHERE, len(WHERE))
    turned = [" = ".join(reversed(p.split(" = "))) if rng.random() < 0.5 else p for p in predicates]
    sql = f"SELECT price FROM {', '.join(names)} WHERE {' AND '.join(turned)}"
    assert plan_query(sql, catalog()).plan == wanted


def test_counted_rows_are_believed() -> None:
    sql = "SELECT note FROM log JOIN orders ON o = l_o JOIN customer ON c = o_c"
    many = catalog(log=10, orders=1_000_000, customer=1_000_000)
    few = catalog(log=1_000_000, orders=10, customer=1_000_000)
    first = [tables(joins(plan_query(sql, known).plan)[0]) for known in (many, few)]
    assert first == [["log", "orders"], ["customer", "orders"]]


def test_nothing_is_crossed_while_an_equality_is_left() -> None:
    where = "o = lines.l_o AND c = o_c AND log.l_o = o"
    sql = f"SELECT price FROM region, customer, lines, orders, log WHERE {where}"
    made = joins(plan_query(sql, catalog()).plan)
    keyless = [join for join in made if isinstance(join, Join) and not join.left_keys]
    assert len(keyless) == 1
    assert keyless[0] == made[-1]


def test_what_is_one_row_is_crossed_at_once() -> None:
    last = "(SELECT max(day) AS last FROM orders) AS m"
    sql = f"SELECT price FROM lines, orders, {last} WHERE o = l_o AND day = last"
    made = [tables(join) for join in joins(plan_query(sql, catalog()).plan)]
    assert made == [3 * ["orders"], ["lines", *3 * ["orders"]]], "the aggregate, and a row for none"


@pytest.mark.parametrize(
    ("sql", "filters"),
    [
        ("SELECT t.b, u.d FROM t JOIN u ON t.a = u.a WHERE t.a > 1", 2),
        ("SELECT t.b, u.d FROM t, u, k WHERE t.a = u.a AND u.a = k.id AND (k.id = 1 OR k.id = 2)", 3),
        ("SELECT t.b, u.d FROM t JOIN u ON t.a = u.a AND t.a = u.d WHERE u.e", 2),
        ("SELECT t.b, k.p FROM t, k WHERE (t.a = 1 AND k.id = 2) OR (t.a = 3 AND k.id = 4)", 3),
        ("SELECT t.b FROM t LEFT JOIN u ON t.a = u.a WHERE t.a = 2", 2),
        ("SELECT t.b FROM t JOIN u ON t.a = u.a AND u.a / t.a > 0 WHERE t.b > ''", 3),
    ],
)
def test_what_follows_for_one_relation_is_asked_of_it(sql: str, filters: int) -> None:
    def found(node: Node) -> set[Node]:
        below = set().union(*map(found, node.inputs))
        return below | {node} if isinstance(node, Filter) else below

    assert len(found(planned(sql).plan)) >= filters
    check(sql)
