"""The plans of WITH MUTUALLY RECURSIVE: which bindings are fed back, and what is not a plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from engine.errors import PlanError
from engine.plan.nodes import Node, Variable
from engine.schema import BIGINT
from planner.explain.relational import relational_listing
from planner.ir import (
    Attribute,
    Fixpoint,
    RecursiveBinding,
    RecursiveRef,
    Relational,
    RelationalProgram,
    Selection,
)
from planner.ir.scalars import TRUE
from tests.oracle.interpreter import interpret
from tests.planner.test_sequence import EDGES, answer, planned


def nodes(plan: Node) -> set[Node]:
    found: set[Node] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.inputs
    return found


def test_plain_recursion_reads_all_names_of_the_round_before() -> None:
    """Both plain names are fed back. Of the explicit ones, the first is read in the round that makes it."""
    bodies = "a{0} AS (SELECT 1 AS n EXCEPT SELECT n FROM b), b{0} AS (SELECT n FROM a EXCEPT SELECT 2)"
    plain = planned(f"WITH RECURSIVE {bodies.format(' (n)')} SELECT n FROM a")
    assert {node.name for node in nodes(plain) if isinstance(node, Variable)} == {"v0.0", "v0.1"}
    explicit = planned(f"WITH MUTUALLY RECURSIVE {bodies.format(' (n INT)')} SELECT n FROM a")
    assert {node.name for node in nodes(explicit) if isinstance(node, Variable)} == {"v0.1"}


def test_a_long_sequence_is_a_small_plan() -> None:
    """Every binding reads the one before it twice: as a tree, the plan would have more than 2 ** 24 nodes."""
    names = [f"b{i}" for i in range(24)]
    bodies = ["SELECT src FROM edges UNION SELECT n FROM b23"]
    bodies += [f"SELECT x.n FROM {name} AS x JOIN {name} AS y ON x.n = y.n" for name in names[:-1]]
    bindings = ", ".join(f"{name} (n INT) AS ({body})" for name, body in zip(names, bodies, strict=True))
    plan = planned(f"WITH MUTUALLY RECURSIVE {bindings} SELECT x.n FROM b23 AS x JOIN b11 AS y ON x.n = y.n")
    assert len(nodes(plan)) < 250
    assert interpret(plan, {"edges": Counter(EDGES)}) == Counter([(src,) for src in {s for s, _ in EDGES}])


def test_an_inner_recursion_over_constant_rows_lies_outside() -> None:
    """What an inner recursion reads of a binding before it in the same round may be no variable at all."""
    sql = (
        "WITH MUTUALLY RECURSIVE start (n INT) AS (SELECT 1), "
        "r (n INT) AS (WITH MUTUALLY RECURSIVE i (n INT) AS (SELECT n FROM start UNION "
        "SELECT dst FROM i JOIN edges ON src = n) SELECT n FROM i) SELECT n FROM r"
    )
    assert {node.name for node in nodes(planned(sql)) if isinstance(node, Variable)} == {"v0.0"}
    assert answer(sql) == Counter([(n,) for n in range(1, 11)])


N = Attribute(1, "n", BIGINT, False)


def reference(variable: int, is_current: bool) -> Relational:
    return RecursiveRef(variable, f"r{variable}", (N,), (0,), is_current)


def bindings(*values: Relational) -> tuple[RecursiveBinding, ...]:
    return tuple(RecursiveBinding(i, f"r{i}", value, (N.id,)) for i, value in enumerate(values))


def test_a_binding_reads_only_those_before_it_in_the_same_round() -> None:
    right = Fixpoint(bindings(reference(1, False), reference(0, True)), 0, (N,))
    assert right.current == frozenset()
    for wrong in (reference(0, True), reference(1, True), Selection(reference(1, True), TRUE)):
        with pytest.raises(PlanError, match="r0 reads a binding in a round in which that has no rows yet"):
            Fixpoint(bindings(wrong, reference(0, True)), 0, (N,))
    inner = Fixpoint((RecursiveBinding(7, "i", reference(1, True), (N.id,)),), 0, (replace(N, id=2),))
    with pytest.raises(PlanError, match="r1 reads a binding"):
        Fixpoint((*bindings(reference(1, False)), RecursiveBinding(1, "r1", inner, (2,))), 0, (N,))


def test_explain_tells_the_rounds_apart() -> None:
    fixpoint = Fixpoint(bindings(reference(1, False), reference(0, True)), 0, (N,))
    steps = relational_listing("logical", RelationalProgram((), fixpoint, (N,))).steps
    assert [step.operator for step in steps[:2]] == ["round before of r1", "same round of r0"]
