"""Benchmarks of services that start without their imports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

import pytest

from bench import http
from tests.forked.forked_process import ForkedProcess


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services are forked from a process that has loaded everything."""

    def start(environment: Mapping[str, str], output: BinaryIO) -> ForkedProcess:
        return ForkedProcess(("-m", "service"), environment, output.fileno())

    monkeypatch.setattr(http, "_start", start)
