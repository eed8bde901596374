"""Spans: what EXPLAIN says of each operator's place in the text is where the text says it."""

from __future__ import annotations

import json
import random

import pytest

from engine.plan.nodes import Source
from engine.schema import BIGINT, TEXT, Column, Schema
from planner import Relation, plan_query
from planner.explain import explain
from planner.spans import Span, _smallest
from tests.seeds import SEED, each_seed, few


def _table(name: str, *columns: str) -> Relation:
    schema = Schema(tuple(Column(c, TEXT if c == "t" else BIGINT) for c in columns))
    return Relation(name, schema, Source(name, schema), None)


CATALOG = {it.name: it for it in (_table("e", "a", "b"), _table("f", "id", "k", "v", "t"))}


def shown(sql: str, stage: str = "dataflow") -> dict[str, list[str]]:
    """By operator, without its name, the texts that it comes from; of equal operators all."""
    found: dict[str, list[str]] = {}
    for node in json.loads(explain(plan_query(sql, CATALOG), stage, "json"))["nodes"]:
        texts = [sql[span["start"] : span["end"]] for span in node.get("spans", ())]
        found.setdefault(node["operator"].split(" (")[0], []).append(" | ".join(texts))
    return found


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT a, b + 1 AS c FROM e WHERE a > 2 AND b < 5",
            {"source e": ["e"], "filter": ["a > 2 | b < 5"], "map": ["a | b + 1 AS c"]},
        ),
        (
            "SELECT k, count(*) AS n FROM f WHERE v <> 3 GROUP BY k HAVING count(*) > 1",
            {
                "source f": ["f"],
                "filter": ["v <> 3", "count(*) > 1"],
                "map": ["f", "k | count(*) AS n"],
                "reduce": ["count(*) | k"],
            },
        ),
        (
            "WITH RECURSIVE r(a, b) AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a) "
            "SELECT a, b FROM r WHERE a = 1",
            {
                "source e": ["e | e"],
                "filter": ["a = 1", "r.b = e.a", "r.b = e.a"],
                "variable v0.0": ["r"],
                "join": ["r.b = e.a"],
                "map": ["r.a | e.b"],
                "concat": ["a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a"],
                "threshold distinct": ["a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a"],
                "recursive v0.0": [
                    "r(a, b) AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a)"
                ],
            },
        ),
        (
            "SELECT k, row_number() OVER (PARTITION BY k ORDER BY v) AS p FROM f",
            {
                "source f": ["f"],
                "map": ["f", "k | row_number() OVER (PARTITION BY k ORDER BY v) AS p"],
                "window": ["row_number() OVER (PARTITION BY k ORDER BY v)"],
            },
        ),
        (
            "SELECT t FROM f WHERE v > 7 ORDER BY v DESC LIMIT 3",
            {"source f": ["f"], "filter": ["v > 7"], "map": ["t | f", "t"], "top": ["v"]},
        ),
        (
            "SELECT x.k FROM f x WHERE EXISTS (SELECT 1 FROM e WHERE e.a = x.k AND e.b > 5)",
            {
                "source f": ["f x"],
                "source e": ["e"],
                "filter": ["e.b > 5"],
                "map": ["f x", "", "e.a = x.k"],
                "threshold distinct": ["e.a = x.k"],
                "join": ["e.a = x.k"],
            },
        ),
    ],
)  # fmt: skip
def test_operators_have_their_parts_of_the_text(sql: str, expected: dict[str, list[str]]) -> None:
    assert shown(sql) == expected


@pytest.mark.parametrize("before", ["", "-- é😀\n", "/* 'x' */  ", "\n\n\t"])
def test_places_count_characters(before: str) -> None:
    sql = f"{before}SELECT 'é😀' AS t,\n  b FROM e WHERE\n b < 5"
    nodes = json.loads(explain(plan_query(sql, CATALOG), "dataflow", "json"))["nodes"]
    (span,) = next(node for node in nodes if node["operator"] == "filter")["spans"]
    assert sql[span["start"] : span["end"]] == "b < 5"
    lines = sql[: span["start"]].split("\n")
    assert (span["line"], span["column"]) == (len(lines), len(lines[-1]) + 1)


