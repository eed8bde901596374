"""The commands of the README and of the tour are run, each on a fresh service, and give what is shown."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from service.settings import Settings
from tests.docs.markdown import ROOT, Block, blocks, commands, links
from tests.docs.transcript import matches, play, steps
from tests.service.client import Client

DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
PROGRAMS = ("curl", "make", "docker", "sql", "sql()")
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "docs/tour.md"])
def test_the_document_works_as_shown(document: str, tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        assert play(service, document) > 2


def test_the_helper_of_the_tour_sends_the_sql_as_json() -> None:
    """The shell reads the helper; in place of curl stands a function that shows what it is given."""
    helper = next(step.command for step in steps("docs/tour.md") if step.command.startswith("sql()"))
    statement = "SELECT 'it''s',\n  1"
    script = f'curl() {{ cat; }}; {helper}; sql "{statement}"'
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown) == {"sql": statement}


@pytest.mark.parametrize(
    ("language", "shown", "answer", "fits"),
    [
        ("json", '{"a": 1, "b": [2]}', '{"b":[2],"a":1}', True),
        ("json", '{"a": 1}', '{"a": 1, "b": 2}', False),
        ("json", '{"a": 1, "...": "..."}', '{"a": 1, "b": 2}', True),
        ("json", '{"a": 2, "...": "..."}', '{"a": 1, "b": 2}', False),
        ("json", '{"a": true}', '{"a": 1}', False),
        ("json", '{"a": 1}\n{"a": 2}', '{"a": 1}\n{"a": 3}', False),
        ("csv", "a\n1\n", "a\n1\n", True),
        ("csv", "a\n1\n", "a\n2\n", False),
        ("text", "a\n...\nd", "a\nb\nc\nd\n", True),
        ("text", "a\n...\ne", "a\nb\nc\nd\n", False),
        ("text", "took ... ms", "took 3.5 ms", True),
    ],
)
def test_an_answer_fits_what_is_shown(language: str, shown: str, answer: str, fits: bool) -> None:
    assert matches(Block(language, shown, 1), answer) == fits


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_is_one_that_exists(document: str) -> None:
    for block in blocks(document):
        for command in commands(block.text) if block.language == "sh" else ():
            words = command.split()
            assert words[0] in PROGRAMS or re.match(r"FRESHET_\w+=", words[0]), command
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
