"""Paths that clients may name: those under the roots, after links and `..` are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.errors import Invalid


def resolve(path: str, roots: Sequence[Path]) -> Path:
    """The absolute path that `path` leads to, which need not exist. Invalid if it is under none of `roots`.

    A relative path starts at the first root.
    """
    try:
        found = Path(*roots[:1], path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise Invalid(f"{path!r} is not a path: {error}", code="path_not_allowed") from None
    if not any(found.is_relative_to(root.resolve()) for root in roots):
        raise Invalid(
            f"{path!r} is not under a directory that this service may use",
            "FRESHET_LOAD_ROOTS lists them",
            code="path_not_allowed",
        )
    return found
