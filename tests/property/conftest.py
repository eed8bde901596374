"""The tally of random views, shown when all is done."""

from __future__ import annotations

import pytest

from tests.property.tally import Tally

_TALLY = pytest.StashKey[Tally]()


@pytest.fixture
def tally(pytestconfig: pytest.Config) -> Tally:
    return pytestconfig.stash.setdefault(_TALLY, Tally())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(_TALLY, None)
    if found is not None:
        terminalreporter.section("random views")
        terminalreporter.write_line(str(found))
