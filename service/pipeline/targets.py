"""Directories that exports write to: made beside, then put in their place.

An export of a local directory is whole or not there. `overwrite` puts the new directory
in the place of the old one with two renames, between which there is neither; a service
that ended just there puts the old one back when it starts. `append` moves files in one
by one, each with a name of its own.

What is there may be replaced or appended to if it is empty or has Spark's mark of a
finished job: an export never takes the place of what something else has written.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from service.errors import Conflict
from service.privacy import make_public, publish

ERROR_IF_EXISTS, OVERWRITE, APPEND = MODES = ("errorifexists", "overwrite", "append")
_MARK = "_SUCCESS"


@dataclass(frozen=True)
class ExportTarget:
    """The directory `path`, written to by the job `id`."""

    path: Path
    id: str

    @property
    def staging(self) -> Path:
        """Where the job writes."""
        return self.path.with_name(f".{self.path.name}.{self.id}.new")

    @property
    def _old(self) -> Path:
        return self.path.with_name(f".{self.path.name}.{self.id}.old")

    def check(self, mode: str) -> None:
        """Conflict if the mode forbids to write to what is there."""
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise Conflict(f"{str(self.path)!r} is a file", "name a directory", code="path_exists")
        if not any(self.path.iterdir()):
            return
        if mode == ERROR_IF_EXISTS:
            raise Conflict(f"{str(self.path)!r} is there already", "overwrite or append", code="path_exists")
        if not (self.path / _MARK).exists():
            raise Conflict(
                f"{str(self.path)!r} has files that no export has written",
                "name another directory",
                code="path_exists",
            )

    def prepare(self) -> None:
        """Makes the directories above it."""
        make_public(self.path.parent)

    def commit(self, mode: str) -> None:
        """Puts what was written into its place. Conflict if something came there meanwhile."""
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
        """Removes what a job leaves beside the directory, and puts back what it had taken away."""
        if self._old.exists() and not self.path.exists():
            os.rename(self._old, self.path)
        for path in (self.staging, self._old):
            shutil.rmtree(path, ignore_errors=True)
