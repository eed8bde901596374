"""Keys on every route: what a missing, wrong, revoked or too weak key gets. The routes are the document's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest

from service.accounts import slowing
from service.errors import ServiceError
from service.http import needs as module
from service.http.needs import NEEDS, OPEN, NeedsByPath, check_declared
from service.pipeline.jobs import DONE, Job
from service.pipeline.sinks import SinkDefinition
from service.pipeline.source_catalog import SourceDefinition
from service.settings.settings import Settings
from tests.service.client import Client, code

VALUES = {"table": "t", "view": "v", "source": "s", "sink": "s", "key": "k"}
VALUES |= {"load": "1", "export": "1", "backup": "1", "branch": "b", "replacement": "r"}
SHOWN = ("GET /", "GET /docs", "GET /openapi.json")
WEAK = {"POST /v1/keys": "admin", "POST /v1/tables": "write", "GET /metrics": "SELECT on all tables"}


def make_key(client: Client, name: str, role: str, relations: list[str] | None = None, by: str = "") -> dict:
    """A key that the holder of the key `by` makes: the answer to the request."""
    body = {"name": name, "role": role, "relations": relations}
    answer = client.post("/v1/keys", body, headers=bearer(by))
    assert answer.status_code == 201, answer.text
    return answer.json()


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


@pytest.fixture
def guarded(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A service with a table, a view and keys; `client.keys` has their texts by name."""
    monkeypatch.setattr(slowing, "FIRST_SECONDS", 0.0)
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        client.table("other", {"a": "BIGINT"})
        client.view("v", "SELECT a FROM t")
        client.view("w", "SELECT a FROM other")
        admin = make_key(client, "boss", "admin")["key"]
        client.keys = {"admin": admin}
        for name, role, relations in (
            ("write", "write", None),
            ("read", "read", None),
            ("some", "write", ["t", "v*"]),
            ("reader", "read", ["v"]),
        ):
            client.keys[name] = make_key(client, name, role, relations, admin)["key"]
        yield client


def ask(client: Client, route: str, key: str = "", **options: object) -> httpx.Response:
    method, path = route.split(" ")
    path = path.format(**VALUES)
    return client.run(client.http.request(method, path, headers=bearer(key), **options))


def routes(client: Client) -> list[str]:
    paths = client.run(client.http.get("/openapi.json", headers=bearer(client.keys["admin"]))).json()["paths"]
    found = [f"{method.upper()} {path}" for path, operations in paths.items() for method in operations]
    assert len(found) > 40
    return [*found, *SHOWN]


