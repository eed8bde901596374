"""Changes of a table as the writer takes them: operations on rows of words.

A `TableChanges` keeps the order in which its author wrote the changes; the order matters where changes
share a key. It does not know whether the changes can be made: `service/changes/resolve.py` checks that
against the newest state, inside the writer.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engine.kernels.words import NULL
from engine.schema import Schema
from service.errors import Conflict, Invalid


class ChangeOp(enum.IntEnum):
    """INSERT a new row, DELETE an existing one, UPSERT: replace by key, or insert.

    DISCARD deletes by key and accepts that the row may be gone: a log that is read again needs that.
    The odd operations leave no row.
    """

    INSERT = 0
    DELETE = 1
    UPSERT = 2
    DISCARD = 3


ROOM = 2
"""Rows of a matrix of differences behind the words: the epochs and the diffs."""
_UPSERT = int(ChangeOp.UPSERT)  # numpy asks a member of an enumeration many things before it compares
_FEW = 64
"""Up to so many numbers are looked at faster as Python's than as an array."""


@dataclass(eq=False, slots=True)
class TableChanges:
    """`ops` int8[n] of `ChangeOp`; `words` int64[W, n], C-contiguous, whole rows of `schema`.

    A DELETE from a table with a primary key, and a DISCARD, use only the key columns; the others may hold
    anything.
    """

    schema: Schema
    ops: np.ndarray
    words: np.ndarray
    room: np.ndarray | None = field(default=None, init=False)
    """int64[W + ROOM, n], if `words` are its first rows: their differences are then made without a copy."""

    def __len__(self) -> int:
        return len(self.ops)

    @property
    def _greatest_op(self) -> int:
        if len(self.ops) > _FEW:
            return int(self.ops.max())
        ops = self.ops.tolist()
        return max(ops) if ops else 0

    @property
    def removes(self) -> np.ndarray:
        """Whether each change leaves no row, bool[n]."""
        return self.ops & 1 == 1

    @classmethod
    def of(cls, op: ChangeOp, schema: Schema, words: np.ndarray) -> TableChanges:
        """The same operation for every row of `words`, int64[W, n]."""
        return cls(schema, np.full(words.shape[1], op, dtype=np.int8), words)

    @classmethod
    def within(cls, op: ChangeOp, schema: Schema, room: np.ndarray) -> TableChanges:
        """The same operation for every row of words in `room`, int64[W + ROOM, n], which nobody else uses."""
        changes = cls.of(op, schema, room[:-ROOM])
        changes.room = room
        return changes

    @classmethod
    def concat(cls, parts: Sequence[TableChanges]) -> TableChanges:
        """All of `parts`, of one schema and at least one, in order."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            parts[0].schema,
            np.concatenate([part.ops for part in parts]),
            np.concatenate([part.words for part in parts], axis=1),
        )

    def check(self, table: str, schema: Schema, key: tuple[int, ...] | None) -> None:
        """Raises unless the table with that schema and primary key can take the changes.

        Raises Conflict if they were made for another schema, because the table was replaced or altered since,
        and Invalid for an upsert or a discard on a table without a primary key.
        """
        if self.schema is not schema and self.schema != schema:
            raise Conflict(f"table {table} has been altered or created again", code="table_changed")
        if key is None and self._greatest_op >= _UPSERT:
            raise Invalid(
                f"table {table} has no primary key to upsert or discard by",
                "insert and delete whole rows, or create the table with a primary key",
                code="no_primary_key",
            )

    def nulls(self, key: tuple[int, ...] | None) -> Iterator[tuple[str, np.ndarray]]:
        """The NOT NULL columns with a NULL that counts, each with the changes that have it, bool[n]."""
        if self.words.size <= _FEW and NULL not in self.words.ravel().tolist():
            return
        for index, column in enumerate(self.schema.columns):
            if column.nullable:
                continue
            null = self.words[index] == NULL
            if key is not None and index not in key:
                null &= ~self.removes
            if np.count_nonzero(null):  # a third of the time of any() for a few rows
                yield column.name, null


def differences(
    words: np.ndarray, epochs: np.ndarray | int, diffs: np.ndarray, room: np.ndarray | None = None
) -> np.ndarray:
    """The differences int64[W + ROOM, n] of rows at epochs; in their room, if they have one."""
    delta = room
    if delta is None:
        delta = np.empty((len(words) + ROOM, len(diffs)), np.int64)
        delta[:-ROOM] = words
    delta[-2] = epochs
    delta[-1] = diffs
    return delta


_OWNED = "\n"
"""Divides the owner of an idempotency key from its text, for no header has a line break."""


class Applied(NamedTuple):
    """The epoch of a request's changes, how many of these there are, and how many rows more its author sent
    that came too late."""

    epoch: int
    changes: int
    late: int = 0


@dataclass(frozen=True)
class Idempotency:
    """A client's key for one request, and the request's digest. `key` begins with its owner, if any."""

    key: str
    digest: bytes

    @classmethod
    def of(cls, owner: str, text: str, digest: bytes) -> Idempotency:
        """`text` is what the client calls the request; each owner, an API key, has its own names."""
        return cls(f"{owner}{_OWNED}{text}" if owner else text, digest)

    @property
    def text(self) -> str:
        """What the client calls the request."""
        return self.key.rpartition(_OWNED)[2]
