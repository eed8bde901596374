"""Expressions over the time: filters, maps and keys over rows that appear and disappear as time passes.

A filter whose conjuncts are moments needs only the moments:

    NOT now() >= a AND now() >= b    →    temporal since b until a

Any other expression over moments has one value before all of the moments, and one from each of them on. Each
row stands once for each of these spans. While the row of a span is present, every `now() >= m` is a
comparison of two columns, `m <= since`. Today's date is a column, from a cross join.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.plan import expressions as scalar
from engine.plan.clocked import CLOCK, Temporal, Today
from engine.plan.expressions import Call, Case, Cast, ColumnRef, Literal, Op
from engine.plan.nodes import Concat, Join, Node
from engine.schema import BOOLEAN, DATE, TIMESTAMP
from planner.ir import Expression, Now, Reached, children
from planner.ir.scalars import call, conjoin, conjuncts, negate, rewrite
from planner.lower import lowered as plain
from planner.lower.lowered import NOBODY, Lowered, computed, not_null, taken

_NULL = Literal(None, TIMESTAMP)
_TODAY = Cast(Now(), DATE)  # type: ignore[arg-type]


def filtered_over_time(input: Lowered, predicates: Iterable[Expression]) -> Lowered:
    """The rows for which all predicates are true; predicates that change with time are applied last."""
    parts = [part for predicate in predicates for part in conjuncts(predicate)]
    input = plain.filtered(input, [part for part in parts if not _has_time(part)])
    since = [part.moment for part in parts if isinstance(part, Reached) and not _has_time(part.moment)]
    until = [moment for part in parts if (moment := _ended(part)) is not None]
    while since or until:
        input = during(input, since.pop() if since else None, until.pop() if until else None)
    rest = [p for p in parts if _has_time(p) and not _is_moment(p)]
    if not rest:
        return input
    width = range(len(input.ids))
    spread, (predicate,) = _spread(input, [conjoin(rest)])
    asked = plain.filtered(replace(spread, ids=tuple(range(len(spread.ids)))), [predicate])
    return taken(replace(asked, ids=spread.ids), width)


def mapped_over_time(input: Lowered, values: Sequence[tuple[int, Expression]]) -> Lowered:
    """The given expressions over attributes, each under its number."""
    if not any(_has_time(value) for _, value in values):
        return plain.mapped(input, values)
    spread, expressions = _spread(input, [value for _, value in values])
    return computed(spread, tuple(expressions), tuple(id for id, _ in values))


def with_keys_over_time(side: Lowered, keys: Sequence[Expression]) -> tuple[Lowered, list[int]]:
    """The side with its computed keys added as columns, and the positions of all keys."""
    if not any(_has_time(key) for key in keys):
        return plain.with_keys(side, keys)
    spread, expressions = _spread(side, keys)
    numbered, positions = plain.with_keys(replace(spread, ids=tuple(range(len(spread.ids)))), expressions)
    added = (NOBODY,) * (len(numbered.ids) - len(spread.ids))
    return replace(numbered, ids=spread.ids + added), positions


def _has_time(expression: Expression) -> bool:
    return isinstance(expression, Now | Reached) or any(_has_time(part) for part in children(expression))


def _ended(part: Expression) -> Expression | None:
    """The moment until which a conjunct is true, if it has that form."""
    inner = negate(part)
    return inner.moment if isinstance(inner, Reached) and not _has_time(inner.moment) else None


def _is_moment(part: Expression) -> bool:
    return _ended(part) is not None or (isinstance(part, Reached) and not _has_time(part.moment))


def during(
    input: Lowered, since: Expression | None, until: Expression | None, clock: Node = CLOCK
) -> Lowered:
    """The rows from one moment of a clock until another; no rows where either is NULL."""
    moments = [moment for moment in (since, until) if moment is not None]
    side, positions = plain.with_keys(input, moments)
    side = not_null(side, positions)
    places = iter(positions)
    first, last = (None if moment is None else next(places) for moment in (since, until))
    return taken(replace(side, node=Temporal(side.node, first, last, clock)), range(len(input.ids)))


def _spread(input: Lowered, expressions: Sequence[Expression]) -> tuple[Lowered, list[scalar.Expression]]:
    """Rows that appear and disappear so that the expressions need no time; returns the expressions over
    positions.

    The positions of the input stay; the additional columns that the expressions read come after them.
    """
    side = _dated(input, expressions)
    wanted = [rewrite(side.positional(e), _date_at(len(side.ids) - 1)) for e in expressions]
    moments = list(dict.fromkeys(moment for e in wanted for moment in _moments(e)))
    if not moments:
        return side, wanted  # type: ignore[return-value]
    numbered = replace(side, ids=tuple(range(len(side.ids))))
    extended, places = plain.with_keys(numbered, moments)
    extended = replace(extended, ids=side.ids + (NOBODY,) * (len(extended.ids) - len(side.ids)))
    spans = _spans(extended, places)
    since = ColumnRef(len(extended.ids), TIMESTAMP)
    place = dict(zip(moments, places, strict=True))

    def asked(part: Expression) -> Expression | None:
        return _at(place[part.moment], since) if isinstance(part, Reached) else None

    return spans, [rewrite(e, asked) for e in wanted]  # type: ignore[misc]


def _dated(input: Lowered, expressions: Sequence[Expression]) -> Lowered:
    """The rows with today's date as last column, if an expression reads it."""
    if not any(_asks_date(expression) for expression in expressions):
        return input
    node = Join(input.node, Today(), (), ())
    return Lowered(node, (*input.ids, NOBODY), (*input.nullable, False), input.key)


