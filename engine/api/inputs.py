"""Inputs: collections that are changed from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa

from engine.api.collection import Collection
from engine.api.flow import Flow
from engine.codec.arrow import encode_arrow
from engine.codec.python import decode_row, encode_row
from engine.errors import EpochError
from engine.kernels.times import are_complete
from engine.plan.nodes import Source
from engine.state.packed_times import Frontier, Time


class Input(Collection):
    """A collection that is written from outside: differences, or whole states, at given times."""

    node: Source

    def __init__(self, flow: Flow, node: Source) -> None:
        super().__init__(flow, node)
        self._waiting: list[np.ndarray] = []

    def insert(self, row: tuple, time: Time | None = None) -> None:
        """Add a row once, at a time that is not complete, by default the current one."""
        self.update(row, 1, time)

    def remove(self, row: tuple, time: Time | None = None) -> None:
        """Remove a row once."""
        self.update(row, -1, time)

    def update(self, row: tuple, diff: int = 1, time: Time | None = None) -> None:
        """Change a row's frequency by `diff` at a time, and so at all later times.

        Raises EpochError if the time is complete, InvalidValue if a value does not fit its column.
        """
        word = self._open(time)
        words = encode_row(row, self.node.schema, self.flow.engine.dictionary)
        self._waiting.append(np.array([[*words, word, diff]], np.int64).T)

    def update_all(self, rows: Iterable[tuple[tuple, int]], time: Time | None = None) -> None:
        """Change many rows' frequencies, given as (row, diff)."""
        word = self._open(time)
        dictionary, schema = self.flow.engine.dictionary, self.node.schema
        lines = [(*encode_row(row, schema, dictionary), word, diff) for row, diff in rows]
        self._waiting.append(np.array(lines, np.int64).reshape(-1, len(schema) + 2).T)

    def load(
        self, table: pa.Table, diff: int | np.ndarray = 1, time: Time | np.ndarray | None = None
    ) -> None:
        """Add the rows of an Arrow table, each `diff` times; times and diffs may be arrays, one value a
        row."""
        schema = self.node.schema
        delta = np.empty((len(schema) + 2, table.num_rows), np.int64)
        encode_arrow(table, schema, self.flow.engine.dictionary, delta[:-2])
        delta[-2] = self._packed(time) if isinstance(time, np.ndarray) else self._open(time)
        delta[-1] = diff
        self._waiting.append(delta)

    def set(self, rows: Mapping[tuple, int], time: Time | None = None) -> None:
        """Set the collection at a time to these rows with their frequencies, by writing the difference.

        Later times get the same difference. Costs as much as the input holds.
        """
        word = self._open(time)
        change = Counter(dict(rows))
        change.subtract(self.at(self.flow.order.unpack(word)))
        self.update_all([(row, diff) for row, diff in change.items() if diff], time)

    def at(self, time: Time) -> dict[tuple, int]:
        """The rows at a time with their frequencies, waiting changes included."""
        order = self.flow.order
        word = order.pack(time)
        return self._counted(lambda at: order.before(at, word))

    def difference(self, time: Time) -> dict[tuple, int]:
        """The rows whose frequencies change at a time, and by how much, waiting changes included."""
        word = self.flow.order.pack(time)
        return self._counted(lambda at: at == word)

    def pending_until(self, upper: Frontier) -> np.ndarray:
        """The waiting changes at times that `upper` completes, as a delta."""
        delta = self._delta()
        return np.ascontiguousarray(delta[:, self._completed(delta, upper)])

    def taken(self, upper: Frontier) -> None:
        """Drop the waiting changes at times that `upper` completes: they are published."""
        delta = self._delta()
        self._waiting = [delta[:, ~self._completed(delta, upper)]]

    # Internals

    def _open(self, time: Time | None) -> int:
        """The word of a time; EpochError if it is complete."""
        order = self.flow.order
        word = order.pack(self.flow.time if time is None else time)
        if self.flow.engine.frontier.is_complete(word):
            raise EpochError(f"the time {time} of {self.node.name} is complete")
        return word

    def _packed(self, times: np.ndarray) -> np.ndarray:
        """Times [n] or [n, k] as words."""
        order = self.flow.order
        times = times.reshape(len(times), -1).astype(np.int64)
        if times.shape[1] != len(order.names):
            raise EpochError(f"times have {times.shape[1]} coordinates, not {', '.join(order.names)}")
        words = np.zeros(len(times), np.int64)
        for column in times.T:
            words = words << order.width | column
        frontier = self.flow.engine.frontier
        if are_complete(words, frontier.array, order.masks).any():
            raise EpochError(
                f"a time of {self.node.name} is complete: the next changes are at or after {frontier}"
            )
        return words

    def _delta(self) -> np.ndarray:
        """All waiting changes, as one delta."""
        if len(self._waiting) != 1:
            nothing = np.empty((len(self.node.schema) + 2, 0), np.int64)
            self._waiting = [np.concatenate([nothing, *self._waiting], axis=1)]
        return self._waiting[0]

    def _completed(self, delta: np.ndarray, upper: Frontier) -> np.ndarray:
        """Which changes are at times that `upper` completes."""
        return are_complete(np.ascontiguousarray(delta[-2]), upper.array, upper.order.masks)

    def _counted(self, wanted: Callable[[int], bool]) -> dict[tuple, int]:
        engine = self.flow.engine
        delta = np.concatenate((engine.snapshot.differences(self.node.name), self._delta()), axis=1)
        counts: Counter[tuple[int, ...]] = Counter()
        for *words, time, diff in delta.T.tolist():
            if wanted(time):
                counts[tuple(words)] += diff
        schema, dictionary = self.node.schema, engine.dictionary
        return {decode_row(words, schema, dictionary): n for words, n in counts.items() if n}
