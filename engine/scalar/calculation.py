"""Arithmetic: exact for integers and decimals, where an overflow fails the row; IEEE's for floats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels import arithmetic as kernels
from engine.kernels.stepping import formulas
from engine.plan.expressions import Op
from engine.scalar import wide_numbers as wide
from engine.scalar.duck_literals import sql_text
from engine.scalar.evaluator import Evaluator, Formula, by_kernel
from engine.schema import BIGINT, WORD_DIGITS, Kind, Type
from engine.state.dictionary import Dictionary

_CHECKED = {
    Op.ADD: (kernels.add, formulas.ADD),
    Op.SUB: (kernels.subtract, formulas.SUBTRACT),
    Op.MUL: (kernels.multiply, formulas.MULTIPLY),
    Op.INTDIV: (kernels.quotient, formulas.QUOTIENT),
    Op.MOD: (kernels.remainder, formulas.REMAINDER),
}
_SIGNS = {
    Op.NEG: (kernels.negative, formulas.NEGATIVE),
    Op.ABS: (kernels.absolute, formulas.ABSOLUTE),
}
_FLOATS = {
    Op.ADD: (kernels.float_basic, 0),
    Op.SUB: (kernels.float_basic, 1),
    Op.MUL: (kernels.float_basic, 2),
    Op.DIV: (kernels.float_basic, 3),
    Op.MOD: (kernels.float_other, 0),
    Op.NEG: (kernels.float_other, 1),
    Op.ABS: (kernels.float_other, 2),
    Op.SQRT: (kernels.float_other, 3),
}
OPERATORS = frozenset(_FLOATS) | frozenset(_CHECKED)


def bounds(type: Type) -> tuple[int, int]:
    """The least and greatest number of an integer type, or of a NUMERIC in words."""
    low, high = type.bounds
    if type.kind is Kind.NUMERIC:
        return max(low, 1 - 10**WORD_DIGITS), min(high, 10**WORD_DIGITS - 1)
    return low, high


def arithmetic(op: Op, args: Sequence[Evaluator], type: Type, dictionary: Dictionary) -> Evaluator | None:
    """The evaluator of an arithmetic operator; None if it does not work on the type."""
    if any(arg.type.kind is not type.kind for arg in args):
        return None
    if type.is_float and op in _FLOATS:
        return _of_floats(op, args, type)
    if (type.is_integer or type.kind is Kind.NUMERIC) and (op in _SIGNS):
        return _signed(op, args[0], type, dictionary)
    if type.is_integer and op in _CHECKED:
        return _checked(op, args[0], args[1], type, dictionary)
    if type.kind is Kind.NUMERIC and op in (Op.ADD, Op.SUB, Op.MUL, Op.MOD) and _scales_fit(op, args, type):
        return _checked(op, args[0], args[1], type, dictionary)
    return None


def _scales_fit(op: Op, args: Sequence[Evaluator], type: Type) -> bool:
    scales = [arg.type.scale or 0 for arg in args]
    return sum(scales) == type.scale if op is Op.MUL else scales == [type.scale] * 2


def _checked(op: Op, left: Evaluator, right: Evaluator, type: Type, dictionary: Dictionary) -> Evaluator:
    kernel, operation = _CHECKED[op]
    low, high = bounds(BIGINT if op is Op.MOD else type)  # a remainder fits where the quotient does not
    may_be_wide = any(t.may_be_wide for t in (left.type, right.type, type))
    exact = wide.arithmetic(op, type, dictionary) if may_be_wide else None

    def run(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
        return kernel(a, b, low, high, out)  # type: ignore[no-any-return]

    def explain(a: int, b: int) -> str:
        why = "division by zero" if b == 0 and op in (Op.INTDIV, Op.MOD) else f"{type} overflow"
        first, second = sql_text(a, left.type, dictionary), sql_text(b, right.type, dictionary)
        return f"{why}: {first} {op.value} {second}"

    evaluate = wide.checked(run, exact, (left, right), explain, dictionary)
    return Evaluator(
        evaluate, type, formula=Formula(operation, (left, right), low, high, checks=exact is not None)
    )


def _signed(op: Op, arg: Evaluator, type: Type, dictionary: Dictionary) -> Evaluator:
    kernel, operation = _SIGNS[op]
    _, high = bounds(type)
    exact = wide.arithmetic(op, type, dictionary) if type.may_be_wide else None

    def run(a: np.ndarray, out: np.ndarray) -> int:
        return kernel(a, high, out)  # type: ignore[no-any-return]

    def explain(a: int) -> str:
        sign = "-" if op is Op.NEG else "abs "
        return f"{type} overflow: {sign}({sql_text(a, arg.type, dictionary)})"

    evaluate = wide.checked(run, exact, (arg,), explain, dictionary)
    formula = Formula(operation, (arg,), high=high, checks=exact is not None)
    return Evaluator(evaluate, type, formula=formula)


def _of_floats(op: Op, args: Sequence[Evaluator], type: Type) -> Evaluator:
    kernel, code = _FLOATS[op]
    single = type.kind is Kind.REAL

    def run(*words: np.ndarray) -> None:
        kernel(code, words[0], words[-2], words[-1])
        if single:
            kernels.round_to_single(words[-1])

    operation = formulas.FLOAT_BASIC if kernel is kernels.float_basic else formulas.FLOAT_OTHER
    formula = None if single else Formula(operation, tuple(args), code)
    return Evaluator(by_kernel(run, args), type, formula=formula)
