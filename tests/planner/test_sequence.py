"""WITH MUTUALLY RECURSIVE updates its bindings in sequence. The cases and their answers are facts from
Materialize's manual and its own tests; the engine and the oracle must both give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.errors import EngineError
from engine.plan.nodes import Node, Source
from engine.runtime.engine import Engine, Options
from engine.schema import INTEGER, Column, Schema
from planner import Relation, plan_query
from tests.oracle.interpreter import OracleError, interpret

SCHEMA = Schema((Column("src", INTEGER), Column("dst", INTEGER)))
CATALOG = {"edges": Relation("edges", SCHEMA, Source("edges", SCHEMA))}
EDGES = [*((n, n + 1) for n in range(10)), (4, 2), (8, 6)]
MOST_ROUNDS = 60

Pair = tuple[int, int]


def planned(sql: str) -> Node:
    return plan_query(sql, CATALOG, "postgres").plan


def running(plan: Node) -> Engine:
    engine = Engine(Options(max_rounds=MOST_ROUNDS))
    engine.create_source("edges", SCHEMA)
    engine.create_view("view", plan)
    return engine


def change(engine: Engine, rows: Iterable[Pair], diff: int) -> None:
    epoch = engine.snapshot.upper
    words = encode_rows(list(rows), SCHEMA, engine.dictionary)
    tail = np.full((2, words.shape[1]), diff, np.int64)
    tail[0] = epoch
    stage = engine.stage({"edges": np.ascontiguousarray(np.concatenate([words, tail]))}, epoch + 1)
    assert not stage.failed, stage.failed
    stage.publish()


def held(engine: Engine) -> Counter[tuple]:
    words, counts = engine.snapshot.rows("view")
    rows = decode_rows(words, engine.snapshot.schema("view"), engine.dictionary)
    return Counter(dict(zip(map(tuple, rows), counts.tolist(), strict=True)))


def answer(sql: str) -> Counter[tuple]:
    """What the engine holds after all edges have come, gone and come back, which is what the oracle says."""
    plan = planned(sql)
    engine = running(plan)
    for diff in (1, -1, 1):
        change(engine, EDGES, diff)
    assert held(engine) == interpret(plan, {"edges": Counter(EDGES)})
    return held(engine)


FOO = "foo (a INT, b INT) AS (SELECT 1, 2 UNION SELECT a, 7 FROM bar), bar (a INT) AS (SELECT a FROM foo)"
COUNT = "cnt (i INT) AS (SELECT 1 AS i UNION SELECT i + 1 FROM cnt{})"

KNOWN = [
    (f"WITH MUTUALLY RECURSIVE {FOO} SELECT * FROM bar", [(1,), (1,)]),
    (f"WITH MUTUALLY RECURSIVE {FOO} SELECT (SELECT count(*) FROM foo) FROM bar", [(2,), (2,)]),
    (
        "WITH MUTUALLY RECURSIVE "
        "evens (n INT) AS (VALUES (1) UNION ALL SELECT n + 1 FROM odds WHERE n < 40), "
        "odds (n INT) AS (VALUES (0) UNION ALL SELECT n + 1 FROM evens), "
        "both_ (n INT) AS (SELECT * FROM evens UNION ALL SELECT * FROM odds) SELECT sum(n) FROM both_",
        [(1640,)],
    ),
    (
        "SELECT bound, (WITH MUTUALLY RECURSIVE numbers (n INT) AS (VALUES (1) UNION ALL ("
        "WITH rebound AS (SELECT * FROM numbers) "
        "SELECT DISTINCT x.n + y.n AS n FROM rebound AS x, rebound AS y "
        "WHERE x.n <= bound AND y.n <= bound)) SELECT count(*) FROM numbers) "
        "FROM generate_series(1, 10) AS s (bound)",
        [(bound, 2 * bound) for bound in range(1, 11)],
    ),
    (
        "WITH MUTUALLY RECURSIVE foo (a INT, b INT) AS (SELECT (SELECT min(c) FROM bar), 2 UNION "
        "SELECT 5, 5 FROM bar), bar (c INT) AS (SELECT a FROM foo) SELECT * FROM foo, bar",
        [(5, 2, 5), (5, 2, 5), (5, 5, 5), (5, 5, 5)],
    ),
    (
        "WITH MUTUALLY RECURSIVE foo (a INT, b INT) AS (SELECT 1, 2 UNION SELECT * FROM ("
        "SELECT min(c), 2 FROM bar) AS m), bar (c INT) AS (SELECT a FROM foo) SELECT * FROM foo, bar",
        [(1, 2, 1)],
    ),
    (
        "WITH MUTUALLY RECURSIVE c1 (f1 INT, f2 INT) AS (SELECT * FROM (VALUES (0, 0)) AS v UNION ALL ("
        "SELECT x.f1 + 1, x.f2 + 1 FROM c1 AS x, (SELECT f2 FROM c1 AS p LEFT JOIN c1 AS q USING (f2) "
        "WHERE p.f1 < 100 AND q.f2 IS NULL) AS y WHERE x.f1 < 100)) SELECT * FROM c1",
        [(0, 0)],
    ),
    (
        "WITH MUTUALLY RECURSIVE cnt (i INT) AS ((WITH MUTUALLY RECURSIVE "
        + COUNT.format(" WHERE i < 3")
        + " SELECT i FROM cnt) UNION SELECT i + 100 FROM cnt WHERE i < 500) SELECT i FROM cnt",
        [(100 * k + i,) for k in range(6) for i in (1, 2, 3)],
    ),
    (
        f"(WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 3) {COUNT.format('')} SELECT -10, i FROM cnt) "
        f"UNION (WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 5) {COUNT.format('')} "
        "SELECT -20, i FROM cnt)",
        [*((-20, i) for i in range(1, 6)), *((-10, i) for i in range(1, 4))],
    ),
    (
        "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 50) "
        "t0 (n INT) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t0), "
        "t1 (n INT) AS (VALUES (-1) UNION ALL SELECT n + 1 FROM t1) "
        "SELECT (SELECT sum(n) FROM t0) - (SELECT sum(n) FROM t1)",
        [(100,)],
    ),
    (
        "WITH MUTUALLY RECURSIVE label (node INT, comp INT) AS (SELECT dst, min(comp) FROM ("
        "SELECT dst, dst AS comp FROM edges UNION ALL "
        "SELECT edges.dst, label.comp FROM edges, label WHERE edges.src = label.node) AS x GROUP BY dst) "
        "SELECT round, count(*) FROM (WITH MUTUALLY RECURSIVE relabel (node INT, comp INT, round INT) AS ("
        "SELECT DISTINCT ON (node) node, comp, round FROM ("
        "SELECT node, comp, 0 AS round FROM label UNION ALL "
        "SELECT edges.dst, relabel.comp, relabel.round + 1 FROM edges, relabel WHERE edges.src = relabel.node"
        ") AS y ORDER BY node, comp) SELECT round FROM relabel) AS z GROUP BY round",
        [(0, 10)],
    ),
]


@pytest.mark.parametrize(("sql", "rows"), KNOWN)
def test_what_materialize_answers(sql: str, rows: list[tuple]) -> None:
    assert answer(sql) == Counter(rows)


# Rounds

CHAIN = "a (n INT) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c), b (n INT) AS (SELECT n * 10 FROM a), "


@pytest.mark.parametrize(
    ("limit", "rows"),
    [
        (1, [("a", 1), ("b", 10), ("c", 110)]),
        (2, [("a", 1), ("a", 111), ("b", 10), ("b", 1110), ("c", 110), ("c", 1210)]),
    ],
)
def test_a_round_is_one_of_all_bindings(limit: int, rows: list[tuple]) -> None:
    """c reads a and b as they are in the same round, a reads c of the round before."""
    sql = (
        f"WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT {limit}) {CHAIN}"
        "c (n INT) AS (SELECT n + 100 FROM b) "
        "SELECT 'a', n FROM a UNION ALL SELECT 'b', n FROM b UNION ALL SELECT 'c', n FROM c"
    )
    assert answer(sql) == Counter(rows)


def test_a_name_behind_is_of_the_round_before() -> None:
    sql = (
        "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT {}) "
        "late (n INT) AS (SELECT dst FROM seen), seen (dst INT) AS (SELECT dst FROM edges) SELECT n FROM late"
    )
    assert answer(sql.format(1)) == Counter()
    assert answer(sql.format(2)) == Counter([(dst,) for _, dst in EDGES])


def test_bindings_that_read_only_those_before_them_take_one_round() -> None:
    sql = (
        "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 2) a (n INT) AS (SELECT src FROM edges), "
        "b (n INT) AS (SELECT n + 1 FROM a), c (n INT) AS (SELECT n + 1 FROM b) SELECT n FROM c"
    )
    assert answer(sql) == Counter([(src + 2,) for src, _ in EDGES])


@pytest.mark.parametrize("shown", ["near", "told"])
def test_a_limit_counts_the_changes_of_all_bindings(shown: str) -> None:
    """Ten hops are there after round 11; a last round has to change nothing, also in what nothing reads."""
    sql = (
        "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT {}) near (n INT) AS (SELECT 0 UNION "
        "SELECT dst FROM near JOIN edges ON src = n), told (n INT) AS (SELECT n FROM near) "
        f"SELECT n FROM {shown}"
    )
    assert answer(sql.format(12)) == Counter([(n,) for n in range(11)])
    engine = running(planned(sql.format(11)))
    with pytest.raises(AssertionError, match="still changes after 11 rounds"):
        change(engine, EDGES, 1)
    with pytest.raises(OracleError, match="fixed point"):
        interpret(planned(sql.format(11)), {"edges": Counter(EDGES)})


def test_a_limit_counts_what_is_not_fed_back() -> None:
    sql = (
        "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 1) a (n INT) AS (SELECT src FROM edges) "
        "SELECT n FROM a"
    )
    with pytest.raises(OracleError, match="fixed point"):
        interpret(planned(sql), {"edges": Counter(EDGES)})
    engine = running(planned(sql))
    with pytest.raises(AssertionError, match="still changes after 1 rounds"):
        change(engine, EDGES, 1)


def test_what_never_rests_is_refused() -> None:
    sql = "WITH MUTUALLY RECURSIVE a (n INT) AS (SELECT 1 EXCEPT SELECT n FROM b), "
    with pytest.raises(EngineError, match=f"still changes after {MOST_ROUNDS} rounds"):
        running(planned(f"{sql} b (n INT) AS (SELECT n FROM a) SELECT n FROM b"))


# Strongly connected components

LABELS = """
    {name} (node INT, label INT) AS (
        WITH MUTUALLY RECURSIVE label (node INT, comp INT) AS (
            SELECT {to}, min(comp)
            FROM (
                SELECT {to}, {to} AS comp FROM edges
                UNION ALL
                SELECT inside.{to}, label.comp FROM inside, label WHERE inside.{by} = label.node
            ) AS told
            GROUP BY {to}
        )
        SELECT * FROM label
    ),"""
COMPONENTS = f"""
WITH MUTUALLY RECURSIVE
    inside (src INT, dst INT) AS (
        SELECT * FROM edges EXCEPT ALL SELECT * FROM edges_delayed
        UNION ALL
        SELECT src, dst
        FROM edges, ahead AS a, ahead AS b, back AS c, back AS d
        WHERE src = a.node AND src = c.node AND dst = b.node AND dst = d.node
            AND a.label = b.label AND c.label = d.label
    ),
    {LABELS.format(name="ahead", to="dst", by="src")}
    {LABELS.format(name="back", to="src", by="dst")}
    edges_delayed (src INT, dst INT) AS (SELECT * FROM edges)
