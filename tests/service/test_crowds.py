"""What a view may use is for one epoch: many epochs in one pass, or in one replay, fail no view."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import OverBudget, PassTooLarge
from engine.operators import allowance
from engine.operators.allowance import Allowance, Spending
from engine.operators.linear import InputOperator
from engine.plan.nodes import Clamp, Source, Threshold
from engine.runtime.engine import Engine, Options
from engine.schema import BIGINT, Column, Schema
from service.running import replaying
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.waiting import wait_until

ROWS = 10
"""Rows of one change; with it a view makes as many."""
EPOCHS = 60
SCHEMA = Schema((Column("a", BIGINT),))
VIEW = Threshold(Source("t", SCHEMA), Clamp.DISTINCT)
STEPS = "SELECT a + n AS a FROM t CROSS JOIN (VALUES (0), (1), (2), (3)) AS steps (n)"


@pytest.fixture(autouse=True)
def no_more_for_many_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "_ROWS_A_ROW", 0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A view may make the rows of a few epochs, but not those of all; its seconds do not matter here."""
    rows = {"view_rows": 20 * ROWS, "view_milliseconds": 600_000, "checkpoint_commits": 10**6}
    return Settings(data=tmp_path / "data", spark="never", **rows)  # type: ignore[arg-type]


def changes(epoch: int) -> list[dict]:
    return [{"insert": {"a": 10 * (ROWS * epoch + i)}} for i in range(ROWS)]


def expected(epochs: int) -> list[tuple]:
    return sorted((10 * n + step,) for n in range(ROWS * epochs) for step in range(4))


def define(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("copy", "SELECT a, a % 7 AS b FROM t")
    client.view("steps", STEPS)


def state_of(client: Client, view: str) -> str:
    return client.get(f"/v1/views/{view}").json()["state"]


def check(client: Client, epochs: int) -> None:
    """Both views have all rows, now or once they are built: a restart computes them beside the writer."""
    for view in ("copy", "steps"):
        wait_until(lambda view=view: state_of(client, view) != "building")  # type: ignore[misc]
        assert state_of(client, view) == "ready"
    assert sorted(client.rows("steps", limit=100_000)) == expected(epochs)
    assert len(client.rows("copy", limit=100_000)) == ROWS * epochs


def test_requests_that_come_together_fail_no_view(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        posts = (client.http.post("/v1/tables/t/deltas", json=changes(epoch)) for epoch in range(EPOCHS))
        answers = client.together(*posts)
        assert [answer.status_code for answer in answers] == [200] * EPOCHS
        assert len({answer.json()["epoch"] for answer in answers}) == EPOCHS
        check(client, EPOCHS)


@pytest.mark.parametrize("is_saved", [True, False])
def test_a_restart_fails_no_view(settings: Settings, is_saved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The views are in files before the log begins, or only in the catalog."""
    with Client(settings) as client:
        define(client)
    with Client(settings) as client:
        if not is_saved:
            client.delete("/v1/views/copy")
            client.delete("/v1/views/steps")
            client.view("copy", "SELECT a, a % 7 AS b FROM t")
            client.view("steps", STEPS)
        for epoch in range(EPOCHS):
            client.change("t", *changes(epoch))
        check(client, EPOCHS)
        history = client.rows("steps", as_of=client.runtime.snapshot.upper - EPOCHS // 2, limit=100_000)
        monkeypatch.setattr("service.running.checkpoints.Checkpoints.finish", lambda self: None)
    with Client(settings) as client:
        check(client, EPOCHS)
        as_of = client.runtime.snapshot.upper - EPOCHS // 2
        assert client.rows("steps", as_of=as_of, limit=100_000) == history


def test_an_epoch_that_is_too_much_sets_its_view_aside_alone(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        client.view("sum", "SELECT count(*) AS n FROM t")
        large = [change for epoch in range(15) for change in changes(epoch)]
        posts = [client.http.post("/v1/tables/t/deltas", json=some) for some in (changes(30), large)]
        assert [answer.status_code for answer in client.together(*posts)] == [200, 200]
        states = {view["name"]: view["state"] for view in client.get("/v1/views").json()["views"]}
        assert states.pop("steps") in ("building", "ready")
        assert states == {"copy": "ready", "sum": "ready"}
        assert client.rows("sum") == [(16 * ROWS,)]
        wait_until(lambda: client.get("/v1/views/steps").json()["state"] == "ready")
        assert len(client.rows("steps", limit=100_000)) == 4 * 16 * ROWS


def random_delta(seed: int, epochs: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    count = 5 * epochs
    lines = [chance.integers(0, 20, count), chance.integers(1, epochs + 1, count), np.ones(count, np.int64)]
    return np.array(lines, np.int64)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("together", [1, 2, 7, 1000])
def test_a_replay_is_the_same_however_it_is_divided(seed: int, together: int) -> None:
    delta, epochs = random_delta(seed, 40), 40
    engines = [Engine(), Engine(Options(allowance=Allowance(rows=30)))]
    for engine in engines:
        engine.create_source("t", SCHEMA)
        engine.create_view("v", VIEW)
    engines[0].stage({"t": delta}, epochs + 1).publish()
    replaying.replay(engines[1], {"t": delta}, epochs + 1, together)
    for epoch in range(1, epochs + 1):
        ours, theirs = (engine.snapshot.rows("v", epoch) for engine in engines)
        assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


def test_a_pass_that_cannot_be_computed_leaves_everything_as_it_was() -> None:
    engine = Engine(Options(allowance=Allowance(rows=30)))
    engine.create_source("t", SCHEMA)
    engine.create_view("v", VIEW)
    with pytest.raises(PassTooLarge):
        engine.stage({"t": random_delta(1, 40)}, 41, gives_up=False)
    assert engine.snapshot.upper == 1 and engine.snapshot.failure("v") is None
    replaying.replay(engine, {"t": random_delta(1, 40)}, 41)
    assert engine.snapshot.upper == 41 and engine.snapshot.failure("v") is None


def test_all_operators_share_their_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first ones leave is for the others, and each has a little."""
    now = 0.0
    monkeypatch.setattr(allowance, "processor_seconds", lambda: now)
    spending = Spending(Allowance(seconds=10, all_seconds=12))
    operator = InputOperator()
    for begins, ends in ((0, 10), (10, 12), (13, 13.02)):
        now = begins
        spending.begin(operator)
        now = ends - 0.001
        spending.round(())
        now = ends + 0.001
        with pytest.raises(OverBudget):
            spending.round(())
