"""Notes on a translation: where a text would mean something else if DuckDB read it as it stands."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from planner.native.subscripts import is_counted_from_zero
from planner.positions import Place, position

_SIGNS: dict[type[exp.Expression], str] = {exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.Literal: "''"}


@dataclass(frozen=True)
class ReadingNote:
    """A part of the text as it is `written`, how it is `read` in DuckDB's SQL, and `why`, a sentence. The
    place is None twice if it is not known."""

    line: int | None
    column: int | None
    written: str
    read: str
    why: str


class NoteTaker:
    """Takes notes of one query: of its `tree` before the translation, and of each node that is replaced."""

    def __init__(self, tree: exp.Expression, dialect: str) -> None:
        self._dialect = dialect
        self._begun: list[tuple[Place, str, exp.Expression, str]] = []
        for node in tree.find_all(exp.Ordered, exp.Div, exp.Bracket):
            why = self._meaning(node)
            if why:
                self._begin(node, node, why)

    def replaced(self, node: exp.Expression, found: exp.Expression) -> None:
        """A node that another, found by the rules of the dialect, takes the place of."""
        self._begin(node, found, f"{_named(node)} means this in {self._dialect}")

    def notes(self) -> tuple[ReadingNote, ...]:
        """The notes after the translation, in the order of the text, each once."""
        found = {
            ReadingNote(*place, written, read, why): None
            for place, written, node, why in self._begun
            if not _reads_alike(written, read := node.sql("duckdb", comments=False)) or node.args.get("typed")
        }
        return tuple(sorted(found, key=lambda note: (note.line or 0, note.column or 0)))

    def _begin(self, node: exp.Expression, found: exp.Expression, why: str) -> None:
        written = node.sql(self._dialect, comments=False)
        self._begun.append((position(node), written, found, why))

    def _meaning(self, node: exp.Expression) -> str:
        """Why a node without a replacement means something else in DuckDB; empty if it does not."""
        match node:
            case exp.Ordered() if _places_nulls(node, "duckdb") and not _places_nulls(node, self._dialect):
                return f"{self._dialect} orders NULL so"
            case exp.Div() if node.args.get("typed"):
                return f"a quotient of whole numbers is whole in {self._dialect}"
            case exp.Bracket() if is_counted_from_zero(node):
                return f"{self._dialect} counts elements from 0"
        return ""


def _places_nulls(node: exp.Ordered, dialect: str) -> bool:
    return node.sql(dialect).upper().endswith(("NULLS FIRST", "NULLS LAST"))


def _named(node: exp.Expression) -> str:
    """What a reader calls a node: a function's name, or an operator."""
    if isinstance(node, exp.Func):
        return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).upper()
    return _SIGNS.get(type(node), node.key.upper())


def _reads_alike(written: str, read: str) -> bool:
    """Whether DuckDB reads both texts as one expression."""
    try:
        return sqlglot.parse_one(written, read="duckdb").sql("duckdb").lower() == read.lower()
    except SqlglotError:
        return False
