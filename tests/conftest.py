"""The run of the tests: its seed, what it shows of itself, and the Spark and PostgreSQL of a process."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

from bench.wire.own_postgres import programs
from engine.processes import children
from engine.spark.sessions import Sessions, SparkOptions
from tests import balance, clients, overtime, run, scratch
from tests.postgres.server import Server, running
from tests.share import SHARE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer

hypothesis.settings.register_profile(
    "freshet",
    deadline=None,  # no test asserts a time
    derandomize=False,
    max_examples=-(-100 // SHARE),
    suppress_health_check=(hypothesis.HealthCheck.too_slow,),
)
hypothesis.settings.load_profile("freshet")


JAVA = " ".join(
    (
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
    )
)
"""Options of every Java that tests start: none lives for so long that its second compiler, a parallel
collector of garbage and checks of classes pay. They were a third of the time of the tests with Spark."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="what random tests start from; a fresh one unless given")


def pytest_configure(config: pytest.Config) -> None:
    """Put the seed where `tests.seeds`, hypothesis and the processes of this run find it; choose where tests
    keep their files."""
    seed = config.getoption("seed")
    if seed is None:
        seed = int(os.environ.get("FRESHET_SEED") or random.SystemRandom().randrange(10**9))
    os.environ["FRESHET_SEED"] = str(seed)
    os.environ.setdefault("JAVA_TOOL_OPTIONS", JAVA)
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(seed)
    scratch.choose(config)
    run.begin()
    overtime.watch(config)
    if hasattr(config, "workerinput"):
        children.preload("tests.forked.loaded_kernels")  # for the jobs of all tests of this process


def pytest_collection_finish(session: pytest.Session) -> None:
    """The server of all jobs begins before the first test: it keeps the directory and the environment in
    which it began, and those of a test go with the test."""
    if hasattr(session.config, "workerinput") and session.items:
        children.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    scratch.clear(config)
    run.end()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: tests often wait for other processes, Spark's above all."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> balance.Balanced:
    config.option.loadscopereorder = False
    return balance.Balanced(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is loaded for the tests is no garbage: as in the service, the collector never looks at it, and
    seldom at the rest. It took a quarter of the processor's time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 4, 100)  # the service's own
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In one of several processes the longest come first; what shares Spark is known to be of one unit."""
    for item in items:
        if "sessions" in getattr(item, "fixturenames", ()) and balance.unit(item.nodeid) != balance.SPARK:
            raise pytest.UsageError(f"{item.nodeid} uses Spark: tests/balance.py has to say so")
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: balance.place(item.nodeid))


def pytest_report_header() -> str:
    return _seed()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(_seed())


def _seed() -> str:
    seed = os.environ["FRESHET_SEED"]
    return f"random seed {seed}; --seed {seed} runs it again"


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """Two cores, and four attempts of a task. A test that wants a session of its own starts a process."""
    directory = tmp_path_factory.mktemp("spark")
    sessions = Sessions(SparkOptions(directory, master="local[2,4]", memory="1g"))
    yield sessions
    sessions.stop()


@pytest.fixture(scope="session")
def spark(sessions: Sessions) -> SparkSession:
    return sessions.get()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL: a referee, and the catalogs that services share."""
    where = programs()
    if where is None:
        clients.missing("initdb", "on Debian it is in the package postgresql")
    with running(where) as server:
        yield server
