"""Epochs computed on Spark or in the process, in random order, give the referee's answers.

FRESHET_SPARK_CASES is the number of (views, history) cases, of a few views each. With FRESHET_CLUSTER they
run on executors of a local cluster too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.spark.sessions import Sessions
from engine.spark.transport import SparkTransport
from tests.engine.supersteps.mixed import Mixed, executor_for
from tests.property.cases import random_case
from tests.property.check import check
from tests.property.report import report
from tests.seeds import SEED, each_seed
from tests.spark.programs import run

CASES = int(os.environ.get("FRESHET_SPARK_CASES", "1"))
VIEWS = 4
"""Candidates for the views of a case. A job's time grows with its exchanges."""
SHARE = 0.3


def departure(seed: int, sessions: Sessions, directory: Path) -> str:
    """Where a case departs from the referee; empty if it does not."""
    case, answers = random_case(seed, VIEWS)
    executor, rng = executor_for(seed, directory, SparkTransport(sessions))
    mismatch = check(case, answers, lambda: Mixed(executor, rng, SHARE))
    assert not list((directory / "scratch").glob("*"))
    print(f"seed {seed}: {executor.done} jobs for {len(case.views)} views")
    return "" if mismatch is None else report(case, mismatch, case, mismatch)


@each_seed(CASES)
def test_views_equal_the_referee(seed: int, sessions: Sessions, tmp_path: Path) -> None:
    found = departure(seed, sessions, tmp_path)
    if found:
        pytest.fail(found, pytrace=False)


@pytest.mark.skipif("FRESHET_CLUSTER" not in os.environ, reason="FRESHET_CLUSTER is not set")
def test_views_on_executors_equal_the_referee(tmp_path: Path) -> None:
    program = f"""
        from tests.spark.test_random_views import departure
        sessions = Sessions(SparkOptions(scratch / "spark", master="local-cluster[2,1,1024]", memory="1g"))
        for seed in range({SEED}, {SEED + CASES}):
            found = departure(seed, sessions, scratch / str(seed))
            if found:
                sys.exit(found)
        sessions.stop()
    """
    run(program, tmp_path)
