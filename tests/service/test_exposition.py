"""Metrics as they are scraped: what they say of a service, what they cost it, and how many there may be."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError

from service.exposition.pipeline_figures import PipelineFigures
from service.running.relation_costs import _figures
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.waiting import wait_until

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scraped(client: Client) -> Series:
    """The values of all series, by name and labels."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(text_string_to_metric_families(answer.text))
    samples = [sample for family in families for sample in family.samples]
    series = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}
    assert len(series) == len(samples)
    return series


def value(series: Series, name: str, **labels: str) -> float:
    return series[name, frozenset(labels.items())]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service with a keyed table, two views that share operators, and a request of each outcome."""
    with Client(Settings(data=tmp_path_factory.mktemp("used"), metrics_relations=3)) as client:
        client.table("t", {"a": "BIGINT", "b": "TEXT"}, key=["a"])
        client.view("v", "SELECT b, count(*) AS n FROM t GROUP BY b")
        client.view("w", "SELECT n + 1 AS m FROM (SELECT b, count(*) AS n FROM t GROUP BY b) g")
        client.insert("t", {"a": 1, "b": "x"}, {"a": 2, "b": "x"})
        assert code(client.deltas("t", {"insert": {"a": 1, "b": "y"}})) == (409, "key_exists")
        yield client


def test_what_has_happened_is_counted(used: Client) -> None:
    series = scraped(used)
    for name, labels, expected in (
        ("freshet_epochs_total", {}, 1),
        ("freshet_changes_total", {}, 2),
        ("freshet_epoch", {}, 1),
        ("freshet_refused_total", {"code": "key_exists"}, 1),
        ("freshet_problems_total", {"code": "key_exists"}, 1),
        ("freshet_loaded_rows_total", {}, 0),
        ("freshet_group_requests_bucket", {"le": "1.0"}, 1),
        ("freshet_stage_seconds_bucket", {"le": "+Inf"}, 1),
        ("freshet_commit_seconds_count", {}, 1),
        ("freshet_views", {"state": "running"}, 2),
        ("freshet_advances", {"where": "spark"}, 0),
        ("freshet_spark_session", {"state": "none"}, 1),
        ("freshet_log_unsaved_commits", {}, 1),
        ("freshet_writer_running", {}, 1),
        ("freshet_waiting_requests", {}, 0),
        ("freshet_oldest_waiting_seconds", {}, 0),
    ):
        assert value(series, name, **labels) == expected, name
    route = "/v1/tables/{table}/deltas"
    for status in ("200", "409"):
        assert value(series, "freshet_http_requests_total", route=route, method="POST", status=status) == 1
    assert value(series, "freshet_http_request_seconds_count", route=route, method="POST") == 2
    assert 0 < value(series, "freshet_epoch_age_seconds") < 3600


def test_each_table_and_view_has_its_costs(used: Client) -> None:
    series = scraped(used)
    of_t, of_v, of_w = (
        {"relation": name, "kind": kind} for name, kind in (("t", "table"), ("v", "view"), ("w", "view"))
    )
    assert [value(series, "freshet_rows", **it) for it in (of_t, of_v, of_w)] == [2, 1, 1]
    changes = [value(series, "freshet_relation_changes_total", **it) for it in (of_t, of_v, of_w)]
    assert changes == [2, 1, 1]
    for it in (of_t, of_v, of_w):
        assert value(series, "freshet_upkeep_seconds_total", **it) > 0
        assert value(series, "freshet_upkeep_rows_total", **it) > 0
        assert value(series, "freshet_relation_memory_bytes", **it) > 0
        assert value(series, "freshet_behind_epochs", **it) == 0
    held = [value(series, "freshet_held_bytes", kind=kind) for kind in ("history", "traces")]
    parts = sum(value(series, "freshet_relation_memory_bytes", **it) for it in (of_t, of_v, of_w))
    assert parts >= sum(held), "operators that are shared count for each view"


def test_upkeep_is_what_explain_analyze_shows(used: Client) -> None:
    """The referee walks the operators in another way."""
    upkeep = used.runtime.upkeep()
    for view in ("v", "w"):
        *inner, history = used.runtime.observe(view)
        own = [history, *(it for it in inner if it.kind not in ("Input", "History"))]
        found = upkeep[view]
        assert found.changes == history.figures.rows_out > 0
        assert found.nanoseconds == sum(it.figures.nanoseconds for it in own) > 0
        assert found.rows == sum(it.figures.rows_out for it in own)
        assert found.memory == sum(it.figures.memory for it in own)


def test_openmetrics_for_those_who_ask(used: Client) -> None:
    answer = used.get("/metrics", accept="application/openmetrics-text; version=1.0.0, text/plain; q=0.5")
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    families = list(openmetrics.text_string_to_metric_families(answer.text))
    assert {"freshet_epoch", "freshet_epochs", "freshet_http_request_seconds"} <= {it.name for it in families}


def test_later_relations_share_series(used: Client) -> None:
    """With room for three, those created later have one series together, whatever they are called."""
    used.table("other", {"a": "BIGINT"})
    used.table("z", {"a": "BIGINT"})
    used.insert("other", {"a": 1})
    used.insert("z", {"a": 1}, {"a": 2})
    series = scraped(used)
    rows = {labels: rows for (name, labels), rows in series.items() if name == "freshet_rows"}
    assert len(rows) == 4
    assert value(series, "freshet_rows", relation="other", kind="other") == 3
    assert value(series, "freshet_relation_changes_total", relation="other", kind="other") == 3


def test_routes_and_methods_are_bounded(used: Client) -> None:
    for path in ("/nothing", "/v1/tables/a/b/c", "/v1/xyz"):
        used.get(path)
    used.run(used.http.request("BREW", "/v1/tables"))
    series = scraped(used)
    routes = {dict(labels)["route"] for name, labels in series if name == "freshet_http_requests_total"}
    methods = {dict(labels)["method"] for name, labels in series if name == "freshet_http_requests_total"}
    assert "none" in routes and not routes & {"/nothing", "/v1/tables/a/b/c", "/v1/xyz"}
    assert "other" in methods and "BREW" not in methods


def test_a_scrape_does_not_wait_for_the_writer(used: Client) -> None:
    go, begun = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(240)

    blocking = used.begin(used.runtime._leading.writer.run(work))
    try:
        assert begun.wait(240)
        series = scraped(used)
        assert value(series, "freshet_waiting_requests") == 1
        assert value(series, "freshet_oldest_waiting_seconds") > 0
    finally:
        go.set()
    blocking.result(240)
    # Acknowledged first, counted afterwards.
    wait_until(lambda: value(scraped(used), "freshet_oldest_waiting_seconds") == 0)


def test_a_view_that_has_failed_is_behind(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path, max_rounds=5)) as client:
        client.table("e", {"a": "BIGINT", "b": "BIGINT"})
        client.view(
            "reached",
            "WITH RECURSIVE r(a) AS (SELECT 1::BIGINT UNION SELECT e.b FROM r JOIN e ON e.a = r.a) "
            "SELECT a FROM r",
        )
        client.insert("e", *({"a": a, "b": a + 1} for a in range(1, 50)))
        client.insert("e", {"a": 1000, "b": 1001})
        series = scraped(client)
        assert value(series, "freshet_views", state="failed") == 1
        assert value(series, "freshet_behind_epochs", relation="reached", kind="view") == 2


def test_a_view_that_is_being_built_is_behind() -> None:
    """As far as its building has not come; a view without a last good epoch has none."""

    def behind(reached: dict[str, int], **relation: Any) -> int:
        relations = {"v": SimpleNamespace(size=1, **relation)} if relation else {}
        readable = SimpleNamespace(snapshot=SimpleNamespace(relations=relations), newest=10)
        view = SimpleNamespace(name="v", is_view=True)
        return _figures(cast(Any, view), cast(Any, readable), reached, {}).behind

    assert behind({}, failure=None, lost=None) == 0
    assert behind({"v": 7}, failure=None, lost=None) == behind({"v": 7}, failure="slow", lost=3) == 3
    assert behind({}, failure="slow", lost=3) == 8
    assert behind({}) == 10


def test_a_feed_is_counted_when_it_begins(used: Client) -> None:
    async def follow() -> tuple[float, float]:
        begun = asyncio.Event()

        async def receive() -> dict[str, object]:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            begun.set()

        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "GET", "path": "/v1/views/v/changes", "headers": headers}
        scope |= {"query_string": b"format=sse", "http_version": "1.1", "scheme": "http"}
        task = asyncio.ensure_future(used.app(scope, receive, send))
        await asyncio.wait_for(begun.wait(), 60)
        labels = {"route": "/v1/views/{view}/changes", "method": "GET", "status": "200"}
        registry = used.app.state.registry
        counted = registry.get_sample_value("freshet_http_requests_total", labels)
        open_feeds = registry.get_sample_value("freshet_feeds")
        task.cancel()
        await asyncio.wait([task])
        return (counted, open_feeds)

    assert used.run(follow()) == (1, 1)


def test_the_jobs_are_missing_while_the_database_is_away() -> None:
    def counts() -> None:
        raise OperationalError("SELECT", {}, Exception("gone"))

    def nothing() -> Any:
        return SimpleNamespace(all={})

    pipeline = SimpleNamespace(
        jobs=SimpleNamespace(counts=counts),
        sessions=SimpleNamespace(state="none"),
        sources=nothing(),
        sinks=nothing(),
        upper=1,
    )
    names = {family.name for family in PipelineFigures(lambda: cast(Any, pipeline), 10).collect()}
    assert "freshet_jobs" not in names and "freshet_sink_behind_epochs" in names


def test_sources_and_sinks_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def source(behind: float | None, failure: str | None) -> Any:
        return SimpleNamespace(
            behind_since=behind, progress=SimpleNamespace(failure=failure, rows=5, skipped=1)
        )

    def sink(done: int | None, failure: str | None) -> Any:
        return SimpleNamespace(progress=SimpleNamespace(done=done, failure=failure, rows=7))

    monkeypatch.setattr("service.exposition.pipeline_figures.time", SimpleNamespace(monotonic=lambda: 100.0))
    pipeline = SimpleNamespace(
        jobs=SimpleNamespace(counts=lambda: {("load", "done"): 2}),
        sessions=SimpleNamespace(state="running"),
        sources=SimpleNamespace(all={"calm": source(None, None), "stuck": source(40.0, "bad")}),
        sinks=SimpleNamespace(all={"new": sink(None, None), "near": sink(8, None), "out": sink(9, "gone")}),
        upper=10,
    )
    families = list(PipelineFigures(lambda: cast(Any, pipeline), 2).collect())
    found = {(it.name, *it.labels.values()): it.value for family in families for it in family.samples}
    assert found["freshet_jobs", "load", "done"] == 2
    assert found["freshet_source_behind_seconds", "calm"] == 0
    assert found["freshet_source_behind_seconds", "stuck"] == 60
    assert (found["freshet_source_failed", "calm"], found["freshet_source_failed", "stuck"]) == (0, 1)
    assert found["freshet_sink_behind_epochs", "new"] == 9
    assert found["freshet_sink_behind_epochs", "near"] == 1
    assert ("freshet_sink_failed", "out") not in found, "no more than two have series"


def test_an_answer_from_inside_is_counted(used: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise KeyError("a secret")

    monkeypatch.setattr("service.http.routes.operation_routes.resident_bytes", broken)
    answer: httpx.Response = used.get("/v1/status")
    assert code(answer) == (500, "internal_error")
    assert answer.headers["x-request-id"]
    series = scraped(used)
    labels = {"route": "/v1/status", "method": "GET", "status": "500"}
    assert value(series, "freshet_http_requests_total", **labels) == 1
    assert value(series, "freshet_problems_total", code="internal_error") == 1
