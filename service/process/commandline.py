"""The command line: `freshet serve`, `keys`, `backup`, `restore`, `demo`. Settings are in the environment."""

from __future__ import annotations

import argparse
import sys
import textwrap
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from service.demo import story
from service.demo.background import Background
from service.process.backup_arguments import add_backup_commands
from service.process.key_arguments import add_key_commands
from service.settings.settings import SETTINGS, Setting

_ABOUT = "Freshet keeps SQL views up to date, recursive ones too. Without a command it serves."
_WIDTH = 100
_DEMO = Path("build", "demo")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, and exit code 2."""
        self.exit(2, f"{self.prog}: {message}; --help shows what there is\n")


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command, and its options. Help, the version and mistakes exit."""
    settings = "\n".join(["settings, which are read from the environment:", *map(_described, SETTINGS)])
    parser = _Parser(
        "freshet",
        description=_ABOUT,
        epilog=settings,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"freshet {version('freshet')}")
    parser.set_defaults(command="serve")
    commands = parser.add_subparsers(metavar="command", dest="command", required=False)
    commands.add_parser("serve", help="serve until SIGTERM or SIGINT", allow_abbrev=False)
    demo = commands.add_parser(
        "demo", help="start a service in the background, and show it at work on Debian's packages"
    )
    demo.add_argument("--directory", type=Path, default=_DEMO, help=f"where its data and log go ({_DEMO})")
    demo.add_argument("--stop", action="store_true", help="end the service that the demo left running")
    add_key_commands(commands)
    add_backup_commands(commands)
    return parser.parse_args(arguments)


def main() -> None:
    """`freshet`: runs the command, and exits."""
    arguments = read_arguments()
    if arguments.command == "demo":
        background = Background(arguments.directory.absolute())
        sys.exit(story.stop(background) if arguments.stop else story.show(background))
    # The modules of these take seconds to load: nothing else waits for them.
    if arguments.command == "keys":
        import_module("service.process.key_commands").run(arguments)
        return
    if arguments.command in ("backup", "restore"):
        import_module("service.process.backup_commands").run(arguments)
        return
    import_module("service.process.serving").serve()


def _described(setting: Setting) -> str:
    """A setting with its default on a line, and what it means below."""
    default = f" ({setting.default})" if setting.default else ""
    meaning = textwrap.fill(setting.meaning, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return f"  {setting.variable}{default}\n{meaning}"