def _asks_date(expression: Expression) -> bool:
    return expression == _TODAY or any(_asks_date(part) for part in children(expression))


def _date_at(position: int):
    return lambda part: ColumnRef(position, DATE) if part == _TODAY else None


def _moments(expression: Expression) -> list[Expression]:
    if isinstance(expression, Reached):
        return [expression.moment]
    return [moment for part in children(expression) for moment in _moments(part)]


def _spans(side: Lowered, places: Sequence[int]) -> Lowered:
    """Each row once before its moments, which are at `places`, and once from each of them on, while it is the
    latest; two more columns hold the start and the end of the span."""
    columns = [ColumnRef(i, type) for i, type in enumerate(side.node.schema.types)]
    moments = [columns[place] for place in places]
    ids = (*side.ids, NOBODY, NOBODY)
    spans = [computed(side, (*columns, _NULL, _least(moments)), ids)]
    for number, moment in enumerate(moments):
        own = plain.filtered(
            replace(side, ids=tuple(range(len(side.ids)))),
            [negate(call(Op.IS_NULL, moment)), *(call(Op.DISTINCT, moment, m) for m in moments[:number])],
        )
        later = [Case(((call(Op.GT, m, moment), m),), _NULL, TIMESTAMP) for m in moments if m is not moment]
        spans.append(computed(own, (*columns, moment, _least(later)), ids))
    nullable = tuple(any(each) for each in zip(*(span.nullable for span in spans), strict=True))
    last = len(columns)
    node = Temporal(Concat(tuple(span.node for span in spans)), last, last + 1)
    return Lowered(node, ids, nullable, side.key)


def _least(moments: Sequence[scalar.Expression]) -> scalar.Expression:
    if len(moments) < 2:
        return moments[0] if moments else _NULL
    return Call(Op.LEAST, tuple(moments), TIMESTAMP)


def _at(place: int, since: ColumnRef) -> Expression:
    """Whether the moment at `place` has been reached in a span that began at `since`; never, if `since` is
    NULL."""
    moment = ColumnRef(place, TIMESTAMP)
    before = Case(((call(Op.IS_NULL, moment), Literal(None, BOOLEAN)),), Literal(False, BOOLEAN), BOOLEAN)
    return Case(((call(Op.IS_NULL, since), before),), call(Op.LE, moment, since), BOOLEAN)
