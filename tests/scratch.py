"""Where the tests of a run keep their files: in memory if there is room, because most of what a test of the
service waits for is its disk. `--basetemp DIRECTORY` keeps them there instead, and after the run too.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

_MEMORY = Path("/dev/shm")
_ROOM = 8 << 30
"""Bytes that have to be free there, several times what a run has at a time."""
_OWN = pytest.StashKey[Path]()


def choose(config: pytest.Config) -> None:
    """Choose the directory, before pytest does. The processes of a run get one inside of it."""
    if config.option.basetemp is None and _has_room():
        config.stash[_OWN] = _MEMORY / f"freshet-tests-{os.getpid()}"
        config.option.basetemp = str(config.stash[_OWN])


def clear(config: pytest.Config) -> None:
    """Remove the directory, if the run has chosen it."""
    if _OWN in config.stash:
        shutil.rmtree(config.stash[_OWN], ignore_errors=True)


def _has_room() -> bool:
    return os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM
