"""The SQL of a command: the text of a file, or of standard input."""

from __future__ import annotations

import sys
from pathlib import Path

import typer


def script_text(file: Path | None) -> str:
    """The text of a file; without one, or with `-`, of standard input. Raises BadParameter if it cannot be
    read."""
    try:
        if file is None or str(file) == "-":
            return sys.stdin.read()
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise typer.BadParameter(f"{file} cannot be read: {reason}", param_hint="FILE") from None
