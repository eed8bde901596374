"""Cases of explicit recursions: views over two tables, and what they hold at every epoch by definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

from tests.property.algebra import Bag, Diverges, Recursion, Scope, Unsettled
from tests.property.cases import Answers, Case
from tests.property.duck import Answer, Failure
from tests.property.examples import table
from tests.property.histories import History, random_history, states
from tests.property.sequences import Sequences
from tests.property.terms import Term
from tests.property.views import View

TABLES = (table("e(a BIGINT, b BIGINT)"), table("t(a BIGINT, b BIGINT)"))
VIEWS = 6
TELLING = 2
"""So many of a case's views, at least, would hold other rows if bindings were updated together."""


def random_case(seed: int) -> tuple[Case, Answers]:
    """Views that have an answer at every epoch, and not always the same one."""
    views, history = random_recursions(seed)
    made = tuple(View(f"v{i}", Term("query", query.sql), ()) for i, (query, _) in enumerate(views))
    found = {f"v{i}": answers for i, (_, answers) in enumerate(views)}
    return Case(seed, TABLES, made, history), found


def random_recursions(seed: int) -> tuple[list[tuple[Recursion, tuple[Answer, ...]]], History]:
    """The recursions of a case with their answers, and its history."""
    rng = random.Random(f"sequences {seed}")
    history = random_history(rng, TABLES, rng.choice((3, 4, 6)))
    epochs = contents(history)
    found: list[tuple[Recursion, tuple[Answer, ...]]] = []
    while len(found) < VIEWS:
        query = Sequences(rng).view()
        try:
            answers = tuple(answer(query, epoch) for epoch in epochs)
        except Diverges:
            continue
        if isinstance(answers[0], Failure) or all(one == answers[0] for one in answers):
            continue
        if len(found) >= TELLING or tells(query, answers, epochs):
            found.append((query, answers))
    return found, history


def tells(query: Recursion, answers: tuple[Answer, ...], epochs: list[dict[str, Bag]]) -> bool:
    """Whether the recursion would have other answers if its bindings were updated together."""
    try:
        return answers != tuple(answer(query, epoch, together=True) for epoch in epochs)
    except Diverges:
        return True


def contents(history: History) -> list[dict[str, Bag]]:
    """What the tables hold at every epoch, from 0 on, when they are empty."""
    empty: dict[str, Bag] = {one.name: Counter() for one in TABLES}
    return [empty, *({n: Counter(rows) for n, rows in s.items()} for s in states(TABLES, history))]  # type: ignore[arg-type, misc]


def answer(query: Recursion, names: Mapping[str, Bag], together: bool = False) -> Answer:
    """What the recursion returns over the tables. Raises Diverges."""
    try:
        return query.rows(Scope(names, together=together))  # type: ignore[return-value]
    except Unsettled:
        return Failure("still changes at its limit", limit=True)
