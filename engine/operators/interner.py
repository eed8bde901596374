"""Interning: every distinct row gets an id, a hash; rows that collide hash again in further rounds.

    rows by hash ──> initial ids ───────────────────────────┐
         │                │ contested hashes                ├──> ids
         │                v                                 │
         └──────> [ contest <── proposals <──┐ ] ──moves────┘
                  [    └─────────────────────┘ ]

A row proposes its hash of round 0 as its id and, if it loses, its hash of the next round. Of the proposals
for a hash, the least (round, row) wins. Proposals of later rounds are the fixed point of a loop; it is
unique, because losers depend only on proposals of earlier rounds and of lesser rows. Each such proposal
moves its row from the hash that it lost to the hash that it proposes next: an id is the initial one plus
the sum of its row's moves. Without collisions the loop never runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.kernels.intern import arrange_hashed, ask_again, sift
from engine.kernels.layers import SPREAD
from engine.kernels.lookup import find_ranges
from engine.kernels.narrow.narrow_rows import Batch, table_of
from engine.kernels.parallel.divided_sort import keys_of
from engine.kernels.rounds import distinct_rows
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.group_operators import ThresholdOperator
from engine.operators.groupwise import Answer, GeneralOperator, Words
from engine.operators.interesting_times import Groups
from engine.operators.loop import Loop, VariableOperator
from engine.operators.operator import Operator, Step
from engine.plan.nodes import Clamp, OnLimit
from engine.plan.row_ids import IdHash

_HASH = -1
_NO_HASHES = np.empty((0, 1), np.int64)


class HashedArrangement(Arrangement):
    """The input's rows as `[hash | words | rounds | epoch | diff]`, with their hash of round 0."""

    def __init__(
        self, source: Operator, columns: tuple[int, ...], width: int, depth: int, hash: IdHash
    ) -> None:
        super().__init__(source, (_HASH, *columns), width, depth)
        self.look_up_by(SPREAD)
        self._seed = hash.seed
        self._bits = np.array(hash.bits, np.int64)

    def arrange(self, delta: np.ndarray, step: Step) -> np.ndarray:
        return arrange_hashed(delta, self.order[1:], step.array, self._seed, self._bits)

    def clear(self) -> None:
        """Keep the batch as it is: the loop reads it too, which does not name it as an input."""
        self.out = []


class Initial(ThresholdOperator):
    """The distinct rows, led by their hashes of round 0. `contested` has the touched hashes of several rows.

    A row without history that has its hash to itself is emitted at once, whatever the order of times.
    """

    contested = _NO_HASHES
    _lone: tuple[np.ndarray, ...] = ()

    def __init__(self, source: HashedArrangement) -> None:
        super().__init__(source, Clamp.DISTINCT)

    @property
    def has_changes(self) -> bool:
        """Whether rows have changed: `Contested` reads more than the deltas."""
        return bool(self.out) or self.source.has_changes

    def step(self, step: Step) -> None:
        self.contested = _NO_HASHES
        super().step(step)
        self.out += self._lone
        self._lone = ()

    def _touched(self, step: Step) -> np.ndarray | None:
        keys = self.deferred.take(step.rounds) if step.rounds else []
        source = self.source
        if source.batch is not None:
            lone, others, self.contested = sift(source.batch, source.before(), source.width, source.depth)
            if lone.shape[1]:
                self._lone = (lone,)
            if len(others):
                keys.append(others)
        if not keys:
            return None
        return keys[0] if len(keys) == 1 else distinct_rows(np.concatenate(keys))


class Contested(Operator):
    """The touched hashes [m, 1] whose rows may lose: several rows have them, or later rounds propose them."""

    def __init__(self, initial: Initial, proposals: Arrangement) -> None:
        """`proposals` belong to the loop that reads this operator."""
        super().__init__([initial])
        self.proposals = proposals
        self.hashes: list[np.ndarray] = []

    @property
    def has_changes(self) -> bool:
        """Whether hashes are touched; they are no deltas."""
        return bool(self.hashes)

    def step(self, step: Step) -> None:
        initial: Initial = self.inputs[0]  # type: ignore[assignment]
        hashes = (initial.contested, self._asked_for(initial.source.batch))
        self.hashes = [some for some in hashes if len(some)]

    def clear(self) -> None:
        self.hashes = []

    def _asked_for(self, batch: Batch | None) -> np.ndarray:
        """The hashes of the batch that later rounds propose."""
        table = self.proposals.after()
        if batch is None or not len(table):
            return _NO_HASHES
        hashes = keys_of(batch, 1)
        lows, highs = find_ranges(table, hashes)
        return hashes[(lows < highs).any(axis=0)]


