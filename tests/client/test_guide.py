"""The programs of the client's guide run one after the other, and print what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.terminal import Terminal
from tests.service.client import Process

DOCUMENT = "docs/client.md"


def test_the_guide_works_as_shown(service: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    assert Terminal(service.url, tmp_path, monkeypatch).play(DOCUMENT) > 5
