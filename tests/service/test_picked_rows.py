"""Relations are read by the conditions of a query, and the query answers as over the whole relations."""

from __future__ import annotations

from dataclasses import replace

from service.settings.settings import Settings
from tests.seeds import each_seed
from tests.service.picking_story import compared


@each_seed(1)
def test_answers_are_those_over_whole_relations(settings: Settings, seed: int) -> None:
    filled, taken = compared(replace(settings, spark="never"), seed, 48, rounds=2)
    assert filled > 10 and taken > 10
