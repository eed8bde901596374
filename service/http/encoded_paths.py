"""Paths whose names have a slash: `%2F` is a part of a name, and `/` ends one.

Servers decode both alike, so a slash that was encoded gets a stand-in before a route is chosen, and
`named_in_path` puts it back.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from starlette.types import Scope

from service.names import fold_relation

_SLASH = re.compile(rb"%2[fF]")
_STAND_IN = "\0"
"""No name has it."""


def with_encoded_slashes(scope: Scope) -> Scope:
    """The scope of a request in whose path an encoded slash divides nothing."""
    raw: bytes = scope.get("raw_path") or b""
    if not _SLASH.search(raw):
        return scope
    return {**scope, "path": unquote(_SLASH.sub(b"%00", raw.split(b"?")[0]).decode("latin-1"))}


def named_in_path(text: str) -> str:
    """The full name of the relation that a part of a path stands for. Raises Invalid."""
    return fold_relation(text.replace(_STAND_IN, "/"))
