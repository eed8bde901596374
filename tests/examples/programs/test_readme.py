"""The README shows what each program prints; of measured numbers, only that they are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks

PROGRAMS = Path("examples/programs")
SHOWN = {
    command.removeprefix("$ python -m "): output
    for command, _, output in (block.text.partition("\n") for block in blocks(f"{PROGRAMS}/README.md"))
}
MEASURED = {"examples.programs.prioritised"}


def test_every_program_is_shown() -> None:
    runnable = {path.stem for path in (ROOT / PROGRAMS).glob("*.py") if "def main()" in path.read_text()}
    assert SHOWN.keys() == {f"examples.programs.{name}" for name in runnable}


@pytest.mark.parametrize("module", SHOWN)
def test_it_prints_what_is_shown(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(module).main()
    printed = capsys.readouterr().out
    assert comparable(module, printed) == comparable(module, SHOWN[module])


def comparable(module: str, text: str) -> list[str]:
    """Lines without spaces at their ends; without digits and the width of columns where they are measured."""
    lines = [line.rstrip() for line in text.splitlines()]
    return (
        [re.sub(r"[\d.,]+", "#", " ".join(line.split())) for line in lines] if module in MEASURED else lines
    )
