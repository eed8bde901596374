"""Reads REFRESH MATERIALIZED VIEW, which has nothing to do: every view is up to date."""

from __future__ import annotations

from planner.parsing.script import Piece
from planner.statements.statements import RefreshView
from planner.statements.word_reader import WordReader

_FORM = "write REFRESH MATERIALIZED VIEW name"


def refresh(piece: Piece) -> RefreshView:
    """REFRESH MATERIALIZED VIEW [CONCURRENTLY] name [WITH DATA]."""
    reader = WordReader(piece, 1, _FORM)
    reader.expect("MATERIALIZED", "VIEW")
    reader.skip("CONCURRENTLY")
    name = reader.relation()
    reader.skip("WITH", "DATA")
    reader.end()
    return RefreshView(piece, name)
