"""SEARCH and CYCLE of recursive queries against PostgreSQL, at every epoch of random histories.

PostgreSQL's order column is a row, ours an array: what is compared is their order. The paths are compared as
PostgreSQL prints them.
"""

from __future__ import annotations

import itertools
import random

import pytest

from tests.postgres.referee import Referee, whole
from tests.postgres.server import Server
from tests.property.cases import Case
from tests.property.check import check
from tests.property.duck import Answer, Bag
from tests.property.examples import table
from tests.property.histories import random_history, states
from tests.property.report import described
from tests.property.terms import Term
from tests.property.views import View
from tests.seeds import few, seeds

TABLES = ("e(s INTEGER, d INTEGER)", "w(t TEXT, b BOOLEAN)")
_PATHS = (
    "WITH RECURSIVE r (s, d) AS (SELECT s, d FROM e WHERE s < 3 UNION{all} SELECT e.s, e.d FROM e JOIN r "
)
_WALKS = (
    "WITH RECURSIVE r (s, d, k) AS (SELECT s, d, 0 FROM e UNION{all} "
    "SELECT e.s, e.d, k + 1 FROM e, r WHERE e.s = r.d AND k < 2) "
)
_TEXTS = (
    "WITH RECURSIVE r (t, b, k) AS (SELECT t, b, 0 FROM w UNION ALL "
    """SELECT r.t || w.t || ',"\\ ', NOT r.b, k + 1 FROM r JOIN w ON w.b = r.b WHERE k < 2) """
)
_RANKED = ", dense_rank() OVER (ORDER BY {order}) AS place FROM r"
VIEWS = [
    _PATHS.format(all=" ALL")
    + "ON e.s = r.d) CYCLE d SET again USING path SELECT s, d, again, {path} AS p FROM r",
    _PATHS.format(all="")
    + "ON e.s = r.d) CYCLE s, d SET again TO 'Y' DEFAULT 'N' USING path "
    "SELECT *, {path} AS p FROM (SELECT s, d, again, path FROM r) AS q".replace("*", "s, d, again"),
    _PATHS.format(all=" ALL") + "ON e.s = r.d) SEARCH DEPTH FIRST BY d SET ord CYCLE d SET again USING path "
    "SELECT s, d, again" + _RANKED.format(order="ord"),
    _WALKS.format(all=" ALL")
    + "SEARCH DEPTH FIRST BY s, d SET ord SELECT s, d, k"
    + _RANKED.format(order="ord"),
    _WALKS.format(all="") + "SEARCH BREADTH FIRST BY d SET ord SELECT s, d, k" + _RANKED.format(order="ord"),
    _WALKS.format(all=" ALL")
    + "SEARCH BREADTH FIRST BY s, k SET ord SELECT s, d"
    + _RANKED.format(order="ord DESC"),
    _TEXTS + 'SEARCH BREADTH FIRST BY t SET "Ord" SELECT t, b, k' + _RANKED.format(order='"Ord"'),
    _TEXTS + "SEARCH DEPTH FIRST BY t SET ord SELECT t, b, k" + _RANKED.format(order="ord"),
    _TEXTS + "CYCLE t, b SET again USING path SELECT t, again, {path} AS p FROM r",
    _TEXTS + "CYCLE b, k SET again TO 1 DEFAULT 0 USING path SELECT t, again, {path} AS p FROM r",
    "WITH RECURSIVE r AS (SELECT * FROM e UNION ALL SELECT x.* FROM e AS x, r AS y WHERE x.s = y.d) "
    "CYCLE s SET again USING path, n AS (SELECT count(*) AS n FROM r) SELECT r.s, again, n FROM r, n",
]


@pytest.mark.parametrize("seed", seeds(few(4)))
def test_columns_of_search_and_cycle(postgres: Server, seed: int) -> None:
    tables = tuple(map(table, TABLES))
    history = random_history(random.Random(f"search and cycle {seed}"), tables, 4)
    views = tuple(
        View(f"v{i}", Term("query", sql.format(path="path"), (), sql.format(path="path::text::text[]")), ())
        for i, sql in enumerate(VIEWS)
    )
    found: dict[str, list[Answer | None]] = {view.name: [] for view in views}
    empty: dict[str, Bag] = {each.name: Bag() for each in tables}
    with postgres.connect() as connection:
        referee = Referee(connection, tables)
        for state in itertools.chain((empty,), states(tables, history)):
            referee.load(state)
            for view in views:
                found[view.name].append(whole(referee.answer(view.sql("duckdb"))))
    case = Case(seed, tables, views, history)
    mismatch = check(case, {name: tuple(answers) for name, answers in found.items()})
    if mismatch is not None:
        only = Case(seed, tables, tuple(v for v in views if v.name == mismatch.view), history)
        pytest.fail(described(only, mismatch), pytrace=False)
