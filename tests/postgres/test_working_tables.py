"""Recursive queries with a working table against the systems that have one: DuckDB and PostgreSQL.

FRESHET_RECURSIONS is the number of pairs of a view and a history; 50 unless set.
"""

from __future__ import annotations

import itertools
import os
import random

import pytest

from tests.postgres.referee import Referee, whole
from tests.postgres.server import Server
from tests.property.cases import Case
from tests.property.check import check
from tests.property.duck import Answer, Bag
from tests.property.duck import Referee as DuckReferee
from tests.property.examples import table
from tests.property.histories import random_history, states
from tests.property.report import described
from tests.property.terms import Term
from tests.property.views import View
from tests.property.working_tables import TABLES, working_table_query
from tests.seeds import each_seed

PAIRS = int(os.environ.get("FRESHET_RECURSIONS", "50"))
EACH = 5


@each_seed(-(-PAIRS // EACH))
def test_recursions_are_those_of_their_system(postgres: Server, seed: int) -> None:
    rng = random.Random(f"working tables {seed}")
    tables = tuple(map(table, TABLES))
    history = random_history(rng, tables, 4)
    views = tuple(_view(rng, f"v{i}", ("postgres", "duckdb")[i % 2]) for i in range(EACH))
    found: dict[str, list[Answer | None]] = {view.name: [] for view in views}
    ducks = DuckReferee(tables)
    empty: dict[str, Bag] = {each.name: Bag() for each in tables}
    with postgres.connect() as connection:
        connection.execute("SET statement_timeout = '10s'")
        referee = Referee(connection, tables)
        for state in itertools.chain((empty,), states(tables, history)):
            referee.load(state)
            ducks.load(state)
            for view in views:
                asked = referee if view.dialect == "postgres" else ducks
                found[view.name].append(whole(asked.answer(view.sql(view.dialect))))
    ducks.close()
    mismatch = check(
        Case(seed, tables, views, history), {name: tuple(answers) for name, answers in found.items()}
    )
    if mismatch is not None:
        only = Case(seed, tables, tuple(v for v in views if v.name == mismatch.view), history)
        pytest.fail(f"seed {seed}\n{described(only, mismatch)}", pytrace=False)


def _view(rng: random.Random, name: str, dialect: str) -> View:
    sql = working_table_query(rng, dialect)
    return View(name, Term("query", sql, (), sql), (), dialect=dialect)
