"""A run of the tests ends though one of its processes dies, whatever that has finished before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.balance import CONSOLE, Balanced, unit
from tests.overtime import EXIT_CODE

TESTS = [f"tests/test_{file}.py::test_{number}" for file in "abcdef" for number in range(3)]


class Worker:
    """Runs nothing, and knows what it is to run."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.shutting_down = False
        self.gateway = SimpleNamespace(id="worker")

    def send_runtest_some(self, indices: list[int]) -> None:
        assert indices, "it would wait for ever"
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def balanced(*workers: Worker) -> Any:
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(option=option, getvalue=lambda name: ["popen"] * len(workers))
    found: Any = Balanced(config)  # type: ignore[arg-type]
    for worker in workers:
        found.add_node(worker)
        found.add_node_collection(worker, TESTS)
    found.schedule()
    return found


def run(scheduler: Any, worker: Worker, most: int = len(TESTS)) -> list[int]:
    """Completes what the worker was given, up to so many tests."""
    done = []
    while worker.given and len(done) < most:
        done.append(worker.given.pop(0))
        scheduler.mark_test_complete(worker, done[-1])
    return done


def test_another_process_takes_what_one_that_dies_has_left() -> None:
    first, second, late = Worker(), Worker(), Worker()
    scheduler = balanced(first, second)
    done = run(scheduler, second, 4)
    died_of = second.given[0]
    assert scheduler.remove_node(second) == TESTS[died_of]
    scheduler.add_node(late)
    scheduler.add_node_collection(late, TESTS)
    scheduler.schedule()
    done += run(scheduler, late, 1) + run(scheduler, first) + run(scheduler, late)
    assert sorted([*done, died_of]) == list(range(len(TESTS)))
    assert first.shutting_down and late.shutting_down


def test_the_last_test_of_all_may_be_the_one() -> None:
    first, second, late = Worker(), Worker(), Worker()
    scheduler = balanced(first, second)
    run(scheduler, second, len(TESTS) - 4)
    run(scheduler, first)
    run(scheduler, second, len(second.given) - 1)
    (died_of,) = second.given
    assert scheduler.remove_node(second) == TESTS[died_of]
    scheduler.add_node(late)
    scheduler.add_node_collection(late, TESTS)
    scheduler.schedule()
    assert late.given == [] and late.shutting_down


def test_units_share_what_they_set_up() -> None:
    assert (
        unit("tests/console/test_a.py::test_b[tests/c.py::d]")
        == unit("tests/console/test_e.py::f")
        == CONSOLE
    )
    assert unit("tests/service/test_loads.py::test_a") == unit("tests/spark/test_kills.py::test_b")
    assert unit("tests/test_rooms.py::test_a") == "tests/test_rooms.py"


def test_a_run_with_a_test_that_hangs_ends(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests import overtime\npytest_configure = overtime.watch\n")
    (tmp_path / "test_it.py").write_text(
        "import time\ndef test_quick(): pass\ndef test_it(): time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "pytest", "-n", "1", "--rootdir", str(tmp_path), str(tmp_path)]
    here = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"FRESHET_TEST_SECONDS": "5", "PYTHONPATH": here}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == EXIT_CODE, done.stdout + done.stderr
    assert "ended after 5 s" in done.stdout
    assert "test_it.py::test_it" in done.stdout and "test_it.py::test_quick" not in done.stdout
