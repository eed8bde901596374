"""What a SUBSCRIBE says.

SUBSCRIBE [TO] {name | (query)} [WITH (SNAPSHOT [= bool], PROGRESS [= bool])] [AS OF epoch] [UP TO epoch]
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.parsing.script import Piece
from service.postgres.token_reader import TokenReader


@dataclass(frozen=True)
class SubscribeOptions:
    """`relation` is a name, with a `schema` if one is written; or it is empty, and a `query` is followed."""

    schema: str | None
    relation: str
    query: Piece | None = None
    snapshot: bool = True
    progress: bool = False
    as_of: int | None = None
    up_to: int | None = None


def subscribe_options(piece: Piece) -> SubscribeOptions:
    """What a SUBSCRIBE says. Raises InvalidSyntax and InvalidQuery, with the place."""
    reader = TokenReader(piece)
    reader.took("TO")
    query = reader.inside("write SUBSCRIBE TO (query)") if reader.word == "(" else None
    schema, relation = reader.relation() if query is None else (None, "")
    switches = {"SNAPSHOT": True, "PROGRESS": False}
    as_of = up_to = None
    while not reader.is_done:
        if reader.took("WITH", "("):
            _switches(reader, switches)
        elif reader.took("AS", "OF"):
            reader.took("AT", "LEAST")
            as_of = reader.integer()
        elif reader.took("UP", "TO"):
            up_to = reader.integer()
        else:
            raise reader.failure("after the name come WITH (...), AS OF epoch and UP TO epoch")
    return SubscribeOptions(schema, relation, query, switches["SNAPSHOT"], switches["PROGRESS"], as_of, up_to)


def _switches(reader: TokenReader, switches: dict[str, bool]) -> None:
    """Reads the options between parentheses."""
    while not reader.took(")"):
        name = reader.took_any(*switches)
        if name is None:
            raise reader.failure("write WITH (SNAPSHOT = true, PROGRESS = false)")
        reader.took("=")
        switches[name] = reader.took_any("FALSE", "OFF") is None
        if switches[name]:
            reader.took_any("TRUE", "ON")
        reader.took(",")
