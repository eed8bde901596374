"""Random queries of the property tests in the words of a dialect: read back, planned, and maintained.

The views of a case have DuckDB's answers at every epoch of a random history: the property tests hold them to
these. A query that becomes the same plan has these answers too; one with another plan is maintained here, and
compared at every epoch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from engine.plan.nodes import Node
from engine.runtime.engine import Engine
from planner import plan_query
from tests.dialects.spelled_queries import LeftOut, in_dialect
from tests.property.cases import Answers, Case, random_case
from tests.property.check import advance, compared, create, plan, started
from tests.property.mismatch import Departure
from tests.property.planning import Catalog
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


def ask(seed: int, dialects: Sequence[str], outcome: Outcome) -> None:
    """Adds what comes of one case's queries in these dialects."""
    case, answers = random_case(seed)
    catalog = Catalog(case.tables)
    plans = plan(case, catalog)
    foreign: dict[str, View] = {}
    views = [view for view in case.views if view.recursion is None and not view.fragile]
    for view, dialect in product(views, dialects):
        try:
            text = in_dialect(view.query, dialect)
        except LeftOut as construct:
            outcome.left_out[dialect][str(construct)] += 1
            continue
        try:
            found = plan_query(text, catalog.relations, dialect).plan
        except Exception as error:  # a refusal, or a crash
            outcome.faults.append(Fault(dialect, seed, view.sql(), text, repr(error)))
            continue
        if found == plans[view.name]:
            outcome.right[dialect] += 1
        else:
            named = View(f"{view.name}_{dialect}", Term("query", text), view.sorts, dialect=dialect)
            foreign[named.name] = named
            plans[named.name] = found
    _maintain(case, foreign, plans, answers, outcome)


def _maintain(
    case: Case, foreign: dict[str, View], plans: dict[str, Node], answers: Answers, outcome: Outcome
) -> None:
    """Compares the views with another plan than the canonical one at every epoch."""
    engine = started(case, Engine)
    canonical = {view.name: view for view in case.views}
    expected = {name: answers[name.partition("_")[0]] for name in foreign}
    for view in foreign.values():
        create(engine, view, plans)
    waiting = dict(foreign)
    for number, epoch in enumerate(case.history, 1):
        advance(engine, case, number, [epoch], expected)
        for name, view in list(waiting.items()):
            try:
                compared(engine, view, number, expected[name][number])
            except Departure as found:
                del waiting[name]
                of = canonical[name.partition("_")[0]]
                outcome.faults.append(
                    Fault(view.dialect, case.seed, of.sql(), view.sql(), str(found.mismatch))
                )
    for view in waiting.values():
        outcome.right[view.dialect] += 1
        outcome.maintained[view.dialect] += 1
