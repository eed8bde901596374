"""How the code under test departs from what was expected of it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Mismatch:
    """What went wrong: `kind` is refused, crash, rows, asked, errors, past, sum or batching."""

    kind: str
    view: str
    epoch: int
    expected: object
    got: object


class Departure(Exception):
    """Carries a mismatch to where the check began."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch)
        self.mismatch = mismatch


@contextmanager
def departure(kind: str, name: str, number: int) -> Iterator[None]:
    """Whatever is raised inside becomes a mismatch of the kind."""
    try:
        yield
    except Departure:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        got = f"{type(error).__name__}: {error} ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})"
        raise Departure(Mismatch(kind, name, number, "", got)) from error
