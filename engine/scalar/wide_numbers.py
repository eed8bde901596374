"""Numbers with more digits than a word (`engine.codec.numerals`): rows that kernels leave are computed here.

Kernels handle only words. They leave a row to these functions if one of its numbers is wide, or if the result
does not fit into a word. Such rows are few, and are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isinf, isnan, nan

import numpy as np

from engine.codec.numerals import Number, is_wide, number_of, word_of
from engine.codec.values import float_word, word_float
from engine.kernels.words import NULL
from engine.plan.expressions import Op
from engine.scalar.evaluator import Evaluate, Evaluator, full
from engine.scalar.row_failures import Failure, Report
from engine.schema import Kind, Type
from engine.state.dictionary import Dictionary

Compute = Callable[..., int | None]
"""Maps numbers, in the meaning of their types' words, to the word of the result; None if there is none."""


def checked(
    kernel: Callable[..., int | None],
    exact: Compute | None,
    args: Sequence[Evaluator],
    explain: Callable[..., str],
    dictionary: Dictionary,
    lenient: bool = False,
) -> Evaluate:
    """Evaluates the arguments for a kernel that may leave rows: it takes their words and an array for the
    results, and returns how many rows have none.

    Where there may be wide numbers, `exact` completes the rows that the kernel left. A row without a result
    fails, unless it is `lenient` or an argument is NULL; `explain` makes a message of its words.
    """
    inner, types = [arg.evaluate for arg in args], [arg.type for arg in args]

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        operands = [of(batch, report, None) for of in inner]
        if out is None:
            out = np.empty(batch.shape[1], np.int64)
        failed = kernel(*operands, out)
        if exact is None and not failed:
            return out
        columns = [full(words, out.size) for words in operands]
        known = np.logical_and.reduce([words != NULL for words in columns])
        if exact is not None:
            failed = _fill_wide_rows(exact, types, columns, known, out, dictionary)
        if failed and not lenient:
            rows = np.flatnonzero((out == NULL) & known)
            report.append(
                Failure(rows, rows, lambda places: [explain(*(int(c[i]) for c in columns)) for i in places])
            )
        return out

    return evaluate


def _fill_wide_rows(
    compute: Compute,
    types: Sequence[Type],
    columns: Sequence[np.ndarray],
    known: np.ndarray,
    out: np.ndarray,
    dictionary: Dictionary,
) -> int:
    """Complete `out` int64[n] in the `known` rows left to `compute`; returns how many have no result, and
    NULL in `out`. The columns, int64[n], have the types `types`."""
    left = out == NULL
    for words, type in zip(columns, types, strict=True):
        if type.may_be_wide:
            left |= is_wide(words)
    failed = 0
    for row in np.flatnonzero(left & known).tolist():
        numbers = [
            _number(int(words[row]), type, dictionary) for words, type in zip(columns, types, strict=True)
        ]
        word = compute(*numbers)
        out[row] = NULL if word is None else word
        failed += word is None
    return failed


def _number(word: int, type: Type, dictionary: Dictionary) -> Number:
    return number_of(word, dictionary) if type.may_be_wide else word


def arithmetic(op: Op, type: Type, dictionary: Dictionary) -> Compute:
    """An operator over numbers with the scale of the result's type, a NUMERIC."""
    operator = _OPERATORS[op]

    def compute(*numbers: Number) -> int | None:
        return _fitting(operator(*numbers), type, dictionary)

    return compute


def rescale(source: Type, target: Type, dictionary: Dictionary) -> Compute:
    """The cast of an exact number to another exact type, rounded half away from zero."""
    shift = (target.scale or 0) - (source.scale or 0)

    def compute(number: Number) -> int | None:
        if shift >= 0 or isinstance(number, float):
            return _fitting(number * 10 ** max(shift, 0), target, dictionary)
        divisor = 10**-shift
        size = (2 * abs(number) + divisor) // (2 * divisor)
        return _fitting(size if number > 0 else -size, target, dictionary)

    return compute


def to_float(source: Type, target: Type) -> Compute:
    """The cast of a number to a float."""
    divisor = 10 ** (source.scale or 0)

    def compute(number: int) -> int:
        value = number / divisor
        return float_word(float(np.float32(value)) if target.kind is Kind.REAL else value)

    return compute


def from_float(target: Type, dictionary: Dictionary, takes_specials: bool) -> Compute:
    """The cast of a float to a NUMERIC, rounded half away from zero; it may take NaN and the infinities."""
    factor = 10.0 ** (target.scale or 0)

    def compute(word: int) -> int | None:
        value = word_float(word) * factor
        if takes_specials and not isfinite(value) and not isfinite(word_float(word)):
            return _fitting(value, target, dictionary)
        if not abs(value) < 10.0**39:
            return None
        size = int(abs(value) + 0.5) if abs(value) < 2.0**52 else int(abs(value))
        return _fitting(size if value > 0 else -size, target, dictionary)

    return compute


def _fitting(number: Number | None, type: Type, dictionary: Dictionary) -> int | None:
    """The word of a number of `type`; None if it is out of range."""
    if number is None:
        return None
    if isinstance(number, float):
        return word_of(number, dictionary) if type.has_specials else None
    low, high = type.bounds
    if not low <= number <= high:
        return None
    return number if type.is_integer else word_of(number, dictionary)


def _remainder(a: Number, b: Number) -> Number | None:
    """The remainder, with the sign of `a`; None for a division by zero, unless NaN is divided. A number
    divided by an infinity is its own remainder."""
    if isnan(a) or isnan(b):
        return nan
    if b == 0:
        return None
    if isinf(a):
        return nan
    if isinf(b):
        return a
    size = abs(a) % abs(b)
    return size if a >= 0 else -size


_OPERATORS: dict[Op, Callable[..., Number | None]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.MOD: _remainder,
    Op.NEG: lambda a: -a,
    Op.ABS: abs,
}


def both_wide(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The rows int64[k] with two different wide numbers of one sign, which words do not order."""
    return np.flatnonzero(is_wide(left) & is_wide(right) & ((left ^ right) >= 0) & (left != right))
