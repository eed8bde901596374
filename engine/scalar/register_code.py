"""Programs as compiled steps take them: lines of numbers, a register each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.kernels.stepping.formulas import CHOOSE, COLUMN
from engine.scalar.evaluator import Evaluator, Formula

MOST_LINES = 64
"""The most lines of a program. A longer one is worth a turn of Python's."""


class _NoCode(Exception):
    """Only Python has an expression, or there are too many lines."""


@dataclass(frozen=True)
class RegisterCode:
    """The numbers of all lines (`engine.kernels.stepping.formulas`), one after the other, and the operands
    that are the results."""

    lines: tuple[int, ...]
    results: tuple[int, ...]

    @staticmethod
    def of(evaluators: Sequence[Evaluator]) -> RegisterCode | None:
        """The code of some expressions; None if compiled steps leave one of them to Python."""
        writer = _Writer()
        try:
            results = tuple(map(writer.write, evaluators))
        except _NoCode:
            return None
        return RegisterCode(tuple(number for line in writer.lines for number in line), results)


class _Writer:
    """Writes a line after those that it needs."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, ...]] = []

    def write(self, evaluator: Evaluator) -> int:
        """The operand of an expression: a register, or, below 0, a column."""
        formula = evaluator.formula
        if formula is None:
            raise _NoCode
        if formula.operation == COLUMN:
            return -1 - formula.low
        operands = [self.write(arg) for arg in formula.args]
        if formula.operation == CHOOSE:
            *pairs, result = operands
            for place in range(len(pairs) - 2, -1, -2):
                result = self._line(formula, pairs[place], pairs[place + 1], result)
            return result
        result, *rest = operands or [-1]
        for operand in rest or [result]:
            result = self._line(formula, result, operand)
        return result

    def _line(self, formula: Formula, first: int, second: int, third: int = -1) -> int:
        """Write a line; returns its register."""
        if len(self.lines) == MOST_LINES:
            raise _NoCode
        numbers = (formula.operation, first, second, third, formula.low, formula.high, int(formula.checks))
        self.lines.append(numbers)
        return len(self.lines) - 1
