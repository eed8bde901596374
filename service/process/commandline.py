"""`python -m service`: starts the service. `--help` does not. Settings are environment variables."""

from __future__ import annotations

import argparse
import textwrap
from importlib.metadata import version
from typing import NoReturn

from service.process.beginning import serve
from service.settings.settings import SETTINGS, Setting

_ABOUT = "The service of Freshet. `freshet --help` shows the other commands: demo, sql, keys and more."
_WIDTH = 100


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, and exit code 2."""
        self.exit(2, f"{self.prog}: {message}; --help shows what there is\n")


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The arguments. Help, the version and mistakes exit."""
    settings = "\n".join(["settings, which are read from the environment:", *map(_described, SETTINGS)])
    parser = _Parser(
        "python -m service",
        description=_ABOUT,
        epilog=settings,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"freshet {version('freshet')}")
    parser.add_argument("command", nargs="?", choices=["serve"], default="serve", help="it always serves")
    return parser.parse_args(arguments)


def main() -> None:
    """Serves, and exits."""
    read_arguments()
    serve()


def _described(setting: Setting) -> str:
    """A setting with its default on a line, and what it means below."""
    default = f" ({setting.default})" if setting.default else ""
    meaning = textwrap.fill(setting.meaning, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return f"  {setting.variable}{default}\n{meaning}"
