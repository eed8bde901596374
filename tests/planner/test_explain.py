"""EXPLAIN: every stage, every format, the same bytes every time."""

from __future__ import annotations

import json

import pytest

from engine.plan.expressions import Literal
from engine.plan.nodes import (
    Clamp,
    Concat,
    Entry,
    Filter,
    LoopBinding,
    OnLimit,
    Recursive,
    Source,
    Threshold,
    Variable,
)
from engine.schema import BIGINT, BOOLEAN
from planner import PlannerError
from planner.explain import explain
from planner.explain.engine_plan import dataflow_listing
from tests.planner.samples import SCHEMAS, planned

COUNTS = "SELECT b, count(*) AS n FROM t WHERE a > 1 AND a NOT IN (SELECT id FROM k) GROUP BY b"
REACH = (
    "WITH RECURSIVE r(n) AS (SELECT src FROM edges UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n) "
    "SELECT * FROM r x, r y"
)

COUNTS_LOGICAL = """\
r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
r1 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
r2 := project r1 → (id INTEGER NOT NULL)
    id := r1.id
r3 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r0.a > 1
    NOT (SOME r2 WHERE (r0.a = r2.id))
r4 := aggregate r3 → (b TEXT, count BIGINT NOT NULL)
    by r0.b
    count := count(*)
r5 := project r4 → (b TEXT, n BIGINT NOT NULL)
    b := r0.b
    n := r4.count
r6 := output r5 → (b TEXT, n BIGINT NOT NULL)
    b := r5.b
    n := r5.n
return r6
"""

COUNTS_OPTIMIZED = """\
r0 := scan t → (a INTEGER, b TEXT)
r1 := filter r0 → (a INTEGER, b TEXT)
    r0.a > 1
r2 := scan k → (id INTEGER NOT NULL)
r3 := project r2 → (a INTEGER NOT NULL)
    a := r2.id
r4 := anti join r1, r3 → (a INTEGER, b TEXT)
    r0.a = r3.a
r5 := project r4 → (b TEXT)
    b := r0.b
r6 := aggregate r5 → (b TEXT, count BIGINT NOT NULL)
    by r0.b
    count := count(*)
r7 := project r6 → (b TEXT, n BIGINT NOT NULL)
    b := r0.b
    n := r6.count
r8 := output r7 → (b TEXT, n BIGINT NOT NULL)
    b := r7.b
    n := r7.n
return r8
"""

COUNTS_DATAFLOW = """\
r0 := source t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    #0 > 1
r2 := map r1 → (a INTEGER NOT NULL, b TEXT)
    #0 := #0
    #1 := #1
r3 := source k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
r4 := map r3 → (id INTEGER NOT NULL)
    #0 := #0
r5 := join r2, r4 → (a INTEGER NOT NULL, b TEXT, id INTEGER NOT NULL)
    r2.#0 = r4.#0
r6 := map r5 → (a INTEGER NOT NULL, b TEXT)
    #0 := #0
    #1 := #1
r7 := negate r6 → (a INTEGER NOT NULL, b TEXT)
r8 := concat r2, r7 → (a INTEGER NOT NULL, b TEXT)
r9 := map r8 → (b TEXT)
    #0 := #1
r10 := reduce r9 → (b TEXT, count(*) BIGINT NOT NULL)
    by #0
    #1 := count(*) BIGINT
r11 := map r10 → (b TEXT, n BIGINT NOT NULL)
    #0 := #0
    #1 := #1
return r11
"""

REACH_OPTIMIZED = """\
r0 := scan edges → (src INTEGER NOT NULL)
r1 := project r0 → (src INTEGER NOT NULL)
    src := r0.src
r2 := round before of r → (n INTEGER NOT NULL)
r3 := scan edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
r4 := inner join r2, r3 → (n INTEGER NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL)
    r2.n = r3.src
r5 := project r4 → (dst INTEGER NOT NULL)
    dst := r3.dst
r6 := union all r1, r5 → (src INTEGER NOT NULL)
    src := r1.src, r5.dst
r7 := distinct r6 → (src INTEGER NOT NULL)
r8 := fixpoint r r7 → (n INTEGER NOT NULL)
    r := r7 (r6.src)
r9 := reuse r8 → (n INTEGER NOT NULL)
    n := r8.n
r10 := reuse r8 → (n INTEGER NOT NULL)
    n := r8.n
r11 := inner join r9, r10 → (n INTEGER NOT NULL, n INTEGER NOT NULL)
r12 := project r11 → (n INTEGER NOT NULL, n INTEGER NOT NULL)
    n := r9.n
    n#2 := r10.n
r13 := output r12 → (n INTEGER NOT NULL, n INTEGER NOT NULL)
    n := r12.n
    n := r12.n#2
return r13
"""

