"""docs/cli.md: its commands run on a new service, and it has every command and exit code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.command.application import Commands
from freshet.command.shell.backslash import COMMANDS
from tests.docs.markdown import ROOT, first_cells
from tests.docs.terminal import Terminal
from tests.service.client import Process

DOCUMENT = "docs/cli.md"


def test_the_guide_works_as_shown(
    start: Callable[..., Process], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = start()
    service.wait_ready()
    assert Terminal(service.url, tmp_path, monkeypatch, is_pipe=True).play(DOCUMENT) > 6
    assert (tmp_path / "totals.epoch").read_text() == "2\n"


def test_it_has_every_command_and_every_exit_code() -> None:
    cells = first_cells(DOCUMENT)
    text = (ROOT / DOCUMENT).read_text()
    assert set(Commands.entries) <= set(cells)
    for command in COMMANDS:
        assert f"`{command.name}" in text
    told = " ".join((ROOT / "freshet/command/application.py").read_text().split())
    assert re.findall(r"^\| `(\d+)`", text, re.MULTILINE) == ["0", "1", "2", "3", "130"]
    assert all(f"{code} " in told for code in (0, 1, 2, 3, 130))
