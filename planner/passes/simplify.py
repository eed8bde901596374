"""Expressions made simpler without a change of meaning.

    CAST('2020-01-01' AS DATE)             →   DATE '2020-01-01'
    5 < x                                  →   x > 5
    TRUE AND p, FALSE OR p                 →   p
    (a = b AND p) OR (a = b AND q)         →   a = b AND (p OR q)
    x IS NULL, where x is never NULL       →   FALSE

What has no rows because a filter is never true becomes empty VALUES, as far up as that goes.
A constant that cannot be computed stays: it is an error of the rows that ask for it.
"""

from __future__ import annotations

from engine.expressions import Call, Case, Literal, Op
from engine.schema import BOOLEAN
from planner.constants import fold
from planner.ir import (
    Context,
    Distinct,
    Expression,
    Filter,
    Join,
    JoinKind,
    Operator,
    Prioritized,
    Program,
    Project,
    SetKind,
    SetOp,
    Top,
    Values,
    Window,
    children,
)
from planner.nullability import Columns, known_columns
from planner.rewrite import with_expressions, with_inputs
from planner.scalars import (
    FALSE,
    TRUE,
    TURNED,
    conjoin,
    conjuncts,
    disjoin,
    may_be_null,
    split,
    with_children,
)


def simplify(program: Program) -> Program:
    return Program(
        tuple(_operator(operator) for operator in program.definitions),
        _operator(program.root),
        program.outputs,
    )


def _operator(operator: Operator) -> Operator:
    below = with_inputs(operator, tuple(_operator(i) for i in operator.inputs))
    if below.expressions:
        known = {id: column for i in below.inputs for id, column in known_columns(i).items()}
        below = with_expressions(below, tuple(simplified(e, known) for e in below.expressions))
    if isinstance(below, Filter) and below.predicate == TRUE:
        return below.input
    if isinstance(below, Join) and below.kind is JoinKind.ANTI and is_empty(below.right):
        return below.left
    return Values(below.columns, ()) if is_empty(below) else below


def is_empty(operator: Operator) -> bool:
    """Whether the operator surely has no row; its inputs are simplified."""
    match operator:
        case Values(rows=()):
            return True
        case Filter(input=input, predicate=predicate):
            return is_empty(input) or (isinstance(predicate, Literal) and predicate != TRUE)
        case Project(input=input) | Distinct(input=input) | Context(input=input) | Prioritized(input=input):
            return is_empty(input)
        case Top(input=input, limit=limit):
            return limit == 0 or is_empty(input)
        case Window(input=input):
            return is_empty(input)
        case Join(kind=JoinKind.INNER | JoinKind.SEMI, left=left, right=right):
            return is_empty(left) or is_empty(right)
        case Join(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.MARK, left=left):
            return is_empty(left)
        case SetOp(kind=SetKind.UNION, left=left, right=right):
            return is_empty(left) and is_empty(right)
        case SetOp(left=left):
            return is_empty(left)
        case _:
            return False


def simplified(expression: Expression, known: Columns) -> Expression:
    """The expression, parts first; `known` are the columns that it reads."""
    if isinstance(expression, Call) and expression.op in (Op.AND, Op.OR):
        return _logic(expression.op, [simplified(part, known) for part in split(expression.op, expression)])
    parts = children(expression)
    new = tuple(simplified(part, known) for part in parts)
    if any(a is not b for a, b in zip(new, parts, strict=True)):
        expression = with_children(expression, new)
    match expression:
        case Call(op=Op.NOT, args=(Literal(value=value),)):
            return Literal(None if value is None else not value, BOOLEAN)
        case Call(op=op, args=(Literal() as left, right), type=type) if op in TURNED and not (
            isinstance(right, Literal)
        ):
            return Call(TURNED[op], (right, left), type)  # type: ignore[arg-type]
        case Call(op=Op.IS_NULL, args=(arg,)) if not may_be_null(arg, known):
            return FALSE
        case Call(op=Op.IS_NULL, args=(Literal(value=None),)):
            return TRUE
        case Call(op=Op.NOT_DISTINCT, args=(left, right)) if not (
            may_be_null(left, known) or may_be_null(right, known)
        ):
            return Call(Op.EQ, expression.args, BOOLEAN)
        case Case(branches=branches, otherwise=otherwise, type=type):
            taken = tuple((test, value) for test, value in branches if test not in (FALSE, _UNKNOWN))
            return Case(taken, otherwise, type) if taken else otherwise
        case _:
            return fold(expression)


_UNKNOWN = Literal(None, BOOLEAN)


def _logic(op: Op, operands: list[Expression]) -> Expression:
    """A chain of AND or OR over simplified operands."""
    decisive, neutral = (FALSE, TRUE) if op is Op.AND else (TRUE, FALSE)
    parts = [part for operand in operands for part in split(op, operand)]
    if decisive in parts:
        return decisive
    kept = [part for part in dict.fromkeys(parts) if part != neutral]
    return conjoin(kept) if op is Op.AND else factored(kept)


def factored(alternatives: list[Expression]) -> Expression:
    """A disjunction with what all alternatives demand taken out before it."""
    split_up = [conjuncts(alternative) for alternative in alternatives]
    if len(split_up) < 2:
        return disjoin(alternatives)
    common = [part for part in split_up[0] if all(part in other for other in split_up[1:])]
    if not common:
        return disjoin(alternatives)
    rest = [conjoin(part for part in parts if part not in common) for parts in split_up]
    if TRUE in rest:
        return conjoin(common)
    return conjoin([*common, disjoin(rest)])
