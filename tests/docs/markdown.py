"""Reads fenced blocks and tables out of the project's documents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)")


@dataclass(frozen=True)
class Block:
    """A fenced block; `about` is what follows its language."""

    language: str
    text: str
    line: int
    about: str = ""


def blocks(document: str) -> list[Block]:
    text = (ROOT / document).read_text()
    return [
        Block(match[1], match[3], text.count("\n", 0, match.start()) + 2, match[2].strip())
        for match in FENCE.finditer(text)
    ]


def commands(script: str) -> Iterator[str]:
    """The commands of a shell block, each with the lines that its quotes, backslashes and pipes span."""
    pending = ""
    for line in script.splitlines():
        pending += line + "\n"
        if _is_whole(pending):
            command = pending.strip()
            pending = ""
            if command and not command.startswith("#"):
                yield command
    if pending:
        raise ValueError(f"a command has no end: {pending}")


def _is_whole(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return not text.endswith(("\\\n", "|\n"))


def first_cells(document: str) -> list[str]:
    """The code in the first cell of every table row, in order."""
    rows = re.findall(r"^\| `([^`]+)`", (ROOT / document).read_text(), re.MULTILINE)
    return list(rows)


def links(document: str) -> list[str]:
    """The targets of links to files of the project."""
    return [target for target in LINK.findall((ROOT / document).read_text()) if "://" not in target]
