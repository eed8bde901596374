"""What is generated is worth checking: nearly all of it is valid SQL, and most answers live."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.property.cases import Answers, Case, is_valid, random_case
from tests.property.duck import Failure, Referee
from tests.property.histories import is_valid as is_valid_history
from tests.property.schemas import random_tables
from tests.property.tally import WORDS, words_of
from tests.property.views import random_view
from tests.seeds import SEED, seeds


@pytest.fixture(scope="module")
def cases() -> list[tuple[Case, Answers]]:
    return [random_case(seed) for seed in seeds(25)]


def test_nearly_all_views_are_valid() -> None:
    found = Counter(_is_valid(seed) for seed in seeds(300))
    assert found[True] > 0.95 * found.total()


def _is_valid(seed: int) -> bool:
    rng = random.Random(seed)
    tables = random_tables(rng)
    referee = Referee(tables)
    try:
        return is_valid(referee, random_view(rng, "v0", tables, ()))
    finally:
        referee.close()


def test_most_answers_have_rows_and_change(cases: list[tuple[Case, Answers]]) -> None:
    pairs = [
        (old, new)
        for case, answers in cases
        for view in case.views
        for old, new in zip(answers[view.name], answers[view.name][1:], strict=False)
    ]
    assert sum(1 for _, new in pairs if new) > 0.6 * len(pairs)
    assert sum(1 for old, new in pairs if old != new) > 0.5 * len(pairs)
    assert sum(1 for _, new in pairs if new is None or isinstance(new, Failure)) < 0.05 * len(pairs)


def test_histories_keep_the_rules(cases: list[tuple[Case, Answers]]) -> None:
    assert all(is_valid_history(case.tables, case.history) for case, _ in cases)


def test_every_construct_occurs() -> None:
    rng = random.Random(SEED)
    text = "\n".join(random_view(rng, "v0", random_tables(rng), ()).sql() for _ in range(6000))
    assert set(WORDS) - words_of(text) == set()


def test_views_read_views(cases: list[tuple[Case, Answers]]) -> None:
    views = [view for case, _ in cases for view in case.views]
    assert sum(1 for view in views if view.reads) > len(views) / 10


def test_a_seed_is_a_case() -> None:
    assert random_case(7) == random_case(7)
