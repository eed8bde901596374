"""Outputs: collections that can be read at every complete time."""

from __future__ import annotations

from engine.api.flow import Flow
from engine.codec.python import decode_row
from engine.errors import EpochError
from engine.schema import Schema
from engine.state.packed_times import Time

Rows = dict[tuple, int]
"""Rows with their frequencies, or with the changes of these."""


class Output:
    """A maintained collection, with its history."""

    def __init__(self, flow: Flow, name: str, schema: Schema) -> None:
        self.flow = flow
        self.name = name
        self.schema = schema

    def rows(self) -> Rows:
        """The rows at the last complete epoch; EpochError if there is none, or times are tuples."""
        frontier = self.flow.frontier
        if not self.flow.order.is_total or not isinstance(frontier[0], int) or frontier[0] == 0:
            raise EpochError("there is no last complete epoch to read")
        return self.at(frontier[0] - 1)

    def at(self, time: Time) -> Rows:
        """The rows at a complete time; EpochError if it is not complete, or forgotten."""
        engine = self.flow.engine
        words, counts = engine.snapshot.rows(self.name, self._complete(time))
        return self._decoded(words.T.tolist(), counts.tolist())

    def difference(self, time: Time) -> Rows:
        """The changes of rows at a complete time."""
        delta = self.flow.engine.snapshot.differences(self.name)
        delta = delta[:, delta[-2] == self._complete(time)]
        return self._decoded(delta[:-2].T.tolist(), delta[-1].tolist())

    def changes(self) -> list[tuple[Time, Rows]]:
        """All kept differences, by time, in a linear extension of the order of times."""
        order = self.flow.order
        found: dict[int, Rows] = {}
        delta = self.flow.engine.snapshot.differences(self.name)
        for *words, word, diff in sorted(delta.T.tolist(), key=lambda line: line[-2]):
            found.setdefault(word, {}).update(self._decoded([words], [diff]))
        return [(order.unpack(word), rows) for word, rows in found.items()]

    def errors(self) -> list[tuple[str, int]]:
        """The messages of the rows that could not be computed, at the last complete epoch."""
        return self.flow.engine.snapshot.errors(self.name)

    def drop(self) -> None:
        """Stop maintaining the collection."""
        self.flow.engine.drop_view(self.name)

    def _complete(self, time: Time) -> int:
        word = self.flow.order.pack(time)
        if not self.flow.engine.frontier.is_complete(word):
            raise EpochError(f"the time {time} is not complete")
        return word

    def _decoded(self, rows: list, counts: list[int]) -> Rows:
        schema, dictionary = self.schema, self.flow.engine.dictionary
        return {decode_row(words, schema, dictionary): n for words, n in zip(rows, counts, strict=True)}
