"""A field of a request's head: one look for one name, where most fields are nobody's."""

from __future__ import annotations

from starlette.types import Scope


def field_of(scope: Scope, name: bytes) -> str | None:
    """The first value of a header, whose name is given in lower case; None without one."""
    for given, value in scope["headers"]:
        if given == name:
            return value.decode("latin-1")  # type: ignore[no-any-return]
    return None


def declared_length(scope: Scope) -> int:
    """The bytes of the body as the request's head says; 0 if it does not say so."""
    given = field_of(scope, b"content-length") or ""
    return int(given) if given.isdecimal() else 0
