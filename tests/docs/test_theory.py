"""docs/theory.md: its programs run, and every file that it names is there."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks

PAGE = "docs/theory.md"
PROGRAMS = [block.text for block in blocks(PAGE) if block.language == "python"]
NAMED = sorted(set(re.findall(r"`((?:engine|tests|bench|examples)/[^`]+)`", Path(ROOT / PAGE).read_text())))


@pytest.mark.parametrize("program", PROGRAMS, ids=range(1, len(PROGRAMS) + 1))
def test_programs_run(program: str) -> None:
    exec(compile(program, PAGE, "exec"), {})


@pytest.mark.parametrize("path", NAMED)
def test_files_are_there(path: str) -> None:
    assert (ROOT / path).exists(), f"{PAGE} names {path}"
