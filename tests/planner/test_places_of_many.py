"""The places of a query's nodes: the text is read once, however many there are."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.tokens import Token

from planner import positions
from planner.adhoc.adhoc_query import adhoc_query
from planner.parsing.script import split


def test_the_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[exp.Expr] = []
    tokens_of = positions.tokens_of

    def noted(tree: exp.Expr) -> list[Token]:
        read.append(tree)
        return tokens_of(tree)

    monkeypatch.setattr(positions, "tokens_of", noted)
    sql = "\nUNION ALL ".join(f"SELECT {number} AS y, current_date" for number in range(20))
    statement = next(iter(split(sql, "postgres"))).parse()
    query = adhoc_query(getattr(statement, "query", statement), {})
    assert [line for line, _ in query.names["y"]] == list(range(1, 21))
    assert [line for line, _ in query.names["current_date"]] == list(range(1, 21))
    assert len(read) == 1
