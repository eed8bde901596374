"""The README's commands are run, in order, on one fresh service; the answers that it shows are its."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.curl import parse
from tests.docs.markdown import ROOT, blocks, commands, links
from tests.service.client import Client

DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Client]:
    with Client(Settings(data=tmp_path)) as client:
        yield client


def run(service: Client, command: str) -> str:
    """The answer to a curl command, which must be accepted."""
    request = parse(command, ROOT)
    sending = service.http.request(request.method, request.url, headers=request.headers, content=request.body)
    answer = service.run(sending)
    assert answer.status_code < 300, f"{command}\n{answer.text}"
    return answer.text


def values(text: str) -> list[object]:
    """One JSON value, or one a line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def test_the_readme_works_as_shown(service: Client) -> None:
    answer, compared = "", 0
    for block in blocks("README.md"):
        if block.language == "sh":
            for command in commands(block.text):
                if command.startswith("curl"):
                    answer = run(service, command)
        elif block.language in ("json", "csv"):
            read = values if block.language == "json" else str.splitlines
            assert read(block.text) == read(answer), f"README.md:{block.line}"
            compared += 1
    assert compared > 0


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_is_one_that_exists(document: str) -> None:
    for block in blocks(document):
        for command in commands(block.text) if block.language == "sh" else ():
            words = command.split()
            assert words[0] in ("curl", "make", "docker") or re.match(r"FRESHET_\w+=", words[0]), command
            if words[0] == "make":
                assert words[1] in TARGETS, command


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    for target in links(document):
        assert ((ROOT / document).parent / target).exists(), target


def test_its_speeds_are_those_of_the_benchmarks() -> None:
    section = (ROOT / "README.md").read_text().split("## How fast")[1].split("\n## ")[0]
    measured = (ROOT / "docs/benchmarks.md").read_text()
    figures = re.findall(r"\d[\d,.]* (?:µs|ms|s)\b|\d+,\d+(?= rows a second)", section)
    assert len(figures) > 10
    assert [figure for figure in figures if figure not in measured] == []
