"""File permissions: only the owner may read what the service stores.

`keep_private` applies to all files that the process writes from then on, and to Spark's processes. Exports
are written for others: `publish` gives them the modes that the owner's original umask allows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_GROUP_AND_OTHERS = 0o077
_umask = -1


def keep_private() -> None:
    """Makes new files of the process readable by its owner alone. Call it once, at start."""
    global _umask
    _umask = os.umask(_GROUP_AND_OTHERS)


def tighten(directory: Path, names: Iterable[str]) -> None:
    """Removes others' permissions from a directory, and from entries with these names (`*` for any)."""
    _take(directory)
    for name in names:
        for path in directory.glob(name):
            _take(path)
            if path.is_dir() and not path.is_symlink():
                for root, folders, files in os.walk(path):
                    for inner in (*folders, *files):
                        _take(Path(root, inner))


def publish(path: Path) -> None:
    """Gives a file, or a directory and all in it, the modes that the original umask allows."""
    if _umask < 0:
        return
    _grant(path)
    for root, folders, files in os.walk(path):
        for inner in (*folders, *files):
            _grant(Path(root, inner))


def make_public(directory: Path) -> None:
    """Makes a directory for exports, and its missing parents."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    if _umask >= 0:
        for path in missing:
            _grant(path)


def _take(path: Path) -> None:
    """Removes others' permissions. What belongs to another user stays as it is."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        if mode & _GROUP_AND_OTHERS and not path.is_symlink():
            path.chmod(mode & 0o7700)


def _grant(path: Path) -> None:
    if not path.is_symlink():
        path.chmod((0o777 if path.is_dir() else 0o666) & ~_umask)
