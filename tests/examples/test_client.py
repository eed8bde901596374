"""The command that is printed is the request that is made."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from service.demo.client import CurlAnswer, CurlCall, quoted
from tests.curl import Request, parse

SQL = "SELECT count(*) FROM t WHERE name = 'it''s' AND price > 5 -- \\ \"quoted\" $HOME `x`"


class Recorder(HTTPServer):
    """Answers every request with 200 and keeps it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Recorder

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length) if length else None
        self.server.requests.append(Request(self.command, self.path, dict(self.headers), body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}\n")

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is its own."""


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def calls(base: str, file: Path) -> list[CurlCall]:
    return [
        CurlCall("GET", f"{base}/v1/views"),
        CurlCall("GET", f"{base}/v1/views/v/rows", query={"where": "name = 'a b'", "limit": "5"}),
        CurlCall("GET", f"{base}/v1/views/v/rows", query={"where": "name = 'a' -- \"$x\""}),
        CurlCall("POST", f"{base}/v1/sql", {"sql": SQL}),
        CurlCall("POST", f"{base}/v1/sql", {"sql": SQL * 4}),
        CurlCall("POST", f"{base}/v1/tables/t/deltas", [{"insert": {"id": 1}}], {"Idempotency-Key": "k 1"}),
        CurlCall("POST", f"{base}/v1/tables/t/deltas", file, {"Content-Type": "application/octet-stream"}),
        CurlCall("DELETE", f"{base}/v1/views/v"),
    ]


def meaning(request: Request, read: Request) -> tuple[object, ...]:
    """What a server makes of `request`; only the headers that `read` names, as clients add their own."""
    url = urlsplit(request.url)
    named = {name.lower() for name in read.headers}
    headers = {name.lower(): value for name, value in request.headers.items() if name.lower() in named}
    return request.method, url.path, parse_qsl(url.query), headers, request.body


def test_a_command_reads_as_the_request_that_is_sent(recorder: Recorder, tmp_path: Path) -> None:
    file = tmp_path / "it's rows.bin"
    file.write_bytes(bytes(range(256)))
    for call in calls(recorder.url, file):
        assert call.send() == CurlAnswer(200, "{}\n")
        read = parse(call.command, Path("/"))
        assert meaning(recorder.requests[-1], read) == meaning(read, read)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl to compare with")
def test_curl_sends_what_the_command_reads_as(recorder: Recorder, tmp_path: Path) -> None:
    file = tmp_path / "it's rows.bin"
    file.write_bytes(bytes(range(256)))
    for call in calls(recorder.url, file):
        subprocess.run(["bash", "-c", call.command], check=True, capture_output=True, timeout=240)
        read = parse(call.command, Path("/"))
        assert meaning(recorder.requests[-1], read) == meaning(read, read)


def test_a_short_command_is_one_line() -> None:
    assert CurlCall("GET", "http://h/v1/views").command == "curl -s http://h/v1/views"
    assert "\n" not in CurlCall("POST", "http://h/v1/sql", {"sql": "SELECT 1"}).command


def test_single_quotes_are_put_into_double_ones() -> None:
    assert quoted("a = 'b'") == "\"a = 'b'\""
    assert quoted("a = '$b'") == "'a = '\"'\"'$b'\"'\"''"


def test_a_refusal_is_an_answer() -> None:
    assert not CurlAnswer(404, "{}").ok
    assert CurlAnswer(200, '{"a": 1}').json == {"a": 1}


def test_an_excerpt_shows_rows_a_line_each_and_says_what_it_leaves_out() -> None:
    rows = ", ".join(f'{{"n": {n}}}' for n in range(40))
    lines = CurlAnswer(200, f'{{"epoch": 3, "rows": [{rows}], "next": null}}').excerpt(lines=4).splitlines()
    assert lines == ['{"epoch": 3,', ' "rows": [', '   {"n": 0},', '   {"n": 1},', "... (39 lines more)"]


def test_an_excerpt_cuts_long_lines_and_keeps_plain_text() -> None:
    assert CurlAnswer(200, "a" * 200).excerpt() == "a" * 110 + " ..."
    assert CurlAnswer(200, '{"epoch": 1}\n{"epoch": 2}\n').excerpt() == '{"epoch": 1}\n{"epoch": 2}'
