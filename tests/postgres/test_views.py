"""Random views against PostgreSQL, which reads the same text: every view, at every epoch.

FRESHET_POSTGRES_CASES is the number of (view, history) pairs, of a fresh seed. Unless set, there are 30 and
always the same, because fresh ones still find where the two databases differ for good reasons.
What only DuckDB says (QUALIFY, semi joins, FIRST and the like) is left out, as is where the two databases
answer otherwise and a view answers as DuckDB does.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from engine.schema import TEXT, Kind, Schema
from tests.postgres.referee import Referee, whole
from tests.postgres.server import Server
from tests.property.cases import Case
from tests.property.check import check
from tests.property.duck import Answer, Invalid
from tests.property.histories import random_history, states
from tests.property.mutual import Mutuals
from tests.property.planning import Catalog
from tests.property.report import described
from tests.property.schemas import Table, random_tables
from tests.property.views import View, relation_of
from tests.seeds import each_seed

PAIRS = int(os.environ.get("FRESHET_POSTGRES_CASES", "30"))
EACH = 10
UNSHOWN = {
    "instant",
    "interval",
}  # not as columns: what psycopg makes of them is not what DuckDB's driver does
APART = (
    "round(",  # of a float between two integers: PostgreSQL takes the even one
    "corr(",  # of what does not vary: NaN, where PostgreSQL has NULL
)


def _known(tables: tuple[Table, ...]) -> tuple[Table, ...]:
    """The tables without columns of types that PostgreSQL lacks, which would be texts."""
    return tuple(
        replace(
            table,
            schema=Schema(
                tuple(
                    replace(column, type=TEXT)
                    if column.type.kind in (Kind.STRUCT, Kind.MAP) or column.type.whole
                    else column
                    for column in table.schema.columns
                )
            ),
        )
        for table in tables
    )


@each_seed(-(-PAIRS // EACH), fixed=None if "FRESHET_POSTGRES_CASES" in os.environ else 1100)
def test_views_equal_postgresql(postgres: Server, seed: int) -> None:
    rng = random.Random(f"postgres {seed}")
    tables = _known(random_tables(rng))
    history = random_history(rng, tables, 4)
    with postgres.connect() as connection:
        referee = Referee(connection, tables)
        catalog = Catalog(tables)
        views: list[View] = []
        while len(views) < EACH:
            view = _view(rng, f"v{len(views)}", tables)
            if _is_common(referee, view) and catalog.refuses(view) is None:
                views.append(view)
        case = Case(seed, tables, tuple(views), history)
        found: dict[str, list[Answer | None]] = {view.name: [None] for view in views}
        for state in states(tables, history):
            referee.load(state)
            for view in views:
                found[view.name].append(whole(referee.answer(view.sql())))
    mismatch = check(case, {name: tuple(each) for name, each in found.items()})
    if mismatch is not None:
        only = Case(seed, tables, tuple(v for v in views if v.name == mismatch.view), history)
        pytest.fail(f"seed {seed}\n{described(only, mismatch)}", pytrace=False)


def _view(rng: random.Random, name: str, tables: tuple[Table, ...]) -> View:
    writer = Mutuals(rng, tuple(map(relation_of, tables)))
    writer.total = True
    query, sorts = writer.linear(2) if rng.random() < 0.15 else writer.statement()
    extreme = any(table.extreme for table in tables)
    return View(name, query, sorts, None, extreme)


def _is_common(referee: Referee, view: View) -> bool:
    """Whether PostgreSQL takes the view, and reads all of it as DuckDB does."""
    sql = view.sql()
    if any(text in sql for text in APART) or not UNSHOWN.isdisjoint(view.sorts):
        return False
    if "sum(" in sql and " / " in sql:  # a sum of BIGINT is NUMERIC there, and is divided as such
        return False
    if "string_agg(" in sql and ", '')" in sql:  # without an order, in which PostgreSQL takes what comes
        return False
    try:
        referee.answer(view.sql())
    except Invalid:
        return False
    return True
