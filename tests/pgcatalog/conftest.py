"""A service over a fresh data directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.settings.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")
