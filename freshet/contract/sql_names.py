"""Full names of relations, as the service says them, into SQL.

orders              orders
analytics.Orders    analytics."Orders"
"raw.orders"        "raw.orders"
"""

from __future__ import annotations

import re

_PART = re.compile(r'"((?:[^"]|"")*)"|([^."][^.]*)')
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def parts_of(full: str) -> tuple[str, ...]:
    """The name, with the schema before it if it is not `public`."""
    found = [match[2] or match[1].replace('""', '"') for match in _PART.finditer(full)]
    return tuple(found[:2])


def sql_name(full: str) -> str:
    """The name of a relation as SQL and paths of requests take it."""
    return ".".join(map(sql_identifier, parts_of(full)))


def sql_identifier(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'
