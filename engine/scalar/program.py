"""Programs: tuples of expressions over batches of rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from engine.plan.expressions import ColumnRef, Expression, columns_of
from engine.scalar.compile import compiled
from engine.scalar.register_code import RegisterCode
from engine.scalar.row_failures import Failures, Report, first_failures
from engine.state.dictionary import Dictionary

_CHUNK = 1 << 15  # rows evaluated together, so that intermediate results stay in the cache


class ScalarProgram:
    """Expressions, compiled once and evaluated over any number of batches, from any thread.

    Raises PlanError if the types of an expression do not fit together or DuckDB refuses a foreign one;
    InvalidValue if a literal does not fit its type.
    """

    def __init__(self, expressions: tuple[Expression, ...], dictionary: Dictionary) -> None:
        with dictionary.compiling() as self._constants:
            self._evaluators = tuple(compiled(expression, dictionary) for expression in expressions)
        self._columns = _only_columns(expressions)
        self._expressions = expressions

    def __len__(self) -> int:
        return len(self._expressions)

    @cached_property
    def reads(self) -> frozenset[int]:
        """The words of a batch that the expressions read."""
        return frozenset().union(*map(columns_of, self._expressions))

    @cached_property
    def registers(self) -> RegisterCode | None:
        """How compiled steps compute the expressions; None if only Python can."""
        return RegisterCode.of(self._evaluators)

    def __call__(self, words: np.ndarray) -> tuple[np.ndarray, Failures | None]:
        """The results int64[E, n] for the words int64[W, n] of a batch, and the rows that failed, if any.

        The words of a failed row are undefined. If the expressions only pass columns on in order, the result
        is a view of `words`: do not write to either.
        """
        if self._columns is not None:
            return words[self._columns], None
        results = np.empty((len(self._evaluators), words.shape[1]), np.int64)
        return results, self.fill(words, results)

    def fill(self, words: np.ndarray, results: np.ndarray) -> Failures | None:
        """As a call, with the results written into an array int64[E, n] of the caller's."""
        count = words.shape[1]
        report: Report = []
        if count <= _CHUNK:
            self._evaluate(words, results, report)
        else:
            for start in range(0, count, _CHUNK):
                part = slice(start, start + _CHUNK)
                failures: Report = []
                self._evaluate(words[:, part], results[:, part], failures)
                rows = np.arange(start, min(start + _CHUNK, count))
                report.extend(failure.moved(rows) for failure in failures)
        return first_failures(report)

    def _evaluate(self, words: np.ndarray, results: np.ndarray, report: Report) -> None:
        for evaluator, out in zip(self._evaluators, results, strict=True):
            found = evaluator.evaluate(words, report, out)
            if found is not out:
                out[:] = found


def _only_columns(expressions: tuple[Expression, ...]) -> slice | np.ndarray | None:
    """How to index a batch, if the expressions only refer to its columns."""
    indices = [expression.index for expression in expressions if isinstance(expression, ColumnRef)]
    if len(indices) != len(expressions) or not indices:
        return None
    if indices == list(range(indices[0], indices[0] + len(indices))):
        return slice(indices[0], indices[0] + len(indices))
    return np.array(indices)
