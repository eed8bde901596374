"""Recovery from a data directory: every epoch, view and time, with and without checkpoints."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from engine.plan.fingerprint import fingerprint
from engine.plan.nodes import Node
from engine.runtime.building import Building
from engine.runtime.engine import Engine
from engine.runtime.spill import Capture
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.manifest import Manifest
from service.catalog.catalog import Catalog
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, code

SUMMARY = "SELECT name, count(*) AS n, sum(id) AS total FROM t GROUP BY name"


def fill(client: Client, seed: int, epochs: int) -> None:
    chance = random.Random(f"{SEED} {seed}")
    for _ in range(epochs):
        ids = chance.sample(range(40), chance.randint(1, 5))
        client.change("t", *({"upsert": {"id": i, "name": chance.choice("abc")}} for i in ids))
        client.insert("bag", {"a": chance.randint(0, 3)})


def define(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
    client.table("bag", {"a": "BIGINT"})
    client.view("summary", SUMMARY)
    client.view("top", "SELECT max(n) AS most FROM summary")


def everything(client: Client) -> dict[str, list]:
    """All relations at all epochs, and their definitions."""
    newest = client.get("/v1/status").json()["epoch"]
    found = {
        name: [client.rows(name, as_of=epoch) for epoch in range(newest + 1)]
        for name in ("t", "bag", "summary", "top")
    }
    found["tables"] = client.get("/v1/tables").json()["tables"]
    found["views"] = client.get("/v1/views").json()["views"]
    found["changes"] = [client.get(f"/v1/views/{v}/changes", since=0).text for v in ("summary", "top")]
    return found


CHECKPOINTS = [
    pytest.param({}, id="at the end"),
    pytest.param({"checkpoint_commits": 3}, id="often"),
    pytest.param({"checkpoint_bytes": 1}, id="always"),
]


@pytest.mark.parametrize("options", CHECKPOINTS)
def test_everything_comes_back(settings: Settings, options: dict) -> None:
    settings = replace(settings, **options)
    with Client(settings) as client:
        define(client)
        fill(client, 1, 10)
        before = everything(client)
    for round in range(2, 4):
        with Client(settings) as client:
            assert everything(client) == before
            fill(client, round, 5)
            before = everything(client)
    manifest = saved(settings)
    assert manifest is not None
    assert set(manifest.names()) == {path.name for path in settings.state.iterdir()}


def saved(settings: Settings) -> Manifest | None:
    """The catalog's manifest."""
    catalog = Catalog(settings.url)
    found = catalog.saved()
    catalog.close()
    return None if found is None else found.manifest


