"""The arguments of `freshet backup` and `freshet restore`, without what they do, which loads slowly."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_backup_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Adds `backup` and `restore` to the command line."""
    backup = commands.add_parser("backup", help="write a backup of the service, whether it runs or not")
    backup.add_argument("path", type=Path, help="the directory to be made")
    backup.add_argument("--url", help="where the service runs (as the settings say)")
    backup.add_argument("--key-file", type=Path, help="a file with the key of an admin")
    restore = commands.add_parser("restore", help="make a service of a backup, in an empty place")
    restore.add_argument("backup", type=Path, help="the directory of the backup")
    restore.add_argument("--data", type=Path, help="the data directory (FRESHET_DATA)")
    restore.add_argument("--database-url", help="the database of the catalog (FRESHET_DATABASE_URL)")
