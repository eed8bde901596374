"""Requests have ids, and lines in the log that carry them; no line has a secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from service.http import exchanges
from service.settings.settings import Settings
from service.telemetry.exchange import HttpExchange, current, request_id
from service.telemetry.log_lines import FORMATTERS, JsonLines, TextLines
from tests.service.client import Client

KEY = "fr_0123456789ab_" + "cd" * 32


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("exchanges"), log_requests="all")) as client:
        client.table("t", {"a": "BIGINT"})
        yield client


def identified(client: Client, id: str | bytes, path: str = "/v1/tables") -> str:
    answer = client.run(client.http.get(path, headers={"X-Request-Id": id}))  # type: ignore[dict-item]
    return answer.headers["x-request-id"]


@pytest.mark.parametrize("id", ["import-7", "a", "A" * 128, "01HX/ab+c=", "urn:uuid:1-2@x.y_z"])
def test_a_sane_id_is_kept(client: Client, id: str) -> None:
    assert identified(client, id) == id


@pytest.mark.parametrize(
    "id", ["", " ", "a b", "A" * 129, "-x", "x\ty", 'x"y', "x,y", b"\xc3\xa9", b"x\x01", KEY, "{x}", "x;y"]
)
def test_another_gets_a_new_one(client: Client, id: str | bytes) -> None:
    headers = [(b"x-request-id", id if isinstance(id, bytes) else id.encode())]
    made = request_id(headers)
    assert made.isprintable() and made not in ("", id) and made != request_id(headers)
    assert request_id([(b"x-request-id", b"a"), (b"x-request-id", b"b")]) not in ("a", "b")


def test_every_answer_has_an_id(client: Client) -> None:
    """Those that a layer gives instead of a route, too."""
    for path in ("/healthz", "/nothing", "/v1/tables/none", "/v1/tables?x=1", "/openapi.json"):
        assert identified(client, "mine", path) == "mine", path
    evil = client.run(client.http.get("/v1/tables", headers={"Host": "evil.example"}))
    assert evil.status_code >= 400 and evil.headers["x-request-id"]
    assert len({client.get("/healthz").headers["x-request-id"] for _ in range(5)}) == 5
    head = client.run(client.http.head("/v1/tables", headers={"X-Request-Id": "head"}))
    assert head.headers["x-request-id"] == "head"


class Lines(logging.Handler):
    """Keeps the lines that a formatter makes, with the logger of each."""

    def __init__(self, format: str) -> None:
        super().__init__()
        self.setFormatter(FORMATTERS[format]())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def lines(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    handler = Lines(request.param)
    logger = logging.getLogger("freshet")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield handler.lines
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize("lines", ["json"], indirect=True)
def test_a_request_has_a_line(client: Client, lines: list[str]) -> None:
    client.run(client.http.get("/v1/tables/none?where=secret", headers={"X-Request-Id": "r1"}))
    line = json.loads(lines[-1])
    milliseconds = line.pop("milliseconds")
    assert milliseconds > 0 and line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "freshet.requests",
        "request": "r1",
        "method": "GET",
        "path": "/v1/tables/none",
        "route": "/v1/tables/{table}",
        "status": line["status"],
        "code": line["code"],
        "message": line["message"],
    }
    assert line["status"] >= 400 and line["code"] in line["message"]
    assert "secret" not in lines[-1]


@pytest.mark.parametrize("lines", ["text", "json"], indirect=True)
def test_no_line_has_a_secret(client: Client, lines: list[str]) -> None:
    """Wherever a client sends a key: in the path, encoded or with line breaks, and in other logs."""
    for path in (f"/v1/tables/{KEY}", f"/{KEY}", f"/v1/x%0a{KEY}", f"/v1/tables?{KEY}"):
        client.get(path)
    logging.getLogger("freshet.other").warning("a caller sent %s", KEY)
    try:
        raise ValueError(KEY)
    except ValueError:
        logging.getLogger("freshet.other").exception("it failed")
    assert len(lines) >= 6
    for line in lines:
        assert "cdcd" not in line
    assert not any("\n" in line for line in lines[:4])


@pytest.mark.parametrize("lines", ["json"], indirect=True)
def test_lines_of_threads_have_the_id(
    client: Client, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("service.http.routes.operation_routes.failed", broken)
    answer = client.run(client.http.get("/v1/status", headers={"X-Request-Id": "in-a-thread"}))
    assert answer.status_code == 500
    failed, request = (json.loads(line) for line in lines)
    assert (failed["request"], failed["level"], request["level"]) == ("in-a-thread", "error", "warning")
    assert "RuntimeError: odd" in failed["exception"]


@pytest.mark.parametrize("lines", ["text"], indirect=True)
@pytest.mark.parametrize(("which", "expected"), [("none", []), ("failed", [404]), ("all", [200, 404])])
def test_the_setting_says_which_requests(
    client: Client, lines: list[str], which: str, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layer of a running app is given another bound."""
    from_table = exchanges._LEAST_LOGGED
    layer = client.app.middleware_stack.__self__
    while not isinstance(layer, exchanges.Exchanges):
        layer = layer.app.__self__
    monkeypatch.setattr(layer, "_least_logged", from_table[which])
    client.get("/healthz")
    client.get("/nothing")
    assert [int(line.split(" in ")[0].split()[6]) for line in lines] == expected


def test_formats() -> None:
    record = logging.LogRecord("a.b", logging.INFO, "", 0, "half %s", ("\ud800",), None)
    exchange = HttpExchange("id-1", "GET", "/", "/")
    token = current.set(exchange)
    try:
        assert TextLines().format(record).endswith(r"INFO a.b: half \ud800 [id-1]")
        assert json.loads(JsonLines().format(record))["request"] == "id-1"
    finally:
        current.reset(token)
    line = json.loads(JsonLines().format(record))
    assert line.keys() == {"time", "level", "logger", "message"}
    assert line["message"] == "half \ud800"


@pytest.mark.parametrize("lines", ["text", "json"], indirect=True)
@pytest.mark.parametrize("mark", ["\n", "\r\n", "\x1b[2K", "\x85", "\u2028", "\u202e"])
def test_nobody_forges_a_line(lines: list[str], mark: str) -> None:
    """Names, paths and values that clients send come into messages and exceptions; none begins a line."""
    forged = f"x{mark}2026-01-01 00:00:00,000 CRITICAL freshet: forged"
    logger = logging.getLogger("freshet.accounts")
    logger.warning("key may not read %s", forged)
    try:
        raise ValueError(forged)
    except ValueError:
        logger.exception("it failed for %s", forged)
    assert len(lines) == 2
    for written in "\n".join(lines).split("\n"):
        assert written.isprintable()
        assert "forged" not in written or not written.startswith("2026-01-01")
    assert "ValueError" in lines[1]
