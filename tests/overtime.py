"""A run in several processes ends, if need be with a message: nobody waits for ever for a test that hangs."""

from __future__ import annotations

import os
import threading

import pytest

SECONDS = float(os.environ.get("FRESHET_TEST_SECONDS", "3600"))
"""Several times what a run takes on a busy machine."""
EXIT_CODE = 70


class Overtime:
    """The plugin of the process that divides the work: it knows which tests run, and ends the run when its
    time is over. The others end with it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._running: dict[str, None] = {}
        self._timer = threading.Timer(SECONDS, self._end)
        self._timer.daemon = True
        self._timer.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = None

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)

    def pytest_unconfigure(self) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        writer = self._config.get_terminal_writer()
        writer.line()
        writer.line(f"the run is ended after {SECONDS:g} s, with these tests under way:")
        for nodeid in tuple(self._running):
            writer.line(f"  {nodeid}")
        writer.flush()
        os._exit(EXIT_CODE)


def watch(config: pytest.Config) -> None:
    """Give a run its time, if this process divides its work."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Overtime(config))
