"""The hint PRIORITY: read in every dialect, written back, shown by EXPLAIN; and what is refused."""

from __future__ import annotations

import pytest

from planner import PlannerError, plan_query
from planner.explain import explain
from tests.planner.samples import answer, catalog, check, planned

HINT = "/*+ PRIORITY(label * 64) */"
LABELS = (
    "WITH MUTUALLY RECURSIVE labels (node INT, label INT) AS (\n"
    "  SELECT node, min(label) FROM (\n"
    "    SELECT /*+ PRIORITY(label * 64) */ src AS node, src AS label FROM edges\n"
    "    UNION ALL SELECT e.dst, x.label FROM labels x JOIN edges e ON e.src = x.node\n"
    "  ) s GROUP BY node\n"
    ") SELECT node, label FROM labels"
)
REACHED = (
    "WITH RECURSIVE r(n) AS (SELECT /*+ PRIORITY(n) */ src AS n FROM edges WHERE src = 2 "
    "UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n) SELECT n FROM r"
)
SHORTEST = [
    "WITH MUTUALLY RECURSIVE d (n INT, d INT) AS (SELECT n, min(d) FROM (SELECT /*+ PRIORITY(d) */ src AS n, "
    "w AS d FROM edges UNION ALL SELECT e.dst, d.d + e.w FROM d JOIN edges e ON e.src = d.n) s GROUP BY n) "
    "SELECT n, d FROM d",
    "WITH MUTUALLY RECURSIVE c (n INT, d INT) AS (SELECT /*+ PRIORITY(d) */ src AS n, w AS d FROM edges "
    "UNION ALL SELECT e.dst, b.d + e.w FROM b JOIN edges e ON e.src = b.n WHERE b.d < 9), "
    "b (n INT, d INT) AS (SELECT n, min(d) FROM c GROUP BY n) SELECT n, d FROM b",
    "WITH RECURSIVE d (n, d) AS (SELECT /*+ PRIORITY(w) */ src, w FROM edges UNION "
    "SELECT e.dst, min(d.d + e.w) FROM d JOIN edges e ON e.src = d.n GROUP BY e.dst) "
    "SELECT n, min(d) FROM d GROUP BY n",
    "WITH MUTUALLY RECURSIVE d (n INT, d INT) AS (SELECT n, max(d) FROM (SELECT /*+ PRIORITY(-d) */ src "
    "AS n, -w AS d FROM edges UNION ALL SELECT e.dst, d.d - e.w FROM d JOIN edges e ON e.src = d.n "
    "WHERE d.d > -9) s GROUP BY n) SELECT n, d FROM d",
]
DATAFLOW = """\
  r0 := variable v0.entry0 → (src INTEGER NOT NULL)
  r1 := variable v0.0 → (c0 INTEGER NOT NULL)
r2 := source edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
r3 := map r2 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
    #0 := #0
    #1 := #1
  r4 := join r1, r3 → (c0 INTEGER NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL)
      r1.#0 = r3.#0
  r5 := map r4 → (dst INTEGER NOT NULL)
      #0 := #2
  r6 := concat r0, r5 → (src INTEGER NOT NULL)
  r7 := threshold distinct r6 → (src INTEGER NOT NULL)
r8 := filter r2 → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
    #0 = 2
r9 := map r8 → (src INTEGER NOT NULL)
    #0 := #0
r10 := recursive v0.0 r7, r9 → (src INTEGER NOT NULL)
    v0.0 := r7
    v0.entry0 := r9 from round CAST(#0 AS BIGINT)
"""


def unhinted(sql: str) -> str:
    """The query without its hints, by no code of the planner."""
    before, found, after = sql.partition("/*+")
    return before + unhinted(after.partition("*/")[2]) if found else sql


@pytest.mark.parametrize("sql", [LABELS, REACHED, *SHORTEST])
def test_rows_are_the_same_without_it(sql: str) -> None:
    assert "prioritized" in explain(planned(sql), "logical")
    assert answer(planned(sql)) == answer(planned(unhinted(sql)))


def test_postgres_takes_it_for_a_comment() -> None:
    check(REACHED)


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb", "spark", "snowflake"])
def test_every_dialect_reads_it(dialect: str) -> None:
    query = planned(REACHED, dialect)
    assert "/*+ PRIORITY(n) */" in query.sql
    assert planned(query.sql).plan == query.plan == planned(REACHED).plan


def test_explain_shows_it_at_every_stage() -> None:
    for stage in ("logical", "optimized"):
        text = explain(planned(REACHED), stage)
        assert text.count(":= prioritized ") == 1 and text.count("    from round CAST(") == 1, text
    assert explain(planned(REACHED), "dataflow").startswith(DATAFLOW)


