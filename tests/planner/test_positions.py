"""The place of a node costs one look at each node around it, however deep it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlglot import exp

from planner.positions import position


def test_a_place_is_found_in_one_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type of 5,000 dimensions took 14 seconds: each ancestor looked through all below it."""
    depth = 500
    tree = exp.DataType.build("BIGINT" + "[]" * depth, dialect="postgres")
    innermost = list(tree.walk())[-1]
    seen = 0
    walk = exp.DataType.walk

    def counted(self: exp.Expression, *rest: Any, **named: Any) -> Iterator[exp.Expr]:
        nonlocal seen
        for node in walk(self, *rest, **named):
            seen += 1
            yield node

    monkeypatch.setattr(exp.DataType, "walk", counted)
    assert position(innermost) == (None, None)
    assert depth < seen < 10 * depth


def test_a_node_without_a_mark_has_its_neighbours_place() -> None:
    column = exp.column("a")
    column.this.meta.update({"line": 3, "col": 9, "start": 20, "end": 20})
    lonely = exp.Null()
    exp.Add(this=exp.Paren(this=lonely), expression=column)
    assert position(lonely) == (3, 9)
