"""A field of a request's head. All that look for one share a table of the fields."""

from __future__ import annotations

from starlette.types import Scope


def field_of(scope: Scope, name: bytes) -> str | None:
    """The first value of a header, whose name is given in lower case; None without one."""
    fields: dict[bytes, bytes] | None = scope.get("fields")
    if fields is None:
        fields = scope["fields"] = dict(reversed(scope["headers"]))
    value = fields.get(name)
    return None if value is None else value.decode("latin-1")


def declared_length(scope: Scope) -> int:
    """The bytes of the body as the request's head says; 0 if it does not say so."""
    given = field_of(scope, b"content-length") or ""
    return int(given) if given.isdecimal() else 0
