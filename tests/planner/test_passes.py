"""What each pass makes of queries, before and after, and that the answers stay what they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.ir import (
    Distinct,
    JoinKind,
    Project,
    Relational,
    RelationalProgram,
    Selection,
    TableScan,
    ThetaJoin,
    Values,
    references,
)
from planner.ir.scalars import conjuncts
from planner.ir.unique import unique_keys
from planner.passes.contradictions import is_contradictory
from tests.planner.samples import check, planned


def walk(program: RelationalProgram) -> Iterator[Relational]:
    stack = [program.root, *program.definitions]
    while stack:
        operator = stack.pop()
        yield operator
        stack += operator.inputs


def kinds(sql: str) -> list[str]:
    """The kinds of the joins that are left, sorted."""
    return sorted(o.kind.value for o in walk(planned(sql).optimized) if isinstance(o, ThetaJoin))


def scanned(sql: str) -> list[str]:
    return sorted(o.name for o in walk(planned(sql).optimized) if isinstance(o, TableScan))


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d > 1", ["inner"]),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d > 1 OR u.d < 0", ["inner"]),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d > 1 OR u.d IS NULL", ["left"]),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE coalesce(u.d, 1) = 1", ["left"]),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE t.a > 1", ["left"]),
        ("SELECT * FROM t RIGHT JOIN u ON t.a = u.a WHERE t.b = 'x'", ["inner"]),
        ("SELECT * FROM t FULL JOIN u ON t.a = u.a WHERE t.b = 'x'", ["left"]),
        ("SELECT * FROM t FULL JOIN u ON t.a = u.a WHERE u.d > 1", ["left"]),
        ("SELECT * FROM t FULL JOIN u ON t.a = u.a WHERE u.d > t.c", ["inner"]),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a JOIN k ON k.id = u.d", ["inner", "inner"]),
        ("SELECT * FROM (t FULL JOIN u ON t.a = u.a) JOIN k ON k.id = t.a", ["inner", "left"]),
        ("SELECT * FROM t LEFT JOIN (u LEFT JOIN k ON k.id = u.d) ON t.a = k.q", ["inner", "left"]),
        ("SELECT * FROM (SELECT t.a, u.d FROM t LEFT JOIN u ON t.a = u.a) x, k WHERE x.d + 1 = k.id",
         ["inner", "inner"]),
        ("SELECT d FROM t LEFT JOIN u ON t.a = u.a GROUP BY d HAVING d > 3", ["inner"]),
        ("SELECT count(*) FROM t LEFT JOIN u ON t.a = u.a HAVING max(d) > 3", ["left"]),
        ("SELECT d FROM t LEFT JOIN u ON t.a = u.a INTERSECT ALL SELECT id FROM k WHERE id > 1", ["left"]),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d IN (SELECT q FROM k)", ["inner", "semi"]),
    ],
)  # fmt: skip
def test_outer_joins_pad_no_more_than_is_kept(sql: str, left: list[str]) -> None:
    assert kinds(sql) == left
    check(sql)


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT t.b FROM t LEFT JOIN k ON k.id = t.a", ["t"]),
        ("SELECT t.b FROM t LEFT JOIN k ON k.id = t.a AND k.q > 1", ["t"]),
        ("SELECT t.b FROM t LEFT JOIN (SELECT a, sum(d) AS s FROM u GROUP BY a) u ON u.a = t.a", ["t"]),
        ("SELECT t.b FROM t LEFT JOIN (SELECT max(d) AS m FROM u) u ON u.m > t.a", ["t"]),
        ("SELECT t.b, k.p FROM t LEFT JOIN k ON k.id = t.a", ["k", "t"]),
        ("SELECT t.b FROM t LEFT JOIN k ON k.q = t.a", ["k", "t"]),
        ("SELECT t.b FROM t LEFT JOIN u ON u.a = t.a", ["t", "u"]),
        ("SELECT t.b FROM t LEFT JOIN k ON k.id > t.a", ["k", "t"]),
    ],
)
def test_what_is_joined_by_a_key_and_not_asked_for_goes(sql: str, tables: list[str]) -> None:
    assert scanned(sql) == tables
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t WHERE a = 1 AND a = 2",
        "SELECT a FROM t WHERE a > 5 AND a < 3",
        "SELECT a FROM t WHERE a > 3 AND 3 >= a",
        "SELECT a FROM t WHERE b = 'x' AND b > 'y'",
        "SELECT a FROM t WHERE a IS NULL AND a > 0",
        "SELECT a FROM t WHERE a = NULL",
        "SELECT a FROM t WHERE 1 = 2 OR 'a' > 'b'",
        "SELECT a FROM t WHERE upper('x') = 'x'",
        "SELECT a FROM t WHERE 1 + 1 = 3",
        "SELECT t.a FROM t JOIN u ON t.a = u.a AND t.a = 1 WHERE u.a = 2",
        "SELECT t.a FROM t WHERE false UNION ALL SELECT a FROM u WHERE a <> a AND false",
        "SELECT id FROM days WHERE day > DATE '2020-01-01' AND day < DATE '2020-01-01' - INTERVAL '1' MONTH",
    ],
)
def test_what_contradicts_itself_is_empty(sql: str) -> None:
    assert [type(o) for o in walk(planned(sql).optimized)] == [Values]
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t WHERE a >= 3 AND a <= 3",
        "SELECT a FROM t WHERE a IS NULL AND (a > 0 OR c IS NULL)",
        "SELECT a FROM t WHERE c > 'NaN' AND c < 1",
        "SELECT a FROM t WHERE a = 1 AND a = 2 OR a = 3",
        "SELECT (a = 1 AND a = 2) IS NULL AS x FROM t",
        "SELECT t.a, u.d FROM t LEFT JOIN u ON t.a = 1 AND t.a = 2",
        "SELECT t.a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.a > 3 AND u.a < 2)",
        "SELECT a FROM t EXCEPT ALL SELECT a FROM u WHERE 1 > 2",
        "SELECT id FROM days WHERE day >= DATE '2020-01-31' AND CAST(day AS TIMESTAMP) <= '2020-01-31'",
    ],
)
def test_what_does_not_contradict_itself_stays(sql: str) -> None:
    assert any(isinstance(o, TableScan) for o in walk(planned(sql).optimized))
    check(sql)


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT id, p FROM k", [["id"]]),
        ("SELECT p FROM k", []),
        ("SELECT p FROM k WHERE id = 2", [[]]),
        ("SELECT a, count(*) AS n FROM t GROUP BY a", [["a"]]),
        ("SELECT count(*) AS n FROM t", [[]]),
        ("SELECT DISTINCT a, b FROM t", [["a", "b"]]),
        ("SELECT x.id, y.q FROM k x JOIN k y ON x.q = y.id", [["id"]]),
        ("SELECT x.id AS i, y.id AS j FROM k x JOIN k y ON x.q = y.q", [["i", "j"]]),
        ("SELECT id FROM k EXCEPT SELECT a FROM t", [["id"]]),
        ("SELECT id FROM k UNION ALL SELECT a FROM t", []),
        ("SELECT id, a FROM k LEFT JOIN t ON a = id", []),
        ("SELECT a, id FROM (SELECT DISTINCT a FROM t) t LEFT JOIN k ON a = id", [["a"]]),
        ("SELECT id FROM k WHERE EXISTS (SELECT 1 FROM t WHERE a = id)", [["id"]]),
    ],
)
def test_keys_are_known(sql: str, keys: list[list[str]]) -> None:
    root = planned(sql).optimized.root
    names = {column.id: column.name for column in root.columns}
    assert [sorted(names[id] for id in key) for key in unique_keys(root)] == keys


def test_what_is_distinct_already_is_not_made_so() -> None:
    sql = "SELECT DISTINCT id, p FROM k WHERE q > 1"
    assert not any(isinstance(o, Distinct) for o in walk(planned(sql).optimized))
    check(sql)


@pytest.mark.parametrize(
    ("sql", "below"),
    [
        ("SELECT u.d, k.p FROM u JOIN k ON k.q = u.a WHERE k.id IN (SELECT a FROM t)", {"k", "t"}),
        ("SELECT u.d FROM u JOIN k ON k.q = u.a WHERE k.id NOT IN (SELECT src FROM edges)", {"k", "edges"}),
        ("SELECT u.d FROM k LEFT JOIN u ON k.q = u.a WHERE k.id IN (SELECT a FROM t)", {"k", "t"}),
        ("SELECT d FROM (SELECT u.d + 1 AS d, k.id AS i FROM u, k WHERE k.q = u.a) x"
         " WHERE i IN (SELECT a FROM t)", {"k", "t"}),
    ],
)  # fmt: skip
def test_semijoins_go_to_the_relation_that_they_ask(sql: str, below: set[str]) -> None:
    (join,) = [
        o
        for o in walk(planned(sql).optimized)
        if isinstance(o, ThetaJoin) and o.kind in (JoinKind.SEMI, JoinKind.ANTI)
    ]
    assert {o.name for o in walk(RelationalProgram((), join, ())) if isinstance(o, TableScan)} == below
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM (SELECT b, max(a) AS m FROM t GROUP BY b) x WHERE b = 'x'",
        "SELECT * FROM (SELECT a FROM t EXCEPT ALL SELECT a FROM u) x WHERE a > 1",
        "SELECT * FROM (SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b) x WHERE a > 1",
        "SELECT * FROM (SELECT DISTINCT a, b FROM t) x WHERE b = 'x'",
    ],
)
def test_filters_reach_the_tables(sql: str) -> None:
    operators = list(walk(planned(sql).optimized))
    scans = {id(o) for o in operators if isinstance(o, TableScan)}
    filtered = {id(o.input) for o in operators if isinstance(o, Selection)}
    assert scans == filtered
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM (SELECT a, b FROM t ORDER BY a, b LIMIT 3) x WHERE b = 'x'",
        "SELECT * FROM (SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b, c) x WHERE b > 'a'",
    ],
)
def test_filters_stay_above_what_counts_places(sql: str) -> None:
    scans = {id(o) for o in walk(planned(sql).optimized) if isinstance(o, TableScan)}
    inputs = {id(o.input) for o in walk(planned(sql).optimized) if isinstance(o, Selection)}
    assert not scans & inputs
    check(sql)


@pytest.mark.parametrize(("column", "goes_down"), [("a", True), ("b", False)])
def test_filters_pass_windows_by_their_partitions(column: str, goes_down: bool) -> None:
    over = "row_number() OVER (PARTITION BY a ORDER BY b, c) AS n"
    sql = f"SELECT * FROM (SELECT a, b, {over} FROM t) x WHERE {column} IS NULL"
    filters = [o for o in walk(planned(sql).optimized) if isinstance(o, Selection)]
    assert [isinstance(o.input, TableScan) for o in filters] == [goes_down]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT a FROM (SELECT a, b, c FROM t ORDER BY b LIMIT 10) x", {"a", "b"}),
        ("SELECT a FROM (SELECT a, b, row_number() OVER (ORDER BY c) AS n FROM t) x", {"a"}),
        ("SELECT n FROM (SELECT b, count(*) AS n, max(c) AS m FROM t GROUP BY b) x", {"b"}),
        ("SELECT t.b FROM t JOIN u ON t.a = u.a AND t.c > 1", {"a", "b", "c"}),
        ("SELECT a FROM (SELECT a, b FROM t UNION ALL SELECT id, note FROM days) x", {"a", "id"}),
    ],
)  # fmt: skip
def test_only_columns_that_matter_are_read(sql: str, columns: set[str]) -> None:
    scans = [o for o in walk(planned(sql).optimized) if isinstance(o, TableScan) and o.name != "u"]
    assert {column.name for scan in scans for column in scan.columns} == columns


def test_no_operator_has_a_column_that_nothing_reads() -> None:
    """Above a projection, of the columns of its input, each is used."""
    sql = "SELECT x.b, max(k.p) FROM t x JOIN u ON x.a = u.a JOIN k ON k.id = u.d WHERE u.e GROUP BY x.b"
    for operator in walk(planned(sql).optimized):
        if isinstance(operator, Project) and isinstance(operator.input, TableScan):
            used = frozenset().union(*map(references, operator.expressions))
            assert used == operator.input.ids


def test_literals_alone_contradict() -> None:
    (predicate,) = planned("SELECT a FROM t WHERE a > 1").logical.root.input.expressions
    assert not is_contradictory(conjuncts(predicate))
