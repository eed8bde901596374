"""dbt in a process of its own, over a copy of `examples/dbt/shop` and a service that the tests share.

`FRESHET_DBT_PYTHON` names an interpreter that has dbt-core; otherwise the tests' own has to have it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import freshet
from freshet import Connection
from tests.service.client import Process

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "dbt"
PYTHON = os.environ.get("FRESHET_DBT_PYTHON") or (sys.executable if find_spec("dbt") else None)


@dataclass(frozen=True)
class Outcome:
    """How a command of dbt ended. `results` has each node's, by its name."""

    success: bool
    error: str | None
    results: dict[str, dict[str, Any]]

    @property
    def statuses(self) -> dict[str, str]:
        return {name: result["status"] for name, result in self.results.items()}

    @property
    def told(self) -> str:
        """All messages, for errors."""
        return "\n".join([self.error or "", *(str(result["message"]) for result in self.results.values())])


class Dbt:
    """Runs commands in the directory of a project."""

    def __init__(self, project: Path, **environment: str) -> None:
        self.project = project
        paths = f"{EXAMPLE / 'adapter'}{os.pathsep}{ROOT}"
        fixed = {
            "PYTHONPATH": paths,
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_QUIET": "true",
            "DBT_PROFILES_DIR": ".",
        }
        self._process = subprocess.Popen(
            [str(PYTHON), str(Path(__file__).with_name("driver.py"))],
            cwd=project,
            env={**os.environ, **fixed, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> Outcome:
        assert self._process.stdin and self._process.stdout
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        found = json.loads(self._process.stdout.readline())
        results = {result["name"]: result for result in found["results"]}
        return Outcome(found["success"], found["error"], results)

    def succeed(self, *arguments: str) -> Outcome:
        outcome = self.run(*arguments)
        assert outcome.success, outcome.told
        return outcome

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(240)


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    if PYTHON is None:
        pytest.skip("needs dbt-core: pip install -e '.[dbt]'")
    process = Process(tmp_path_factory.mktemp("service"), {})
    try:
        process.wait_ready(seconds=300)
        yield process
    finally:
        process.kill()


@pytest.fixture(scope="package")
def db(service: Process) -> Iterator[Connection]:
    with freshet.connect(service.url) as connection:
        yield connection


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(EXAMPLE / "shop", tmp_path_factory.mktemp("dbt") / "shop"))


@pytest.fixture(scope="package")
def dbt(service: Process, project: Path) -> Iterator[Dbt]:
    dbt = Dbt(project, FRESHET_URL=service.url)
    try:
        yield dbt
    finally:
        dbt.close()


@pytest.fixture(scope="package")
def built(dbt: Dbt) -> Outcome:
    """The first `dbt build` of the project."""
    return dbt.run("build")
