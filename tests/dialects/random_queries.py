"""Random queries of the property tests in the words of a dialect: read back, planned, and maintained.

The property tests hold the views of a case to DuckDB's answers at every epoch of a random history. A query
that becomes the same program has these answers too; one with another plan is maintained here, beside all
others of its case, and compared with DuckDB's answers at every epoch.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from engine.plan.nodes import Node
from engine.runtime.engine import Engine
from planner import PlannedQuery, plan_query
from planner.bind import bind
from planner.parsing.parse import parse_query
from planner.relation import Relation
from tests.dialects.spelled_queries import LeftOut, in_dialect
from tests.property.cases import Answers, Case, answers, is_lively, random_candidates
from tests.property.check import advance, compared, create, started
from tests.property.mismatch import Departure
from tests.property.terms import Term
from tests.property.views import View


@dataclass
class Outcome:
    """What came of the queries, by dialect: how many mean what the canonical ones mean, how many of these had
    another plan, how many were left out and for what, and what was wrong with the others."""

    right: Counter[str] = field(default_factory=Counter)
    maintained: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """A query that is refused, or whose answer is another one than the canonical query's."""

    dialect: str
    seed: int
    canonical: str
    text: str
    problem: str

    def __str__(self) -> str:
        return f"{self.dialect}, seed {self.seed}: {self.problem}\n  {self.text}\n  for {self.canonical}"


@dataclass(frozen=True)
class _Foreign:
    """A query that has another plan than the canonical view that it was made of."""

    view: View
    canonical: View
    plan: Node

    def fault(self, seed: int, found: Departure) -> Fault:
        problem = str(found.mismatch)
        return Fault(self.view.dialect, seed, self.canonical.sql(), self.view.sql(), problem)


def ask(seed: int, dialects: Sequence[str], outcome: Outcome, count: int = 24) -> None:
    """Adds what comes of one case's queries, so many, in these dialects."""
    case, catalog = random_candidates(random.Random(seed), seed, count)
    views = [view for view in case.views if view.name in catalog.planned and not view.fragile]
    foreign = []
    for view, dialect in product(views, dialects):
        if view.recursion is not None:
            continue
        try:
            text = in_dialect(view.query, dialect)
        except LeftOut as construct:
            outcome.left_out[dialect][str(construct)] += 1
            continue
        canonical = catalog.planned[view.name]
        try:
            plan = _plan(text, dialect, catalog.relations, canonical)
        except Exception as error:  # a refusal, or a crash
            outcome.faults.append(Fault(dialect, seed, view.sql(), text, repr(error)))
            continue
        if plan == canonical.plan:
            outcome.right[dialect] += 1
        else:
            named = View(f"{view.name}_{dialect}", Term("query", text), view.sorts, dialect=dialect)
            foreign.append(_Foreign(named, view, plan))
    if not foreign:
        return
    try:
        _maintain(_answered(case, foreign), foreign, outcome)
    except Departure as crash:
        named = [each for each in foreign if each.view.name == crash.mismatch.view]
        outcome.faults += [each.fault(seed, crash) for each in named or foreign]


def _plan(text: str, dialect: str, relations: Mapping[str, Relation], canonical: PlannedQuery) -> Node:
    """The query's plan: that of the canonical one if the programs before the passes are equal, because
    nothing behind the binder knows of dialects."""
    if bind(parse_query(text, dialect), relations, dialect).program == canonical.logical:
        return canonical.plan
    return plan_query(text, relations, dialect).plan


def _answered(case: Case, foreign: Sequence[_Foreign]) -> tuple[Case, Answers]:
    """The case with the views that are compared, and what these read, with DuckDB's answers."""
    names = {each.canonical.name for each in foreign}
    for view in reversed(case.views):
        if view.name in names:
            names |= view.reads
    case = replace(case, views=tuple(view for view in case.views if view.name in names))
    return case, answers(case)


def _maintain(answered: tuple[Case, Answers], foreign: Sequence[_Foreign], outcome: Outcome) -> None:
    """Compares the views with another plan than the canonical one at every epoch. One whose rows do not
    change proves little: it does not count as right."""
    case, known = answered
    engine = started(case, Engine)
    waiting = {each.view.name: each for each in foreign if each.canonical.name in known}
    expected = {name: known[each.canonical.name] for name, each in waiting.items()}
    for name, each in waiting.items():
        create(engine, each.view, {name: each.plan})
    for number, epoch in enumerate(case.history, 1):
        advance(engine, case, number, [epoch], expected)
        for name, each in list(waiting.items()):
            try:
                compared(engine, each.view, number, expected[name][number])
            except Departure as found:
                outcome.faults.append(waiting.pop(name).fault(case.seed, found))
    right = Counter(each.view.dialect for name, each in waiting.items() if is_lively(expected[name]))
    outcome.right += right
    outcome.maintained += right
