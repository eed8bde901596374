"""Pairs of a view and a row, by chance, each explained and held against what an explanation is.

Its rows of tables are rows of these tables, and nothing in it is missing. The view over them alone has the
row, unless the query takes rows away (NOT EXISTS, EXCEPT, outer joins, LIMIT): there, rows that are not in
the explanation may have kept others away. Where joins and filters alone make the row, in one way, and read
each table once, it is gone without any one of them.
"""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from engine.runtime.engine import Engine
from planner.ir import Distinct, Fixpoint, JoinKind, Project, Relational, Selection, TableScan, ThetaJoin
from service.definitions.definition import Definition
from service.derivations.reason import Explained
from tests.property.cases import random_case
from tests.property.check import advance, create, started
from tests.property.planning import Catalog
from tests.service.why_replays import explained, is_closed, makes


@dataclass(frozen=True, eq=False)
class ExplainedPair:
    """A row of a view at an epoch, among the definitions and the states of a case."""

    engine: Engine
    definitions: Mapping[str, Definition]
    view: Definition
    epoch: int
    row: np.ndarray

    def fault(self, counted: Counter[str]) -> str | None:
        """What is wrong with its explanation, if anything is."""
        found = explained(self.engine, self.definitions, self.view.name, self.row, self.epoch)
        operators = list(_operators(self.view, self.definitions))
        counted.update(pairs=1, recursive=any(isinstance(it, Fixpoint) for it in operators))
        reasons = [each for top in (found.reason, *found.facts.values()) for each in top.walk()]
        if any(reason.is_missing for reason in reasons):
            return "a cause is missing"
        if not self._is_of_tables(found):
            return "a row of a table is none"
        if is_closed(self.view, self.definitions) or found.is_cut:
            return None
        counted["replayed"] += 1
        if not makes(self.engine, self.view, self.row, found):
            return "the explanation does not make the row"
        if _is_product(operators) and not any(reason.rule.startswith("in ") for reason in reasons):
            for rows in found.tables().values():
                for reason in rows.values():
                    counted["taken away"] += 1
                    if makes(self.engine, self.view, self.row, found, without=reason):
                        return f"the row is made without {reason}"
        return None

    def _is_of_tables(self, found: Explained) -> bool:
        """Whether its rows of tables are there, as often as it says."""
        for name, reasons in found.tables().items():
            words, counts = self.engine.snapshot.rows(name, self.epoch)
            there = dict(zip(map(tuple, words.T.tolist()), counts.tolist(), strict=True))
            if any(there.get(row) != reason.times for row, reason in reasons.items()):
                return False
        return True


def faults_of(seed: int, counted: Counter[str], rows: int = 2) -> Iterator[str]:
    """Explains up to so many rows of each view of one random case. What it has tried is `counted`: `pairs`,
    of these the ones with a `recursive` view, and the `replayed` ones; and rows `taken away`."""
    for pair, sql in _pairs(seed, rows):
        try:
            fault = pair.fault(counted)
        except Exception:
            fault = traceback.format_exc()
        if fault is not None:
            row = pair.row.tolist()
            yield f"seed {seed}, view {pair.view.name}, epoch {pair.epoch}, row {row}\n{sql}\n{fault}"


def told(counted: Mapping[str, int]) -> str:
    """What was tried, in words."""
    pairs, recursive, replayed = (counted.get(it, 0) for it in ("pairs", "recursive", "replayed"))
    return (
        f"{pairs} pairs of a view and a row, {recursive} of them over a recursion; {replayed} made again "
        f"from their explanations, and {counted.get('taken away', 0)} rows taken away one by one"
    )


def _pairs(seed: int, rows: int) -> Iterator[tuple[ExplainedPair, str]]:
    case, answers = random_case(seed)
    rng = random.Random(f"why {seed}")
    catalog, engine = Catalog(case.tables), started(case)
    planned = {view.name: catalog.add(view) for view in case.views}
    definitions = {
        name: Definition(i, relation, 0, planned=planned.get(name))
        for i, (name, relation) in enumerate(catalog.relations.items())
    }
    for view in case.views:
        create(engine, view, {name: each.plan for name, each in planned.items()})
    for number, epoch in enumerate(case.history, 1):
        advance(engine, case, number, [epoch], answers)
    for view in case.views:
        if engine.snapshot.failure(view.name) is not None:
            continue
        at = rng.randint(0, len(case.history))
        if engine.snapshot.errors(view.name, at):
            continue
        words, _ = engine.snapshot.rows(view.name, at)
        for place in rng.sample(range(words.shape[1]), min(rows, words.shape[1])):
            row = np.ascontiguousarray(words[:, place])
            yield ExplainedPair(engine, definitions, definitions[view.name], at, row), view.sql()


def _operators(view: Definition, definitions: Mapping[str, Definition]) -> Iterator[Relational]:
    """All operators of a view as it is written, which is what is explained, and of those that it reads."""
    assert view.planned is not None
    waiting = [*view.planned.logical.definitions, view.planned.logical.root]
    while waiting:
        operator = waiting.pop()
        yield operator
        if isinstance(operator, TableScan) and definitions[operator.name].is_view:
            yield from _operators(definitions[operator.name], definitions)
        waiting += operator.inputs


def _is_product(operators: list[Relational]) -> bool:
    """Whether joins and filters alone make a row from one row of each table, of which none is read twice."""
    scanned = Counter(it.name for it in operators if isinstance(it, TableScan))
    return all(count == 1 for count in scanned.values()) and all(
        it.kind is JoinKind.INNER
        if isinstance(it, ThetaJoin)
        else isinstance(it, Selection | Project | Distinct | TableScan)
        for it in operators
    )
