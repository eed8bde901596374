"""Rows that were left out because they came too late: what a table's description shows of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from engine.codec.json import decode_rows
from engine.schema import Schema
from engine.state.dictionary import Dictionary

_SHOWN = 10
"""The number of late rows of a table that are kept to be looked at."""


class LateRows:
    """The late rows of all tables since the start: how many, and the newest of them. The writer adds, and any
    thread looks."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._newest: dict[str, deque[Sequence[object]]] = {}

    def add(self, table: str, schema: Schema, words: np.ndarray, dictionary: Dictionary) -> None:
        """Note rows int64[W, n] of a table."""
        self._counts[table] = self._counts.get(table, 0) + words.shape[1]
        kept = self._newest.setdefault(table, deque(maxlen=_SHOWN))
        kept.extend(decode_rows(np.ascontiguousarray(words[:, -_SHOWN:]), schema, dictionary))

    @property
    def total(self) -> int:
        return sum(self._counts.copy().values())

    def count(self, table: str) -> int:
        return self._counts.get(table, 0)

    def newest(self, table: str) -> list[Sequence[object]]:
        """The newest late rows, in JSON values."""
        return list(self._newest.get(table, ()))
