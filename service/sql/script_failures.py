"""Failures of scripts: which statement has failed, and with what error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from planner.errors import InvalidSyntax, PlannerError, SqlTooDeep
from planner.parsing.script import Piece
from service.errors import Conflict


class ScriptFailed(Exception):
    """Statement `index` of a script failed with `error`. Earlier ones stand, except those of its block."""

    def __init__(self, index: int, error: Exception) -> None:
        super().__init__(f"statement {index}: {error}")
        self.index = index
        self.error = error


@contextmanager
def numbered(piece: Piece) -> Iterator[None]:
    """Turns an exception into the failure of the piece's statement."""
    try:
        yield
    except ScriptFailed:
        raise
    except RecursionError:
        raise ScriptFailed(piece.index, SqlTooDeep.of("the statement").at(*piece.place())) from None
    except UnicodeError:
        raise ScriptFailed(piece.index, InvalidSyntax.of_escape().at(*piece.place())) from None
    except PlannerError as error:
        raise ScriptFailed(piece.index, error.at(*piece.place())) from error
    except Exception as error:
        raise ScriptFailed(piece.index, error) from error


def restless() -> Conflict:
    """The error of changes that never fit the newest state."""
    return Conflict(
        "what the statement reads changes faster than it can be computed",
        "send it again, or name the rows by their key",
        code="tables_changing",
    )
