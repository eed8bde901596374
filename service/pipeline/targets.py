"""Directories that exports write: staged beside their place, then moved there.

A local export is complete or absent. `overwrite` replaces the old directory with two renames, between which
neither exists; a service that ended at that point restores the old one when it starts. `append` moves files
in one by one, under names of their own.

An existing directory may be replaced or appended to if it is empty or has Spark's mark of a finished job, so
an export never replaces files of another origin.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from service.errors import Conflict
from service.privacy import make_public, publish

ERROR_IF_EXISTS, APPEND = "errorifexists", "append"
_MARK = "_SUCCESS"


@dataclass(frozen=True)
class ExportTarget:
    """The directory `path`, written by the job `id`."""

    path: Path
    id: str

    @property
    def staging(self) -> Path:
        """The directory that the job writes to."""
        return self.path.with_name(f".{self.path.name}.{self.id}.new")

    @property
    def _old(self) -> Path:
        return self.path.with_name(f".{self.path.name}.{self.id}.old")

    def check(self, mode: str) -> None:
        """Raises Conflict if the path exists and the mode forbids writing to it."""
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise Conflict(f"{str(self.path)!r} is a file", "name a directory", code="path_exists")
        if not any(self.path.iterdir()):
            return
        if mode == ERROR_IF_EXISTS:
            raise Conflict(
                f"{str(self.path)!r} exists already", "use mode overwrite or append", code="path_exists"
            )
        if not (self.path / _MARK).exists():
            raise Conflict(
                f"{str(self.path)!r} has files that no export wrote",
                "name another directory",
                code="path_exists",
            )

    def prepare(self) -> None:
        """Creates the parent directories."""
        make_public(self.path.parent)

    def mark(self) -> None:
        """Marks what was written as finished, as Spark does."""
        (self.staging / _MARK).touch()

    def commit(self, mode: str) -> None:
        """Moves what was written to its place. Raises Conflict if something else has appeared there."""
        self.check(mode)
        publish(self.staging)
        if mode == APPEND and self.path.exists():
            for file in sorted(self.staging.iterdir()):
                os.rename(file, self.path / file.name)
            return
        if self.path.exists():
            os.rename(self.path, self._old)
        os.rename(self.staging, self.path)

    def clear(self) -> None:
        """Removes the job's directories beside the target, and restores an old target that was moved away."""
        if self._old.exists() and not self.path.exists():
            os.rename(self._old, self.path)
        for path in (self.staging, self._old):
            shutil.rmtree(path, ignore_errors=True)
