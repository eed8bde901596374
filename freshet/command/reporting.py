"""Errors for people: what is wrong, the place in the SQL, the hint, and the exit code."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from freshet.command.terminal_text import harmless
from freshet.errors import Error, UnreachableError

REFUSED, UNREACHABLE = 1, 3
_HINTS = {
    "key_missing": "put a key into FRESHET_KEY, or pass it as --key",
    "unknown_key": "freshet keys list shows the keys",
    "bad_rows": "pass --bad-rows skip to leave them out and count them",
}
"""Ways out on the command line, for errors whose own hints are about requests."""
_WIDTH = 100


def report(error: Error, sql: str = "", console: Console | None = None) -> int:
    """Writes an error, to stderr if no console is told, and returns the exit code."""
    console = console or Console(stderr=True, soft_wrap=True)
    line = Text.assemble(("error: ", "bold red"), harmless(error.message), (f" [{error.code}]", "dim"))
    console.print(line, highlight=False)
    for shown in place(sql, error.line, error.column):
        console.print(Text(shown), highlight=False)
    if hint := _HINTS.get(error.code, error.hint):
        console.print(Text.assemble(("hint: ", "cyan"), harmless(hint)), highlight=False)
    return UNREACHABLE if isinstance(error, UnreachableError) else REFUSED


def place(sql: str, line: int | None, column: int | None) -> list[str]:
    """The line of SQL that an error is about, and a caret under the column. Both count from 1."""
    lines = sql.split("\n")
    if line is None or column is None:
        return []
    if not sql or line > len(lines):
        return [f"  at line {line}, column {column}"]
    text = lines[line - 1].rstrip("\r")
    begin = max(0, column - _WIDTH // 2) if len(text) > _WIDTH else 0
    part = text[begin : begin + _WIDTH]
    label = f"  line {line}: "
    before = cell_len(_spaced(part[: column - 1 - begin]))
    return [label + _spaced(part), " " * (len(label) + before) + "^"]


def _spaced(text: str) -> str:
    return harmless(text).replace("\t", "    ")
