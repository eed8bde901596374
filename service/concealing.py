"""Concealing: messages to clients and to the log name no directory of the server, and no secret.

Errors of Spark, of the file system and of the state's files contain paths. A path below a hidden directory
is shown relative to it, which is also how clients name their files. A key that a client has sent in the wrong
place, such as a path, is shown without its secret.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

KEY_FORM = "fr_[0-9a-f]{12}_[0-9a-f]{64}"
"""The form of the text of an API key, for `re`."""
_SECRET = re.compile("(fr_[0-9a-f]{12}_)[0-9a-f]+")
_hidden: tuple[str, ...] = ()


def hide(directories: Iterable[Path]) -> None:
    """Makes `conceal` hide these directories too, both as they are written and with links resolved."""
    global _hidden
    found = {str(path) for directory in directories for path in (directory.absolute(), directory.resolve())}
    _hidden = tuple(sorted({*_hidden, *found} - {"/"}, key=lambda path: (-len(path), path)))


def on_one_line(text: str) -> str:
    """The text with line breaks and control characters escaped, so that nobody can forge lines of a log."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def without_secrets(text: str) -> str:
    """The text without secrets of keys."""
    return _SECRET.sub(r"\1...", text) if "fr_" in text else text


def conceal(text: str) -> str:
    """The text without the names of hidden directories, and without secrets of keys."""
    text = without_secrets(text)
    if "/" in text:
        for directory in _hidden:
            text = (
                text.replace(f"file://{directory}/", "")
                .replace(f"{directory}/", "")
                .replace(directory, "...")
            )
    return text


hide([Path(__file__).parent.parent, Path(sys.prefix), Path(sys.base_prefix), Path(tempfile.gettempdir())])
