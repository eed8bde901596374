"""The numbers of epochs that branches may have."""

from __future__ import annotations

from itertools import pairwise

import pytest

from service.catalog.branch_epochs import epochs_of
from service.errors import Overloaded


def test_no_two_branches_have_one_epoch() -> None:
    numbers = [*range(1, 9_000), *range(20_000, 20_100)]
    found = [epochs_of(number) for number in numbers]
    assert found[0] == (10**12, 2 * 10**12)
    for before, after in pairwise(found):
        assert before.end <= after.first < after.end <= 2**53
    assert epochs_of(8_000).end == epochs_of(8_001).first


def test_the_last_branch() -> None:
    last = next(number for number in range(100_000, 200_000) if _is_refused(number + 1))
    assert epochs_of(last).end <= 2**53
    with pytest.raises(Overloaded, match=f"{last} branches have been made"):
        epochs_of(last + 1)


def _is_refused(number: int) -> bool:
    try:
        epochs_of(number)
    except Overloaded as error:
        assert error.code == "too_many_branches"
        return True
    return False