SELECT * FROM ahead UNION SELECT * FROM back"""


def components(edges: list[Pair]) -> Counter[Pair]:
    """Each node with the least node that it reaches and is reached by, or itself."""
    ends = {end for edge in edges for end in edge}
    reach = {end: {end} for end in ends}
    for _ in ends:
        for src, dst in edges:
            reach[src] |= reach[dst]
    return Counter((n, min(m for m in ends if m in reach[n] and n in reach[m])) for n in ends)


def test_strongly_connected_components() -> None:
    sizes = Counter(label for _, label in answer(COMPONENTS))
    assert sizes == {0: 1, 1: 1, 2: 3, 5: 1, 6: 3, 9: 1, 10: 1}


def test_strongly_connected_components_follow_their_edges() -> None:
    engine = running(planned(COMPONENTS))
    present: list[Pair] = []
    steps: list[tuple[int, list[Pair]]] = [
        (1, EDGES),
        (1, [(9, 0)]),
        (-1, [(4, 5)]),
        (1, [(5, 4), (10, 0)]),
        (-1, [(9, 0), (4, 2)]),
        (1, [(4, 5)]),
        (-1, [(3, 4)]),
    ]
    for diff, edges in steps:
        change(engine, edges, diff)
        present = [*present, *edges] if diff > 0 else [edge for edge in present if edge not in edges]
        assert held(engine) == components(present)
