"""Random views over random histories: each row is explained, and the explanation alone makes it again.

Where a query takes rows away (NOT EXISTS, EXCEPT, outer joins, LIMIT), rows that are not in the explanation
may have kept others away: there the row need not be made again.

FRESHET_WHY is the number of pairs of a view and a row.
"""

from __future__ import annotations

import os
import random

import pytest

from service.definitions.definition import Definition
from tests.property.cases import Answers, Case, random_case
from tests.property.check import advance, create, started
from tests.property.planning import Catalog
from tests.seeds import SEED
from tests.service.why_replays import explained, is_closed, makes

PAIRS = int(os.environ.get("FRESHET_WHY", "12"))


def test_explanations_make_their_rows() -> None:
    pairs, seed = 0, SEED
    while pairs < PAIRS:
        case, answers = random_case(seed)
        pairs += _explain(case, answers, seed)
        seed += 1


def _explain(case: Case, answers: Answers, seed: int) -> int:
    rng = random.Random(f"why {seed}")
    catalog, engine = Catalog(case.tables), started(case)
    planned = {view.name: catalog.add(view) for view in case.views}
    definitions = {
        name: Definition(i, relation, 0, planned=planned.get(name))
        for i, (name, relation) in enumerate(catalog.relations.items())
    }
    for view in case.views:
        create(engine, view, {name: each.plan for name, each in planned.items()})
    for number, epoch in enumerate(case.history, 1):
        advance(engine, case, number, [epoch], answers)
    count = 0
    for view in case.views:
        if engine.snapshot.failure(view.name) is not None:
            continue
        epoch = rng.randint(0, len(case.history))
        if engine.snapshot.errors(view.name, epoch):
            continue
        words, _ = engine.snapshot.rows(view.name, epoch)
        for place in rng.sample(range(words.shape[1]), min(2, words.shape[1])):
            row = words[:, place]
            found = explained(engine, definitions, view.name, row, epoch)
            made = makes(engine, definitions[view.name], row, found)
            if not made and not is_closed(definitions[view.name], definitions):
                pytest.fail(f"seed {seed}, view {view.name}, epoch {epoch}, row {row}\n{view.sql()}\n{found}")
            count += 1
    return count
