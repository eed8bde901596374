"""The shell of `freshet sql`: reads statements, sends them, and shows what comes back.

A statement ends with a semicolon, and may have many lines. Ctrl-C drops what was typed, or ends the running
statement; Ctrl-D leaves.
"""

from __future__ import annotations

import time
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import Output
from pygments.lexers.sql import PostgresLexer
from rich.console import Console

from freshet.command.printing import record_table, row_table
from freshet.command.reporting import report
from freshet.command.shell.backslash import COMMANDS, ShellState, is_command, run_backslash
from freshet.command.shell.completion import Names, SqlCompleter
from freshet.command.shell.private_history import PrivateHistory, history_file
from freshet.command.shell.sql_ends import is_whole
from freshet.command.sql_command import summary
from freshet.connection import Connection
from freshet.contract import calls
from freshet.errors import Error

_DEFINING = ("CREATE", "ALTER", "DROP")
_PROMPT, _MORE = "freshet> ", "      .. "


class Shell:
    """A conversation. `run` takes one input of the person's."""

    def __init__(self, connection: Connection, console: Console, dialect: str, as_of: str | None) -> None:
        self.state = ShellState(connection, console, as_of)
        self.names = Names()
        self._dialect = dialect

    def run(self, text: str) -> None:
        """Carries out a command or SQL. What goes wrong is shown; the conversation goes on."""
        text = text.strip()
        if not text:
            return
        try:
            if is_command(text):
                run_backslash(self.state, text)
            else:
                self._run_sql(text)
        except Error as error:
            report(error, text, self.state.console)
        except KeyboardInterrupt:
            self.state.console.print("interrupted", style="yellow")

    def _run_sql(self, sql: str) -> None:
        state, began = self.state, time.monotonic()
        results = state.connection.run(calls.script_document(sql, self._dialect, state.as_of))
        taken = time.monotonic() - began
        for result in results:
            if result.get("columns") is None:
                text = summary(result["statement"], result.get("count"), result["epoch"])
                state.console.print(text, highlight=False, markup=False)
                continue
            columns = [(column["name"], column["type"]) for column in result["columns"]]
            tables = (
                [record_table(columns, row) for row in result["rows"]]
                if state.expanded
                else [row_table(columns, result["rows"])]
            )
            for table in tables:
                state.console.print(table, highlight=False)
        if state.timing:
            state.console.print(f"{taken * 1000:,.1f} ms", style="dim", highlight=False)
        if any(result["statement"].startswith(_DEFINING) for result in results):
            self.names.refresh(state.connection)


def converse(
    connection: Connection,
    dialect: str = calls.DIALECT,
    as_of: str | None = None,
    *,
    console: Console | None = None,
    history: Path | None = None,
    input: Input | None = None,
    output: Output | None = None,
) -> int:
    """Talks with the person at the terminal until they leave, and returns the exit code.

    `input` and `output` take the terminal's place in tests.
    """
    console = console or Console()
    shell = Shell(connection, console, dialect, as_of)
    try:
        status = connection.status()
    except Error as error:
        return report(error, console=console)
    console.print(
        f"Freshet {status['version']}, epoch {status['epoch']}. \\? shows the commands.", highlight=False
    )
    shell.names.refresh(connection)
    session: PromptSession[str] = PromptSession(
        _PROMPT,
        multiline=Condition(lambda: not is_whole(session.default_buffer.text)),
        prompt_continuation=_MORE,
        history=_history(history or history_file(), console),
        lexer=PygmentsLexer(PostgresLexer),
        completer=SqlCompleter(shell.names, {command.name: command.meaning for command in COMMANDS}),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        input=input,
        output=output,
    )
    while not shell.state.is_over:
        try:
            shell.run(session.prompt())
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
    return 0


def _history(file: Path, console: Console) -> History:
    try:
        return PrivateHistory(file)
    except OSError as error:
        console.print(f"{file} cannot keep the history: {error.strerror}", style="yellow", markup=False)
        return InMemoryHistory()
