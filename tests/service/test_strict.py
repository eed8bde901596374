"""Rules of all routes: unknown parameters, bodies of another type, and bodies too large are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fastapi import routing

from service.http.routes import strict
from service.settings.settings import Settings
from tests.service.client import Client, code

VALUES = {"table": "t", "view": "v", "load": "1", "export": "1", "source": "s", "sink": "s"}
VALUES |= {"key": "k", "backup": "1", "branch": "b", "replacement": "r"}
SHOWN = {"/docs", "/redoc", "/openapi.json"}


def routes(client: Client) -> list[tuple[str, str, dict]]:
    """Method, path with values, and description of every route in the document."""
    paths = client.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), path.format(**VALUES), operation)
        for path, operations in paths.items()
        for method, operation in operations.items()
    ]


def test_no_route_takes_an_unknown_parameter(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    found = routes(client)
    assert len(found) > 30
    for method, path, operation in found:
        known = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "query"]
        answer = client.run(client.http.request(method, path, params={"nonsense": "1"}))
        assert code(answer) == (422, "unknown_parameter"), (method, path)
        assert "nonsense" in answer.json()["detail"]
        assert all(name in answer.json()["hint"] for name in known)


def test_every_route_that_takes_a_body_wants_json(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    found = [r for r in routes(client) if "requestBody" in r[2]]
    assert len(found) > 8
    for method, path, _ in found:
        for given in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data", "x"):
            sent = client.http.request(method, path, content=b"{}", headers={"Content-Type": given})
            assert code(client.run(sent)) == (415, "unsupported_format"), (method, path, given)
        sent = client.http.request(method, path, content=b"{}")
        answer = client.run(sent)
        assert code(answer) == (415, "unsupported_format"), (method, path)
        assert "Content-Type: application/json" in answer.json()["hint"]


def test_a_name_that_is_nearly_right_is_suggested(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    answer = client.get("/v1/tables/t/rows", limt=1)
    assert answer.json()["hint"] == "did you mean limit?"
    answer = client.get("/v1/tables/t/rows", asof=1)
    assert answer.json()["hint"] == "did you mean as_of?"


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ("/v1/tables/t/rows", "filter", "where"),
        ("/v1/tables/t/rows", "sort", "order_by"),
        ("/v1/tables/t/rows", "Limit", "limit"),
        ("/v1/tables/t/rows", "per-page", "limit"),
        ("/v1/tables/t/rows", "page", "cursor"),
        ("/v1/tables/t/rows", "version", "as_of"),
        ("/v1/tables/t/changes", "from", "since"),
        ("/v1/tables/t/changes", "to", "until"),
        ("/v1/tables/t/changes", "type", "format"),
    ],
)
def test_a_name_that_other_services_use_leads_to_ours(
    client: Client, path: str, name: str, meant: str
) -> None:
    client.table("t", {"a": "BIGINT"})
    answer = client.get(path, **{name: "1"})
    assert code(answer) == (422, "unknown_parameter")
    assert answer.json()["hint"] == f"did you mean {meant}?"


def test_other_names_lead_to_parameters_that_exist(client: Client) -> None:
    taken = {p["name"] for _, _, operation in routes(client) for p in operation.get("parameters", ())}
    assert set(strict._OTHER_NAMES.values()) <= taken
    assert not taken & set(strict._OTHER_NAMES)


def test_a_parameter_that_is_given_twice(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    for path in ("/v1/tables/t/rows?limit=1&limit=2", "/v1/tables/t/changes?since=0&since=0"):
        answer = client.run(client.http.get(path))
        assert code(answer) == (422, "repeated_parameter")


@pytest.mark.parametrize(
    "type", ["application/json", "Application/JSON; charset=utf-8", "application/ld+json"]
)
def test_json_by_other_names(client: Client, type: str) -> None:
    answer = client.post("/v1/sql", content=b'{"sql": "SELECT 1"}', headers={"Content-Type": type})
    assert answer.status_code == 200


@pytest.mark.parametrize("depth", [1_000, 100_000, 1_000_000])
def test_json_that_is_too_deep(client: Client, depth: int) -> None:
    client.table("t", {"a": "JSON"})
    deep = b"[" * depth + b"]" * depth
    headers = {"Content-Type": "application/json"}
    for path, body in [
        ("/v1/sql", b'{"sql": %s}' % deep),
        ("/v1/tables", b'{"name": %s}' % deep),
        ("/v1/views", deep),
        ("/v1/loads", b'{"options": %s}' % deep),
        ("/v1/deltas", b'{"tables": %s}' % deep),
        ("/v1/deltas", b'{"tables": {"t": %s}}' % deep),
        ("/v1/tables/t/deltas", deep),
        ("/v1/tables/t/deltas", b'[{"insert": {"a": %s}}]' % deep),
    ]:
        answer = client.post(path, content=body, headers=headers)
        status, name = code(answer)
        assert (status, name) in [
            (400, "invalid_json"),
            (422, "invalid_request"),
            (422, "invalid_change"),
            (422, "invalid_value"),
            (413, "too_large"),
        ], path


def test_what_brings_no_rows_is_small(settings: Settings) -> None:
    with Client(replace(settings, sql_limit=1000)) as client:
        client.table("t", {"a": "TEXT"})
        text = "x" * 2000
        for path in ("/v1/sql", "/v1/tables", "/v1/views", "/v1/loads"):
            answer = client.post(path, {"sql": text})
            assert code(answer) == (413, "too_large"), path
            assert "FRESHET_SQL_LIMIT" in answer.json()["hint"]
        client.insert("t", {"a": text})


def test_what_is_taken_can_be_read(client: Client) -> None:
    """The deepest JSON that a column accepts does not break responses that contain it."""
    client.table("t", {"a": "JSON"})
    client.view("v", "SELECT a FROM t")
    headers = {"Content-Type": "application/json"}
    taken = 0
    for depth in range(230, 260):
        deep = b"[" * depth + b"]" * depth
        answer = client.post(
            "/v1/tables/t/deltas", content=b'[{"insert": {"a": %s}}]' % deep, headers=headers
        )
        if answer.status_code == 200:
            taken = depth
        else:
            assert code(answer) == (422, "invalid_value")
    assert 240 <= taken < 254
    for path in ("/v1/tables/t/rows", "/v1/views/v/rows", "/v1/views/v/changes"):
        assert client.get(path).status_code == 200, path
    assert client.post("/v1/sql", {"sql": "SELECT a FROM t"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "name", "values"),
    [
        (
            "/v1/views/v/rows",
            "limit",
            ("1", "007", " 1", "1.0", "+1", "-1", "x", "", "1e2", "9" * 40, "true"),
        ),
        ("/v1/views/v/rows", "format", ("json", "csv", "ndjson", "JSON", "", "sse")),
        ("/v1/views/v/rows", "errors", ("skip", "Skip", "")),
        ("/v1/views/v/rows", "as_of", ("0", "1", "x", "")),
        ("/v1/views/v/changes", "limit", ("1", "0", "-1", "x")),
        ("/v1/views/v/changes", "since", ("0", "1", "-1", "x", "")),
    ],
)
def test_parameters_mean_what_the_framework_makes_of_them(
    client: Client, monkeypatch: pytest.MonkeyPatch, path: str, name: str, values: tuple[str, ...]
) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    client.insert("t", {"a": 1}, {"a": 2})
    ours = [client.get(path, **{name: value}) for value in values]
    monkeypatch.setattr(strict, "_converted", lambda given, converters: None)
    theirs = [client.get(path, **{name: value}) for value in values]
    assert [(it.status_code, it.content) for it in ours] == [(it.status_code, it.content) for it in theirs]
    assert {it.status_code for it in ours} >= {200, 422} or name in ("as_of", "since")


def test_parameters_that_are_right_need_no_framework(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.table("t", {"a": "BIGINT"})
    client.insert("t", {"a": 1})

    async def solved(**given: object) -> None:
        raise AssertionError("the framework has solved the parameters")

    monkeypatch.setattr(routing, "solve_dependencies", solved)
    for wish in ({}, {"limit": "1"}, {"format": "json", "where": "a = 1"}, {"as_of": "1", "limit": "0"}):
        assert client.get("/v1/tables/t/rows", **wish).status_code == 200, wish


def test_a_script_needs_no_framework_and_one_that_is_wrong_is_told_why(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = [
        ({"sql": "SELECT $1 AS a", "parameters": [1]}, {}),
        ({"sql": "SELECT 1 AS a"}, {"format": "csv"}),
        ({"sql": "SELECT $1 AS a", "parameters": [{"type": "DATE", "value": "2026-01-01"}]}, {}),
        ({"sql": "SELECT $1 AS a", "parameters": [{"type": "NOTHING", "value": 1}]}, {}),
        ({"sql": "SELECT $1 AS a", "parameters": [{"value": 1}]}, {}),
        ({"sql": "SELECT :a AS a, $1", "parameters": {"a": None}}, {}),
        ({"sql": "SELECT 1", "parameters": list(range(1000))}, {}),
        ({"sql": 1}, {}),
        ({"nonsense": 1}, {}),
        ({"sql": "SELECT 1"}, {"format": "xml"}),
    ]

    def answers() -> list[tuple[int, bytes]]:
        asked = (client.http.post("/v1/sql", json=body, params=params) for body, params in sent)
        return [(it.status_code, it.content) for it in map(client.run, asked)]

    ours = answers()
    assert [status for status, _ in ours[:3]] == [200] * 3 and all(status >= 400 for status, _ in ours[7:])
    monkeypatch.setattr(strict, "_converted", lambda given, converters: None)
    assert answers() == ours
