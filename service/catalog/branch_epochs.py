"""Which epochs a branch may have: numbers that no other timeline has, before or after it.

They follow from the branch's number, which no other branch ever has, so they are the same in every start.
Many readers of JSON have whole numbers up to 2^53 only. The first branches have a great many epochs each, and
leave room behind them for many more branches with fewer.
"""

from __future__ import annotations

from typing import NamedTuple

from service.errors import Overloaded

_MANY, _FEW = 10**12, 10**10
_FIRST = 8_000
"""The greatest number of a branch that has many."""
_MOST = 2**53


class BranchEpochs(NamedTuple):
    """The epochs from `first` on, before `end`."""

    first: int
    end: int


def epochs_of(branch: int) -> BranchEpochs:
    """The epochs of the branch with a number. Raises Overloaded if there are none left."""
    many = min(branch, _FIRST)
    first = many * _MANY
    if branch > _FIRST:
        first += _MANY + (branch - _FIRST - 1) * _FEW
    epochs = BranchEpochs(first, first + (_MANY if branch <= _FIRST else _FEW))
    if epochs.end > _MOST:
        raise Overloaded(
            f"{branch - 1} branches have been made, and there are no more numbers for epochs of another",
            "use the branches that there are, or move the tables to a new data directory",
            code="too_many_branches",
        )
    return epochs
