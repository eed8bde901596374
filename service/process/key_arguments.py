"""The arguments of `freshet keys`, apart from its commands, which take a second to load."""

from __future__ import annotations

import argparse
from typing import Any


def add_key_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Adds `keys` with its commands to the command line."""
    keys = commands.add_parser("keys", help="make, list, rotate and revoke keys while no service runs")
    actions = keys.add_subparsers(metavar="action", dest="action", required=True)
    add = actions.add_parser("add", help="make a key, and show it once")
    add.add_argument("name", help="what the key is for")
    add.add_argument("--role", default="read", help="read, write, admin, or a role of CREATE ROLE (read)")
    add.add_argument("--relations", help="the only tables and views, names or patterns, separated by commas")
    add.add_argument(
        "--if-none", action="store_true", help="only if there is no key and FRESHET_OPEN_TO_ANYONE is not yes"
    )
    actions.add_parser("list", help="list all keys, without their secrets")
    rotate = actions.add_parser("rotate", help="give a key a new secret, and show it once")
    rotate.add_argument("id")
    rotate.add_argument("--grace", type=float, default=0.0, help="seconds for which the old one is valid (0)")
    revoke = actions.add_parser("revoke", help="revoke a key for ever")
    revoke.add_argument("id")
