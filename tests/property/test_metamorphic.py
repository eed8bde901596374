"""What needs no referee: variants of one query agree, and what goes again leaves nothing behind."""

from __future__ import annotations

import random
from collections.abc import Mapping

from engine.operators.arrangement import Arrangement
from engine.plan.nodes import Node
from engine.runtime.engine import Engine
from planner.bind import bind
from planner.errors import PlannerError
from planner.lower.whole_program import lower
from planner.parsing.parse import parse_query
from planner.passes import PASSES
from tests.property.called import inlined
from tests.property.cases import Case, random_case
from tests.property.check import advance, create, plan, read, started
from tests.property.duck import same
from tests.property.histories import Change, History, random_history
from tests.property.planning import Catalog, refusal
from tests.property.schemas import random_row, random_tables
from tests.property.terms import Term
from tests.property.variants import Writer
from tests.property.views import View
from tests.seeds import each_seed, few


def bare(view: View, catalog: Catalog) -> Node:
    """The view's plan with those passes alone that lowering needs: nothing pushed, pruned or simplified."""
    bound = bind(parse_query(inlined(view.sql()), "postgres"), catalog.relations, "postgres")
    program = bound.program
    for each in PASSES:
        program = each.rewrite(program, bound.numbers) if each.is_needed else program
    return lower(program)[0]


def agree(case: Case, plans: Mapping[str, Node], groups: list[list[View]]) -> None:
    """The views of a group have the same rows at every epoch; most can be compared at most epochs."""
    compared = 0
    engine = started(case)
    for view in case.views:
        create(engine, view, plans)
    for number, epoch in enumerate(case.history, 1):
        advance(engine, case, number, [epoch], {})
        for first, *others in groups:
            if any(_fails(engine, view) for view in (first, *others)):
                continue
            compared += 1
            rows = read(engine, first.name, number)
            for view in others:
                got = read(engine, view.name, number)
                assert same(rows, got), (
                    f"{first.sql()}\n{view.sql()}\n{rows - got}\n{got - rows}\n{case.history}"
                )
    assert compared > 0.5 * len(groups) * len(case.history)


def _fails(engine: Engine, view: View) -> bool:
    return engine.snapshot.failure(view.name) is not None or bool(engine.snapshot.errors(view.name))


@each_seed(few(10))
def test_variants_agree(seed: int) -> None:
    rng = random.Random(f"variants {seed}")
    tables = random_tables(rng)
    catalog, plans, groups = Catalog(tables), dict[str, Node](), list[list[View]]()
    while len(groups) < 4:
        texts = Writer(rng, tables).variants()
        group = [View(f"v{len(groups)}_{i}", Term("query", text), ()) for i, text in enumerate(texts)]
        try:
            plans |= {view.name: catalog.add(view).plan for view in group}
        except PlannerError as error:
            assert refusal(error), f"{error}\n{texts}"
            continue
        groups.append(group)
    views = tuple(view for group in groups for view in group)
    agree(Case(seed, tables, views, random_history(rng, tables, 4)), plans, groups)


@each_seed(few(3))
def test_plans_with_and_without_optional_passes_agree(seed: int) -> None:
    case, _ = random_case(20_000 + seed, candidates=10)
    plans, catalog, groups = dict(plan(case, Catalog(case.tables))), Catalog(case.tables), list[list[View]]()
    for view in case.views:
        plain = View(f"{view.name}_plain", Term("query", view.sql()), view.sorts)
        plans[plain.name] = bare(view, catalog)
        catalog.add(view)
        groups.append([view, plain])
    views = tuple(view for group in groups for view in group)
    agree(Case(seed, case.tables, views, case.history), plans, groups)


@each_seed(few(3))
def test_what_comes_and_goes_leaves_nothing_behind(seed: int) -> None:
    """Rows that were inserted and are deleted again: views, and all that operators hold, are as before."""
    case, _ = random_case(30_000 + seed, candidates=10)
    plans = plan(case, Catalog(case.tables))
    engine = started(case)
    for view in case.views:
        create(engine, view, plans)
    last = len(case.history)
    advance(engine, case, 1, case.history, {})
    before = {view.name: read(engine, view.name, last) for view in case.views if not _fails(engine, view)}
    held = _held(engine)
    rng = random.Random(seed)
    come = tuple(
        Change(table.name, row, 1)
        for table in case.tables
        if table.key is None
        for row in (random_row(rng, table) for _ in range(5))
    )
    gone = tuple(Change(change.table, change.row, -1) for change in come)
    history: History = (come, gone)
    for number, epoch in enumerate(history, last + 1):
        advance(engine, case, number, [epoch], {})
    assert {name: read(engine, name, last + 2) for name in before} == before
    assert _held(engine) == held


def _held(engine: Engine) -> int:
    """Differences that are held once all epochs but the newest are forgotten and every trace is merged."""
    for name in engine.snapshot.relations:
        engine.forget(name, engine.snapshot.upper - 1)
    for operator in engine._dataflow.operators.values():
        for part in operator.parts():
            if isinstance(part, Arrangement):
                part.trace.finish()
                part.reset()
    return engine.differences()
