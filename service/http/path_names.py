"""Names in paths: a slash that belongs to a name is sent as %2F, and does not divide the path.

Servers decode a path before anybody sees it. So a path with such a slash is decoded here again, with a
character in its place that no name has; `named` puts the slash back into the parameters of a route.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

_INSIDE = "\0"
_SLASH = re.compile(rb"%2f", re.IGNORECASE)


class PathNames:
    """The outermost layer, so that all others see the same path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and b"%" in raw and _SLASH.search(raw) and b"%00" not in raw:
            path = _SLASH.sub(b"%00", raw.partition(b"?")[0])
            scope = {**scope, "path": unquote(path.decode("ascii", "replace"))}
        return self.app(scope, receive, send)


def named(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a path, with the slashes of names."""
    return {name: value.replace(_INSIDE, "/") for name, value in parameters.items()}
