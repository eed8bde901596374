"""AND, OR and NOT in three-valued logic.

FALSE decides AND, and TRUE decides OR, whatever the other operands are, failed ones included, on either side.
So the result does not depend on their order. A costly operand is evaluated only for rows that the operands
before it have not decided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels import logic as kernels
from engine.kernels.stepping import formulas
from engine.kernels.words import NULL
from engine.plan.expressions import Op
from engine.scalar.evaluator import Evaluator, Formula, by_kernel, full
from engine.scalar.row_failures import Report, keep
from engine.schema import BOOLEAN


def negation(arg: Evaluator) -> Evaluator:
    """The evaluator of NOT."""
    evaluate = by_kernel(kernels.negate, (arg,))
    return Evaluator(evaluate, BOOLEAN, formula=Formula(formulas.NOT, (arg,)))


def connective(op: Op, args: Sequence[Evaluator]) -> Evaluator:
    """AND or OR of two or more truth values."""
    code, decisive = (kernels.AND, 0) if op is Op.AND else (kernels.OR, 1)
    first, *rest = sorted(args, key=lambda arg: arg.costly)

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        failures: Report = []
        result = first.evaluate(batch, failures, None)
        if failures:
            result = _unknown(result, failures, batch.shape[1])
        for arg in rest:
            own: Report = []
            other = undecided(arg, batch, result, own) if arg.costly else arg.evaluate(batch, own, None)
            if own:
                other = _unknown(other, own, batch.shape[1])
                failures += own
            connected = np.empty(batch.shape[1], np.int64)
            kernels.connect(code, result, other, connected)
            result = connected
        if failures:
            keep(report, failures, result != decisive)
        return result

    def undecided(arg: Evaluator, batch: np.ndarray, result: np.ndarray, report: Report) -> np.ndarray:
        """The operand where it can make a difference, and the decisive value elsewhere."""
        rows = np.flatnonzero(full(result, batch.shape[1]) != decisive)
        other = np.full(batch.shape[1], decisive)
        if rows.size:
            other[rows] = arg.on(batch, rows, report)
        return other

    formula = Formula(formulas.CONNECT, tuple(args), code)
    return Evaluator(evaluate, BOOLEAN, formula=formula)


def _unknown(truth: np.ndarray, failures: Report, count: int) -> np.ndarray:
    """The truth values with NULL in failed rows, so that a failed row decides nothing."""
    unknown = full(truth, count).copy()
    for failure in failures:
        unknown[failure.rows] = NULL
    return unknown
