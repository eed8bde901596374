"""Answers of something that is not Freshet: each is an error of the client, and a terminal obeys none."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest

import freshet
from freshet.command import sql_command
from freshet.command.printing import csv_line, print_rows
from freshet.command.terminal_text import harmless, json_line, say
from freshet.contract import calls, operation_calls
from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.contract.changefeed import FeedPosition
from freshet.errors import Error, error_of
from freshet.sending.retrying import _told

CALLS: dict[str, ApiCall] = {
    "status": calls.status(),
    "newest_epoch": calls.newest_epoch(),
    "tables": calls.tables(),
    "columns": calls.columns(calls.TABLES, "t"),
    "script": calls.script("SELECT 1", None, "postgres"),
    "script_document": calls.script_document("SELECT 1", "postgres"),
    "change": calls.change("t", ("text/csv", b"a"), None),
    "create_table": calls.create_table("t", "id BIGINT", ()),
    "keys": operation_calls.keys(),
    "audit": operation_calls.audit(0, 10),
}
BODIES = {
    "html": b"<html>hello</html>",
    "nothing": b"",
    "list": b"[]",
    "object": b"{}",
    "null": b"null",
    "number": b"1",
    "deep": b"[" * 100_000,
    "no text": b"\xff\xfe",
    "results": b'{"results": [{"columns": [{}], "rows": [[1]]}]}',
    "texts": b'{"results": "x", "columns": "x", "keys": "x", "entries": "x", "tables": "x", "epoch": {}}',
    "short rows": b'{"results": [{"statement": "S", "epoch": 1, "columns": [{"name": "a", "type": "TEXT"}], '
    b'"rows": [[]]}]}',
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("call", CALLS)
def test_an_answer_of_another_form_is_an_error(call: str, body: str) -> None:
    """Nothing but an Error is raised, whatever comes; most of it is raised."""
    answer = ApiAnswer(200, {}, BODIES[body])
    with suppress(Error):
        CALLS[call].result(answer)
    if body in ("html", "nothing", "deep", "no text"):
        with pytest.raises(freshet.UnexpectedAnswerError) as raised:
            CALLS[call].result(answer)
        assert raised.value.code == "unexpected_answer"


@pytest.mark.parametrize("status", [204, 301, 302, 304, 307, 308, 100])
def test_a_redirection_is_an_error(status: int) -> None:
    if status != 204:
        with pytest.raises(freshet.UnexpectedAnswerError, match="redirect"):
            CALLS["status"].result(ApiAnswer(status, {"location": "http://other"}, b"{}"))


@pytest.mark.parametrize(
    "problem",
    [
        {"position": 7},
        {"position": {"line": "x", "column": []}},
        {"position": [1]},
        {"index": "x", "hint": {}, "detail": ["a"], "code": {"a": 1}, "status": None},
    ],
)
def test_a_problem_of_another_form_is_one_still(problem: dict) -> None:
    found = error_of(422, problem)
    assert isinstance(found, freshet.InvalidRequestError)
    assert (found.line, found.column, found.index) == (None, None, None)
    assert all(isinstance(text, str) for text in (found.message, found.hint, found.code))


@pytest.mark.parametrize(
    "piece",
    [
        b"nonsense\n\n",
        b"id: x\ndata: []\n\n",
        b"id: 5\ndata: {\n\n",
        b"id: 5\ndata: [1]\n\n",
        b'id: 5\ndata: [{"row": []}]\n\n',
        b"event: problem\ndata: []\n\n",
        b"\xff\n\n",
        b"id: 5\ndata: " + b"[" * 100_000 + b"\n\n",
    ],
)
def test_an_event_of_another_form_is_an_error(piece: bytes) -> None:
    position = FeedPosition(0)
    position.begin(())
    with pytest.raises(freshet.UnexpectedAnswerError):
        list(position.epochs(piece))
    assert position.since == 0


def test_events_after_each_other_are_all_read() -> None:
    position = FeedPosition(0)
    position.begin(())
    change = '[{"epoch": %d, "diff": 1, "row": {}}]'
    pieces = "".join(f"id: {n}\ndata: {change % n}\n\n" for n in (1, 2, 2, 3)).encode()
    assert [epoch.number for epoch in position.epochs(pieces)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("told", "waits"), [("nan", 0), ("-inf", 0), ("inf", 60), ("1e9", 60), ("x", 0), ("2", 2)]
)
def test_nobody_makes_a_client_wait_for_ever(told: str, waits: float) -> None:
    assert _told(ApiAnswer(429, {"retry-after": told}, b"")) == waits


class _Redirecting(BaseHTTPRequestHandler):
    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("authorization"))
        self.send_response(307)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def redirecting() -> Iterator[str]:
    _Redirecting.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Redirecting)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_key_goes_nowhere_else(redirecting: str) -> None:
    """Neither a call nor a stream follows a redirection."""
    with freshet.connect(redirecting, "fr_x", retries=0) as db:
        for act in (db.status, lambda: db.sql("SELECT 1"), lambda: list(db.stream(calls.status()))):
            with pytest.raises(freshet.UnexpectedAnswerError):
                act()
    assert _Redirecting.asked == ["Bearer fr_x"] * 3


EVIL = "\x1b]52;c;aGk=\x07 \x9b31m \u202e \x7f \r \x00 fine: é 漢"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _is_tame(text: str) -> bool:
    return all(c.isprintable() or c in "\r\n\t" for c in text) and "\r" not in text.replace("\r\n", "")


@pytest.mark.parametrize("format", ["table", "ndjson", "json", "csv"])
def test_rows_command_no_terminal(format: str) -> None:
    """Names, types and values; what is fine stays readable, and JSON stays the same value."""
    shown = io.StringIO() if format == "table" else Terminal()  # a table is coloured
    print_rows([(EVIL, EVIL)], [[EVIL]], format, shown)  # type: ignore[arg-type]
    assert _is_tame(shown.getvalue()) and "é 漢" in shown.getvalue().replace("\n", "")
    if format == "ndjson":
        assert json.loads(shown.getvalue()) == {EVIL: EVIL}
    if format == "csv":
        into_file = io.StringIO()
        print_rows([("a", "TEXT")], [[EVIL]], "csv", into_file)
        assert EVIL in into_file.getvalue(), "a file gets the value as it is"


def test_lines_command_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"key {EVIL}")
    say(sql_command.summary(EVIL, None, 1))
    assert _is_tame(capsys.readouterr().out)
    assert _is_tame(json_line({EVIL: [EVIL]})) and json.loads(json_line({EVIL: [EVIL]})) == {EVIL: [EVIL]}
    assert _is_tame(csv_line([EVIL, "a,b"], tame=True)) and harmless("a\tb\n") == "a\tb\n"
