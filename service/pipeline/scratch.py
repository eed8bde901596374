"""Scratch directories of jobs: on the state's storage, which Spark's workers share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.settings.settings import Settings


def scratch_path(settings: Settings, id: str) -> Path:
    """The scratch directory of a job, absolute."""
    return (settings.state / "scratch" / id).absolute()


@contextmanager
def scratch(directory: Path) -> Iterator[Path]:
    """The directory, there for as long as it is needed."""
    directory.mkdir(parents=True)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
