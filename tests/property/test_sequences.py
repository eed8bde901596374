"""WITH MUTUALLY RECURSIVE against its definition: bindings in sequence, nested, correlated, with limits.

FRESHET_SEQUENCES is the number of (view, history) pairs, FRESHET_SEED the first seed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.property.algebra import Bag, Diverges, Query, Scope, Unsettled
from tests.property.cases import Answers, Case
from tests.property.check import check
from tests.property.duck import Answer, Failure
from tests.property.examples import table
from tests.property.histories import random_history, states
from tests.property.report import described
from tests.property.sequences import Sequences
from tests.property.terms import Term
from tests.property.views import View

CASES = int(os.environ.get("FRESHET_SEQUENCES", "120"))
FIRST_SEED = int(os.environ.get("FRESHET_SEED", "0"))
BLOCKS = 4
VIEWS = 6
TABLES = (table("e(a BIGINT, b BIGINT)"), table("t(a BIGINT, b BIGINT)"))


def random_case(seed: int) -> tuple[Case, Answers]:
    """Views over one history, each of which comes to rest at every epoch or at its limit."""
    rng = random.Random(f"sequences {seed}")
    history = random_history(rng, TABLES, rng.choice((3, 4, 6)))
    empty: dict[str, Bag] = {one.name: Counter() for one in TABLES}
    epochs = [empty, *({n: Counter(rows) for n, rows in s.items()} for s in states(TABLES, history))]
    views: list[View] = []
    found: dict[str, tuple[Answer, ...]] = {}
    while len(views) < VIEWS:
        query = Sequences(rng).view()
        try:
            answers = tuple(answer(query, epoch) for epoch in epochs)
        except Diverges:
            continue
        if len({str(one) for one in answers}) == 1 or isinstance(answers[0], Failure):
            continue
        views.append(View(f"v{len(views)}", Term("query", query.sql), ()))
        found[views[-1].name] = answers
    return Case(seed, TABLES, tuple(views), history), found


def answer(query: Query, names: dict[str, Bag], together: bool = False) -> Answer:
    """What the query returns over the tables. Raises Diverges."""
    try:
        return query.rows(Scope(names, together=together))
    except Unsettled:
        return Failure("still changes at its limit", limit=True)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_views_equal_the_definition(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + -(-CASES // VIEWS), BLOCKS):
        case, answers = random_case(seed)
        mismatch = check(case, answers)
        if mismatch is not None:
            shown = replace(case, views=tuple(v for v in case.views if v.name == mismatch.view))
            pytest.fail(described(shown, mismatch), pytrace=False)