def test_every_route_asks_for_a_key(guarded: Client) -> None:
    """Missing, wrong in each part, of another scheme, twice: the same refusal on each route."""
    good = guarded.keys["admin"]
    wrong = {
        "another secret": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "another id": "fr_000000000000" + good[15:],
        "cut": good[:-1],
        "longer": good + "0",
        "nonsense": "x" * 1000,
    }
    answers = {}
    for route in routes(guarded):
        missing = ask(guarded, route)
        if NEEDS[route] is OPEN:
            assert missing.status_code == 200
            continue
        assert code(missing) == (401, "key_missing"), route
        assert missing.headers["www-authenticate"] == "Bearer"
        for what, key in wrong.items():
            answer = ask(guarded, route, key)
            assert code(answer) == (401, "key_invalid"), (route, what)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert key not in answer.text
            answers[answer.text] = route
    assert len(answers) == 1, "refusals tell wrong keys apart"
    for header in (f"Basic {good}", good, f"Bearer{good}", "Bearer", ""):
        answer = guarded.run(guarded.http.get("/v1/tables", headers={"Authorization": header}))
        assert code(answer) == (401, "key_invalid"), header
    twice = [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")]
    assert code(guarded.run(guarded.http.get("/v1/tables", headers=twice))) == (401, "key_invalid")


def test_a_revoked_key_gets_nowhere(guarded: Client) -> None:
    made = make_key(guarded, "gone", "write", by=guarded.keys["admin"])
    assert ask(guarded, "GET /v1/tables", made["key"]).status_code == 200
    answer = guarded.run(guarded.http.delete(f"/v1/keys/{made['id']}", headers=bearer(guarded.keys["admin"])))
    assert answer.status_code == 204
    for route in routes(guarded):
        if NEEDS[route] is not OPEN:
            assert code(ask(guarded, route, made["key"])) == (401, "key_invalid"), route


def test_a_weak_key_is_told_what_is_needed(guarded: Client) -> None:
    """Each route with the weakest key: allowed by the table, or 403 before the route sees the request."""
    allowed = {
        "GET /v1/dialects",
        "GET /v1/tables",
        "GET /v1/views",
        "GET /v1/views/{view}",
        "GET /v1/views/{view}/rows",
        "GET /v1/views/{view}/changes",
        "GET /v1/views/{view}/plan",
        "GET /v1/status",
        "GET /v1/epochs",
        "GET /v1/catalog",
        "GET /v1/loads",
        "GET /v1/exports",
        "GET /v1/sources",
        "GET /v1/sinks",
        "GET /v1/branches",
    }
    in_route = {
        "POST /v1/sql",
        "POST /v1/deltas",
        "POST /v1/translate",
        "GET /v1/branches/{branch}/diff",
        "GET /v1/views/{view}/why",
        "GET /v1/views/{view}/why-not",
        "GET /v1/views/{view}/why-changed",
    }
    hidden = {
        "GET /v1/loads/{load}",
        "DELETE /v1/loads/{load}",
        "GET /v1/exports/{export}",
        "GET /v1/sources/{source}",
        "GET /v1/sinks/{sink}",
        "GET /v1/branches/{branch}",
    }
    for route in routes(guarded):
        answer = ask(guarded, route, guarded.keys["reader"])
        if NEEDS[route] is OPEN or route in allowed:
            assert answer.status_code == 200, (route, answer.text)
        elif route in hidden:
            assert answer.status_code == 404, (route, answer.text)
        elif route == "GET /v1/views/{view}/replay":
            assert code(answer) == (410, "history_gone"), answer.text
        elif route in in_route:
            assert answer.status_code in (400, 415, 422), (route, answer.text)
        else:
            assert code(answer) == (403, "forbidden"), route
            assert "needs" in answer.json()["detail"], route
            assert WEAK.get(route, "") in answer.json()["detail"], route


@pytest.mark.parametrize(
    ("route", "body", "least"),
    [
        ("GET /v1/keys", None, "admin"),
        ("GET /v1/roles", None, "admin"),
        ("GET /v1/audit", None, "admin"),
        ("POST /v1/tables", {"name": "n", "columns": [{"name": "a", "type": "TEXT"}]}, "write"),
        ("POST /v1/tables/t/deltas", [{"insert": {"a": 1}}], "some"),
        ("POST /v1/tables/other/deltas", [{"insert": {"a": 1}}], "write"),
        ("POST /v1/deltas", {"tables": {"t": [{"insert": {"a": 1}}]}}, "some"),
        ("POST /v1/deltas", {"tables": {"t": [], "other": [{"insert": {"a": 1}}]}}, "write"),
        ("GET /v1/tables/other/rows", None, "read"),
        ("GET /v1/views/w/rows", None, "read"),
        ("GET /v1/views/w/plan", None, "read"),
        ("GET /metrics", None, "read"),
        ("GET /v1/tables/t/rows", None, "some"),
        ("GET /v1/views/v/rows", None, "reader"),
    ],
)
def test_the_least_key(guarded: Client, route: str, body: object, least: str) -> None:
    """A key that is enough gets through, and so do stronger ones; weaker ones get 403."""
    enough = {
        "admin": ["admin"],
        "write": ["admin", "write"],
        "read": ["admin", "write", "read"],
        "some": ["admin", "write", "some"],
        "reader": ["admin", "write", "read", "some", "reader"],
    }[least]
    if least == "some" and body is None:
        enough.append("read")
    options = {} if body is None else {"json": body}
    for name, key in guarded.keys.items():
        if name not in enough:
            assert code(ask(guarded, route, key, **options)) == (403, "forbidden"), name
    for name in enough:
        answer = ask(guarded, route, guarded.keys[name], **options)
        assert answer.status_code < 300 or answer.status_code == 409, (name, answer.text)


def test_no_route_and_another_method(guarded: Client) -> None:
    for key in guarded.keys.values():
        assert code(ask(guarded, "GET /v1/nothing", key)) == (404, "no_such_route")
        answer = ask(guarded, "PUT /v1/tables", key)
        assert code(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, POST"
    assert code(ask(guarded, "GET /v1/nothing")) == (401, "key_missing")


def test_a_hidden_name_and_no_name_look_alike(guarded: Client) -> None:
    key = guarded.keys["reader"]
    hidden = ask(guarded, "GET /v1/tables/other/rows", key).json()["detail"]
    nothing = ask(guarded, "GET /v1/tables/nothing/rows", key).json()["detail"]
    assert hidden.replace("other", "nothing") == nothing


def test_a_route_that_is_not_declared_keeps_the_service_from_starting() -> None:
    check_declared(NEEDS)
    with pytest.raises(ServiceError, match="GET /v1/new is not in"):
        check_declared([*NEEDS, "GET /v1/new"])
    with pytest.raises(ServiceError, match=r"GET /v1/tables is in .* alone"):
        check_declared(NEEDS.keys() - {"GET /v1/tables"})


def test_needs_are_found_by_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RECENT", 3)
    needs = NeedsByPath()
    for route, need in NEEDS.items():
        method, path = route.split(" ")
        path, has_rest = path.replace("{name:path}", "a/b.js"), ":path" in path
        assert needs.find(method, path.format(**VALUES))[0] is need
        assert (needs.find(method, path.format(**VALUES) + "/a/b/c") is None) != has_rest
    long = "x" * 500
    assert needs.find("GET", f"/v1/tables/{long}/rows")[1] == {"table": long}
    assert needs.find("POST", "/v1/tables/a%b/deltas")[1] == {"table": "a%b"}
    assert needs.find("GET", "/v1/tables/a\nb/rows")[1] == {"table": "a\nb"}


def test_jobs_sources_and_sinks_of_hidden_relations_are_hidden(guarded: Client) -> None:
    """One of each for a relation that the limited keys see, and for one that they do not."""
    pipeline = guarded.app.state.pipeline
    running = SimpleNamespace(failure=None, done=1, files=0, rows=0, last_batch=-1, skipped=0, epoch=0)
    for name, table, view in (("mine", "t", "v"), ("theirs", "other", "w")):
        load = {"table": table, "format": "csv", "path": "x", "options": {}}
        export = {"relation": view, "epoch": 1, "format": "csv", "path": "x", "mode": "append", "options": {}}
        pipeline.jobs.add(replace(Job.new("load", load), id=name, state=DONE))
        pipeline.jobs.add(replace(Job.new("export", export), id=f"{name}-out", state=DONE))
        reading = SourceDefinition(name, table, "csv", "x", {}, None, None, 1.0, 1, "fail")
        writing = SinkDefinition(name, view, "x", None, 1.0)
        pipeline.sources._all[name] = SimpleNamespace(
            definition=reading,
            progress=running,
            state="running",
            trouble=None,
            reason=None,
            stop=lambda: None,
        )
        pipeline.sinks._all[name] = SimpleNamespace(
            definition=writing,
            progress=running,
            state="running",
            trouble=None,
            reason=None,
            stop=lambda: None,
        )
    seen = {"admin": 2, "write": 2, "read": 2, "some": 1}
    for kind, own in (("loads", ""), ("exports", "-out"), ("sources", ""), ("sinks", "")):
        for name, count in seen.items():
            key = guarded.keys[name]
            listed = ask(guarded, f"GET /v1/{kind}", key).json()[kind]
            assert len(listed) == count, (kind, name)
            assert ask(guarded, f"GET /v1/{kind}/mine{own}", key).status_code == 200
            hidden = ask(guarded, f"GET /v1/{kind}/theirs{own}", key)
            nothing = ask(guarded, f"GET /v1/{kind}/theixs{own}", key)
            assert hidden.status_code == (200 if count == 2 else 404)
            if count == 1:
                assert hidden.text == nothing.text.replace("theixs", "theirs")
    assert code(ask(guarded, "DELETE /v1/loads/mine", guarded.keys["read"])) == (403, "forbidden")
    assert code(ask(guarded, "DELETE /v1/loads/theirs", guarded.keys["some"])) == (404, "unknown_job")
    assert ask(guarded, "DELETE /v1/loads/mine", guarded.keys["some"]).status_code == 202
    for name, status in (("read", 403), ("some", 403), ("write", 404)):
        body = {"table": "other" if name == "some" else "t", "format": "csv", "path": "none/x"}
        answer = ask(guarded, "POST /v1/loads", guarded.keys[name], json=body)
        assert answer.status_code in (status, 422 if status == 404 else status), answer.text
    for pipes in (pipeline.sources, pipeline.sinks):
        pipes._all.clear()
