"""The command line: `freshet` takes no arguments but for help; its settings are environment variables."""

from __future__ import annotations

import argparse
import textwrap
from typing import NoReturn

from service.http.routes.operation_routes import VERSION
from service.settings.settings import SETTINGS, Setting

_ABOUT = "Serves SQL views, recursive ones too, and keeps them up to date, until SIGTERM or SIGINT."
_WIDTH = 100


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, and exit code 2."""
        self.exit(2, f"{self.prog}: {message}; it takes none but --help and --version\n")


def read_arguments(arguments: list[str] | None = None) -> None:
    """Returns where there is something to be served; else says what was asked for, or what is wrong, and
    exits."""
    parser = _Parser(
        "freshet",
        description=_ABOUT,
        epilog="\n".join(["settings, which are read from the environment:", *map(_described, SETTINGS)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"freshet {VERSION}")
    parser.parse_args(arguments)


def _described(setting: Setting) -> str:
    """A setting with its default on a line, and what it means below."""
    default = f" ({setting.default})" if setting.default else ""
    meaning = textwrap.fill(setting.meaning, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return f"  {setting.variable}{default}\n{meaning}"
