"""The commands of the README and of the tour are run, each on a fresh service, and give what is shown."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.docs.markdown import ROOT, Block, blocks, commands, links
from tests.docs.transcript import matches, play, steps
from tests.service.client import Client

DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
PROGRAMS = (
    "curl",
    "psql",
    "make",
    "docker",
    "freshet",
    "kill",
    "sql",
    "sql()",
    "dbt",
    "pip",
    "tar",
    "mkdir",
    "printf",
    "cat",
    "export",
)
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


PAGES = ("tour", "http", "backups", "assertions", "why", "branches", "valid-time", "costs", "replacing")
PLAYED = ["README.md", *(f"docs/{it}.md" for it in PAGES)]


@pytest.mark.parametrize("document", PLAYED)
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
        ("json", '[1, "..."]', "[1, 2, 3]", True),
        ("json", '[2, "..."]', "[1, 2, 3]", False),
        ("json", '[1, 2, "..."]', "[1]", False),
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
            assert words[0] in PROGRAMS or re.match(r"(FRESHET|OTEL)_\w+=", words[0]), command
            if words[0] == "make":
                assert words[1] in TARGETS, command


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    for target in links(document):
        assert ((ROOT / document).parent / target).exists(), target


def table(document: str, header: str) -> list[dict[str, str]]:
    """The rows of the table whose first column has this header, as cells by column."""
    lines = (ROOT / document).read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if re.match(rf"\| {header} +\|", line))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:]]
    end = next((number for number, line in enumerate(lines[start:]) if not line.startswith("|")), len(rows))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:end]]


MEASURED = {(row["workload"], row["replaced"]): row for row in table("docs/benchmarks.md", "workload")}
QUOTED = table("README.md", "workload")


@pytest.mark.parametrize("quoted", QUOTED, ids=[row["workload"] for row in QUOTED])
def test_a_line_of_its_table_is_that_of_the_benchmarks(quoted: dict[str, str]) -> None:
    """Each figure stands there in the line of the same workload, and in the column that it is quoted for."""
    lines = {replaced: MEASURED.get((quoted["workload"], replaced)) for replaced in ("load", "1", "1,000")}
    assert lines["1"], f"the benchmarks have no {quoted['workload']}"
    medians = [line["median"] if line else "" for line in lines.values()]
    assert [quoted[column] for column in ("load", "replace 1 row", "replace 1,000")] == medians
    assert quoted["DuckDB from scratch"] == lines["1"]["DuckDB"]


def test_what_it_says_of_http_is_measured() -> None:
    paragraph = next(text for text in (ROOT / "README.md").read_text().split("\n\n") if "Over HTTP" in text)
    single, many, bulk = re.findall(r"([\d.,]+ (?:ms|µs)|[\d,]+(?= rows a second))", paragraph)
    assert single == MEASURED["HTTP single row, 1 client", "1 new"]["median"]
    assert many == MEASURED["HTTP single row, 32 clients", "1 new"]["rows/s"]
    assert bulk == MEASURED["HTTP bulk, 1 client", "100,000 new"]["rows/s"]


def test_no_figure_of_the_readme_comes_from_nowhere() -> None:
    """Every duration, rate and size in it stands in a page of measurements."""
    measured = "".join((ROOT / f"docs/{page}.md").read_text() for page in ("benchmarks", "sizing"))
    unit = r"\d[\d,.]* (?:µs|ms|s|B|MB|GB|bytes|rows/s)\b|[\d,]+(?= rows a second)"
    figures = re.findall(unit, (ROOT / "README.md").read_text())
    assert len(figures) > 15
    assert [figure for figure in figures if figure not in measured] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
