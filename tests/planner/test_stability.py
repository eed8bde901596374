"""EXPLAIN is the same bytes in every process, and equal parts of different views are one operator."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from engine.plan.nodes import Node
from engine.runtime.engine import Engine
from planner import plan_query
from planner.explain import FORMATS, STAGES, explain
from tests.corpus.corpus import sections
from tests.planner.samples import planned
from tests.planner.test_explain import REACH
from tests.planner.test_join_order import catalog
from tests.seeds import half

QUERIES = half(
    (
        *sections()["several at once"],
        f"{REACH} WHERE x.n IN (SELECT a FROM t) OR y.n NOT IN (SELECT a FROM u)",
    )
)
PROGRAM = "from tests.planner.test_stability import explained; print(explained())"


def explained() -> str:
    """Every stage of every query in every format."""
    return "\n".join(
        explain(planned(sql), stage, format) for sql in QUERIES for stage in STAGES for format in FORMATS
    )


def test_explain_is_the_same_in_every_process() -> None:
    """Whatever it hashes texts with: this one does not have the other's seed."""
    text = explained()
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{text}\n"
    assert text.count("flowchart BT") == len(QUERIES) * len(STAGES)


def operators(*queries: str) -> int:
    """How many operators an engine runs for views of these queries."""
    known = catalog()
    engine = Engine()
    for name, relation in known.items():
        engine.create_source(name, relation.schema, relation.key)
    before = _running(engine)
    for place, sql in enumerate(queries):
        engine.create_view(f"v{place}", plan_query(sql, known).plan)
    return _running(engine) - before


def _running(engine: Engine) -> int:
    return len(engine._dataflow.operators)


JOIN = "SELECT s, sum(price) AS p FROM lines JOIN supplier ON s = l_s WHERE price > 3 AND l_o > 7 GROUP BY s"


@pytest.mark.parametrize(
    "other",
    [
        "SELECT s, sum(price) AS p FROM supplier x JOIN lines y ON y.l_s = x.s WHERE l_o > 7"
        " AND price > 3 GROUP BY s",
        "SELECT x.s AS id, sum(y.price) AS total FROM lines y, supplier x WHERE 3 < price"
        " AND s = l_s AND 7 < l_o GROUP BY 1",
        "WITH big AS (SELECT l_s, price FROM lines WHERE price > 3 AND l_o > 7)"
        " SELECT s, sum(price) FROM big JOIN supplier ON l_s = s GROUP BY s",
        "SELECT s, sum(price) FROM (SELECT * FROM lines WHERE price > 3) l"
        " JOIN supplier ON l_s = s AND l_o > 7 GROUP BY s",
    ],
)  # fmt: skip
def test_what_is_written_otherwise_and_is_the_same_is_shared(other: str) -> None:
    assert operators(JOIN, other) == operators(JOIN) + 1, "a history of its own"


def test_views_share_the_joins_that_they_have_in_common() -> None:
    asia = "region_name = 'ASIA' AND n_r = r AND s_n = n"
    suppliers = f"SELECT s, nation_name FROM supplier, nation, region WHERE {asia}"
    counted = f"SELECT nation_name AS name, count(*) FROM region r1, supplier, nation WHERE {asia} GROUP BY 1"
    alone = operators(suppliers), operators(counted)
    assert operators(suppliers, counted) < sum(alone)


def test_arrangements_of_one_table_by_one_key_are_one() -> None:
    by_order = "SELECT o_c, price FROM orders JOIN lines ON o = l_o"
    by_note = "SELECT note, price FROM log JOIN lines ON log.l_o = lines.l_o"
    assert operators(by_order, by_note) < operators(by_order) + operators(by_note)


def nodes(plan: Node) -> int:
    seen: set[Node] = set()
    stack = [plan]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.inputs
    return len(seen)


def test_one_query_meets_itself() -> None:
    half = "SELECT s, sum(price) AS p FROM lines JOIN supplier ON s = l_s GROUP BY s"
    twice = f"SELECT a.p, b.p AS q FROM ({half}) a JOIN ({half}) b ON a.s = b.s"
    assert nodes(plan_query(twice, catalog()).plan) <= nodes(plan_query(half, catalog()).plan) + 3
