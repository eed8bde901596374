"""A service with a few tables and views, and pages of its console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import freshet
from freshet import Connection
from tests.console.browser import MISSING, PATIENCE, Witness, chromium, expect
from tests.service.client import Process

_NUMBERS = count()
SIZE = {"width": 1280, "height": 800}


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    if MISSING:
        pytest.skip(MISSING)
    process = Process(tmp_path_factory.mktemp("service"), {})
    try:
        process.wait_ready()
        yield process
    finally:
        process.kill()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    if MISSING:
        pytest.skip(MISSING)
    expect.set_options(timeout=PATIENCE)
    with chromium() as found:
        yield found


@pytest.fixture
def db(service: Process) -> Iterator[Connection]:
    with freshet.connect(service.url) as connection:
        yield connection


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"t{next(_NUMBERS)}"


@pytest.fixture
def sales(db: Connection, name: str) -> str:
    """The name of a table with a key; `NAME_by` is a view of it. It has had two epochs."""
    db.script(
        f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, customer TEXT, total NUMERIC(10, 2)); "
        f"CREATE VIEW {name}_by AS SELECT customer, count(*) AS orders, sum(total) AS total "
        f"FROM {name} GROUP BY customer"
    )
    db.table(name).insert([{"id": 1, "customer": "ada", "total": "30.00"}])
    db.table(name).insert([{"id": 2, "customer": "bob", "total": "12.50"}])
    return name


@pytest.fixture
def open_page(browser: Any, service: Process) -> Iterator[Callable[..., Any]]:
    """Opens pages of the console; at the end, none of them may have done what a `Witness` notes."""
    opened: list[tuple[Any, Witness]] = []

    def open_page(place: str = "", url: str = service.url, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce"} | options)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        opened.append((context, Witness(page, url)))
        page.goto(f"{url}/{place}")
        return page

    yield open_page
    for context, _ in opened:
        context.close()
    assert [fault for _, witness in opened for fault in witness.faults] == []


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts services over one data directory, on a port if it is told, and kills them at the end."""
    if MISSING:
        pytest.skip(MISSING)
    started: list[Process] = []

    def start(port: int | None = None, **environment: str) -> Process:
        given = environment | ({} if port is None else {"FRESHET_PORT": str(port)})
        process = Process(tmp_path / "data", given)
        if port is not None:
            process.port, process.url = port, f"http://127.0.0.1:{port}"
        started.append(process)
        process.wait_ready()
        return process

    yield start
    for process in started:
        process.kill()
