"""Sessions on clusters: how the engine reaches workers that do not share a disk, and the loss of a worker.

These tests start many JVMs and take minutes, so they run only if FRESHET_CLUSTER is set.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import engine
from tests.service.client import Process
from tests.spark.cluster import Cluster, cluster
from tests.spark.programs import ROOT, path_without_java

pytestmark = pytest.mark.skipif("FRESHET_CLUSTER" not in os.environ, reason="FRESHET_CLUSTER is not set")

SMALL = {"spark.executor.memory": "700m"}
Ask = Callable[[int], list[dict[str, Any]]]


@contextmanager
def asking(scratch: Path, **options: object) -> Iterator[Ask]:
    """A session in a process of its own, which runs the given numbers of tasks; see `tests.spark.where`."""
    program = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.spark.where", str(scratch), json.dumps(options)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(tasks: int) -> list[dict[str, Any]]:
        program.stdin.write(f"{tasks}\n")
        program.stdin.flush()
        return json.loads(program.stdout.readline())

    with program:
        yield ask
        program.stdin.close()
        assert program.wait(240) == 0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def places(answers: list[dict[str, Any]]) -> set[Path]:
    return {Path(answer["engine"]) for answer in answers}


def compiled_nothing(answers: list[dict[str, Any]]) -> bool:
    return all(answer["compiled"] == 0 < answer["loaded"] for answer in answers)


def test_executors_of_a_local_cluster_have_our_engine(tmp_path: Path) -> None:
    with asking(tmp_path, master="local-cluster[2,1,700]", memory="1g", conf=SMALL) as ask:
        answers = ask(8)
    assert places(answers) == {Path(engine.__file__)}
    assert compiled_nothing(answers)


def test_executors_of_a_local_cluster_need_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(path_without_java(tmp_path)))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with asking(tmp_path, master="local-cluster[2,1,700]", memory="1g", conf=SMALL) as ask:
        assert len(ask(4)) == 4


def test_a_cluster_is_sent_the_engine_and_its_compiled_kernels(running: Cluster, tmp_path: Path) -> None:
    conf = SMALL | {"spark.pyspark.python": sys.executable}
    with asking(tmp_path, master=running.url, memory="1g", conf=conf) as ask:
        answers = ask(8)
        assert len({place.parent for place in places(answers)}) == 2
        assert all(running.directory in place.parents for place in places(answers))
        assert compiled_nothing(answers)

        lost = running.workers[0]
        kill = threading.Timer(1, lost.kill)
        kill.start()
        answers = ask(40)
        kill.join()
        assert sorted(answer["id"] for answer in answers) == list(range(40))

        running.start_worker()
        assert len(ask(8)) == 8


def test_a_connect_server_is_sent_the_engine_too(running: Cluster, tmp_path: Path) -> None:
    remote = running.start_connect(SMALL | {"spark.driver.memory": "1g"})
    with asking(tmp_path, remote=remote) as ask:
        answers = ask(8)
    assert all(running.directory in place.parents for place in places(answers))
    assert compiled_nothing(answers)


def unpacked(running: Cluster) -> int:
    """The number of tasks that had to unpack the engine first."""
    return len(list(running.directory.glob("work-*/**/engine/__init__.py")))


@pytest.mark.parametrize("kind", ["master", "remote"])
def test_a_service_computes_on_a_cluster_that_loses_a_worker(
    running: Cluster, tmp_path: Path, kind: str
) -> None:
    """A recursion over chains: each of 30 edges has 30 * 31 / 2 paths."""
    environment = {"FRESHET_SPARK": "always", "FRESHET_SHARDS": "2", "FRESHET_SPARK_MEMORY": "1g"}
    if kind == "remote":
        environment["FRESHET_SPARK_REMOTE"] = running.start_connect(SMALL | {"spark.driver.memory": "1g"})
    else:
        conf = SMALL | {"spark.pyspark.python": sys.executable}
        environment["FRESHET_SPARK_MASTER"] = running.url
        environment["FRESHET_SPARK_CONF"] = ";".join("=".join(pair) for pair in conf.items())
    before = unpacked(running)
    service = Process(tmp_path, environment)
    try:
        service.wait_ready()
        run_sql(service, "CREATE TABLE edges (a BIGINT, b BIGINT)")
        run_sql(service, PATHS)
        for chain in range(3):
            if chain == 2:
                running.workers[-1].kill()
            edges = ", ".join(f"({100 * chain + i}, {100 * chain + i + 1})" for i in range(30))
            run_sql(service, f"INSERT INTO edges VALUES {edges}")
            assert run_sql(service, "SELECT count(*) FROM paths") == [[465 * (chain + 1)]]
        assert unpacked(running) > before
        assert service.terminate() == 0
    finally:
        service.kill()
    running.start_worker()  # in the place of the lost one


PATHS = """
CREATE VIEW paths AS
    WITH RECURSIVE reach (a, b) AS (
        SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON reach.b = edges.a
    )
    SELECT a, b FROM reach
"""


def run_sql(service: Process, sql: str) -> Any:
    """The rows that a statement returns, if any."""
    answer = httpx.post(f"{service.url}/v1/sql", json={"sql": sql}, timeout=600)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][0].get("rows")
