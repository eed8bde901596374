"""Runs the commands of a document on a service, and compares the answers that it shows.

A block of `sh` has commands: `curl`, and `sql "..."`, the documents' helper for `POST /v1/sql`; others are
not run. A block of another language right after it is the answer to its last command. Every other command
must be accepted; one whose shown answer has a `status` of an error must be refused so.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import httpx

from tests.curl import Request, parse
from tests.docs.markdown import ROOT, Block, blocks, commands
from tests.service.client import Client

ANSWERS = ("json", "csv", "text")
ELSEWHERE = "..."
"""In a shown answer: anything. As a member of an object: there are other members."""


@dataclass(frozen=True)
class Step:
    """A command, and the answer that the document shows; None if it shows none. Or a whole program."""

    command: str
    shown: Block | None
    language: str = "sh"
    line: int = 0


def steps(document: str, *languages: str) -> Iterator[Step]:
    """The commands of a document in order, and its programs in these languages."""
    found = [*blocks(document), Block("", "", 0)]
    for block, following in pairwise(found):
        shown = following if following.language in ANSWERS else None
        if block.language == "sh":
            *others, last = commands(block.text)
            yield from (Step(command, None) for command in others)
            yield Step(last, shown)
        elif block.language in languages:
            yield Step(block.text, shown, block.language, block.line)


def play(service: Client, document: str) -> int:
    """Run the document; how many answers were compared."""
    compared = 0
    for step in steps(document):
        if (request := request_of(step.command)) is None:
            assert step.shown is None, f"{document}:{step.shown} is the answer to a command that is not run"
            continue
        answer = send(service, request)
        refused = step.shown is not None and shown_status(step.shown) >= 400
        assert (answer.status_code >= 400) == refused, f"{step.command}\n{answer.text}"
        if step.shown is not None:
            assert matches(step.shown, answer.text), f"{document}:{step.shown.line}\n{answer.text}"
            compared += 1
    return compared


def request_of(command: str) -> Request | None:
    """The request that a command sends; None for a command of another kind."""
    if command.startswith("curl"):
        return parse(command, ROOT)
    if command.startswith("sql "):
        body = json.dumps({"sql": shlex.split(command)[1]}).encode()
        return Request("POST", "http://localhost:8000/v1/sql", {"Content-Type": "application/json"}, body)
    return None


def send(service: Client, request: Request) -> httpx.Response:
    return service.run(
        service.http.request(request.method, request.url, headers=request.headers, content=request.body)
    )


def shown_status(block: Block) -> int:
    document = values(block.text)[0] if block.language == "json" else None
    status = document.get("status", 200) if isinstance(document, dict) else 200
    return status if isinstance(status, int) else 200


def matches(shown: Block, answer: str) -> bool:
    return MATCHES[shown.language](shown.text, answer)


def values(text: str) -> list[object]:
    """One JSON value, or one a line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def alike(shown: object, actual: object) -> bool:
    """Whether two JSON values are equal, but for what `...` leaves open."""
    if shown == ELSEWHERE:
        return True
    if isinstance(shown, dict) and isinstance(actual, dict):
        named = {name: value for name, value in shown.items() if name != ELSEWHERE}
        if not (named.keys() <= actual.keys() if ELSEWHERE in shown else named.keys() == actual.keys()):
            return False
        return all(alike(value, actual[name]) for name, value in named.items())
    if isinstance(shown, list) and isinstance(actual, list):
        if shown[-1:] == [ELSEWHERE]:
            shown, actual = shown[:-1], actual[: len(shown) - 1]
        return len(shown) == len(actual) and all(map(alike, shown, actual))
    return type(shown) is type(actual) and shown == actual


def _text(shown: str, answer: str) -> bool:
    pattern = ".*".join(map(re.escape, shown.strip("\n").split(ELSEWHERE)))
    return re.fullmatch(pattern, answer.strip("\n"), re.DOTALL) is not None


MATCHES: dict[str, Callable[[str, str], bool]] = {
    "json": lambda shown, answer: alike(values(shown), values(answer)),
    "csv": lambda shown, answer: shown.splitlines() == answer.splitlines(),
    "text": _text,
}
