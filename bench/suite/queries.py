"""The queries of a suite: a directory `queries` with a file each."""

from __future__ import annotations

from pathlib import Path


def read(module: str) -> dict[str, str]:
    """SQL by name, from the directory `queries` beside the file of a module."""
    files = sorted(Path(module).with_name("queries").glob("*.sql"))
    return {path.stem: path.read_text().strip() for path in files}
