"""REFRESH MATERIALIZED VIEW, which has nothing to do: every view is up to date."""

from __future__ import annotations

from dataclasses import dataclass

from planner.parsing.script import Piece
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_FORM = "write REFRESH MATERIALIZED VIEW name"


@dataclass(frozen=True)
class RefreshView(Statement):
    """REFRESH MATERIALIZED VIEW, which finds the view up to date."""

    name: str


def refresh(piece: Piece) -> RefreshView:
    """REFRESH MATERIALIZED VIEW [CONCURRENTLY] name [WITH DATA]."""
    reader = WordReader(piece, 1, _FORM)
    reader.expect("MATERIALIZED", "VIEW")
    reader.skip("CONCURRENTLY")
    name = reader.relation()
    reader.skip("WITH", "DATA")
    reader.end()
    return RefreshView(piece, name)
