"""Concealing: what clients are told names no directory of the server.

Errors of Spark, of the file system and of the state's files have paths in them. Below the directories
that are hidden a path is shown as what follows, which is how clients name their files.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_hidden: tuple[str, ...] = ()


def hide(directories: Iterable[Path]) -> None:
    """From now on `conceal` hides them too, as they are written and where their links lead."""
    global _hidden
    found = {str(path) for directory in directories for path in (directory.absolute(), directory.resolve())}
    _hidden = tuple(sorted({*_hidden, *found} - {"/"}, key=lambda path: (-len(path), path)))


def conceal(text: str) -> str:
    """The text without the hidden directories."""
    if "/" in text:
        for directory in _hidden:
            text = (
                text.replace(f"file://{directory}/", "")
                .replace(f"{directory}/", "")
                .replace(directory, "...")
            )
    return text


hide([Path(__file__).parent.parent, Path(sys.prefix), Path(sys.base_prefix), Path(tempfile.gettempdir())])
