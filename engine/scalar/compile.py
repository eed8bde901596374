"""Expressions to evaluators: the one walk over the tree, done once.

What does not depend on a column is computed here, unless it fails: then it fails the
rows that need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.codec.values import encoder
from engine.dictionary import Dictionary
from engine.errors import PlanError
from engine.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, Op
from engine.scalar import arithmetic, comparison
from engine.scalar.casts import cast
from engine.scalar.choice import case, coalesce
from engine.scalar.evaluator import Evaluator, column, constant
from engine.scalar.failures import Report
from engine.scalar.foreign import foreign
from engine.scalar.logic import connective, negation

_ARITY = {Op.NEG: 1, Op.ABS: 1, Op.NOT: 1, Op.IS_NULL: 1}
_VARIADIC = frozenset({Op.COALESCE, Op.GREATEST, Op.LEAST})


def compiled(expression: Expression, dictionary: Dictionary) -> Evaluator:
    """The evaluator of an expression; PlanError when its types do not fit together."""
    match expression:
        case ColumnRef(index=index, type=type):
            return column(index, type)
        case Literal(value=value, type=type):
            return constant(encoder(type)(value, dictionary), type)
        case Call(op=op, type=type):
            args = [compiled(arg, dictionary) for arg in _operands(expression)]
            evaluator = _call(op, args, expression, dictionary)
        case Cast(arg=arg, type=type, lenient=lenient):
            args = [compiled(arg, dictionary)]
            evaluator = cast(args[0], type, lenient, dictionary)
        case Case(branches=branches, otherwise=otherwise, type=type):
            pairs = [(compiled(c, dictionary), compiled(v, dictionary)) for c, v in branches]
            last = compiled(otherwise, dictionary)
            args = [part for pair in pairs for part in pair] + [last]
            _check_types(expression, [*(value for _, value in pairs), last])
            evaluator = case(pairs, last, type)
        case Foreign(template=template, args=parts, type=type):
            args = [compiled(part, dictionary) for part in parts]
            evaluator = foreign(template, args, type, dictionary)
    return _folded(evaluator, args)


def _operands(call: Call) -> Sequence[Expression]:
    """The arguments; of AND and OR all those of the chain, which may be thousands deep."""
    if call.op not in (Op.AND, Op.OR):
        return call.args
    operands: list[Expression] = []
    pending: list[Expression] = [call]
    while pending:
        expression = pending.pop()
        if isinstance(expression, Call) and expression.op is call.op:
            pending.extend(reversed(expression.args))
        else:
            operands.append(expression)
    return operands


def _call(op: Op, args: Sequence[Evaluator], call: Call, dictionary: Dictionary) -> Evaluator:
    if op in (Op.AND, Op.OR):
        return connective(op, args)
    if len(args) != _ARITY.get(op, 2) and not (op in _VARIADIC and args):
        raise PlanError(f"{op.value} has {len(args)} arguments")
    if op in comparison.OPERATORS:
        if args[0].type.kind is not args[1].type.kind:
            raise PlanError(f"{args[0].type} {op.value} {args[1].type}: the types differ")
        return comparison.comparison(op, args[0], args[1], dictionary)
    if op is Op.NOT:
        return negation(args[0])
    if op is Op.IS_NULL:
        return comparison.is_null(args[0])
    if op in _VARIADIC:
        _check_types(call, args)
        return (
            coalesce(args, call.type)
            if op is Op.COALESCE
            else comparison.extremum(op, args, call.type, dictionary)
        )
    evaluator = arithmetic.arithmetic(op, args, call.type, dictionary)
    if evaluator is None:
        types = ", ".join(str(arg.type) for arg in args)
        raise PlanError(f"{op.value} of {types} has no result of {call.type}")
    return evaluator


def _check_types(expression: Expression, parts: Sequence[Evaluator]) -> None:
    """Each of the parts may be the result, and so needs its type."""
    for part in parts:
        if part.type.kind is not expression.type.kind or part.type.scale != expression.type.scale:
            raise PlanError(f"a part of {expression.type} is {part.type}")


def _folded(evaluator: Evaluator, args: Sequence[Evaluator]) -> Evaluator:
    """The evaluator with the columns that it reads, or a constant if it reads none and does not fail."""
    if all(arg.constant is not None for arg in args):
        report: Report = []
        words = evaluator.evaluate(np.empty((0, 1), np.int64), report, None)
        if not report:
            return constant(int(words[0]), evaluator.type)
    columns = sorted({index for arg in args for index in arg.columns})
    costly = evaluator.costly or any(arg.costly for arg in args)
    return replace(evaluator, columns=tuple(columns), costly=costly)
