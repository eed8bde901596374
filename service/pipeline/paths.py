"""Which paths a client may name: those under the roots, wherever links and `..` lead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.errors import Invalid


def resolve(path: str, roots: Sequence[Path]) -> Path:
    """The absolute path that `path` leads to, which need not exist; Invalid if that is under none of `roots`.

    A relative path is taken from the first root.
    """
    try:
        found = Path(*roots[:1], path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise Invalid(f"{path!r} is no path: {error}", code="path_not_allowed") from None
    if not any(found.is_relative_to(root.resolve()) for root in roots):
        raise Invalid(
            f"{path!r} is not under a directory that this service may use",
            "FRESHET_LOAD_ROOTS names them",
            code="path_not_allowed",
        )
    return found
