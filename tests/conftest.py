"""What all tests share: one Spark, a local session started when a test first asks for it, and Hypothesis
without deadlines, since a busy machine or a kernel's first call is no failure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from engine.spark.sessions import Sessions, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("freshet", deadline=None)
settings.load_profile("freshet")


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """Two cores, and four attempts of a task. A test that wants a session of its own starts a process."""
    scratch = tmp_path_factory.mktemp("spark")
    sessions = Sessions(SparkOptions(scratch, master="local[2,4]", memory="1g"))
    yield sessions
    sessions.stop()


@pytest.fixture(scope="session")
def spark(sessions: Sessions) -> SparkSession:
    return sessions.get()
