"""Views over random join trees, with what a referee answers to them: `SELECT *`, or some of their columns."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from engine.schema import INTEGER, TEXT, Column, Schema, Type, array_of
from tests.property.cases import Answers, Case
from tests.property.duck import MOST_ROWS, Answer, Bag, Failure, Invalid
from tests.property.histories import random_history, states
from tests.property.mutual import Mutuals
from tests.property.schemas import Table
from tests.property.terms import Term
from tests.property.trees import certain
from tests.property.views import View, relation_of

EACH = 10
"""Views of a case."""


class Referee(Protocol):
    """A database with the tables."""

    def load(self, state: Mapping[str, Bag]) -> None: ...

    def answer(self, sql: str) -> Answer: ...


def tables() -> tuple[Table, ...]:
    """Tables that share names of columns."""
    return (
        _table("ta", x=INTEGER, y=INTEGER),
        _table("tb", x=INTEGER, z=TEXT),
        _table("tc", y=INTEGER, z=TEXT, l=array_of(INTEGER)),
    )


def _table(name: str, **types: Type) -> Table:
    return Table(name, Schema(tuple(Column(column, kind, True) for column, kind in types.items())))


def forest(seed: int, dialect: str, referee: Referee) -> tuple[Case, Answers]:
    """A case of views in the dialect, which is the referee's own, and the answers."""
    rng = random.Random(f"trees {seed}")
    history = random_history(rng, tables(), 3)
    views: list[View] = []
    while len(views) < EACH:
        view = _view(rng, f"v{len(views)}", dialect)
        if _is_valid(referee, view):
            views.append(view)
    found: dict[str, list[Answer | None]] = {view.name: [None] for view in views}
    for state in states(tables(), history):
        referee.load(state)
        for view in views:
            found[view.name].append(_answer(referee, view))
    kept = tuple(view for view in views if all(_is_bearable(answer) for answer in found[view.name][1:]))
    answers = {view.name: tuple(found[view.name]) for view in kept}
    return Case(seed, tables(), kept, history), answers


def _view(rng: random.Random, name: str, dialect: str) -> View:
    writer = Mutuals(rng, tuple(map(relation_of, tables())))
    tree, atoms = writer.tree(2)
    columns = "*"
    named = sorted(certain(atoms), key=str)
    if named and rng.random() < 0.5:
        chosen = (rng.choice(named) for _ in range(rng.randint(1, 3)))
        columns = ", ".join(f"{atom.text} AS c{place}" for place, atom in enumerate(chosen))
    return View(name, Term("query", f"SELECT {columns} FROM {tree.sql(dialect)}"), (), dialect=dialect)


def _is_valid(referee: Referee, view: View) -> bool:
    try:
        return not isinstance(_answer(referee, view), Failure)
    except Invalid:
        return False


def _answer(referee: Referee, view: View) -> Answer:
    return referee.answer(f"SELECT * FROM ({view.sql()}) AS q LIMIT {MOST_ROWS}")


def _is_bearable(answer: Answer | None) -> bool:
    return isinstance(answer, Counter) and answer.total() < MOST_ROWS
