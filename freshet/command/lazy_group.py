"""A group of commands that are imported when they run: `--help` of the group needs none of them.

A command's module has `app`, a Typer application with the command, or with its subcommands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True)
class CommandEntry:
    """`summary` is the line in the group's help: the first of the command's own."""

    module: str
    summary: str
    panel: str


class LazyCommand(TyperCommand):
    """Stands for a command until its arguments are parsed."""

    def __init__(self, name: str, entry: CommandEntry) -> None:
        super().__init__(name, help=entry.summary, rich_help_panel=entry.panel)
        self._module = entry.module

    @property
    def real(self) -> Any:
        command = get_command(import_module(self._module).app)
        command.name = self.name
        return command

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, with which the group goes on."""
        return self.real.make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """A subclass says which commands it has, in the order of the help."""

    entries: Mapping[str, CommandEntry]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: LazyCommand(name, entry) for name, entry in self.entries.items()}
