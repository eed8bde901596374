"""Random join trees against DuckDB, in its dialect: views, and the same texts asked ad hoc.

FRESHET_TREES is the number of trees, 100 unless set; FRESHET_SEED is the first seed.
"""

from __future__ import annotations

import os

import pytest

from tests.property.check import check
from tests.property.duck import Broken, Referee
from tests.property.forests import EACH, forest, tables
from tests.property.report import described

TREES = int(os.environ.get("FRESHET_TREES", "100"))
FIRST_SEED = int(os.environ.get("FRESHET_SEED", "0"))


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + -(-TREES // EACH)))
def test_join_trees_equal_duckdb(seed: int) -> None:
    referee = Referee(tables())
    try:
        case, answers = forest(seed, "duckdb", referee)
    except Broken as error:
        pytest.skip(f"DuckDB broke over a tree: {error}")
    finally:
        referee.close()
    assert len(case.views) > EACH // 2
    mismatch = check(case, answers, all_asked=True)
    assert mismatch is None, f"seed {seed}\n{described(case, mismatch)}"
