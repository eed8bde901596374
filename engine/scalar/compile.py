"""Expressions to evaluators: the one walk over the tree, done once.

Parts that do not depend on a column are computed here. If that fails, they fail the rows that need them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.codec.values import encoder
from engine.errors import PlanError
from engine.plan.expressions import (
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Foreign,
    Literal,
    OneOf,
    Op,
    Parameter,
)
from engine.scalar import calculation as arithmetic
from engine.scalar import comparison
from engine.scalar.choice import case, coalesce
from engine.scalar.conversions import cast, finite, number
from engine.scalar.evaluator import Evaluator, column, constant
from engine.scalar.foreign import foreign
from engine.scalar.likeness import likeness
from engine.scalar.row_failures import Report
from engine.scalar.three_valued import connective, negation
from engine.schema import Type
from engine.state.dictionary import Dictionary

_ARITY = {Op.NEG: 1, Op.ABS: 1, Op.SQRT: 1, Op.NOT: 1, Op.IS_NULL: 1, Op.NUMBER: 1, Op.FINITE: 1}
_VARIADIC = frozenset({Op.COALESCE, Op.GREATEST, Op.LEAST})


def compiled(expression: Expression, dictionary: Dictionary) -> Evaluator:
    """The evaluator of an expression; PlanError if its types do not fit together."""
    match expression:
        case ColumnRef(index=index, type=type):
            return column(index, type)
        case Literal(value=value, type=type):
            return constant(encoder(type)(value, dictionary), type)
        case Parameter(number=number):
            raise PlanError(f"parameter {number} has no value")
        case Call(op=Op.AND | Op.OR as op):
            args = [compiled(operand, dictionary) for operand in _operands(expression)]
            evaluator = connective(op, args)
        case Call(args=parts):
            args = [compiled(part, dictionary) for part in parts]
            evaluator = _call(expression, args, dictionary)
        case Cast(arg=arg, type=type, lenient=lenient):
            args = [compiled(arg, dictionary)]
            evaluator = cast(args[0], type, lenient, dictionary)
        case Case(branches=branches, otherwise=otherwise, type=type):
            pairs = [(compiled(c, dictionary), compiled(v, dictionary)) for c, v in branches]
            last = compiled(otherwise, dictionary)
            args = [part for pair in pairs for part in pair] + [last]
            _check_types(type, [*(value for _, value in pairs), last])
            evaluator = case(pairs, last, type)
        case Foreign(template=template, args=parts, type=type):
            args = [compiled(part, dictionary) for part in parts]
            evaluator = likeness(expression, args, dictionary) or foreign(template, args, type, dictionary)
        case OneOf(arg=arg, values=values):
            args = [compiled(arg, dictionary)]
            encode = encoder(arg.type)
            words = np.array([encode(value, dictionary) for value in values], np.int64)
            evaluator = comparison.membership(args[0], words)
    return _folded(evaluator, args)


def _operands(call: Call) -> list[Expression]:
    """The operands of a chain of one operator, which may be thousands deep."""
    operands: list[Expression] = []
    pending: list[Expression] = [call]
    while pending:
        expression = pending.pop()
        if isinstance(expression, Call) and expression.op is call.op:
            pending.extend(reversed(expression.args))
        else:
            operands.append(expression)
    return operands


def _call(call: Call, args: Sequence[Evaluator], dictionary: Dictionary) -> Evaluator:
    op = call.op
    if len(args) != _ARITY.get(op, 2) and not (op in _VARIADIC and args):
        raise PlanError(f"{op.value} has {len(args)} arguments")
    if op in comparison.OPERATORS:
        _check_types(args[0].type, args)
        return comparison.comparison(op, args[0], args[1], dictionary)
    if op is Op.NOT:
        return negation(args[0])
    if op is Op.IS_NULL:
        return comparison.is_null(args[0])
    if op is Op.NUMBER:
        return number(args[0], call.type, dictionary)
    if op is Op.FINITE:
        return finite(args[0], dictionary)
    if op in _VARIADIC:
        _check_types(call.type, args)
        return (
            coalesce(args, call.type)
            if op is Op.COALESCE
            else comparison.extremum(op, args, call.type, dictionary)
        )
    evaluator = arithmetic.arithmetic(op, args, call.type, dictionary)
    if evaluator is None:
        types = ", ".join(str(arg.type) for arg in args)
        raise PlanError(f"{op.value} of {types} cannot have the type {call.type}")
    return evaluator


def _check_types(type: Type, parts: Sequence[Evaluator]) -> None:
    """Check that the words of the parts mean the same as the words of the type."""
    for part in parts:
        if part.type.kind is not type.kind or part.type.scale != type.scale:
            raise PlanError(f"{part.type} is given where {type} is needed")


def _folded(evaluator: Evaluator, args: Sequence[Evaluator]) -> Evaluator:
    """The evaluator with the columns that it reads; a constant if it reads none and does not fail."""
    if all(arg.constant is not None for arg in args):
        report: Report = []
        words = evaluator.evaluate(np.empty((0, 1), np.int64), report, None)
        if not report:
            return constant(int(words[0]), evaluator.type)
    columns = sorted({index for arg in args for index in arg.columns})
    costly = evaluator.costly or any(arg.costly for arg in args)
    return replace(evaluator, columns=tuple(columns), costly=costly)
