"""Fingerprints: the same for equal keys in every process, and different for different ones."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest

from engine.errors import EngineError
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.expressions import Literal
from engine.plan.fingerprint import fingerprint
from engine.plan.nodes import Clamp, Concat, FlatMap, Function, Negate, Node, OnLimit, Ordering, Threshold
from engine.rendering.renderer import Renderer
from engine.schema import BIGINT, DOUBLE
from engine.state.dictionary import Dictionary
from planner import plan_query
from tests.engine.harness import schema, source
from tests.engine.plans import SOURCES, PlanMaker, up_to_three
from tests.planner import samples
from tests.seeds import seeds

QUERIES = (
    "SELECT a, b FROM t",
    "SELECT a, b FROM t WHERE c > 1.5",
    "SELECT a, b FROM t WHERE c > 2.5",
    "SELECT DISTINCT b FROM t",
    "SELECT t.b, u.d FROM t JOIN u USING (a)",
    "SELECT t.b, u.d FROM t LEFT JOIN u USING (a)",
    "SELECT a, count(*), sum(c), avg(c), min(b), max(b) FROM t GROUP BY a",
    "SELECT a, sum(d) FROM u GROUP BY a HAVING count(*) > 1",
    "SELECT * FROM days WHERE day > DATE '2000-01-01' AND note LIKE 'a%'",
    "SELECT x.src, z.dst FROM edges x, edges y, edges z WHERE x.dst = y.src AND y.dst = z.src",
    "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v (n, s) JOIN t ON t.a = v.n",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "SELECT * FROM t WHERE a NOT IN (SELECT a FROM u WHERE a IS NOT NULL)",
    "WITH RECURSIVE r (n) AS (SELECT src FROM edges UNION SELECT dst FROM edges JOIN r ON src = n) TABLE r",
    """WITH MUTUALLY RECURSIVE d (n INTEGER, w INTEGER) AS (
        SELECT 1, 0 UNION ALL SELECT dst, min(d.w + e.w) FROM d JOIN edges e ON d.n = e.src GROUP BY dst
    ) SELECT * FROM d""",
)


def plans() -> list[Node]:
    """Plans of every node: those of queries, and random ones with loops in loops."""
    catalog = samples.catalog()
    made = [plan_query(sql, catalog).plan for sql in QUERIES]
    for seed in seeds(150):
        made.append(PlanMaker(random.Random(seed)).plan(2, 5))
    return made


def keys_of(plan: Node) -> list[Hashable]:
    """The keys of the operators of a plan."""
    dataflow = RunningDataflow()
    Renderer(dataflow, Dictionary(), 100).render(plan)
    return list(dataflow.operators)


def test_no_two_operators_share_a_fingerprint() -> None:
    known: dict[str, Hashable] = {}
    for plan in plans():
        for key in keys_of(plan):
            assert known.setdefault(fingerprint(key), key) == key
    assert len(known) > 1_000


def test_equal_plans_have_one_fingerprint() -> None:
    for first, second in zip(plans(), plans(), strict=True):
        assert first is not second or first in SOURCES
        assert fingerprint(first) == fingerprint(second)


def test_every_process_has_the_same() -> None:
    """Whatever it hashes texts with: this one does not have the other's seed."""
    program = "from tests.engine.test_fingerprint import print_all; print_all()"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "".join(fingerprint(plan) + "\n" for plan in plans())


def print_all() -> None:
    for plan in plans():
        print(fingerprint(plan))


def test_values_of_different_kinds_and_nestings_differ() -> None:
    different: list[Hashable] = [
        None,
        "",
        "a",
        b"a",
        "1",
        1,
        1.0,
        True,
        -1,
        Decimal("1"),
        Decimal("1.0"),
        date(2020, 1, 1),
        datetime(2020, 1, 1),
        float("nan"),
        (),
        ((),),
        ("a", "b"),
        ("ab",),
        (("a",), "b"),
        ("a", ("b",)),
        frozenset({"a", "b"}),
        Function.SUM,
        Function.COUNT,
        Clamp.DISTINCT,
        OnLimit.ERROR,
        Literal(1, BIGINT),
        Literal(1, DOUBLE),
        source("s", 1),
        source("s", 2),
        Negate(source("s", 1)),
        Threshold(source("s", 1), Clamp.DISTINCT),
        up_to_three,
    ]
    for one, other in combinations(different, 2):
        assert fingerprint(one) != fingerprint(other), (one, other)
    assert fingerprint("a", "b") != fingerprint(("a", "b"))


def test_equal_keys_are_one_whatever_they_are_made_of() -> None:
    assert fingerprint((1, 2)) == fingerprint((np.int64(1), np.int32(2)))
    assert fingerprint(0.5) == fingerprint(np.float64(0.5))
    assert fingerprint((0, True, False)) == fingerprint(Ordering(0, True, False))
    assert fingerprint(frozenset("abcdef")) == fingerprint(frozenset("fedcba"))


def test_a_plan_costs_its_nodes_and_not_its_paths() -> None:
    """2**60 paths lead through these nodes."""
    node: Node = source("s", 1)
    for _ in range(60):
        node = Concat((node, node))
    assert len(fingerprint(node)) == 64


def test_functions_are_known_by_their_names() -> None:
    def local(*row: int) -> list:
        return []

    one_of = source("s", 1)
    assert fingerprint(FlatMap(one_of, up_to_three, schema(1)))
    for nameless in (local, lambda *row: []):
        with pytest.raises(EngineError, match="has no fingerprint"):
            fingerprint(FlatMap(one_of, nameless, schema(1)))


def test_what_means_nothing_elsewhere_is_refused() -> None:
    @dataclass(frozen=True)
    class Holder:
        value: object

    for value in (object(), Holder(object()), ("a", [1])):
        with pytest.raises(EngineError, match="has no fingerprint"):
            fingerprint(value)
