"""Who may call the service: hosts, origins, and what browsers report about a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.http.origins import Origins
from service.settings.settings import Settings
from tests.service.client import Client, code


def refusal(origins: Origins, method: str = "POST", version: str = "1.1", **headers: str) -> str | None:
    """The code of the error that refuses a request; None if it may pass."""
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    error = origins.refusal({"method": method, "headers": raw, "http_version": version})
    return error and error.code


LOOPBACK = Origins("127.0.0.1", (), ())
NAMED = Origins("127.0.0.1", ("views.example",), ("https://console.example",))
ANYWHERE = Origins("0.0.0.0", (), ())
NETWORK = Origins("0.0.0.0", ("views.example",), ())


@pytest.mark.parametrize(
    ("origins", "host", "code"),
    [
        (LOOPBACK, "localhost:8000", None),
        (LOOPBACK, "LOCALHOST", None),
        (LOOPBACK, "127.0.0.1:1", None),
        (LOOPBACK, "127.0.0.2:8000", None),
        (LOOPBACK, "[::1]:8000", None),
        (LOOPBACK, "evil.example", "unknown_host"),
        (LOOPBACK, "evil.example:8000", "unknown_host"),
        (LOOPBACK, "localhost.evil.example", "unknown_host"),
        (LOOPBACK, "127.0.0.1.evil.example", "unknown_host"),
        (LOOPBACK, "localhost:8000@evil.example", "unknown_host"),
        (LOOPBACK, "evil.example#localhost", "unknown_host"),
        (LOOPBACK, "localhost:80x", "unknown_host"),
        (LOOPBACK, "10.0.0.7:8000", "unknown_host"),
        (LOOPBACK, "", "unknown_host"),
        (NAMED, "views.example:443", None),
        (NAMED, "evil.example", "unknown_host"),
        (ANYWHERE, "whatever.example", None),
        (ANYWHERE, "10.0.0.7:8000", None),
        (NETWORK, "views.example", None),
        (NETWORK, "localhost", None),
        (NETWORK, "evil.example", "unknown_host"),
    ],
)
def test_hosts(origins: Origins, host: str, code: str | None) -> None:
    assert refusal(origins, host=host) == code
    assert refusal(origins, "GET", host=host) == code


def test_a_request_has_one_host() -> None:
    assert refusal(LOOPBACK) == "bad_request"
    assert refusal(LOOPBACK, version="1.0") is None
    twice = [(b"host", b"localhost"), (b"host", b"evil.example")]
    error = LOOPBACK.refusal({"method": "GET", "headers": twice})
    assert error is not None and error.code == "bad_request"


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("http://localhost:8000", None),
        ("https://localhost:8000", None),  # a proxy in front of the service has the certificate
        ("https://console.example", None),
        ("HTTPS://CONSOLE.example", None),
        ("http://console.example", "cross_origin"),
        ("https://console.example.evil.example", "cross_origin"),
        ("http://localhost:3000", "cross_origin"),
        ("http://localhost", "cross_origin"),
        ("http://localhost:80001", "cross_origin"),
        ("http://localhost:8000.evil.example", "cross_origin"),
        ("http://evil.example.localhost:8000", "cross_origin"),
        ("http://127.0.0.1:8000", "cross_origin"),
        ("https://evil.example", "cross_origin"),
        ("null", "cross_origin"),
        ("", "cross_origin"),
        ("file://localhost:8000", "cross_origin"),
    ],
)
def test_origins(method: str, origin: str, code: str | None) -> None:
    assert refusal(NAMED, method, host="localhost:8000", origin=origin) == code


def test_default_ports_are_not_written() -> None:
    assert refusal(NAMED, host="views.example:443", origin="https://views.example") is None
    assert refusal(NAMED, host="views.example", origin="https://views.example:443") is None
    assert refusal(NAMED, host="views.example:443", origin="http://views.example") == "cross_origin"


@pytest.mark.parametrize(
    ("method", "site", "mode", "destination", "code"),
    [
        ("GET", "same-origin", "cors", "empty", None),
        ("GET", "none", "navigate", "document", None),
        ("GET", "cross-site", "navigate", "document", None),
        ("GET", "cross-site", "navigate", "iframe", "cross_origin"),
        ("GET", "cross-site", "no-cors", "script", "cross_origin"),
        ("GET", "same-site", "no-cors", "image", "cross_origin"),
        ("POST", "cross-site", "navigate", "document", "cross_origin"),
        ("POST", "same-site", "no-cors", "empty", "cross_origin"),
    ],
)
def test_sites(method: str, site: str, mode: str, destination: str, code: str | None) -> None:
    said = {"sec_fetch_site": site, "sec_fetch_mode": mode, "sec_fetch_dest": destination}
    assert refusal(LOOPBACK, method, host="localhost", **said) == code


# The app


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PLAIN = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}
EVIL = {"Origin": "https://evil.example"}


@pytest.fixture
def kept(client: Client) -> Iterator[Client]:
    """A service with a table, which must be there afterwards."""
    client.table("t", {"a": "BIGINT"})
    yield client
    assert client.rows("t") == []


@pytest.mark.parametrize("headers", [FORM, PLAIN, {}, {"Content-Type": "text/plain; application/json"}])
def test_a_page_cannot_drop_a_table_by_a_form(kept: Client, headers: dict[str, str]) -> None:
    body = b'{"sql": "DROP TABLE t"}'
    assert code(kept.post("/v1/sql", content=body, headers=headers)) == (415, "unsupported_format")
    changes = b'[{"insert": {"a": 1}}]'
    for path, content in (("/v1/tables/t/deltas", changes), ("/v1/deltas", b'{"tables": {}}')):
        answer = kept.post(path, content=content, headers=headers)
        assert code(answer) == (415, "unsupported_format")
        assert "Content-Type: application/json" in answer.json()["hint"]


def test_other_origins_and_hosts_are_refused(kept: Client) -> None:
    body = b'{"sql": "DROP TABLE t"}'
    assert code(kept.post("/v1/sql", content=body, headers=JSON | EVIL)) == (403, "cross_origin")
    rebound = JSON | {"Host": "evil.example:8000"}
    answer = kept.post("/v1/sql", content=body, headers=rebound)
    assert code(answer) == (421, "unknown_host")
    assert "FRESHET_HOSTS" in answer.json()["hint"]
    assert code(kept.run(kept.http.delete("/v1/tables/t", headers=EVIL))) == (403, "cross_origin")
    assert code(kept.run(kept.http.get("/v1/status", headers=EVIL))) == (403, "cross_origin")
    assert code(kept.run(kept.http.get("/docs", headers={"Host": "evil.example"}))) == (421, "unknown_host")
    assert kept.run(kept.http.get("/docs", headers={"Origin": "http://localhost"})).status_code == 200


def test_an_origin_that_is_named_may_call(settings: Settings) -> None:
    named = Settings(data=settings.data, origins="https://console.example, http://localhost:3000")
    with Client(named) as client:
        asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
        for origin in ("https://console.example", "http://localhost:3000"):
            preflight = client.run(client.http.options("/v1/sql", headers={"Origin": origin} | asks))
            assert preflight.status_code == 200
            assert preflight.headers["access-control-allow-origin"] == origin
            answer = client.post("/v1/sql", {"sql": "SELECT 1"}, headers={"Origin": origin})
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == origin
        assert code(client.run(client.http.options("/v1/sql", headers=EVIL | asks))) == (403, "cross_origin")


@pytest.mark.parametrize("origins", ["console.example", "https://console.example/path", "https://"])
def test_settings_name_origins(origins: str) -> None:
    with pytest.raises(ValueError, match="FRESHET_ORIGINS"):
        Settings.from_environment({"FRESHET_ORIGINS": origins})