REACH_DATAFLOW = """\
r0 := source edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
r1 := map r0 → (src INTEGER NOT NULL)
    #0 := #0
  r2 := variable v0.0 → (c0 INTEGER NOT NULL)
r3 := map r0 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
    #0 := #0
    #1 := #1
  r4 := join r2, r3 → (c0 INTEGER NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL)
      r2.#0 = r3.#0
  r5 := map r4 → (dst INTEGER NOT NULL)
      #0 := #2
  r6 := concat r1, r5 → (src INTEGER NOT NULL)
  r7 := threshold distinct r6 → (src INTEGER NOT NULL)
r8 := recursive v0.0 r7 → (src INTEGER NOT NULL)
    v0.0 := r7
r9 := cross join r8, r8 → (src INTEGER NOT NULL, src INTEGER NOT NULL)
r10 := map r9 → (n INTEGER NOT NULL, n INTEGER NOT NULL)
    #0 := #0
    #1 := #1
return r10
"""


@pytest.mark.parametrize(
    ("sql", "stage", "expected"),
    [
        (COUNTS, "logical", COUNTS_LOGICAL),
        (COUNTS, "optimized", COUNTS_OPTIMIZED),
        (COUNTS, "dataflow", COUNTS_DATAFLOW),
        (REACH, "optimized", REACH_OPTIMIZED),
        (REACH, "dataflow", REACH_DATAFLOW),
    ],
)
def test_text(sql: str, stage: str, expected: str) -> None:
    assert explain(planned(sql), stage) == expected


def test_json_has_the_steps_of_the_text() -> None:
    query = planned(COUNTS)
    document = json.loads(explain(query, "dataflow", "json"))
    assert document["stage"] == "dataflow"
    assert document["result"] == document["nodes"][-1]["id"]
    lines = explain(query, "dataflow").split("\n")
    for node in document["nodes"]:
        assert any(line.startswith(f"{node['id']} := {node['operator']}") for line in lines)
    last = document["nodes"][-1]["columns"]
    assert last == [
        {"name": "b", "type": "TEXT", "nullable": True},
        {"name": "n", "type": "BIGINT", "nullable": False},
    ]


def test_mermaid_draws_every_input() -> None:
    query = planned("SELECT b || '\"<x>' AS c FROM t WHERE a < 3")
    assert explain(query, "dataflow", "mermaid") == (
        "flowchart BT\n"
        '  r0["r0 := source t"]\n'
        '  r1["r1 := filter<br/>#35;0 #lt; 3"]\n'
        "  r0 --> r1\n"
        """  r2["r2 := map<br/>#35;0 := #35;1 || '#quot;#lt;x#gt;'"]\n"""
        "  r1 --> r2\n"
    )


def test_a_shared_query_is_one_step() -> None:
    text = explain(
        planned(
            "WITH x AS (SELECT a, sum(c) AS s FROM t GROUP BY a) SELECT p.a FROM x p, x q WHERE p.s < q.s"
        ),
        "optimized",
    )
    assert text.count(":= aggregate") == 1
    assert text.count(":= reuse") == 2


def test_no_stage_no_format() -> None:
    with pytest.raises(PlannerError, match="there is no stage 'physical'"):
        explain(planned(COUNTS), "physical")
    with pytest.raises(PlannerError, match="there is no format 'yaml'"):
        explain(planned(COUNTS), "logical", "yaml")


def test_dataflow_shows_what_a_recursion_starts_from_and_what_enters_it() -> None:
    edges = Source("edges", SCHEMAS["edges"])
    seen, later = Variable("v0.0", edges.schema), Variable("v0.1", edges.schema)
    binding = LoopBinding(
        "v0.0", Threshold(Concat((seen, later)), Clamp.DISTINCT), Filter(edges, Literal(False, BOOLEAN))
    )
    entry = Entry("v0.1", edges, Literal(3, BIGINT))
    last = dataflow_listing(Recursive((binding,), "v0.0", 9, OnLimit.RETURN, (entry,))).steps[-1]
    assert (last.operator, last.inputs) == ("recursive v0.0", ("r3", "r5", "r4"))
    assert last.details == (
        "v0.0 := r3",
        "v0.0 starts as r5",
        "v0.1 := r4 from round 3",
        "return at recursion limit 9",
    )
