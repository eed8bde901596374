"""Waiting for a condition."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 240) -> None:
    """Waits until the condition holds. The limit suits the busiest machine."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def when(condition: Callable[[], bool], act: Callable[[], object]) -> threading.Thread:
    """Acts in another thread once the condition holds. Join it."""

    def watch() -> None:
        wait_until(condition)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread
