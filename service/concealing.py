"""Concealing: messages to clients name no directory of the server.

Errors of Spark, of the file system and of the state's files contain paths. A path below a hidden directory
is shown relative to it, which is also how clients name their files.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_hidden: tuple[str, ...] = ()


def hide(directories: Iterable[Path]) -> None:
    """Makes `conceal` hide these directories too, both as they are written and with links resolved."""
    global _hidden
    found = {str(path) for directory in directories for path in (directory.absolute(), directory.resolve())}
    _hidden = tuple(sorted({*_hidden, *found} - {"/"}, key=lambda path: (-len(path), path)))


def conceal(text: str) -> str:
    """The text without the names of hidden directories."""
    if "/" in text:
        for directory in _hidden:
            text = (
                text.replace(f"file://{directory}/", "")
                .replace(f"{directory}/", "")
                .replace(directory, "...")
            )
    return text


hide([Path(__file__).parent.parent, Path(sys.prefix), Path(sys.base_prefix), Path(tempfile.gettempdir())])
