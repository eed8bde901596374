"""Which joins become one multijoin, that they answer as DuckDB does, and what EXPLAIN says of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Node
from planner.explain import explain
from tests.planner.samples import check, planned

TRIANGLE = "edges e, edges f, edges g WHERE e.dst = f.src AND f.dst = g.src AND g.dst = e.src"


def multijoins(sql: str) -> list[MultiJoin]:
    def walk(node: Node) -> Iterator[MultiJoin]:
        if isinstance(node, MultiJoin):
            yield node
        for input in node.inputs:
            yield from walk(input)

    return list(dict.fromkeys(walk(planned(sql).plan)))


@pytest.mark.parametrize(
    ("sql", "relations"),
    [
        (f"SELECT e.src, f.src, g.src FROM {TRIANGLE}", 3),
        (f"SELECT count(*) FROM {TRIANGLE}", 3),
        (f"SELECT e.w, f.w, g.w FROM {TRIANGLE} AND e.w + f.w > 1 AND e.w < g.w AND f.w <> 3", 3),
        ("SELECT count(*) FROM edges a, edges b, edges c, edges d WHERE a.dst = b.src AND b.dst = c.src"
         " AND c.dst = d.src AND d.dst = a.src", 4),
        ("SELECT a.src FROM edges a JOIN edges b ON a.dst = b.src JOIN edges c ON b.dst = c.src"
         " JOIN k ON k.id = c.dst WHERE a.src = c.dst", 4),
        ("SELECT t.b FROM t JOIN u ON t.a + 1 = u.a JOIN k ON u.d = k.q JOIN days ON days.id = t.a"
         " AND days.id = k.id", 4),
        ("SELECT t.b, u.d FROM t JOIN u ON t.a IS NOT DISTINCT FROM u.a"
         " JOIN none ON none.a IS NOT DISTINCT FROM t.a AND none.a = u.d + 1", 3),
        ("SELECT t.b, u.d, n.b FROM t JOIN u ON t.a IS NOT DISTINCT FROM u.a"
         " JOIN t n ON n.a IS NOT DISTINCT FROM u.a", 3),
    ],
)  # fmt: skip
def test_cycles_become_multijoins(sql: str, relations: int) -> None:
    (node,) = multijoins(sql)
    assert len(node.parts) == relations
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.b, u.d, k.p FROM t, u, k WHERE t.a = u.a AND k.id = u.a",
        "SELECT t.b, u.d, k.p FROM t, u, k WHERE t.a = u.a AND k.id = u.a AND k.q = t.a",
        "SELECT a.src, b.src, c.src, c.dst FROM edges a, edges b, edges c"
        " WHERE a.dst = b.src AND b.dst = c.src",
        "SELECT t.b, u.d, n.a FROM t JOIN u ON t.a = u.a JOIN t n ON n.a = u.a AND n.c > t.c",
        "SELECT t.b, n FROM t JOIN u ON t.a = u.a JOIN (SELECT id, count(*) AS n FROM k GROUP BY id) k"
        " ON k.id = t.a",
        "SELECT t.b, u.d, k.p FROM t JOIN u ON t.a = u.a AND t.c < u.d JOIN k ON k.id = u.a",
    ],
)
def test_few_arrangements_become_multijoins(sql: str) -> None:
    (node,) = multijoins(sql)
    assert not node.is_cyclic
    check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.b FROM t, u WHERE t.a = u.a",
        "SELECT t.b, k.p FROM t, u, k WHERE t.a = u.a AND u.d = k.q",  # as many rows
        "SELECT x.p FROM k x, k y, k z WHERE x.id = y.q AND y.id = z.q AND x.q = z.id",  # all by keys
        "SELECT t.b FROM t, u, k WHERE t.a = u.a",  # a cross product
        "SELECT t.b FROM t, u, k WHERE t.a + u.a = k.id AND t.a = u.d",  # a sum over two of them
        "SELECT t.b, u.d, k.p FROM t LEFT JOIN u ON t.a = u.a LEFT JOIN k ON k.id = t.a",
    ],
)
def test_other_joins_stay_binary(sql: str) -> None:
    assert not multijoins(sql)
    check(sql)


def test_the_part_of_a_join_that_hangs_together_is_one() -> None:
    sql = f"SELECT e.src, k.id FROM (SELECT e.src FROM {TRIANGLE}) e CROSS JOIN k"
    (node,) = multijoins(sql)
    assert len(node.parts) == 3
    check(sql)


def test_loops_keep_binary_joins() -> None:
    sql = (
        "WITH RECURSIVE r(a, b) AS (SELECT src, dst FROM edges UNION"
        " SELECT r.a, f.dst FROM r, edges e, edges f"
        " WHERE e.src = r.b AND f.src = e.dst AND f.w < e.w) SELECT * FROM r"
    )
    assert not multijoins(sql)
    check(sql)


def test_two_equalities_with_one_column_are_a_filter_of_the_other_relation() -> None:
    (node,) = multijoins("SELECT t.b FROM t, u, k WHERE t.a = u.a AND k.id = u.a AND k.q = t.a")
    assert node.equalities == (((0, 0), (1, 0), (2, 0)),)


def test_inputs_are_as_narrow_as_for_binary_joins() -> None:
    (node,) = multijoins("SELECT t.b FROM t, u, k WHERE t.a = u.a AND k.id = u.a AND t.c > 1")
    assert sorted(part.schema.names for part in node.parts) == [("a",), ("a", "b"), ("id",)]


FOUR_CYCLE = """\
    i0.#0 = i3.#1
    i0.#1 = i1.#0
    i1.#1 = i2.#0
    i2.#1 = i3.#0
    from i0: if in i3 by #1; i1.#1 from the fewest of i1 by #0 | all i2; \
i2.#1 from the fewest of i2 by #0 | i3 by #1
    from i1: if in i2 by #0; i0.#0 from the fewest of i0 by #1 | all i3; \
i2.#1 from the fewest of i2 by #0 | i3 by #1
    from i2: if in i1 by #1; i0.#0 from the fewest of all i0 | i3 by #0; \
i0.#1 from the fewest of i0 by #0 | i1 by #1
    from i3: if in i2 by #1; i0.#1 from the fewest of i0 by #0 | all i1; \
i1.#1 from the fewest of i1 by #0 | i2 by #1
    arranged: r1 by #0 #1
    arranged: r1 by #1 #0
"""
DELTA = """\
    i0.#0 = i1.#0 = i2.#0
    from i0: i1 by #0; i2 by #0
    from i1: i0 by #0; i2 by #0
    from i2: i0 by #0; i1 by #0
    arranged: r1 by #0
    arranged: r4 by #0 #1
    arranged: r7 by #0
"""


@pytest.mark.parametrize(
    ("sql", "title", "details"),
    [
        (
            "SELECT count(*) FROM edges a, edges b, edges c, edges d WHERE a.dst = b.src AND b.dst = c.src"
            " AND c.dst = d.src AND d.dst = a.src",
            "r2 := worst-case optimal join r1, r1, r1, r1 → ",
            FOUR_CYCLE,
        ),
        ("SELECT t.b FROM t, u, k WHERE t.a = u.a AND k.id = u.a", "r8 := delta join r1, r4, r7 → ", DELTA),
    ],
)
def test_explain_shows_paths_and_arrangements(sql: str, title: str, details: str) -> None:
    text = explain(planned(sql), "dataflow")
    _, found, rest = text.partition(title)
    assert found
    assert rest.partition("\n")[2].startswith(details)
