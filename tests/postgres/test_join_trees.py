"""Random join trees against PostgreSQL, in its dialect: the rows, and the order of the columns of `*`.

FRESHET_TREES is the number of trees, of a fresh seed; unless set, there are 30, always the same.
"""

from __future__ import annotations

import os

from tests.postgres.referee import Referee
from tests.postgres.server import Server
from tests.property.check import check
from tests.property.forests import EACH, forest, tables
from tests.property.report import described
from tests.seeds import each_seed

TREES = int(os.environ.get("FRESHET_TREES", "30"))


@each_seed(-(-TREES // EACH), fixed=None if "FRESHET_TREES" in os.environ else 1000)
def test_join_trees_equal_postgresql(postgres: Server, seed: int) -> None:
    with postgres.connect() as connection:
        case, answers = forest(seed, "postgres", Referee(connection, tables()))
    assert len(case.views) > EACH // 2
    mismatch = check(case, answers, all_asked=True)
    assert mismatch is None, f"seed {seed}\n{described(case, mismatch)}"
