"""Evaluators: what expressions compile to.

An evaluator takes the words int64[W, n] of a batch, a report for failures, and an array int64[n] that it may
write its result to, or None. It returns the result: that array, another one of n words, or one of a single
word that stands for all rows. Callers do not write to an array that an evaluator returned, unless it is the
one they passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.stepping import formulas
from engine.scalar.row_failures import Report
from engine.schema import Type

Evaluate = Callable[[np.ndarray, Report, "np.ndarray | None"], np.ndarray]


@dataclass(frozen=True)
class Formula:
    """How compiled steps compute an expression of others: an operation of `engine.kernels.stepping.formulas`,
    with its two numbers. It `checks` operands whose words may stand for wide numbers."""

    operation: int
    args: tuple[Evaluator, ...] = ()
    low: int = 0
    high: int = 0
    checks: bool = False


@dataclass(frozen=True)
class Evaluator:
    """A compiled expression.

    `costly`: it is worth evaluating only the rows that need it. `columns` are the batch's columns that it
    reads; `constant` is its word if that is the same for all rows. Without a `formula`, compiled steps leave
    it to Python.
    """

    evaluate: Evaluate
    type: Type
    costly: bool = False
    constant: int | None = None
    columns: tuple[int, ...] = ()
    formula: Formula | None = None

    def on(self, batch: np.ndarray, rows: np.ndarray, report: Report) -> np.ndarray:
        """The results int64[m] for `rows` int64[m], ascending, of the batch; failures refer to the same
        rows."""
        if rows.size == batch.shape[1]:
            return full(self.evaluate(batch, report, None), rows.size)
        part = np.empty((batch.shape[0], rows.size), np.int64)
        for column in self.columns:
            np.take(batch[column], rows, out=part[column])
        failures: Report = []
        words = self.evaluate(part, failures, None)
        report.extend(failure.moved(rows) for failure in failures)
        return full(words, rows.size)

    def typed(self, type: Type) -> Evaluator:
        """The same words, read as another type."""
        return replace(self, type=type)


def by_kernel(kernel: Callable[..., object], args: Sequence[Evaluator]) -> Evaluate:
    """Evaluates the arguments for a kernel, which takes their words and an array for the results."""
    inner = [arg.evaluate for arg in args]

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        operands = [of(batch, report, None) for of in inner]
        if out is None:
            out = np.empty(batch.shape[1], np.int64)
        kernel(*operands, out)
        return out

    return evaluate


def constant(word: int, type: Type) -> Evaluator:
    """The evaluator of one word for all rows."""
    words = np.array([word], np.int64)
    words.flags.writeable = False
    formula = Formula(formulas.CONSTANT, low=word)
    return Evaluator(lambda batch, report, out: words, type, constant=word, formula=formula)


def column(index: int, type: Type) -> Evaluator:
    """The evaluator of a column of the batch."""
    formula = Formula(formulas.COLUMN, low=index)
    return Evaluator(lambda batch, report, out: batch[index], type, columns=(index,), formula=formula)


def full(words: np.ndarray, count: int) -> np.ndarray:
    """An operand as int64[count]."""
    return words if words.size == count else np.full(count, words[0])
