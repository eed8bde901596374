"""Random join trees against DuckDB, in its dialect: views, and the same texts asked ad hoc.

FRESHET_TREES is the number of trees, 100 unless set.
"""

from __future__ import annotations

import os
from collections import Counter

from tests.property.cases import Answers, Case
from tests.property.check import check
from tests.property.duck import Broken, Referee
from tests.property.forests import EACH, forest, tables
from tests.property.report import described
from tests.seeds import each_seed

TREES = int(os.environ.get("FRESHET_TREES", "30"))


@each_seed(-(-TREES // EACH))
def test_join_trees_equal_duckdb(seed: int) -> None:
    case, answers = unbroken(seed)
    assert len(case.views) > EACH // 2
    counted: Counter[str] = Counter()
    mismatch = check(case, answers, all_asked=True, counted=counted)
    assert mismatch is None, f"seed {seed}\n{described(case, mismatch)}"
    assert counted["rows"] == len(case.views) * len(case.history)
    assert counted["asked"] > EACH // 2


def unbroken(seed: int) -> tuple[Case, Answers]:
    """A forest of the seed over whose trees DuckDB does not break: the first, or the next."""
    while True:
        referee = Referee(tables())
        try:
            return forest(seed, "duckdb", referee)
        except Broken:
            seed += TREES
        finally:
            referee.close()
