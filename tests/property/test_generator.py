"""What is generated is valid SQL, and has every construct. The tally of views says that most answers live."""

from __future__ import annotations

import random
from collections import Counter

from tests.property.cases import is_valid, random_case
from tests.property.duck import Referee
from tests.property.schemas import random_tables
from tests.property.tally import WORDS, words_of
from tests.property.views import random_view
from tests.seeds import SEED, seeds


def test_nearly_all_views_are_valid() -> None:
    found = Counter(_is_valid(seed) for seed in seeds(200))
    assert found[True] > 0.9 * found.total()


def _is_valid(seed: int) -> bool:
    rng = random.Random(seed)
    tables = random_tables(rng)
    referee = Referee(tables)
    try:
        return is_valid(referee, random_view(rng, "v0", tables, ()))
    finally:
        referee.close()


def test_every_construct_occurs() -> None:
    """However rare: views are made until there are all, 60,000 at most."""
    rng, missing = random.Random(SEED), set(WORDS)
    for _ in range(60_000):
        missing -= words_of(random_view(rng, "v0", random_tables(rng), ()).sql())
        if not missing:
            break
    assert missing == set()


def test_a_seed_is_a_case() -> None:
    assert random_case(SEED, 6) == random_case(SEED, 6)
