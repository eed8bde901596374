"""Checks of views: what is right is found equal while everything goes on, and each planted fault is found."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.state.layer import Layer
from service.errors import ServiceError
from service.reading.callers import Caller
from service.reading.query_errors import CallerGone
from service.running import view_checks
from service.running.view_build import ViewBuild
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, code
from tests.service.waiting import wait_until

VIEWS = {
    "grouped": "SELECT name, count(*) AS n, sum(id) AS total FROM t GROUP BY name",
    "joined": "SELECT t.name, e.b FROM t JOIN edges e ON e.a = t.id % 10",
    "reach": "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM edges UNION SELECT r.a, e.b FROM r, edges e "
    "WHERE r.b = e.a) SELECT a, b FROM r",
    "ranked": "SELECT id, row_number() OVER (PARTITION BY name ORDER BY id) AS place FROM t",
    "above": "SELECT max(n) AS most FROM grouped",
    "bag": "SELECT b FROM edges UNION ALL SELECT b FROM edges",
    "failing": "SELECT id, 10 / (id - 3) AS share FROM t",
    "recent": "SELECT id FROM t WHERE timestamptz '2020-01-01' + id * interval '1 day' < now()",
    "nothing": "SELECT id FROM t WHERE id < 0",
}


def change(client: Client, chance: random.Random) -> None:
    ids = chance.sample(range(40), 5)
    client.change("t", *({"upsert": {"id": id, "name": f"n{chance.randint(0, 5)}"}} for id in ids))
    client.insert("edges", {"a": chance.randint(0, 9), "b": chance.randint(0, 9)})


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Tables with rows and history, and a view of each kind; one has errors. A test takes back its faults."""
    with Client(Settings(data=tmp_path_factory.mktemp("filled") / "data")) as client:
        fill(client)
        yield client


