"""Views that ask for the time, in supersteps and in the process by turns."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.planner.test_temporal import EPOCHS, answers, planned, random_history
from tests.seeds import SEED

QUERIES = (
    "SELECT id, ts FROM t WHERE ts > now() - INTERVAL '1 hour'",
    "SELECT id, d FROM t WHERE ts BETWEEN now() - INTERVAL '2 days' AND now() + INTERVAL '1 hour' AND n > 0",
    "SELECT id, ts > now() AS ahead, ts <= now() - INTERVAL '1 day' AS old FROM t",
    "SELECT id, current_date - d AS age FROM t",
    "SELECT n, count(*) AS c, min(ts) AS m FROM t WHERE ts > now() - INTERVAL '1 day' GROUP BY n",
    "SELECT t.id, u.ts2 FROM t JOIN u ON t.id = u.id AND u.ts2 > now() - t.n * INTERVAL '1 day'",
    "SELECT t.id, t.n, u.ts2 FROM t LEFT JOIN u ON t.id = u.id AND t.ts < now()",
    "WITH RECURSIVE r AS (SELECT id, ts FROM t WHERE ts < now() UNION SELECT u.id, r.ts FROM r JOIN u ON"
    " u.id = r.id + 1 WHERE r.ts > now() - INTERVAL '1 day') SELECT * FROM r",
)


@pytest.mark.parametrize(("seed", "sql"), list(enumerate(QUERIES, SEED)), ids=range(len(QUERIES)))
def test_views_change_as_they_do_in_the_process(seed: int, sql: str, tmp_path: Path) -> None:
    history = random_history(random.Random(seed))
    plan = planned(sql)
    expected = answers(history, plan, range(1, EPOCHS), 0)
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    assert answers(history, plan, (2, 3, 5), 0, make=lambda: Mixed(executor, rng, 0.7)) == expected
    assert executor.done
