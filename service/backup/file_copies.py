"""Copies of files, durable and with their hashes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

PIECE = 1 << 20
"""Bytes that are read at once; between two pieces, whoever waits may give up."""
Passed = Callable[[int], None]
"""Takes the number of bytes that were read; whatever it raises ends the work."""


def hash_of(path: Path, passed: Passed) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
            passed(len(piece))
    return digest.hexdigest()


def copy(source: Path, target: Path, passed: Passed) -> str:
    """Copies a file to a new one, durably. Returns its hash."""
    digest = hashlib.sha256()
    with open(source, "rb") as old, open(target, "xb") as new:
        while piece := old.read(PIECE):
            new.write(piece)
            digest.update(piece)
            passed(len(piece))
        new.flush()
        os.fsync(new.fileno())
    return digest.hexdigest()


def link_or_copy(source: Path, target: Path, passed: Passed) -> str:
    """Gives a file that never changes a second name, or copies it where that is not possible. Returns its
    hash."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # on another file system, or on one without links
        return copy(source, target, passed)
    return hash_of(target, passed)


def sync(path: Path) -> None:
    """Makes a file, or the names in a directory, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