def fill(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
    client.table("edges", {"a": "BIGINT", "b": "BIGINT"})
    for name, sql in VIEWS.items():
        client.view(name, sql)
    chance = random.Random(SEED)
    for _ in range(6):
        change(client, chance)
    client.change("t", {"upsert": {"id": 3, "name": "n0"}})


def check(client: Client, name: str, by: str = "rebuild") -> dict:
    answer = client.post(f"/v1/views/{name}/check", params={"by": by})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_view_is_what_its_query_gives(filled: Client) -> None:
    newest = filled.get("/v1/status").json()["epoch"]
    for name in VIEWS:
        found = check(filled, name)
        assert found["equal"] and found["epoch"] >= newest, found
        assert (found["differing"], found["rows"], found["errors"]) == (0, [], [])
        size = None if name == "failing" else len(filled.rows(name, limit=10_000))
        assert size is None or found["size"] == size


def layers_of(client: Client, name: str, errors: bool = False) -> list[Layer]:
    """The view's own layers, of rows or of errors, and nothing remembered of them."""
    relation = client.runtime.snapshot.relations[name]
    relation._cache.clear()
    relation.errors._found.clear()
    return [layer for layer in (relation.errors.layers if errors else relation.layers) if len(layer)]


def test_duckdb_is_another_referee(filled: Client) -> None:
    """It judges the views that it can, finds a planted fault, and says why it cannot judge the others."""
    refused = {"failing": (409, "view_has_errors"), "recent": (422, "cannot_be_judged")}
    for name in VIEWS.keys() - refused.keys():
        assert check(filled, name, "duckdb")["equal"], name
        for layer in layers_of(filled, name):
            layer.rows[0, -1] += 1
            layers_of(filled, name)
            # What reads the faulty view is judged over it as it is.
            assert not check(filled, name, "duckdb")["equal"], name
            layer.rows[0, -1] -= 1
            layers_of(filled, name)
    for name, expected in refused.items():
        assert code(filled.post(f"/v1/views/{name}/check", params={"by": "duckdb"})) == expected
    filled.view("inexact", "SELECT sum(id::double precision) AS s FROM t")
    filled.view("old", "SELECT * FROM edges")
    assert filled.post("/v1/sql", {"sql": "ALTER TABLE edges ADD COLUMN c INT"}).status_code == 200
    for name in ("inexact", "old"):
        refusal = filled.post(f"/v1/views/{name}/check", params={"by": "duckdb"})
        assert code(refusal) == (422, "cannot_be_judged")
        assert check(filled, name)["equal"]
    assert filled.post("/v1/views/old/check", params={"by": "magic"}).status_code == 422


def test_duckdb_judges_values_of_every_type(settings: Settings) -> None:
    with Client(settings) as client:
        sql = """CREATE TABLE x (i SMALLINT, n NUMERIC(12, 3), s TEXT, b BOOLEAN, d DATE, at TIMESTAMP,
            z TIMESTAMPTZ, u UUID, j JSON, l BIGINT[])"""
        assert client.post("/v1/sql", {"sql": sql}).status_code == 200
        client.view("v", "SELECT * FROM x UNION ALL SELECT * FROM x WHERE i = 1")
        row = {"i": 1, "n": "1.250", "s": "naïve", "b": True, "d": "2020-01-02", "at": "2020-01-02T03:04:05"}
        row |= {"z": "2020-01-02T03:04:05Z", "u": "123e4567-e89b-12d3-a456-426614174000", "j": {"a": [1]}}
        client.insert("x", row | {"l": [1, None]}, {"i": 2}, {})
        for by in ("rebuild", "duckdb"):
            found = check(client, "v", by)
            assert found["equal"] and found["size"] == 4, (by, found)


FAULTS = ((-1, 1), (-1, -1), (0, 1 << 20))
"""A column of a batch, and what is added to it: a count that is too high or too low, and another value."""


def test_a_fault_in_any_batch_of_a_view_is_found(filled: Client) -> None:
    """Also one that no read shows: a row whose count is negative, and cancels the next copy that comes."""
    found = 0
    for name in sorted(VIEWS.keys() - {"nothing"}):
        for layer in layers_of(filled, name):
            for column, by in FAULTS:
                if column == 0 and filled.runtime.definition(name).schema.types[0].is_interned:
                    continue  # a word that no text has cannot be shown
                layer.rows[0, column] += by
                layers_of(filled, name)
                checked = check(filled, name)
                assert not checked["equal"] and checked["differing"] >= 1, (name, column, by)
                assert all(row["maintained"] != row["recomputed"] for row in checked["rows"])
                layer.rows[0, column] -= by
                layers_of(filled, name)
                found += 1
        assert check(filled, name)["equal"], name
    assert found > 20


def test_a_fault_in_the_errors_of_a_view_is_found(filled: Client) -> None:
    (layer, *_) = layers_of(filled, "failing", errors=True)
    layer.rows[0, -1] += 2
    layers_of(filled, "failing")
    found = check(filled, "failing")
    assert not found["equal"] and found["differing"] == 0
    (error,) = found["errors"]
    assert "division by zero" in error["message"] and error["maintained"] == error["recomputed"] + 2 == 3
    layer.rows[0, -1] -= 2
    layers_of(filled, "failing", errors=True)
    assert check(filled, "failing")["equal"]


def test_what_is_shown_is_the_difference(settings: Settings) -> None:
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT", "b": "TEXT"})
        client.view("v", "SELECT a, b FROM t")
        client.insert("t", *({"a": a, "b": "x"} for a in (1, 1, 2)))
        (layer,) = layers_of(client, "v")
        layer.rows[layer.rows[:, 0] == 1, -1] = 5
        layers_of(client, "v")
        row = {"row": {"a": 1, "b": "x"}, "maintained": 5, "recomputed": 2}
        shown = {
            "view": "v",
            "epoch": 1,
            "equal": False,
            "size": 6,
            "differing": 1,
            "rows": [row],
            "errors": [],
        }
        assert check(client, "v") == shown


def test_checks_under_load_are_equal(filled: Client) -> None:
    stopped = threading.Event()

    def write() -> None:
        chance = random.Random(SEED + 1)
        while not stopped.is_set():
            change(filled, chance)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = [check(filled, name) for name in VIEWS]
    finally:
        stopped.set()
        writer.join()
    assert all(each["equal"] for each in found), found
    epochs = [each["epoch"] for each in found]
    assert epochs == sorted(epochs) and epochs[0] < epochs[-1], "nothing ran meanwhile"


def test_a_large_view_is_checked_in_a_process(settings: Settings) -> None:
    with Client(replace(settings, build_rows_here=1, checkpoint_commits=3)) as client:
        fill(client)
        for name in ("reach", "failing"):
            assert check(client, name)["equal"], name
        (layer, *_) = layers_of(client, "reach")
        layer.rows[0, -1] += 1
        layers_of(client, "reach")
        assert not check(client, "reach")["equal"]


def test_the_writer_does_not_wait_and_leaving_ends_a_check(
    filled: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, built = threading.Event(), threading.Event()

    def endless(self: ViewBuild, *arguments: object) -> None:
        begun.set()
        while True:
            self.check_wanted()
            built.wait(0.01)

    monkeypatch.setattr(ViewBuild, "compute", endless)
    caller, failures = Caller(), []

    def run() -> None:
        try:
            filled.runtime.check_view("reach", caller)
        except (ServiceError, CallerGone) as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait(240)
    change(filled, random.Random(SEED))
    assert thread.is_alive()
    caller.leave()
    thread.join(600)
    assert not thread.is_alive() and len(failures) == 1
    engine = filled.runtime._state.engine
    wait_until(lambda: not engine._beside)


def test_closing_ends_a_check(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def endless(self: ViewBuild, *arguments: object) -> None:
        begun.set()
        while True:
            self.check_wanted()

    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        client.view("v", "SELECT a FROM t")
        monkeypatch.setattr(ViewBuild, "compute", endless)
        waiting = client.begin(client.http.post("/v1/views/v/check"))
        assert begun.wait(240)
        client.runtime._leading.checks.close()
        assert code(waiting.result(240)) == (503, "shutting_down")
        assert code(client.post("/v1/views/v/check")) == (503, "shutting_down")


def test_what_cannot_be_checked_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        client.view("v", "SELECT a FROM t")
        assert code(client.post("/v1/views/nobody/check")) == (404, "unknown_name")
        assert code(client.post("/v1/views/t/check")) == (404, "unknown_name")
        with monkeypatch.context() as patched:

            def unhealthy(*arguments: object, **options: object) -> None:
                raise ServiceError("failed")

            patched.setattr(view_checks, "check_health", unhealthy)
            assert client.post("/v1/views/v/check").status_code == 500
        assert not client.runtime._state.engine._beside
        assert check(client, "v")["equal"]