def test_a_condition_is_found_where_it_is_pushed() -> None:
    """Through a CTE that is used twice, a union and a subquery: the condition keeps its own place."""
    sql = (
        "WITH c AS (SELECT a AS x, b FROM e UNION ALL SELECT k, v FROM f) "
        "SELECT * FROM (SELECT x AS y, b FROM c) s WHERE s.y > 41 AND s.b < 42"
    )
    assert shown(sql)["filter"] == ["s.y > 41 | s.b < 42"] * 2


def test_joins_have_their_conditions() -> None:
    sql = "SELECT x.a FROM e x JOIN e y ON x.b = y.a JOIN f ON f.k = y.b"
    assert set(shown(sql)["join"]) == {"x.b = y.a | f.k = y.b"}
    one = "SELECT x.a FROM e x JOIN e y ON x.b = y.a JOIN f ON f.k = y.b AND f.v = x.a"
    assert "x.b = y.a | f.k = y.b | f.v = x.a" in json.dumps(shown(one))
    assert shown(sql)["source e"] == ["e x | e y"]


def test_spans_make_no_plan_another() -> None:
    """The same query, written elsewhere and under other names, is the same plan."""
    one = plan_query("SELECT a FROM e WHERE b > 3", CATALOG)
    two = plan_query("\n\nSELECT   z.a AS a FROM e   AS z WHERE z.b > 3", CATALOG)
    assert one.plan == two.plan and one.spans.keys() == two.spans.keys() and one.spans != two.spans


@each_seed(few(30))
def test_every_span_is_a_part_of_the_text(seed: int) -> None:
    """Of random queries: spans lie within the text and close their parentheses, and each literal of a filter
    is in the text of its spans."""
    rng = random.Random(seed)
    marks: list[int] = []

    def condition(alias: str, columns: str) -> str:
        marks.append(rng.randrange(10**6, 10**7))
        return f"{alias}.{rng.choice(columns)} {rng.choice('<>')} {marks[-1]}"

    def query(depth: int) -> str:
        if depth == 0:
            return f"SELECT x.a, x.b FROM e x WHERE {condition('x', 'ab')}"
        inner = query(depth - 1)
        return rng.choice([
            f"SELECT q.a, q.b FROM ({inner}) q WHERE {condition('q', 'ab')}",
            f"SELECT q.a, max(q.b) AS b FROM ({inner}) q GROUP BY q.a HAVING max(q.b) > {len(marks)}",
            f"SELECT q.a, f.v AS b FROM ({inner}) q JOIN f ON q.b = f.k AND {condition('f', 'kv')}",
            f"{inner} UNION {query(0)}",
            f"SELECT DISTINCT q.a, q.b + 1 AS b FROM ({inner}) q WHERE {condition('q', 'a')}",
        ])  # fmt: skip

    sql = query(rng.randrange(1, 4))
    nodes = json.loads(explain(plan_query(sql, CATALOG), "dataflow", "json"))["nodes"]
    assert any(node.get("spans") for node in nodes)
    for node in nodes:
        texts = [sql[span["start"] : span["end"]] for span in node.get("spans", ())]
        for span, text in zip(node.get("spans", ()), texts, strict=True):
            assert 0 <= span["start"] < span["end"] <= len(sql) and text == text.strip()
            assert text.count("(") == text.count(")")
        if node["operator"] == "filter" and texts:
            for mark in marks:
                if any(str(mark) in detail for detail in node["details"]):
                    assert any(str(mark) in text for text in texts), (sql, node)


def test_spans_that_hold_others_are_left_out() -> None:
    rng = random.Random(SEED)
    for _ in range(500):
        starts = [rng.randrange(8) for _ in range(rng.randrange(9))]
        spans = {Span(start, start + rng.randrange(1, 6), 1, start + 1) for start in starts}
        smallest = {
            one
            for one in spans
            if not any(one != other and one.start <= other.start and other.end <= one.end for other in spans)
        }
        assert list(_smallest(spans)) == sorted(smallest, reverse=True)
