"""CASE and COALESCE: a part fails a row only if the row's value comes from that part.

Cheap parts are evaluated for all rows, and the failures of rows that do not take them are dropped. If any
part is costly, each part is evaluated only for the rows that reach it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels import logic as kernels
from engine.kernels.stepping import formulas
from engine.kernels.words import NULL
from engine.scalar.evaluator import Evaluator, Formula, full
from engine.scalar.row_failures import Report, keep
from engine.schema import Type

Branches = Sequence[tuple[Evaluator, Evaluator]]


def case(branches: Branches, otherwise: Evaluator, type: Type) -> Evaluator:
    """The evaluator of CASE."""
    parts = [part for branch in branches for part in branch] + [otherwise]
    costly = any(part.costly for part in parts[1:])
    evaluate = _case_by_rows(branches, otherwise) if costly else _case_at_once(branches, otherwise)
    formula = Formula(formulas.CHOOSE, tuple(parts))
    return Evaluator(evaluate, type, formula=formula)


def _case_at_once(branches: Branches, otherwise: Evaluator):
    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        reports: list[Report] = [[] for _ in range(2 * len(branches) + 1)]
        pairs = [
            (condition.evaluate(batch, reports[2 * i], None), value.evaluate(batch, reports[2 * i + 1], None))
            for i, (condition, value) in enumerate(branches)
        ]
        result = otherwise.evaluate(batch, reports[-1], None)
        for condition, value in reversed(pairs):
            chosen = np.empty(batch.shape[1], np.int64)
            kernels.choose(condition, value, result, chosen)
            result = chosen
        if any(reports):
            sift(reports, [condition for condition, _ in pairs], report, batch.shape[1])
        return result

    def sift(reports: list[Report], conditions: list[np.ndarray], report: Report, count: int) -> None:
        """Pass on the failures of rows that reach the part that failed."""
        reach = np.ones(count, bool)
        for i, condition in enumerate(conditions):
            keep(report, reports[2 * i], reach)
            taken = reach & (condition == 1)
            keep(report, reports[2 * i + 1], taken)
            reach = reach & ~taken
        keep(report, reports[-1], reach)

    return evaluate


def _case_by_rows(branches: Branches, otherwise: Evaluator):
    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        if out is None:
            out = np.empty(batch.shape[1], np.int64)
        rows = np.arange(batch.shape[1])
        for condition, value in branches:
            taken = condition.on(batch, rows, report) == 1
            if taken.any():
                out[rows[taken]] = value.on(batch, rows[taken], report)
            rows = rows[~taken]
        if rows.size:
            out[rows] = otherwise.on(batch, rows, report)
        return out

    return evaluate


def coalesce(args: Sequence[Evaluator], type: Type) -> Evaluator:
    """The evaluator of COALESCE."""
    costly = any(arg.costly for arg in args[1:])
    evaluate = _coalesce_by_rows(args) if costly else _coalesce_at_once(args)
    formula = Formula(formulas.PICK, tuple(args), kernels.COALESCE)
    return Evaluator(evaluate, type, formula=formula)


def _coalesce_at_once(args: Sequence[Evaluator]):
    first, *rest = args

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        result = first.evaluate(batch, report, None)
        for arg in rest:
            failures: Report = []
            other = arg.evaluate(batch, failures, None)
            if failures:
                keep(report, failures, full(result, batch.shape[1]) == NULL)
            filled = np.empty(batch.shape[1], np.int64)
            kernels.pick(kernels.COALESCE, result, other, filled)
            result = filled
        return result

    return evaluate


def _coalesce_by_rows(args: Sequence[Evaluator]):
    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        if out is None:
            out = np.empty(batch.shape[1], np.int64)
        out[:] = args[0].evaluate(batch, report, None)
        for arg in args[1:]:
            rows = np.flatnonzero(out == NULL)
            if rows.size == 0:
                break
            out[rows] = arg.on(batch, rows, report)
        return out

    return evaluate
