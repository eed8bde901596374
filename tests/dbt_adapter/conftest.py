"""dbt in a process of its own, over a copy of `examples/dbt/shop` and a service that the tests share.

`FRESHET_DBT_PYTHON` names an interpreter that has dbt-core; otherwise the tests' own has to have it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import freshet
from freshet import Connection
from tests import clients
from tests.dbt_adapter.dbt_process import EXAMPLE, Dbt, Outcome
from tests.service.client import Process

PYTHON = os.environ.get("FRESHET_DBT_PYTHON") or (sys.executable if find_spec("dbt") else None)


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    if PYTHON is None:
        clients.missing("dbt-core", "pip install -e '.[dbt]', or FRESHET_DBT_PYTHON")
    process = Process(tmp_path_factory.mktemp("service"), {}, fresh=True)
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
    dbt = Dbt(str(PYTHON), project, FRESHET_URL=service.url)
    try:
        yield dbt
    finally:
        dbt.close()


@pytest.fixture(scope="package")
def built(dbt: Dbt) -> Outcome:
    """The first `dbt build` of the project."""
    return dbt.run("build")
