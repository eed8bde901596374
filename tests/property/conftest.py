"""The tally of random views, shown when all is done: they were worth checking, and were really compared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.property.tally import Tally

_TALLY = pytest.StashKey[Tally]()
ENOUGH = 100
"""Pairs of which most are compared, whatever the seed."""


@pytest.fixture(scope="module")
def tally(pytestconfig: pytest.Config) -> Iterator[Tally]:
    tally = pytestconfig.stash.setdefault(_TALLY, Tally())
    yield tally
    if tally.pairs >= ENOUGH:
        epochs = tally.answers["epochs"]
        assert tally.compared["rows"] > 0.8 * epochs
        assert tally.compared["asked"] > 0.3 * tally.pairs
        assert tally.compared["reading"] > 0.1 * tally.pairs
        assert tally.answers["filled"] > 0.5 * epochs
        assert tally.answers["moved"] > 0.4 * epochs
        assert tally.answers["failed"] < 0.1 * epochs


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(_TALLY, None)
    if found is not None:
        terminalreporter.section("random views")
        terminalreporter.write_line(str(found))
