"""The app as a whole: readiness, status, metrics, the OpenAPI document, overload, and how a process ends."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from service.app import create_app
from service.http.routes.operation_routes import VERSION
from service.process.serving import TICK, _Server
from service.running.runtime import Runtime
from service.settings.settings import Settings
from tests.service.client import Client, Process, code


def test_before_it_is_ready(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the runtime recovers only /healthz answers; then all routes do."""
    go = threading.Event()
    opened = Runtime.open

    def slow(*what: Any) -> Runtime:
        go.wait(240)
        return opened(*what)

    monkeypatch.setattr(Runtime, "open", slow)

    async def scenario() -> None:
        app = create_app(settings, on_failure=pytest.fail)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
        ):
            assert (await http.get("/healthz")).status_code == 200
            for path in ("/readyz", "/v1/status", "/metrics", "/v1/tables", "/v1/views/v/rows"):
                answer = await http.get(path)
                assert code(answer) == (503, "not_ready")
                assert answer.headers["retry-after"] == "1"
            answer = await http.post("/v1/tables/t/deltas", json=[])
            assert code(answer) == (503, "not_ready")
            go.set()
            while (await http.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.01)
            assert (await http.get("/v1/status")).status_code == 200

    asyncio.run(scenario())


def test_a_start_that_fails_is_told(settings: Settings) -> None:
    settings.data.parent.mkdir(exist_ok=True)
    settings.data.write_text("a file, not a directory")
    failed = threading.Event()

    async def scenario() -> None:
        app = create_app(settings, on_failure=failed.set)
        async with app.router.lifespan_context(app):
            while not failed.is_set():
                await asyncio.sleep(0.01)

    asyncio.run(scenario())


