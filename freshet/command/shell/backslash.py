"""The shell's own commands, which begin with a backslash: one table of what they are and do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from freshet.command.connection_options import relation_of
from freshet.command.printing import row_table
from freshet.command.shell.watching import watch
from freshet.command.terminal_text import harmless
from freshet.connection import Connection
from freshet.contract import calls
from freshet.contract.descriptions import ViewDescription
from freshet.errors import InvalidRequestError


@dataclass
class ShellState:
    """What a session has been told. `as_of` is None for the newest epoch."""

    connection: Connection
    console: Console
    as_of: str | None = None
    expanded: bool = False
    timing: bool = False
    is_over: bool = field(default=False, init=False)


@dataclass(frozen=True)
class Backslash:
    """A command. `usage` is how it is written, with its argument."""

    usage: str
    meaning: str
    run: Callable[[ShellState, str], None]

    @property
    def name(self) -> str:
        return self.usage.split()[0]


_WORDS = {"exit": "\\q", "quit": "\\q", "help": "\\?"}
"""Commands that people type as words, which are no SQL."""


def is_command(text: str) -> bool:
    """Whether a text is a command of the shell rather than SQL."""
    return text.startswith("\\") or _word(text) in _WORDS


def run_backslash(state: ShellState, text: str) -> None:
    """Runs a command. Raises InvalidRequestError for one that the shell does not have."""
    text = _WORDS.get(_word(text), text)
    name, _, argument = text.strip().rstrip(";").partition(" ")
    for command in COMMANDS:
        if command.name == name:
            command.run(state, argument.strip())
            return
    raise InvalidRequestError(f"there is no command {name}", "\\? shows the commands", code="unknown_command")


def _word(text: str) -> str:
    return text.strip().rstrip(";").rstrip().lower()


def _describe(state: ShellState, name: str) -> None:
    if not name:
        _list(state, [*_tables(state), *_views(state)])
        return
    found = relation_of(state.connection, name).describe()
    key = () if isinstance(found, ViewDescription) else found.primary_key
    rows = [
        [
            column.name,
            column.type,
            "" if column.nullable else "NOT NULL",
            "PRIMARY KEY" if column.name in key else "",
            column.default or column.generated or "",
        ]
        for column in found.columns
    ]
    names = [(title, "") for title in ("column", "type", "null", "key", "default")]
    state.console.print(row_table(names, rows, title=found.comment), highlight=False)
    if isinstance(found, ViewDescription):
        state.console.print(f"{found.state}: {harmless(found.sql)}", highlight=False, markup=False)


def _tables(state: ShellState) -> list[Sequence[object]]:
    return [[table.name, "table", "", table.comment] for table in state.connection.tables()]


def _views(state: ShellState) -> list[Sequence[object]]:
    return [[view.name, "view", view.state, view.comment] for view in state.connection.views()]


def _list(state: ShellState, rows: Sequence[Sequence[object]]) -> None:
    names = [(title, "") for title in ("name", "kind", "state", "comment")]
    state.console.print(row_table(names, [["" if v is None else v for v in row] for row in rows]))


def _watch(state: ShellState, name: str) -> None:
    if not name:
        raise InvalidRequestError("\\watch needs a name", "write \\watch totals")
    watch(state.connection, relation_of(state.connection, name), state.console)


def _as_of(state: ShellState, moment: str) -> None:
    if moment.lower() == "off":
        state.as_of = None
    elif moment:
        state.connection.run(calls.script_document("SELECT 1", calls.DIALECT, moment))  # refuses what is none
        state.as_of = moment
    reads = "the newest epoch" if state.as_of is None else f"as of {state.as_of}; nothing can be changed"
    state.console.print(f"queries read {reads}", markup=False)


def _timing(state: ShellState, _: str) -> None:
    state.timing = not state.timing
    state.console.print(f"timing is {'on' if state.timing else 'off'}")


def _expanded(state: ShellState, _: str) -> None:
    state.expanded = not state.expanded
    state.console.print(f"expanded display is {'on' if state.expanded else 'off'}")


def _quit(state: ShellState, _: str) -> None:
    state.is_over = True


def _help(state: ShellState, _: str) -> None:
    for command in COMMANDS:
        state.console.print(f"  {command.usage:<22}{command.meaning}", highlight=False, markup=False)


COMMANDS = (
    Backslash("\\d [NAME]", "list tables and views, or describe one", _describe),
    Backslash("\\dt", "list tables", lambda state, _: _list(state, _tables(state))),
    Backslash("\\dv", "list views, and whether they run", lambda state, _: _list(state, _views(state))),
    Backslash("\\watch NAME", "show rows as they come and go, until Ctrl-C", _watch),
    Backslash("\\as_of EPOCH|TIME|off", "read another epoch than the newest", _as_of),
    Backslash("\\timing", "show how long each statement takes, or stop to", _timing),
    Backslash("\\x", "show each row as a list of columns, or stop to", _expanded),
    Backslash("\\?", "show these commands", _help),
    Backslash("\\q", "leave; so does Ctrl-D", _quit),
)
