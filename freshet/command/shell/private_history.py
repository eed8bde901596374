"""What was typed, for the next session: in a file that its owner alone reads, without keys."""

from __future__ import annotations

import os
import re
from pathlib import Path

from prompt_toolkit.history import FileHistory

_KEY = re.compile(r"fr_[0-9A-Za-z]+_")
"""How the text of a key begins."""


class PrivateHistory(FileHistory):
    def __init__(self, file: Path) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        file.chmod(0o600)
        super().__init__(str(file))

    def store_string(self, string: str) -> None:
        """Keeps a line, unless a key is in it."""
        if not _KEY.search(string):
            super().store_string(string)


def history_file() -> Path:
    """The place of the history in the user's state."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "freshet" / "history"
