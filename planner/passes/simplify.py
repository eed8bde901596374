"""Simplifies expressions without changing their meaning.

    CAST('2020-01-01' AS DATE)             →   DATE '2020-01-01'
    5 < x                                  →   x > 5
    CAST(day AS TIMESTAMP) < TIMESTAMP '2020-01-01'   →   day < DATE '2020-01-01'
    TRUE AND p, FALSE OR p                 →   p
    (a = b AND p) OR (a = b AND q)         →   a = b AND (p OR q)
    x IS NULL, where x is never NULL       →   FALSE

An operator that has no rows because a filter is never true becomes empty VALUES, and so do the operators
above it as far as possible. DISTINCT over rows that have a key is removed. A constant that cannot be computed
stays: it is an error of the rows that need it.
"""

from __future__ import annotations

from datetime import datetime, time

from engine.plan.expressions import Call, Case, Cast, Literal, Op
from engine.schema import BOOLEAN, DATE
from planner.ir import (
    Context,
    Distinct,
    Expression,
    JoinKind,
    Over,
    Prioritized,
    Project,
    Relational,
    RelationalProgram,
    Selection,
    SetKind,
    SetOp,
    ThetaJoin,
    Top,
    UnnestLists,
    Values,
    children,
)
from planner.ir.constants import fold_constant
from planner.ir.declared import fact
from planner.ir.membership import gathered
from planner.ir.nullability import Columns, known_columns
from planner.ir.rewrite import identity, with_expressions, with_inputs
from planner.ir.scalars import (
    FALSE,
    TRUE,
    TURNED,
    conjoin,
    conjuncts,
    disjoin,
    may_be_null,
    split_chain,
    with_children,
)
from planner.ir.unique import unique_keys
from planner.passes.contradictions import is_contradictory


def simplify(program: RelationalProgram) -> RelationalProgram:
    return RelationalProgram(
        tuple(_operator(operator) for operator in program.definitions),
        _operator(program.root),
        program.outputs,
    )


def _operator(operator: Relational) -> Relational:
    below = with_inputs(operator, tuple(_operator(i) for i in operator.inputs))
    if below.expressions:
        known = {id: column for i in below.inputs for id, column in known_columns(i).items()}
        below = with_expressions(below, tuple(simplified(e, known) for e in below.expressions))
        if isinstance(below, Selection | ThetaJoin):
            (condition,) = below.expressions
            below = with_expressions(below, (conjoin(_strict(p, known) for p in conjuncts(condition)),))
    if is_empty(below):
        return Values(below.columns, ())
    match below:
        case Selection(input=input, predicate=predicate) if predicate == TRUE:
            return input
        case ThetaJoin(kind=JoinKind.ANTI, left=left, right=right, condition=condition) if is_empty(
            right
        ) or is_contradictory(conjuncts(condition)):
            return left
        case ThetaJoin(kind=JoinKind.LEFT, left=left, right=right, condition=condition) if is_empty(
            right
        ) or is_contradictory(conjuncts(condition)):
            padding = [(c, Literal(None, c.type)) for c in below.columns if c.id in right.ids]
            return Project(left, (*identity(left.columns), *padding))
        case SetOp(kind=SetKind.UNION, left=left, right=right, columns=columns) if is_empty(left) or is_empty(
            right
        ):
            side, ids = (right, below.rights) if is_empty(left) else (left, below.lefts)
            refs = (side.attribute(id).ref for id in ids)
            return Project(side, tuple(zip(columns, refs, strict=True)))
        case Distinct(input=input) if unique_keys(input):
            return input
    return below


@fact
def is_empty(operator: Relational) -> bool:
    """Whether the operator certainly has no row; its inputs are simplified."""
    match operator:
        case Values(rows=()):
            return True
        case Selection(input=input, predicate=predicate):
            return is_empty(input) or is_contradictory(conjuncts(predicate))
        case Project() | Distinct() | Context() | Prioritized() | UnnestLists():
            return is_empty(operator.input)
        case Top(input=input, limit=limit):
            return limit == 0 or is_empty(input)
        case Over(input=input):
            return is_empty(input)
        case ThetaJoin(kind=JoinKind.INNER | JoinKind.SEMI, left=left, right=right, condition=condition):
            return is_empty(left) or is_empty(right) or is_contradictory(conjuncts(condition))
        case ThetaJoin(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.MARK, left=left):
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
        return _logic(
            expression.op, [simplified(part, known) for part in split_chain(expression.op, expression)]
        )
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
        case Call(op=op, args=(Cast(arg=arg), Literal(value=datetime() as value))) if (
            op in TURNED and arg.type == DATE and value.tzinfo is None and value.time() == time()
        ):
            return Call(op, (arg, Literal(value.date(), DATE)), BOOLEAN)  # type: ignore[arg-type]
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
            return fold_constant(expression)


def _strict(part: Expression, known: Columns) -> Expression:
    """A conjunct that may be NULL instead of false; a column that is never NULL equals no NULL."""
    match part:
        case Call(op=Op.NOT_DISTINCT, args=args) if not all(may_be_null(arg, known) for arg in args):
            return Call(Op.EQ, args, BOOLEAN)
    return part


_UNKNOWN = Literal(None, BOOLEAN)


def _logic(op: Op, operands: list[Expression]) -> Expression:
    """A chain of AND or OR over simplified operands."""
    decisive, neutral = (FALSE, TRUE) if op is Op.AND else (TRUE, FALSE)
    parts = [part for operand in operands for part in split_chain(op, operand)]
    if decisive in parts:
        return decisive
    kept = gathered(op, [part for part in dict.fromkeys(parts) if part != neutral])
    return conjoin(kept) if op is Op.AND else factored(kept)


def factored(alternatives: list[Expression]) -> Expression:
    """A disjunction with the conjuncts common to all alternatives factored out."""
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
