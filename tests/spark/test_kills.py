"""Epochs that Spark computes while its processes are killed: right, or not at all.

FRESHET_SPARK_KILLS is the number of kills. With FRESHET_CLUSTER executors are killed too.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from engine.spark.sessions import Sessions
from engine.spark.transport import SparkTransport
from tests.seeds import SEED
from tests.spark.faults import Trial
from tests.spark.killer import Killer
from tests.spark.programs import run

KILLS = int(os.environ.get("FRESHET_SPARK_KILLS", "2"))
ATTEMPTS = 4
"""How often the shared session begins a task."""


def endure(sessions: Sessions, directory: Path, kills: int, share: float = 0) -> str:
    """Epochs, compared one by one, until so many processes are killed; what has happened.

    No task is killed as often as Spark begins one: three times in an epoch.
    """
    rng = random.Random(f"kills {SEED}")
    killer = Killer(rng, 1.5, share)
    trial = Trial(directory, SparkTransport(sessions), rng)
    epochs = 0
    while killer.killed < kills:
        trial.run(killer.killing(min(ATTEMPTS - 1, kills - killer.killed)))
        epochs += 1
    swept = trial.end()
    killed = f"{killer.workers} workers and {killer.executors} executors killed"
    return f"{killed} in {epochs} epochs, {swept} files swept"


def test_killed_workers_change_nothing(sessions: Sessions, tmp_path: Path) -> None:
    print(endure(sessions, tmp_path, KILLS))


@pytest.mark.skipif("FRESHET_CLUSTER" not in os.environ, reason="FRESHET_CLUSTER is not set")
def test_killed_executors_change_nothing(tmp_path: Path) -> None:
    program = f"""
        from tests.spark.test_kills import endure
        conf = {{
            "spark.speculation": "true",
            "spark.speculation.interval": "50ms",
            "spark.task.maxFailures": "100",
            "spark.stage.maxConsecutiveAttempts": "100",
            "spark.deploy.maxExecutorRetries": "-1",
        }}
        master = "local-cluster[2,1,1024]"
        sessions = Sessions(SparkOptions(scratch / "spark", master=master, memory="1g", conf=conf))
        print(endure(sessions, scratch / "data", {KILLS}, 0.4))
        sessions.stop()
    """
    print(run(program, tmp_path))


def test_an_epoch_that_cannot_be_computed_leaves_everything(sessions: Sessions, tmp_path: Path) -> None:
    """Every worker is killed at once, until Spark gives up; then the same epoch is computed in peace."""
    trial = Trial(tmp_path, SparkTransport(sessions), random.Random(SEED))
    changes = trial.history.epoch()
    trial.advance(trial.engine, changes, None)
    trial.advance(trial.other, changes, None)
    changes = trial.history.epoch()
    trial.advance(trial.other, changes, None)
    before = trial.holds()
    with (
        Killer(random.Random(SEED), 0.02, every=True).killing(10_000),
        pytest.raises((Py4JError, PySparkException)),
    ):
        trial.advance(trial.engine, changes, trial.executor)
    assert trial.holds() == before
    assert not list(trial.scratch.glob("*"))
    trial.advance(trial.engine, changes, trial.executor)
    trial.compare()
    trial.end()
