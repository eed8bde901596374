"""Scratch directories of jobs, on the state's storage, which Spark's workers share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.settings.settings import Settings


def scratch_path(settings: Settings, id: str) -> Path:
    """The absolute path of a job's scratch directory."""
    return (settings.state / "scratch" / id).absolute()


@contextmanager
def scratch(directory: Path) -> Iterator[Path]:
    """Creates the directory for the block, and removes it afterwards."""
    directory.mkdir(parents=True)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
