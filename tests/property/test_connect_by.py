"""CONNECT BY beside a plain walk over the rows, at every epoch, with loops, orphans, duplicates and NULLs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.property.cases import Case
from tests.property.check import check
from tests.property.duck import Answer, Failure
from tests.property.examples import HISTORIES, query, table
from tests.property.histories import random_history, states
from tests.property.schemas import Row
from tests.property.views import View
from tests.seeds import seeds

STAFF = table("staff(id INTEGER, boss INTEGER, pay INTEGER)")


class Loop(Exception):
    """A row is below one with its own id."""


@dataclass(frozen=True)
class Step:
    """A row of the answer: the way down to it, and what follows from the rows below it."""

    way: tuple[Row, ...]
    is_leaf: int
    is_cycle: int

    @property
    def row(self) -> Row:
        return self.way[-1]

    @property
    def level(self) -> int:
        return len(self.way)


def walk(
    rows: Sequence[Row], first: Sequence[Row], no_cycle: bool, way: tuple[Row, ...] = ()
) -> Iterator[Step]:
    """The first rows under the way, each followed by the rows whose boss has its id."""
    for row in first:
        here = (*way, row)
        above = {each[0] for each in here}
        under = [each for each in rows if row[0] is not None and each[1] == row[0]]
        kept = [each for each in under if each[0] not in above]
        if len(kept) < len(under) and not no_cycle:
            raise Loop
        yield Step(here, int(not kept), int(len(kept) < len(under)))
        yield from walk(rows, kept, no_cycle, here)


Tell = Callable[[Step], Row]
ROOTS = "START WITH boss IS NULL"


def _roots(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row[1] is None]


def _text(value: object) -> str:
    return "" if value is None else str(value)


VIEWS: list[tuple[str, bool, Callable[[Sequence[Row]], Sequence[Row]], Callable[[Step], bool], Tell]] = [
    (
        f"SELECT id, boss, LEVEL FROM staff {ROOTS} CONNECT BY NOCYCLE PRIOR id = boss",
        True,
        _roots,
        lambda step: True,
        lambda step: (step.row[0], step.row[1], step.level),
    ),
    (
        f"SELECT s.*, CONNECT_BY_ISLEAF AS leaf, CONNECT_BY_ISCYCLE AS loops FROM staff s {ROOTS} OR pay > 2 "
        "CONNECT BY NOCYCLE s.boss = PRIOR s.id",
        True,
        lambda rows: [row for row in rows if row[1] is None or (row[2] is not None and row[2] > 2)],
        lambda step: True,
        lambda step: (*step.row, step.is_leaf, step.is_cycle),
    ),
    (
        "SELECT id, CONNECT_BY_ROOT pay AS top, SYS_CONNECT_BY_PATH(id, '/') AS path, PRIOR pay AS above "
        "FROM staff WHERE LEVEL < 4 AND pay IS NOT NULL CONNECT BY NOCYCLE PRIOR id = boss",
        True,
        lambda rows: rows,
        lambda step: step.level < 4 and step.row[2] is not None,
        lambda step: (
            step.row[0],
            step.way[0][2],
            "".join(f"/{_text(row[0])}" for row in step.way),
            step.way[-2][2] if step.level > 1 else None,
        ),
    ),
    (
        f"SELECT id, LEVEL FROM staff {ROOTS} CONNECT BY PRIOR id = boss",
        False,
        _roots,
        lambda step: True,
        lambda step: (step.row[0], step.level),
    ),
    (
        f"SELECT id, LEVEL FROM staff {ROOTS} AND pay < 3 CONNECT BY PRIOR id = boss "
        "ORDER SIBLINGS BY pay, id",
        False,
        lambda rows: [row for row in _roots(rows) if row[2] is not None and row[2] < 3],
        lambda step: True,
        lambda step: (step.row[0], step.level),
    ),
]


def _answer(rows: Sequence[Row], view: tuple) -> Answer:
    _, no_cycle, first, kept, tell = view
    try:
        return Counter(tell(step) for step in walk(rows, first(rows), no_cycle) if kept(step))
    except Loop:
        return Failure("CONNECT BY loop")


def test_views_hold_what_a_walk_finds() -> None:
    for seed in seeds(HISTORIES):
        history = random_history(random.Random(f"connected {seed}"), (STAFF,), 8)
        named = tuple(
            View(f"v{i}", query((view[0], ""), "oracle"), (), dialect="oracle")
            for i, view in enumerate(VIEWS)
        )
        found = [list(state["staff"].elements()) for state in states((STAFF,), history)]
        answers = {
            view.name: (Counter(), *(_answer(rows, each) for rows in found))
            for view, each in zip(named, VIEWS, strict=True)
        }
        mismatch = check(Case(seed, (STAFF,), named, history), answers, all_asked=True)
        assert mismatch is None, mismatch
