"""Small tools over scalar expressions: rewriting, conjunctions, nullability, and possible failure.

None of them looks into the queries of subqueries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from engine.plan.expressions import Call, Case, Cast, ColumnRef, Foreign, Literal, OneOf, Op, Parameter
from engine.schema import BOOLEAN, Type
from planner.ir import Attribute, Exists, Expression, Now, Reached, Some, children, references
from planner.ir.declared import Holds, with_parts

TRUE = Literal(True, BOOLEAN)
FALSE = Literal(False, BOOLEAN)
COMPARISONS = frozenset({Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE})
TURNED = {
    Op.EQ: Op.EQ,
    Op.NE: Op.NE,
    Op.LT: Op.GT,
    Op.LE: Op.GE,
    Op.GT: Op.LT,
    Op.GE: Op.LE,
    Op.DISTINCT: Op.DISTINCT,
    Op.NOT_DISTINCT: Op.NOT_DISTINCT,
}
"""Each comparison with its sides exchanged."""
_NEVER_NULL = frozenset({Op.IS_NULL, Op.DISTINCT, Op.NOT_DISTINCT})
_SKIP_NULLS = frozenset({Op.COALESCE, Op.GREATEST, Op.LEAST})
_HARMLESS = COMPARISONS | _NEVER_NULL | _SKIP_NULLS | {Op.AND, Op.OR, Op.NOT}


def call(op: Op, *args: Expression, type: Type = BOOLEAN) -> Call:
    return Call(op, args, type)  # type: ignore[arg-type]


def negate(expression: Expression) -> Expression:
    """NOT of the expression; a double NOT disappears."""
    match expression:
        case Call(op=Op.NOT, args=(inner,)):
            return inner
        case Literal(value=bool() as value):
            return Literal(not value, BOOLEAN)
        case _:
            return call(Op.NOT, expression)


def is_true(expression: Expression) -> bool:
    return expression == TRUE


def split_chain(op: Op, expression: Expression) -> list[Expression]:
    """The parts of a chain of `op` (AND or OR), in order."""
    if isinstance(expression, Call) and expression.op is op:
        return [part for arg in expression.args for part in split_chain(op, arg)]
    return [expression]


def conjuncts(expression: Expression) -> list[Expression]:
    """The parts of a conjunction, in order, without TRUE."""
    return [part for part in split_chain(Op.AND, expression) if not is_true(part)]


def combine(op: Op, parts: Iterable[Expression], empty: Expression) -> Expression:
    """A balanced tree of `op` over the parts in order, so that long lists stay shallow; `empty` for no
    parts."""
    level = list(parts)
    if not level:
        return empty
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [call(op, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def conjoin(parts: Iterable[Expression]) -> Expression:
    return combine(Op.AND, parts, TRUE)


def disjoin(parts: Iterable[Expression]) -> Expression:
    return combine(Op.OR, parts, FALSE)


def null_safe(left: tuple[Attribute, ...], right: tuple[Attribute, ...]) -> Expression:
    """The columns are pairwise equal, and NULL equals NULL."""
    return conjoin(
        call(Op.NOT_DISTINCT if a.nullable or b.nullable else Op.EQ, a.ref, b.ref)
        for a, b in zip(left, right, strict=True)
    )


def with_children(expression: Expression, parts: tuple[Expression, ...]) -> Expression:
    """The same node over other parts, in the order of `children`."""
    return with_parts(expression, {Holds.EXPRESSION: parts})


def rewrite(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Rewrite top down: the result of `change` replaces a part; where it is None, the part's own parts
    follow."""
    changed = change(expression)
    if changed is not None:
        return changed
    parts = children(expression)
    if not parts:
        return expression
    new = tuple(rewrite(part, change) for part in parts)
    return (
        expression if all(a is b for a, b in zip(new, parts, strict=True)) else with_children(expression, new)
    )


def rename(expression: Expression, names: Mapping[int, int]) -> Expression:
    """The expression with columns renumbered; it must hold no subquery."""
    return rewrite(
        expression,
        lambda e: ColumnRef(names.get(e.index, e.index), e.type) if isinstance(e, ColumnRef) else None,
    )


def inline(expression: Expression, values: Mapping[int, Expression]) -> Expression:
    """The expression with columns replaced by expressions; it must hold no subquery."""
    return rewrite(expression, lambda e: values.get(e.index, e) if isinstance(e, ColumnRef) else None)


def may_be_null(expression: Expression, columns: Mapping[int, Attribute]) -> bool:
    """Whether a row can make it NULL; a column that is not in `columns` may be NULL."""
    match expression:
        case ColumnRef(index=id):
            return id not in columns or columns[id].nullable
        case Literal(value=value):
            return value is None
        case Cast(arg=arg, lenient=lenient):
            return lenient or may_be_null(arg, columns)
        case Call(op=op, args=args):
            if op in _NEVER_NULL:
                return False
            nullable = [may_be_null(arg, columns) for arg in args]
            return all(nullable) if op in _SKIP_NULLS else any(nullable)
        case Case(branches=branches, otherwise=otherwise):
            return any(may_be_null(e, columns) for e in (*(value for _, value in branches), otherwise))
        case OneOf(arg=arg):
            return may_be_null(arg, columns)
        case Exists() | Now() | Parameter():
            return False
        case Reached(moment=moment):
            return may_be_null(moment, columns)
        case Some(predicate=predicate, query=query):
            return may_be_null(predicate, {**columns, **{c.id: c for c in query.columns}})
        case _:
            return True


def can_fail(expression: Expression) -> bool:
    """Whether a row can make it fail: casts, arithmetic and foreign functions can."""
    match expression:
        case Cast(lenient=lenient) if not lenient:
            return True
        case Foreign():
            return True
        case Call(op=op) if op not in _HARMLESS:
            return True
        case _:
            return any(can_fail(part) for part in children(expression))


def rejects_null(expression: Expression, ids: frozenset[int]) -> bool:
    """Whether the predicate cannot be true where all columns `ids` are NULL."""
    match expression:
        case Call(op=Op.AND, args=args):
            return any(rejects_null(arg, ids) for arg in args)
        case Call(op=Op.OR, args=args):
            return all(rejects_null(arg, ids) for arg in args)
        case Call(op=Op.NOT, args=(Call(op=Op.IS_NULL, args=(arg,)),)):
            return null_of_null(arg, ids)
        case Literal(value=value):
            return value is not True
        case _:
            return null_of_null(expression, ids)


def null_of_null(expression: Expression, ids: frozenset[int]) -> bool:
    """Whether the expression is certainly NULL where all columns `ids` are."""
    match expression:
        case ColumnRef(index=id):
            return id in ids
        case Literal(value=value):
            return value is None
        case Cast(arg=arg) | OneOf(arg=arg) | Reached(moment=arg):
            return null_of_null(arg, ids)
        case Call(op=op, args=args) if op not in _NEVER_NULL | _SKIP_NULLS | {Op.AND, Op.OR}:
            return any(null_of_null(arg, ids) for arg in args)
        case Call(op=Op.AND | Op.OR, args=args):
            return all(null_of_null(arg, ids) for arg in args)
        case _:
            return False


def not_null_ids(predicate: Expression) -> frozenset[int]:
    """The columns that are certainly not NULL where the predicate is true."""
    found = {id for id in references(predicate) if rejects_null(predicate, frozenset({id}))}
    return frozenset(found)
