"""ALTER ... OWNER TO, which dumps of PostgreSQL's have after each CREATE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.parsing.script import Piece
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_NAMES: dict[tuple[str, ...], tuple[str, Callable[[WordReader], str]]] = {
    ("TABLE",): ("TABLE", WordReader.relation),
    ("VIEW",): ("TABLE", WordReader.relation),
    ("MATERIALIZED", "VIEW"): ("TABLE", WordReader.relation),
    ("SCHEMA",): ("SCHEMA", WordReader.schema),
    ("TYPE",): ("TYPE", WordReader.type),
}
"""By the words after ALTER: what has the owner, and how its name is read."""


@dataclass(frozen=True)
class SetOwner(Statement):
    """ALTER ... OWNER TO, which changes nothing: nothing has an owner. `kind` is TABLE for tables and views,
    SCHEMA or TYPE."""

    kind: str
    name: str
    if_exists: bool

    @property
    def notices(self) -> tuple[str, ...]:
        return (*self.piece.notices, "there are no owners: GRANT and roles say who may do what")


def set_owner(piece: Piece) -> SetOwner | None:
    """ALTER {TABLE | VIEW | MATERIALIZED VIEW | SCHEMA | TYPE} [IF EXISTS] name OWNER TO role; None for
    another ALTER."""
    if [token.text.upper() for token in piece.tokens[-3:-1]] != ["OWNER", "TO"]:
        return None
    reader = WordReader(piece, 1, "write ALTER TABLE name OWNER TO role")
    kind = next((kind for kind in _NAMES if reader.skip(*kind)), None)
    if kind is None:
        return None
    if_exists = reader.skip("IF", "EXISTS")
    if kind == ("TABLE",):
        reader.skip("ONLY")
    what, named = _NAMES[kind]
    name = named(reader)
    if not reader.skip("OWNER", "TO"):
        return None
    reader.name()
    reader.end()
    return SetOwner(piece, what, name, if_exists)
