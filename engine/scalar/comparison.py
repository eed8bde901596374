"""Comparisons, IS NULL, GREATEST and LEAST.

Words sort as values do, with two exceptions that the dictionary compares: interned kinds, and pairs of wide
numbers. Two values are equal if their words are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels import logic as kernels
from engine.kernels.stepping import formulas
from engine.kernels.words import NULL
from engine.plan.expressions import Op
from engine.scalar.evaluator import Evaluator, Formula, by_kernel, constant, full
from engine.scalar.row_failures import Report
from engine.scalar.wide_numbers import both_wide
from engine.schema import BOOLEAN, Type
from engine.state.dictionary import Dictionary

_CODES = {
    Op.EQ: kernels.EQ,
    Op.NE: kernels.NE,
    Op.LT: kernels.LT,
    Op.LE: kernels.LE,
    Op.GT: kernels.GT,
    Op.GE: kernels.GE,
    Op.DISTINCT: kernels.DISTINCT,
    Op.NOT_DISTINCT: kernels.NOT_DISTINCT,
}
OPERATORS = frozenset(_CODES)
_ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})
_ZERO = np.zeros(1, np.int64)
_NULL = np.array([NULL], np.int64)


def comparison(op: Op, left: Evaluator, right: Evaluator, dictionary: Dictionary) -> Evaluator:
    """The evaluator of a comparison of two values."""
    code = _CODES[op]
    first, second = left.evaluate, right.evaluate
    kernel = kernels.compare
    by_text = left.type.is_interned and op in _ORDERED
    may_be_wide = (left.type.may_be_wide or right.type.may_be_wide) and op in _ORDERED

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        a = first(batch, report, None)
        b = second(batch, report, None)
        if out is None:
            out = np.empty(batch.shape[1], np.int64)
        if by_text:
            a, b = dictionary.compare(a, b), _ZERO
        kernel(code, a, b, out)
        if may_be_wide:
            a, b = full(a, out.size), full(b, out.size)
            rows = both_wide(a, b)
            out[rows] = _by_text(code, a[rows], b[rows], dictionary)
        return out

    formula = None if by_text else Formula(formulas.COMPARE, (left, right), code, checks=may_be_wide)
    return Evaluator(evaluate, BOOLEAN, formula=formula)


def _by_text(code: int, left: np.ndarray, right: np.ndarray, dictionary: Dictionary) -> np.ndarray:
    found = np.empty(left.size, np.int64)
    kernels.compare(code, dictionary.compare(left, right), _ZERO, found)
    return found


def membership(arg: Evaluator, members: np.ndarray) -> Evaluator:
    """The evaluator of IN: whether the word is among int64[n] `members`, none of which is NULL."""
    sorted_members = np.unique(members)
    evaluate = by_kernel(lambda words, out: kernels.contains(words, sorted_members, 1, out), (arg,))
    return Evaluator(evaluate, BOOLEAN)


def is_null(arg: Evaluator) -> Evaluator:
    """The evaluator of IS NULL."""
    evaluate = by_kernel(lambda words, out: kernels.compare(kernels.NOT_DISTINCT, words, _NULL, out), (arg,))
    formula = Formula(formulas.COMPARE, (arg, constant(NULL, arg.type)), kernels.NOT_DISTINCT)
    return Evaluator(evaluate, BOOLEAN, formula=formula)


def extremum(op: Op, args: Sequence[Evaluator], type: Type, dictionary: Dictionary) -> Evaluator:
    """GREATEST or LEAST of the arguments that are not NULL."""
    code = kernels.GREATEST if op is Op.GREATEST else kernels.LEAST
    by_text = type.is_interned

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        best = args[0].evaluate(batch, report, None)
        for arg in args[1:]:
            other = arg.evaluate(batch, report, None)
            found = np.empty(batch.shape[1], np.int64)
            if by_text:
                _pick_text(op, best, other, dictionary, found)
            else:
                kernels.pick(code, best, other, found)
            if type.may_be_wide:
                best, other = full(best, found.size), full(other, found.size)
                rows = both_wide(best, other)
                among = np.empty(rows.size, np.int64)
                _pick_text(op, best[rows], other[rows], dictionary, among)
                found[rows] = among
            best = found
        return best

    formula = None if by_text or type.may_be_wide else Formula(formulas.PICK, tuple(args), code)
    return Evaluator(evaluate, type, formula=formula)


def _pick_text(op: Op, best: np.ndarray, other: np.ndarray, dictionary: Dictionary, out: np.ndarray) -> None:
    better = np.empty(out.size, np.int64)
    order = dictionary.compare(other, best)
    kernels.compare(_CODES[Op.GT if op is Op.GREATEST else Op.LT], order, _ZERO, better)
    either = np.empty(out.size, np.int64)
    kernels.pick(kernels.COALESCE, best, other, either)
    kernels.choose(better, other, either, out)
