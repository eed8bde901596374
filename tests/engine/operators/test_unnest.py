"""Rows of elements: series at the edges of what a word holds; lists that are too long are errors."""

from __future__ import annotations

import pytest

from engine.errors import PlanError
from engine.plan.list_elements import MOST_ELEMENTS, Elements, Unnest
from engine.plan.nodes import Constant, Source
from engine.runtime.engine import Engine
from engine.schema import BIGINT, INTEGER, TEXT, Column, Schema, array_of
from tests.engine.harness import rows

SERIES = Schema((Column("start", BIGINT), Column("stop", BIGINT), Column("step", BIGINT)))
LEAST, GREATEST = -(2**63) + 1, 2**63 - 1


def series(*row: int | None, exclusive: bool = False) -> list[int] | str:
    """The numbers of a series, or the error."""
    plan = Unnest(Constant((row,), SERIES), (Elements((0, 1, 2), exclusive),))
    engine = Engine()
    engine.create_view("v", plan)
    errors = engine.snapshot.errors("v")
    if errors:
        return errors[0][0]
    return sorted(row[3] for row in rows(engine, "v"))


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        ((1, 4, 1), [1, 2, 3, 4]),
        ((1, 4, 2), [1, 3]),
        ((4, 1, -2), [2, 4]),
        ((1, 0, 1), []),
        ((0, 1, -1), []),
        ((1, None, 1), []),
        ((1, 1, 5), [1]),
        ((LEAST, GREATEST, GREATEST), [LEAST, 0, GREATEST]),
        ((GREATEST, LEAST, LEAST), [LEAST, 0, GREATEST]),
        ((GREATEST, GREATEST, 1), [GREATEST]),
    ],
)
def test_series(row: tuple, numbers: list[int]) -> None:
    assert series(*row) == numbers
    assert series(*row, exclusive=True) == [n for n in numbers if n != row[1]]


def test_lists_that_are_too_long_are_errors_of_their_rows() -> None:
    assert "more than 1000000 elements" in series(LEAST, GREATEST, 1)
    assert "more than" in series(1, MOST_ELEMENTS + 1, 1)
    assert len(series(1, MOST_ELEMENTS + 1, 1, exclusive=True)) == MOST_ELEMENTS
    assert "step of a series is zero" in series(1, 2, 0)


@pytest.mark.parametrize(
    ("columns", "lists"),
    [
        ((INTEGER,), ((0,),)),
        ((BIGINT, INTEGER, BIGINT), ((0, 1, 2),)),
        ((array_of(TEXT),), ()),
        ((BIGINT,), ((1,),)),
    ],
)
def test_lists_are_checked(columns: tuple, lists: tuple) -> None:
    schema = Schema(tuple(Column(f"c{i}", type) for i, type in enumerate(columns)))
    with pytest.raises(PlanError):
        Unnest(Source("s", schema), tuple(map(Elements, lists)))
