"""docs/cli.md: its commands run on a new service, and it has every command and exit code."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.command.application import Commands, main
from freshet.command.shell.backslash import COMMANDS
from tests.docs.markdown import ROOT, first_cells
from tests.docs.transcript import matches, steps
from tests.service.client import Process

DOCUMENT = "docs/cli.md"


def test_the_guide_works_as_shown(
    start: Callable[..., Process],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    service = start()
    service.wait_ready()
    monkeypatch.setenv("FRESHET_URL", service.url)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.chdir(tmp_path)
    compared = 0
    for step in steps(DOCUMENT):
        words = shlex.split(step.command)
        if words[0] == "printf":
            Path(words[-1]).write_text(words[1].replace("\\n", "\n"))
        if words[0] != "freshet":
            continue
        with pytest.raises(SystemExit) as ended:
            main(words[1:])
        shown = capfd.readouterr()
        fails = step.shown is not None and step.shown.text.startswith("error: ")
        assert (ended.value.code or 0) == int(fails), f"{step.command}\n{shown.err}"
        if step.shown is not None:
            printed = "\n".join(line.rstrip() for line in (shown.err if fails else shown.out).splitlines())
            assert matches(step.shown, printed), f"{DOCUMENT}:{step.shown.line}\n{printed}"
            compared += 1
    assert compared > 6
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