class Contest(GeneralOperator):
    """For each hash, what its losers propose next, as (hash, next hash, next round, row)."""

    def __init__(self, entered: EnteredArrangement, contested: Contested, hash: IdHash) -> None:
        """`entered` has the rows by hash, which are the proposals of round 0."""
        bits = np.array(hash.bits, np.int64)

        def ask_next(key: Words, proposals: Answer) -> Iterator[tuple[Words, int]]:
            losers = sorted(row for row, count in proposals.items() if count > 0)[1:]
            if losers:
                for move in ask_again(np.array(losers, np.int64), hash.seed, bits).tolist():
                    yield tuple(move), 1

        proposals = contested.proposals
        super().__init__(proposals, 1, ask_next, proposals.width)
        self._entered = entered
        self._contested = contested

    def _touched(self, step: Step) -> np.ndarray | None:
        keys = super()._touched(step)
        if not step.entering or not self._contested.hashes:
            return keys
        hashes = self._contested.hashes if keys is None else [keys, *self._contested.hashes]
        return distinct_rows(np.concatenate(hashes))

    def _groups(self, keys: np.ndarray, step: Step) -> Groups:
        """The groups, of a table that has the touched rows of the scope outside as proposals of round 0."""
        outer, source = self._entered, self.source
        ranges = zip(outer.batches(), *find_ranges(outer.after(), keys), strict=True)
        known = [self._lifted(*found) for found in ranges]
        later = source.batches()
        batches = [
            *known[: outer.published],
            *later[: source.published],
            *known[outer.published :],
            *later[source.published :],
        ]
        published = outer.published + source.published
        return Groups(keys, table_of(batches), published, step.array, batches)

    def _lifted(self, batch: Batch, lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
        """The rows of some ranges of an outer batch, each with round 0 as its hash's and its loop's."""
        ranges = [batch[low:high] for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
        return np.insert(np.concatenate(ranges), (1, self._entered.width + self._entered.depth), 0, axis=1)


class Ids(Operator):
    """The distinct rows led by their ids: the initial ids, moved by the loop's proposals."""

    def __init__(self, initial: Initial, loop: Loop) -> None:
        super().__init__([initial, loop])
        row = np.arange(3, initial.source.width + 4)
        self._lost = np.array([0, *row], np.int64)
        self._asked = np.array([1, *row], np.int64)

    def step(self, step: Step) -> None:
        initial, loop = self.inputs
        self.out = list(initial.out)
        for moves in loop.left[0] if loop.has_changes else ():  # type: ignore[attr-defined]
            left = moves[self._lost]
            np.negative(left[-1], out=left[-1])
            self.out += (left, moves[self._asked])


def proposals(rows: HashedArrangement, limit: int) -> Arrangement:
    """The arrangement of the proposals of later rounds, by hash; `limit` is the most rounds of their loop."""
    words = rows.width + 2
    return Arrangement(VariableOperator(None, limit), (*range(1, words),), words, rows.depth + 1)


def loop_of_ids(rows: HashedArrangement, contested: Contested, hash: IdHash, limit: int) -> Loop:
    """The loop that computes the proposals of later rounds, each of which is a move."""
    loop = Loop("of ids", limit, OnLimit.ERROR)
    entered = EnteredArrangement(rows)
    contest = Contest(entered, contested, hash)
    variable: VariableOperator = contested.proposals.inputs[0]  # type: ignore[assignment]
    loop.inputs.append(contested)
    loop.entries.append(entered)
    loop.variables.append(variable)
    loop.values.append(contest)
    loop.body += (variable, contested.proposals, entered, contest)
    loop.keys += ("variable", "proposals", "entered", "contest")
    return loop
