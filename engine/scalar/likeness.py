"""LIKE by a constant pattern without `_`: whether texts consist of segments, asked of the dictionary's bytes.

Such a pattern is a few segments with `%` between them. UTF-8 has no character inside of another one, so bytes
can be compared, and a leftmost occurrence of each segment is as good as any other. Nothing is remembered:
to find a text's bytes takes no longer than to find what was remembered of it.
"""

from __future__ import annotations

import re

import numpy as np

from engine.plan.expressions import Foreign
from engine.scalar.evaluator import Evaluator, full
from engine.scalar.row_failures import Report
from engine.schema import BOOLEAN, Kind
from engine.state.dictionary import Dictionary

_LIKE = re.compile(r"\{0\} (NOT )?LIKE '((?:[^'\\_{}\ud800-\udfff]|'')*)'")
"""A backslash may be an escape, and braces may be other places of the template. Halves of characters have no
bytes."""
_LONGEST, _MOST = 64, 8
"""Segments of more bytes, and more segments, are DuckDB's: it can be stopped when it takes too long."""


def likeness(expression: Foreign, args: list[Evaluator], dictionary: Dictionary) -> Evaluator | None:
    """The evaluator of a LIKE by a pattern of segments; None if the expression is something else."""
    found = _LIKE.fullmatch(expression.template)
    kinds = [expression.type.kind, *(arg.type.kind for arg in args)]
    if found is None or kinds != [Kind.BOOLEAN, Kind.TEXT]:
        return None
    segments = segments_of(found[2].replace("''", "'"))
    if len(segments) not in range(2, _MOST + 1) or max(map(len, segments)) > _LONGEST:
        return None
    is_negated = found[1] is not None
    text = args[0]

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        words = full(text.evaluate(batch, report, None), batch.shape[1])
        if out is None:
            out = np.empty(words.size, np.int64)
        dictionary.match(words, segments, is_negated, out)
        return out

    return Evaluator(evaluate, BOOLEAN, costly=True)


def segments_of(pattern: str) -> list[bytes]:
    """The parts of a pattern between its `%`, of which only the first and the last may be empty."""
    first, *others = pattern.encode().split(b"%")
    return [first, *filter(None, others[:-1]), *others[-1:]]