def test_the_log_alone_is_enough(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.running.checkpoints.Checkpoints.finish", lambda self: None)
    with Client(settings) as client:
        define(client)
        fill(client, 1, 10)
        before = everything(client)
    assert list(settings.state.iterdir()) == []
    with Client(settings) as client:
        assert everything(client) == before


def test_a_checkpoint_makes_the_log_short(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 10)
    database = sa.create_engine(settings.url)
    with database.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM log")).scalar() == 0
        assert connection.execute(sa.text("SELECT count(*) FROM commits")).scalar() == 20
    database.dispose()


def test_times_survive_truncation(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        client.insert("bag", {"a": 1})
        time.sleep(0.002)
        between = time.time()
        time.sleep(0.002)
        client.insert("bag", {"a": 2})
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(between)) + f"{between % 1:.6f}Z"[1:]
    with Client(settings) as client:
        assert client.rows("bag", as_of=moment) == [(1,)]


def test_dropped_tables_and_views_stay_dropped(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 3)
        client.delete("/v1/views/top")
        client.delete("/v1/tables/bag")
        client.table("bag", {"a": "BIGINT"})
        client.insert("bag", {"a": 7})
    with Client(settings) as client:
        assert code(client.get("/v1/views/top")) == (404, "unknown_name")
        assert client.rows("bag") == [(7,)]
        assert client.rows("bag", as_of=2) == []


def test_a_replaced_view_comes_back_as_it_is(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        client.delete("/v1/views/top")
        client.run(client.runtime.create_view("summary", "SELECT a FROM bag", or_replace=True))
        client.insert("bag", {"a": 1})
    with Client(settings) as client:
        assert client.rows("summary") == [(1,)]


DIVERGES = """
    WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 20)
        r (n BIGINT) AS (SELECT a FROM bag WHERE a > 9 UNION SELECT n + 1 FROM r)
    SELECT n FROM r
"""


def test_a_failed_view_stays_so_and_can_be_dropped(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        client.view("grows", DIVERGES)
        client.view("above", "SELECT count(*) AS n FROM grows")
        client.insert("bag", {"a": 10})
        assert client.get("/v1/views/grows").json()["state"] == "failed"
    with Client(settings) as client:
        for view in ("grows", "above"):
            assert client.get(f"/v1/views/{view}").json()["state"] == "failed"
            assert code(client.get(f"/v1/views/{view}/rows")) == (409, "view_failed")
        assert code(client.delete("/v1/views/grows")) == (409, "in_use")
        assert client.delete("/v1/views/above").status_code == 204
        assert client.delete("/v1/views/grows").status_code == 204
        client.change("bag", {"delete": {"a": 10}})
        client.view("grows", DIVERGES)
        assert client.rows("grows") == []


def test_a_view_that_can_no_longer_be_planned(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
    database = sa.create_engine(settings.url)
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE relations SET sql = 'SELECT nosuch(1)' WHERE name = 'summary'"))
    database.dispose()
    with Client(settings) as client:
        for view in ("summary", "top"):
            assert client.get(f"/v1/views/{view}").json()["state"] == "failed"
        assert code(client.get("/v1/views/summary/rows")) == (409, "view_failed")
        assert code(client.get("/v1/views/summary/plan")) == (409, "view_failed")
        client.insert("bag", {"a": 1})
        assert client.delete("/v1/views/top").status_code == 204
        assert client.delete("/v1/views/summary").status_code == 204


def test_one_process_a_directory(settings: Settings) -> None:
    with Client(settings), pytest.raises(Exception, match="another process uses"):
        Client(settings).__enter__()


@pytest.mark.parametrize("damage", ["missing", "shorter", "changed"])
@pytest.mark.parametrize("what", ["a table's rows", "the texts"])
def test_a_damaged_file_is_not_passed_over(settings: Settings, damage: str, what: str) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 3)
    manifest = saved(settings)
    (rows,) = manifest.arrangements[fingerprint(("history", "t"))]
    file = settings.state / (rows if what == "a table's rows" else manifest.texts[0]).name
    hurt(file, damage)
    with pytest.raises(Exception, match=file.name):
        Client(settings).__enter__()


@pytest.mark.parametrize("damage", ["missing", "shorter", "changed"])
def test_a_view_whose_file_is_damaged_is_computed_anew(
    settings: Settings, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 3)
        before = everything(client)
    manifest = saved(settings)
    tables = {fingerprint(("history", name)) for name in ("t", "bag")}
    (file, *_) = (files[0] for of, files in manifest.arrangements.items() if files and of not in tables)
    hurt(settings.state / file.name, damage)
    with Client(settings) as client:
        assert everything(client) == before
    assert file.name in caplog.text
    with Client(settings) as client:
        assert everything(client) == before


def hurt(file: Path, damage: str) -> None:
    content = bytearray(file.read_bytes())
    if damage == "missing":
        file.unlink()
    elif damage == "shorter":
        file.write_bytes(content[:-1])
    else:
        content[len(content) // 2] ^= 1
        file.write_bytes(content)


# What is mapped, and what is computed


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The views that are computed from their tables."""
    names: list[str] = []
    begin = Engine.begin_view

    def note(engine: Engine, name: str, plan: Node, **options: bool) -> Building:
        names.append(name)
        return begin(engine, name, plan, **options)

    monkeypatch.setattr(Engine, "begin_view", note)
    return names


def test_a_start_computes_no_view(settings: Settings, computed: list[str]) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 5)
    computed.clear()
    with Client(settings) as client:
        assert computed == []
        client.view("more", "SELECT a + 1 AS b FROM bag")
        assert computed == ["more"]
    with Client(settings):
        assert computed == ["more"]


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Once it is called, the service ends without a checkpoint."""
    yield lambda: monkeypatch.setattr("service.running.checkpoints.Checkpoints.finish", lambda self: None)


def test_what_was_made_after_the_checkpoint_is_not_taken_for_its_namesake(
    settings: Settings, crash: Callable[[], None], computed: list[str]
) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 3)
    with Client(settings) as client:
        crash()
        for view in ("top", "summary"):
            client.delete(f"/v1/views/{view}")
        client.delete("/v1/tables/t")
        client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
        client.view("summary", SUMMARY)
        client.insert("t", {"id": 1, "name": "new"})
        computed.clear()
    with Client(settings) as client:
        assert client.rows("t") == [(1, "new")]
        assert client.rows("summary") == [("new", 1, 1)]
        assert computed == ["summary"]


def test_a_view_that_failed_and_was_replaced_is_healthy(
    settings: Settings, crash: Callable[[], None]
) -> None:
    """The view is computed over the whole log: as of the checkpoint it would have had no answer."""
    with Client(settings) as client:
        define(client)
        client.insert("bag", {"a": 10})
    with Client(settings) as client:
        crash()
        client.change("bag", {"delete": {"a": 10}})
        client.view("grows", DIVERGES)
        client.insert("bag", {"a": 3})
    with Client(settings) as client:
        assert client.get("/v1/views/grows").json()["state"] == "ready"
        assert client.rows("grows") == []


def test_the_log_may_fail_a_view_that_was_mapped(settings: Settings, crash: Callable[[], None]) -> None:
    with Client(settings) as client:
        define(client)
        client.view("grows", DIVERGES)
    with Client(settings) as client:
        crash()
        client.insert("bag", {"a": 10})
        assert client.get("/v1/views/grows").json()["state"] == "failed"
    with Client(settings) as client:
        assert client.get("/v1/views/grows").json()["state"] == "failed"
        assert client.rows("bag") == [(10,)]


def test_files_of_nobody_are_swept_at_a_start(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        fill(client, 1, 2)
    directory = StateDirectory(settings.state)
    orphan = directory.write(np.zeros((3, 4), np.int64))
    with Client(settings):
        names = {path.name for path in settings.state.iterdir()}
        assert orphan.name not in names
        assert names == set(saved(settings).names())


def test_a_checkpoint_that_fails_keeps_the_log(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, crash: Callable[[], None]
) -> None:
    settings = replace(settings, checkpoint_commits=2)
    crash()
    with monkeypatch.context() as patch:
        patch.setattr(Writing, "write_texts", fail)
        with Client(settings) as client:
            define(client)
            fill(client, 1, 10)
            before = everything(client)
            client.runtime._leading.checkpoints.stop()
            assert list(settings.state.iterdir()) == []
    assert saved(settings) is None
    with Client(settings) as client:
        assert everything(client) == before


def fail(*arguments: object) -> None:
    raise OSError("the disk is full")


def test_epochs_go_on_while_a_checkpoint_is_written(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, crash: Callable[[], None]
) -> None:
    """The effect of those epochs is in the log after the manifest."""
    settings = replace(settings, checkpoint_commits=3)
    go_on, begun = threading.Event(), threading.Event()
    write = Capture.write

    def wait(*arguments):
        monkeypatch.setattr("service.running.checkpoints.Checkpoints._is_due", lambda self: False)
        begun.set()
        assert go_on.wait(240)
        return write(*arguments)

    monkeypatch.setattr(Capture, "write", wait)
    with Client(settings) as client:
        define(client)
        fill(client, 1, 2)
        assert begun.wait(240)
        fill(client, 2, 4)
        client.delete("/v1/views/top")
        client.view("top", "SELECT max(n) AS most FROM summary")
        go_on.set()
        client.runtime._leading.checkpoints._thread.join()
        before = everything(client)
        crash()
    manifest = saved(settings)
    assert manifest is not None
    assert manifest.upper < 13
    with Client(settings) as client:
        assert everything(client) == before


# History that may be forgotten

HOUR = 3_600_000_000


def at_hour(monkeypatch: pytest.MonkeyPatch, hour: int) -> None:
    """Sets the time of commits and checkpoints to this many hours after the tests began."""
    monkeypatch.setattr(
        "service.writing.epochs.time.time_ns", lambda: (1_800_000_000_000_000 + hour * HOUR) * 1000
    )


def test_old_history_is_forgotten_and_stays_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(settings, history_seconds=7200)
    with Client(settings) as client:
        define(client)
        for hour in range(5):
            at_hour(monkeypatch, hour)
            client.insert("bag", {"a": hour})
        views = [client.rows("summary", as_of=epoch) for epoch in range(6)]
    for _ in range(2):
        with Client(settings) as client:
            # Two hours before the end, at hour 4, epoch 3 was the newest.
            for name in ("bag", "t", "summary"):
                kind = "views" if name == "summary" else "tables"
                for epoch in range(3):
                    answer = client.get(f"/v1/{kind}/{name}/rows", as_of=epoch)
                    assert code(answer) == (410, "history_gone")
                assert code(client.get(f"/v1/{kind}/{name}/changes", since=2)) == (410, "history_gone")
            assert [client.rows("bag", as_of=epoch) for epoch in (3, 4, 5)] == [
                [(0,), (1,), (2,)],
                [(0,), (1,), (2,), (3,)],
                [(0,), (1,), (2,), (3,), (4,)],
            ]
            assert [client.rows("summary", as_of=epoch) for epoch in (3, 4, 5)] == views[3:]
            assert code(client.get("/v1/tables/bag/rows", as_of="2020-01-01T00:00:00Z")) == (
                410,
                "history_gone",
            )
            assert len(client.rows("bag", as_of="2027-01-15T10:30:00Z")) == 3


def test_history_is_kept_for_ever_by_default(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(settings) as client:
        define(client)
        for year in range(3):
            at_hour(monkeypatch, 9000 * year)
            client.insert("bag", {"a": year})
    with Client(settings) as client:
        assert client.rows("bag", as_of=1) == [(0,)]


def test_a_recursion_stops_after_the_rounds_of_the_setting(settings: Settings) -> None:
    with Client(replace(settings, max_rounds=50)) as client:
        define(client)
        client.insert("bag", {"a": 10})
        endless = DIVERGES.replace("(ERROR AT RECURSION LIMIT 20)", "")
        answer = client.post("/v1/views", {"name": "grows", "sql": endless})
        assert code(answer) == (422, "recursion_limit")
        assert "50" in answer.json()["detail"]