def test_status(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    client.insert("t", {"a": 1})
    status = client.get("/v1/status").json()
    assert {k: status[k] for k in ("epoch", "tables", "views", "version", "failed", "waiting")} == {
        "epoch": 1,
        "tables": 1,
        "views": 1,
        "version": VERSION,
        "failed": [],
        "waiting": 0,
    }
    assert status["loads"] == status["exports"] == {"running": 0, "done": 0, "failed": 0, "cancelled": 0}
    assert status["spark"]["session"] == "none"
    assert status["spark"]["advances"]["process"] > 0
    assert status["memory_bytes"] > 0


def test_unknown_routes_and_methods(client: Client) -> None:
    assert code(client.get("/v1/nothing")) == (404, "no_such_route")
    assert code(client.delete("/v1/status")) == (405, "method_not_allowed")
    assert code(client.get("/v1/tables/t/deltas")) == (405, "method_not_allowed")


def test_what_goes_wrong_inside_is_not_shown(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise KeyError("a secret")

    monkeypatch.setattr("service.http.routes.operation_routes.resident_bytes", broken)
    answer = client.get("/v1/status")
    assert code(answer) == (500, "internal_error")
    assert "secret" not in answer.text


def test_openapi_describes_every_route(client: Client) -> None:
    document = client.get("/openapi.json").json()
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    for method, path in [
        ("POST", "/v1/sql"),
        ("POST", "/v1/tables"),
        ("GET", "/v1/tables"),
        ("GET", "/v1/tables/{table}"),
        ("DELETE", "/v1/tables/{table}"),
        ("POST", "/v1/tables/{table}/deltas"),
        ("POST", "/v1/deltas"),
        ("GET", "/v1/tables/{table}/rows"),
        ("POST", "/v1/views"),
        ("GET", "/v1/views"),
        ("GET", "/v1/views/{view}"),
        ("DELETE", "/v1/views/{view}"),
        ("GET", "/v1/views/{view}/rows"),
        ("GET", "/v1/views/{view}/changes"),
        ("GET", "/v1/views/{view}/plan"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/v1/status"),
    ]:
        assert (path, method) in described
    references = set(re.findall(r'"#/components/schemas/(\w+)"', client.get("/openapi.json").text))
    assert references <= document["components"]["schemas"].keys()


def test_openapi_has_the_media_types_of_all_answers(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    paths = client.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for described in methods.values():
            for status in ("4XX", "5XX"):
                assert list(described["responses"][status]["content"]) == ["application/problem+json"], path
        if "get" not in methods or "{load}" in path or "{export}" in path:
            continue
        place = path.replace("{table}", "t").replace("{view}", "v")
        answers = methods["get"]["responses"]["200"]["content"]
        for accepted in answers:
            if accepted == "text/event-stream":
                continue
            answer = client.get(place, accept=accepted)
            if answer.status_code == 200:
                assert answer.headers["content-type"].partition(";")[0] in answers, path


def test_more_than_may_wait(settings: Settings) -> None:
    with Client(replace(settings, queue_requests=2)) as client:
        client.table("t", {"a": "BIGINT"})
        runtime = client.runtime
        held, go = threading.Event(), threading.Event()

        def hold(transaction: object) -> None:
            held.set()
            go.wait(240)

        async def scenario() -> list[httpx.Response]:
            holding = asyncio.create_task(runtime.transact(hold))
            await asyncio.to_thread(held.wait, 60)
            path = "/v1/tables/t/deltas"
            posts = [asyncio.create_task(client.http.post(path, json=[{"insert": {"a": i}}])) for i in (1, 2)]
            _, pending = await asyncio.wait(posts, return_when=asyncio.FIRST_COMPLETED)
            assert len(pending) == 1
            go.set()
            await holding
            return await asyncio.gather(*posts)

        answers = client.run(scenario())
        assert sorted(answer.status_code for answer in answers) == [200, 429]
        [refused] = [answer for answer in answers if answer.status_code == 429]
        assert code(refused) == (429, "overloaded")
        assert refused.headers["retry-after"] == "1"
        assert len(client.rows("t")) == 1


# Processes


def test_sigterm_ends_in_peace(start: Callable[..., Process]) -> None:
    service = start(fresh=True, FRESHET_SHUTDOWN_SECONDS="240")  # test_deadline.py is about them
    service.wait_ready()
    body = {"name": "t", "columns": [{"name": "a", "type": "BIGINT"}]}
    assert service.http.post("/v1/tables", json=body).status_code == 201
    deltas = f"{service.url}/v1/tables/t/deltas"
    assert httpx.post(deltas, timeout=240, json=[{"insert": {"a": 1}}]).status_code == 200
    assert service.terminate() == 0
    again = start()
    again.wait_ready()
    assert again.http.get("/v1/tables/t/rows").json()["rows"] == [{"a": 1}]


def test_a_process_that_cannot_start_says_why(start: Callable[..., Process], tmp_path: Path) -> None:
    exit_code, written = start(FRESHET_PORT="many").wait(240)
    assert exit_code == 1
    assert "FRESHET_PORT" in written
    exit_code, written = start(FRESHET_DATABASE_URL=f"sqlite:///{tmp_path}/none/x.db").wait(240)
    assert exit_code == 1
    assert "cannot start" in written


def test_the_end_does_not_wait_for_a_tick() -> None:
    """The server looks at the clock once a second, but is woken when it has to end."""
    server = _Server(uvicorn.Config("service.app:create_app", factory=True, log_config=None))
    server.config.encoded_headers = []

    async def ended() -> float:
        running = asyncio.create_task(server.main_loop())
        await asyncio.sleep(0.05)
        assert server.server_state.default_headers[0][0] == b"date" and not running.done()
        began = time.monotonic()
        server.end()
        await running
        return time.monotonic() - began

    assert asyncio.run(ended()) < TICK / 2


def test_apps_of_one_process_answer_for_themselves(tmp_path: Path) -> None:
    """They share their routes, and nothing else."""
    with Client(Settings(data=tmp_path / "one")) as one, Client(Settings(data=tmp_path / "two")) as two:
        one.table("t", {"a": "BIGINT"})
        one.insert("t", {"a": 1})
        assert code(two.get("/v1/tables/t/rows")) == (404, "unknown_name")
        two.table("t", {"b": "TEXT"})
        assert (one.rows("t"), two.rows("t")) == ([(1,)], [])
