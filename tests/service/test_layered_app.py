"""The layers of the app, and the way from them to a route."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.requests import Request

from service.app import create_app
from service.http.header_fields import field_of
from service.http.layered_app import FoundRoutes
from service.http.needs import NEEDS
from service.http.routes.delta_routes import ROUTES
from service.settings.settings import Settings
from tests.service.client import Client


def test_each_route_that_can_be_asked_for_is_found(tmp_path: Path) -> None:
    found = FoundRoutes(create_app(Settings(data=tmp_path)).router)
    asked = {tuple(need.split(" ")) for need in NEEDS} - {("POST", path) for path in ROUTES}
    assert asked <= found._apps.keys()


def test_an_error_inside_a_route_is_answered_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: Request) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("service.http.routes.catalog_routes.runtime_of", broken)
    answer = client.run(client.http.get("/v1/catalog"))
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert answer.headers.get_list("x-request-id") == [answer.headers["x-request-id"]]
    assert "odd" not in answer.text


def test_slashes_of_names_come_to_routes(client: Client) -> None:
    columns = [{"name": "n", "type": "BIGINT"}]
    client.post("/v1/tables", {"name": '"a/b"', "columns": columns})
    answer = client.run(client.http.get('/v1/tables/"a%2Fb"'))
    assert (answer.status_code, answer.json()["name"]) == (200, "a/b")


def test_the_first_field_of_a_name_counts() -> None:
    scope = {"headers": [(b"accept", b"a"), (b"accept", b"b"), (b"x", b"\xe4")]}
    assert (field_of(scope, b"accept"), field_of(scope, b"x"), field_of(scope, b"y")) == ("a", "ä", None)
