"""Questions: queries over groups of rows, answered by DuckDB for many groups at once.

If DuckDB refuses, or a value is out of range for its type, the groups are split in halves until the failing
group is alone, so that its reason does not depend on the other groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from engine.codec.arrow import decode_column, encode_arrow
from engine.errors import InvalidValue, PlanError
from engine.plan.group_queries import GROUPS, GroupQuery
from engine.scalar import duck_evaluator as duck
from engine.scalar.duck_literals import as_typed, carried
from engine.schema import BIGINT, Column, Schema
from engine.state.dictionary import Dictionary

TOGETHER = 1 << 20
"""Rows that are queried at once, unless one group has more."""
MOST = 1 << 26
"""Most rows of one group."""


@dataclass(frozen=True)
class Answers:
    """Rows of results, `words` int64[R, a], and their groups int64[a]; the reasons of groups that failed."""

    groups: np.ndarray
    words: np.ndarray
    reasons: dict[int, str]


class Question:
    """The query of a node."""

    def __init__(self, node: GroupQuery, dictionary: Dictionary) -> None:
        """Raises PlanError if DuckDB refuses the query itself."""
        self._columns = node.columns
        self._dictionary = dictionary
        self._answers = Schema((Column("g", BIGINT), *(Column(c.name, c.type) for c in node.results.columns)))
        names = [f"r{i}" for i in range(len(node.results))]
        casts = [carried(n, t) for n, t in zip(names, node.results.types, strict=True)]
        read = [f"{as_typed(c.name, c.type)} AS {c.name}" for c in self._columns.columns]
        self._text = (
            f"WITH {GROUPS} AS (SELECT {', '.join(['g', *read])} FROM {duck.ARGUMENTS}) "
            f"SELECT {', '.join(['g', *casts])} FROM ({node.query}) AS answers({', '.join(['g', *names])})"
        )
        nothing = np.empty(0, np.int64)
        try:
            duck.rows(self._text, self._table(nothing, np.empty((len(self._columns), 0), np.int64)))
        except duck.DuckRefusal as refusal:
            raise PlanError(f"DuckDB refuses {node.query}: {refusal}") from None

    def ask(self, groups: np.ndarray, counts: np.ndarray, words: np.ndarray) -> Answers:
        """The answers for rows `words` int64[V, r]; row i comes `counts[i]` times in group `groups[i]`.

        Counts are positive. Within a group, rows keep their order.
        """
        order = np.argsort(groups, kind="stable")
        groups, counts, words = groups[order], counts[order], words[:, order]
        numbers, starts = np.unique(groups, return_index=True)
        rows = np.append(starts, groups.size)
        sizes = np.add.reduceat(counts, starts) if groups.size else counts
        reasons: dict[int, str] = {}
        found = [np.empty((len(self._answers), 0), np.int64)]
        for first, last in _together(sizes):
            if sizes[first] > MOST:
                reasons[int(numbers[first])] = (
                    f"a group has {sizes[first]} rows, and at most {MOST} are allowed"
                )
                continue
            part = slice(rows[first], rows[last])
            found += self._some(groups[part], counts[part], words[:, part], reasons)
        answers = np.concatenate(found, axis=1)
        return Answers(answers[0], answers[1:], reasons)

    def _some(
        self, groups: np.ndarray, counts: np.ndarray, words: np.ndarray, reasons: dict[int, str]
    ) -> list[np.ndarray]:
        """The answers for sorted groups; adds the reasons of groups that fail."""
        try:
            table = self._table(np.repeat(groups, counts), np.repeat(words, counts, axis=1))
            return [encode_arrow(duck.rows(self._text, table), self._answers, self._dictionary)]
        except (duck.DuckRefusal, InvalidValue) as error:
            numbers = np.unique(groups)
            if len(numbers) == 1:
                reasons[int(numbers[0])] = str(error)
                return []
        half = int(np.searchsorted(groups, numbers[len(numbers) // 2]))
        return [
            *self._some(groups[:half], counts[:half], words[:, :half], reasons),
            *self._some(groups[half:], counts[half:], words[:, half:], reasons),
        ]

    def _table(self, groups: np.ndarray, words: np.ndarray) -> pa.Table:
        columns = zip(self._columns.names, words, self._columns.types, strict=True)
        decoded = {name: decode_column(w, type, self._dictionary) for name, w, type in columns}
        return pa.table({"g": groups, **decoded})


def _together(sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of groups to query at once: as many as have `TOGETHER` rows at most, or one group."""
    first = 0
    ends = np.cumsum(sizes)
    while first < len(sizes):
        before = ends[first] - sizes[first]
        last = max(first + 1, int(np.searchsorted(ends, before + TOGETHER, side="right")))
        yield first, last
        first = last
