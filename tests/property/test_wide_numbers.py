"""Numbers of up to 38 digits wherever a number can stand, against DuckDB, however history is divided."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

from engine.schema import INTEGER, Column, Schema, numeric
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.cases import Case, answers
from tests.property.check import check
from tests.property.histories import Change, Epoch, History
from tests.property.schemas import Table
from tests.property.terms import Term
from tests.property.views import View
from tests.seeds import SEED, each_seed, few

WIDE, NARROW = numeric(38, 2), numeric(15, 2)
TABLE = Table("t", Schema((Column("k", INTEGER), Column("x", WIDE), Column("y", NARROW))))
QUERIES = (
    "SELECT k, sum(x) AS c0, avg(x) AS c1, count(x) AS c2, sum(y) AS c3 FROM t GROUP BY k",
    "SELECT sum(x) AS c0, avg(x) AS c1 FROM t",
    "SELECT k, min(x) AS c0, max(x) AS c1, count(DISTINCT x) AS c2 FROM t GROUP BY k",
    "SELECT x + y AS c0, x - y AS c1, -x AS c2, abs(x) AS c3, x % 1000 AS c4 FROM t",
    "SELECT y * y * y AS c0, y * x AS c1 FROM t WHERE abs(x) < 1000000000000000000000",
    "SELECT CAST(x AS double precision) AS c0, CAST(x AS text) AS c1, CAST(x AS numeric(38, 0)) AS c2 FROM t",
    "SELECT x > y AS c0, greatest(x, y, 1000000000000000000000) AS c1, least(x, y) AS c2 FROM t",
    "SELECT x FROM t WHERE x > 12345678901234567890.11 OR x < -12345678901234567890",
    "SELECT a.k AS c0, b.k AS c1, a.x AS c2 FROM t AS a JOIN t AS b ON a.x = b.x",
    "SELECT a.x AS c0, b.x AS c1 FROM t AS a JOIN t AS b ON a.x < b.x AND a.k = b.k",
    "SELECT DISTINCT x AS c0 FROM t",
    "SELECT x AS c0, round(x, 1) AS c1, CASE WHEN x IN (0, 1, 99999999999999999999) THEN x END AS c2 FROM t",
    "SELECT k, x FROM t AS o WHERE x = (SELECT max(x) FROM t AS i WHERE i.k = o.k)",
    "SELECT s AS c0, count(*) AS c1 FROM (SELECT k, sum(x) AS s FROM t GROUP BY k) AS g GROUP BY s",
    "SELECT k AS c0, x AS c1, sum(x) OVER (PARTITION BY k ORDER BY x, y) AS c2, avg(x) OVER () AS c3 FROM t",
    "SELECT rank() OVER (ORDER BY x) AS c0, lag(x) OVER (ORDER BY x, y, k) AS c1 FROM t",
    "SELECT k AS c0, max(x) OVER (PARTITION BY k ORDER BY y) AS c1 FROM t",
    "SELECT y AS c0, min(x) OVER (PARTITION BY k ORDER BY y, x ROWS 2 PRECEDING) AS c1, "
    "max(x) OVER (PARTITION BY k ORDER BY y, x ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING) AS c2, "
    "sum(x) OVER (PARTITION BY k ORDER BY y, x ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS c3, "
    "count(x) OVER (PARTITION BY k ORDER BY y, x) AS c4, "
    "row_number() OVER (PARTITION BY k ORDER BY y, x) AS c5 FROM t",
    "SELECT x AS c0, sum(x) OVER (PARTITION BY x) AS c1, max(x) OVER (PARTITION BY x) AS c2 FROM t",
    "SELECT x AS c0, k AS c1, y AS c2 FROM t ORDER BY x DESC NULLS LAST, k, y LIMIT 4",
)
VIEWS = tuple(View(f"v{i}", Term("query", sql), ()) for i, sql in enumerate(QUERIES))
EDGES = (10**18 - 1, 10**18, 10**18 + 1, 10**20 - 1, 2**63, 2**64, 10**36 - 1, 123456789012345678901234567890)


def _number(rng: random.Random) -> Decimal | None:
    if rng.random() < 0.1:
        return None
    size = (
        rng.choice(EDGES) if rng.random() < 0.6 else rng.randrange(10 ** rng.choice((1, 5, 17, 19, 25, 33)))
    )
    return Decimal(size if rng.random() < 0.5 else -size).scaleb(-2)


def _history(rng: random.Random) -> History:
    held: list[tuple] = []
    epochs: list[Epoch] = []
    for _ in range(8):
        gone = [held.pop(rng.randrange(len(held))) for _ in range(rng.randint(0, len(held)))]
        new = [
            (rng.randint(0, 2), _number(rng), Decimal(rng.randint(-(10**6), 10**15 - 1)).scaleb(-2))
            for _ in range(rng.randint(0, 6))
        ]
        held += new
        changes = [(row, -1) for row in gone] + [(row, 1) for row in new]
        epochs.append(tuple(Change("t", row, diff) for row, diff in changes))
    return tuple(epochs)


@each_seed(few(6))
def test_wide_numbers_at_every_epoch(seed: int) -> None:
    case = Case(seed, (TABLE,), VIEWS, _history(random.Random(seed)))
    found = answers(case)
    assert found.keys() == {view.name for view in VIEWS}
    assert check(case, found) is None


def test_wide_numbers_in_supersteps(tmp_path: Path) -> None:
    case = Case(SEED, (TABLE,), VIEWS, _history(random.Random(SEED)))
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    assert check(case, answers(case), lambda: Mixed(executor, rng, 0.7)) is None
    assert executor.done
