"""Benchmarks of services that start without their imports, and of memory as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

import pytest

from bench import http, measure
from tests.forked.forked_process import ForkedProcess


@pytest.fixture(autouse=True)
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is touched before a run: it takes seconds, for figures that nobody reads here."""
    monkeypatch.setattr(measure, "warm", lambda: None)


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services are forked from a process that has loaded everything."""

    def start(environment: Mapping[str, str], output: BinaryIO) -> ForkedProcess:
        return ForkedProcess(("-m", "service"), environment, output.fileno())

    monkeypatch.setattr(http, "_start", start)
