"""Whose files they are: what the service keeps is its owner's alone.

`keep_private` makes it so for all that the process writes from then on, Spark's processes included. What
clients have exported is written for others, and `publish` gives it the modes that the owner's umask
lets new files have.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_GROUP_AND_OTHERS = 0o077
_umask = -1


def keep_private() -> None:
    """From now on the process's new files can be read by its owner alone. Called once, at the start."""
    global _umask
    _umask = os.umask(_GROUP_AND_OTHERS)


def tighten(directory: Path, names: Iterable[str]) -> None:
    """Takes the rights of others from a directory, and from what has these names (`*` for any) in it."""
    _take(directory)
    for name in names:
        for path in directory.glob(name):
            _take(path)
            if path.is_dir() and not path.is_symlink():
                for root, folders, files in os.walk(path):
                    for inner in (*folders, *files):
                        _take(Path(root, inner))


def publish(path: Path) -> None:
    """Gives a file, or a directory and all in it, the rights that they have where nothing is kept private."""
    if _umask < 0:
        return
    _grant(path)
    for root, folders, files in os.walk(path):
        for inner in (*folders, *files):
            _grant(Path(root, inner))


def make_public(directory: Path) -> None:
    """Makes a directory, and those above it that are missing, for what is published."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    if _umask >= 0:
        for path in missing:
            _grant(path)


def _take(path: Path) -> None:
    """What belongs to somebody else stays as it is."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        if mode & _GROUP_AND_OTHERS and not path.is_symlink():
            path.chmod(mode & 0o7700)


def _grant(path: Path) -> None:
    if not path.is_symlink():
        path.chmod((0o777 if path.is_dir() else 0o666) & ~_umask)
