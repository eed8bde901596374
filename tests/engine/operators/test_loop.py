"""The rounds of a loop: each with work runs once, the least first, also those that are noted meanwhile."""

from __future__ import annotations

import random

from engine.operators.loop import Agenda
from tests.seeds import each_seed, few


@each_seed(few(50))
def test_rounds_come_in_order(seed: int) -> None:
    rng = random.Random(seed)
    agenda = Agenda()
    noted: set[int] = set()
    taken: list[int] = []
    for _ in range(200):
        if agenda and rng.random() < 0.4:
            taken.append(agenda.take())
            assert taken[-1] == min(noted)
            noted.remove(taken[-1])
        else:
            current = (taken[-1] if taken else 0) + rng.randrange(40)
            agenda.add(current)
            noted.add(current)
        assert set(agenda) == noted and len(agenda) == len(noted)
        assert all((current in agenda) == (current in noted) for current in range(50))
