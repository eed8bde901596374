"""docs/walkthrough.md: a newcomer's first hour, typed from top to bottom at a new service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from service.process import backup_commands, key_commands
from tests.docs.terminal import Terminal
from tests.service.client import Process

DOCUMENT = "docs/walkthrough.md"


def test_the_walk_goes_as_shown(
    start: Callable[..., Process], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for commands in (backup_commands, key_commands):
        monkeypatch.setattr(commands, "keep_private", lambda: None)
    service = start()
    service.wait_ready()
    assert Terminal(service.url, tmp_path, monkeypatch).play(DOCUMENT) > 15
