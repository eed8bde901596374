"""Every query as a view, compared with DuckDB at every epoch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from engine.plan.nodes import Node, Source
from engine.runtime.engine import Engine
from planner import Relation, plan_query
from planner.errors import PlannerError
from tests.property.check import delta_of, read
from tests.property.duck import Answer, Failure, Referee, same
from tests.property.histories import Epoch, History, states
from tests.property.mismatch import Departure
from tests.tpcds.domains import domains
from tests.tpcds.rows import Rows
from tests.tpcds.schema import TABLES
from tests.tpcds.texts import with_ties_broken

DIALECT = "duckdb"


@dataclass
class Verdict:
    """What became of a query: `refused` with the planner's reason, `wrong` with the first difference."""

    refused: str = ""
    wrong: str = ""
    rows: int = 0  # the most that it had at an epoch
    changes: int = 0  # epochs at which its rows were not those of the epoch before


def random_history(queries: Mapping[int, str], seed: int, epochs: int) -> History:
    """A load, then changes small and large."""
    rng = random.Random(seed)
    rows = Rows(rng, {number: domains(query) for number, query in queries.items()})
    return (rows.load(2, 10), *(rows.change(rng.choice((30, 300, 1000))) for _ in range(epochs - 1)))


def verdicts(queries: Mapping[int, str], history: History) -> dict[int, Verdict]:
    """Views over all tables, registered before any row, and read at every epoch."""
    found = {number: Verdict() for number in queries}
    tables = tuple(TABLES.values())
    engine, referee = Engine(), Referee(tables, most_rows=1_000_000)
    for table in tables:
        engine.create_source(table.name, table.schema, table.key)
    plans = _plans(queries, found)
    for number, plan in plans.items():
        engine.create_view(f"q{number}", plan)
    before: dict[int, Answer] = {}
    for epoch, (changes, state) in enumerate(zip(history, states(tables, history), strict=True), 1):
        _advance(engine, epoch, changes)
        referee.load(state)
        for number in plans:
            verdict, expected = found[number], referee.answer(with_ties_broken(queries[number]))
            verdict.wrong = verdict.wrong or _difference(engine, f"q{number}", epoch, expected)
            verdict.rows = max(verdict.rows, 0 if isinstance(expected, Failure) else expected.total())
            verdict.changes += expected != before.get(number, Counter())
            before[number] = expected
    referee.close()
    return found


def _advance(engine: Engine, number: int, changes: Epoch) -> None:
    deltas = {}
    for name, table in TABLES.items():
        mine = [(number, change) for change in changes if change.table == name]
        if mine:
            deltas[name] = delta_of(mine, table.schema, engine)
    engine.stage(deltas, number + 1).publish()


def _difference(engine: Engine, view: str, epoch: int, expected: Answer) -> str:
    """How the view departs from DuckDB, or nothing."""
    reason = engine.snapshot.failure(view)
    if reason is not None:
        return f"epoch {epoch}: stopped: {reason}"
    try:
        errors = engine.snapshot.errors(view)
        if isinstance(expected, Failure) or errors:
            agree = isinstance(expected, Failure) and errors
            return "" if agree else f"epoch {epoch}: {expected} is expected, errors are {errors}"
        got = read(engine, view, epoch)
    except Departure as departure:
        return f"epoch {epoch}: {departure.mismatch.got}"
    if same(expected, got):
        return ""
    missing, extra = list((expected - got).elements()), list((got - expected).elements())
    return f"epoch {epoch}: {len(missing)} missing, {missing[:1]}; {len(extra)} too many, {extra[:1]}"


def _plans(queries: Mapping[int, str], found: Mapping[int, Verdict]) -> dict[int, Node]:
    """The plans of the queries that are not refused."""
    catalog = {t.name: Relation(t.name, t.schema, Source(t.name, t.schema), t.key) for t in TABLES.values()}
    plans = {}
    for number, query in queries.items():
        try:
            plans[number] = plan_query(query, catalog, DIALECT).plan
        except PlannerError as error:
            found[number].refused = str(error)
    return plans