def test_a_filter_goes_through_it() -> None:
    sql = (
        "WITH RECURSIVE r(x, y) AS (SELECT /*+ PRIORITY(src) */ src, dst FROM edges "
        "UNION SELECT r.x, e.dst FROM r JOIN edges e ON e.src = r.y) SELECT * FROM r WHERE x = 2"
    )
    lines = explain(planned(sql), "optimized").split("\n")
    assert next(line for line in lines if "filter" in line) < next(
        line for line in lines if "prioritized" in line
    )
    check(sql)


def test_a_correlated_recursion_takes_it() -> None:
    check(
        "SELECT a, (WITH RECURSIVE r(n) AS (SELECT /*+ PRIORITY(x) */ t.a AS x UNION SELECT n + 1 FROM r "
        "WHERE n < 5) SELECT max(n) FROM r) FROM t"
    )


def step(aggregate: str = "min(label)", hint: str = HINT, limit: str = "", more: str = "") -> str:
    return (
        f"WITH MUTUALLY RECURSIVE {limit} labels (node INT, label INT) AS (SELECT node, {aggregate} FROM (\n"
        f"SELECT {hint} src AS node, src AS label FROM edges UNION ALL\n"
        f"SELECT e.dst, x.label FROM labels x JOIN edges e ON e.src = x.node {more}\n"
        ") s GROUP BY node) SELECT node, label FROM labels"
    )


REFUSED = [
    ("SELECT\n/*+ PRIORITY(a) */ a FROM t", "does not follow a SELECT", 2, 20),
    ("/*+ PRIORITY(a) */ SELECT a FROM t", "does not follow a SELECT", 1, 20),
    (step(hint="/*+ PRIORITY */"), "PRIORITY takes one expression", 2, 20),
    (step(hint="/*+ PRIORITY(label, label) */"), "PRIORITY takes one expression", 2, 20),
    (step(hint="/*+ PRIORITY((SELECT 1)) */"), "PRIORITY takes one expression", 2, 20),
    (step(hint="/*+ PRIORITY(label +) */"), "an expression is missing", 2, 28),
    (step(hint="/*+ PRIORITY(other) */"), 'unknown column "other"', 2, 21),
    (step(hint="/*+ PRIORITY(max(label)) */"), "PRIORITY cannot contain an aggregate", 2, 21),
    (step(hint="/*+ PRIORITY(CAST(label AS TEXT)) */"), "PRIORITY is TEXT, not an integer", 2, 21),
    ("SELECT /*+ PRIORITY(a) */ a FROM t", "hint for the terms of a recursion that do not recur", 1, 21),
    ("WITH x AS (SELECT /*+ PRIORITY(a) */ a FROM t) SELECT * FROM x", "terms of a recursion", 1, 32),
    (REACHED.replace("SELECT e.dst", "SELECT /*+ PRIORITY(dst) */ e.dst"), "terms of a recursion", 1, 111),
    (step(limit="(RETURN AT RECURSION LIMIT 5)"), "with a limit of rounds", 2, 21),
    (step(limit="(ERROR AT RECURSION LIMIT 5)"), "with a limit of rounds", 2, 21),
    (step("count(*)"), "with COUNT over the recursion's rows", 2, 21),
    (step("sum(label)"), "with SUM over the recursion's rows", 2, 21),
    (step("min(-label)"), "MIN of a MAX", 2, 21),
    (step("min(label * label)"), "an expression that does not follow a MIN or MAX", 2, 21),
    (step(more="WHERE x.label > 3"), "a condition that a better MIN or MAX could make false", 2, 21),
    (step(more="WHERE x.label = 3"), "a condition that a better MIN or MAX could make false", 2, 21),
    (step(more="EXCEPT SELECT node, label FROM labels"), "with EXCEPT or INTERSECT", 2, 21),
    (step(more="WHERE NOT EXISTS (SELECT * FROM labels y WHERE y.node = e.dst)"), "with EXISTS, IN", 2, 21),
    (step(more="LEFT JOIN labels y ON y.node = e.dst"), "with an outer join", 2, 21),
    (step(more="WHERE x.label % 2 < 1"), "an expression that does not follow a MIN or MAX", 2, 21),
    (
        step().replace("GROUP BY node)", "GROUP BY node UNION SELECT * FROM labels)"),
        "whose earlier rows",
        2,
        21,
    ),
]


@pytest.mark.parametrize(("sql", "message", "line", "column"), REFUSED)
def test_refusals(sql: str, message: str, line: int, column: int) -> None:
    with pytest.raises(PlannerError) as caught:
        plan_query(sql, catalog())
    assert message in f"{caught.value.message}; {caught.value.hint}"
    assert (caught.value.line, caught.value.column) == (line, column)
