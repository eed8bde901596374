"""What a hostile client is answered, that the service survives it, and that its views stay right.

The default run makes the brief attacks; FRESHET_HOSTILE=1 makes all. No test asserts a time or a size:
`python -m tests.hostile` shows them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.hostile.attack import Attack
from tests.hostile.attacks import ATTACKS
from tests.hostile.hunt import Hunt, hunting

ALL = bool(int(os.environ.get("FRESHET_HOSTILE", "0")))


@pytest.fixture(scope="module")
def hunt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hunt]:
    with hunting(tmp_path_factory.mktemp("hostile")) as hunt:
        yield hunt


def _case(attack: Attack) -> object:
    known = pytest.mark.xfail(strict=True, reason=attack.wrong_today)
    return pytest.param(attack, id=attack.name, marks=[known] if attack.wrong_today else [])


def test_attacks_have_names_of_their_own() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names)) >= 80


@pytest.mark.parametrize("attack", [_case(attack) for attack in ATTACKS if attack.is_brief or ALL])
def test_an_attack_does_no_harm(hunt: Hunt, attack: Attack) -> None:
    outcome = hunt.outcome(attack)
    print(outcome)
    assert not outcome.harm
