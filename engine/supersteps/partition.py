"""How many of its first words each arrangement is divided by among shards.

Rows that meet must be in one shard: rows with equal keys, on both sides of a join and in a group. An
arrangement, with all that it is joined with, is divided by the fewest words that any of their readers looks
up. One without readers that look up is divided by all of its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.equijoin import JoinOperator
from engine.operators.group_operators import GroupOperator
from engine.operators.nearest_join import NearestJoinOperator
from engine.operators.operator import Operator
from engine.operators.temporal import TemporalOperator


def partition_words(operators: Iterable[Operator], keys: Mapping[Arrangement, int]) -> dict[Arrangement, int]:
    """The number of words for each arrangement among all `operators`. `keys` adds key widths of other
    readers."""
    groups: dict[Arrangement, _Group] = {}
    for operator in operators:
        if isinstance(operator, Arrangement):
            groups.setdefault(operator, _Group()).words.append(operator.width)
        elif isinstance(operator, GroupOperator):
            groups.setdefault(_arrangement(operator.source), _Group()).words.append(operator.key)
        elif isinstance(operator, JoinOperator | NearestJoinOperator):
            left, right = (groups.setdefault(_arrangement(side), _Group()) for side in operator.inputs)
            left.union(right).words.append(operator.key)
        elif isinstance(operator, TemporalOperator):
            clock, *rows = (groups.setdefault(_arrangement(side), _Group()) for side in operator.inputs)
            for side in rows:
                clock.union(side).words.append(0)
    for arrangement, key in keys.items():
        groups.setdefault(arrangement, _Group()).words.append(key)
    fewest: dict[_Group, int] = {}
    for group in groups.values():
        fewest[group.root] = min(*group.words, fewest.get(group.root, group.words[0]), group.words[0])
    return {arrangement: fewest[group.root] for arrangement, group in groups.items()}


def _arrangement(operator: Operator) -> Arrangement:
    return operator.arrangement if isinstance(operator, EnteredArrangement) else operator  # type: ignore


class _Group:
    """A set of arrangements that are divided by the same words, in a forest of disjoint sets."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self._parent: _Group | None = None

    @property
    def root(self) -> _Group:
        group = self
        while group._parent is not None:
            group = group._parent
        return group

    def union(self, other: _Group) -> _Group:
        """Join both sets; returns their root."""
        mine, others = self.root, other.root
        if mine is not others:
            others._parent = mine
        return mine
