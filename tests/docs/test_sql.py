"""docs/sql.md: its blocks run, in order, on one fresh service; what it says is refused is, by that name."""

import re
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.docs.markdown import ROOT, blocks
from tests.service.client import Client

DOCUMENT = "docs/sql.md"
REFUSALS = re.compile(r"^\| `(SELECT [^`]+)` \| `([^`]+)` \|$", re.MULTILINE)


def test_blocks_run_and_refusals_are_refused(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        for block in blocks(DOCUMENT):
            dialect = block.about or "postgres"
            answer = service.post("/v1/sql", {"sql": block.text, "dialect": dialect})
            assert answer.status_code == 200, f"{DOCUMENT}:{block.line}\n{answer.text}"
        for query, construct in REFUSALS.findall((ROOT / DOCUMENT).read_text()):
            answer = service.post("/v1/views", {"name": "refused", "sql": query})
            assert answer.status_code == 422, f"{query}\n{answer.text}"
            problem = answer.json()
            assert problem["code"] == "unsupported_sql", answer.text
            assert construct.lower() in problem["detail"].lower(), answer.text
            assert problem["position"]["line"] == 1, answer.text
        for view in service.get("/v1/views").json()["views"]:
            assert service.get(f"/v1/views/{view['name']}/rows").json()["rows"], (
                f"{view['name']} shows nothing"
            )


def test_there_are_refusals_to_try() -> None:
    assert len(REFUSALS.findall((ROOT / DOCUMENT).read_text())) == (ROOT / DOCUMENT).read_text().count(
        "\n| `SELECT"
    )


@pytest.mark.parametrize("document", ["README.md", "docs/sql.md"])
def test_blocks_of_sql_are_not_too_wide(document: str) -> None:
    for block in blocks(document):
        if block.language == "sql":
            assert max(map(len, block.text.splitlines())) <= 120, f"{document}:{block.line}"
