"""`freshet`: the commands, the options of all, and how an error ends the process.

Exit codes: 0 done, 1 refused by the service, 2 wrong usage, 3 not reached, 130 interrupted (docs/cli.md).
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from types import MappingProxyType
from typing import Annotated

import typer

from freshet.command.lazy_group import CommandEntry, LazyGroup
from freshet.command.reporting import report
from freshet.errors import Error

_SERVICE, _DATA, _OPERATION = "Service", "Data", "Operation"


class Commands(LazyGroup):
    entries = MappingProxyType(
        {
            "serve": CommandEntry(
                "freshet.command.serve_command", "Serve until SIGTERM or SIGINT.", _SERVICE
            ),
            "demo": CommandEntry(
                "freshet.command.demo_command", "Show a service at work on Debian's packages.", _SERVICE
            ),
            "sql": CommandEntry("freshet.command.sql_command", "Run SQL, or open a shell for it.", _DATA),
            "tail": CommandEntry("freshet.command.tail_command", "Print changes as they come.", _DATA),
            "load": CommandEntry("freshet.command.load_command", "Load a file into a table.", _DATA),
            "export": CommandEntry("freshet.command.export_command", "Write rows to a file.", _DATA),
            "explain": CommandEntry(
                "freshet.command.explain_command", "Show how a query is computed.", _DATA
            ),
            "translate": CommandEntry(
                "freshet.command.translate_command", "Show what a query of any dialect means.", _DATA
            ),
            "status": CommandEntry(
                "freshet.command.status_command", "Show the state of a service.", _OPERATION
            ),
            "check": CommandEntry(
                "freshet.command.check_command", "Compare views with new computations.", _OPERATION
            ),
            "backup": CommandEntry(
                "freshet.command.backup_command", "Write a backup of a service.", _OPERATION
            ),
            "restore": CommandEntry(
                "freshet.command.restore_command", "Make a service of a backup.", _OPERATION
            ),
            "keys": CommandEntry(
                "freshet.command.keys_command", "Make, list, rotate and revoke keys.", _OPERATION
            ),
        }
    )


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 the service refused, 2 wrong usage, 3 the service cannot be reached, "
    "130 interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"freshet {version('freshet')}")
        raise typer.Exit


@app.callback()
def freshet(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Freshet keeps SQL views up to date, recursive ones too. Without a command it serves.

    The commands under *Data* and *Operation* talk to a service over HTTP: `FRESHET_URL` and `FRESHET_KEY`, or
    `--url` and `--key`, say where it is and who asks. On a terminal they print tables, into a pipe NDJSON.
    """
    if context.invoked_subcommand is None:
        import_module("service.process.beginning").serve()


def main(arguments: list[str] | None = None) -> None:
    """Runs a command and exits."""
    try:
        app(arguments, prog_name="freshet")
    except Error as error:
        sys.exit(report(error))
