"""Collections whose rows hold during periods, computed at all moments at once.

A row of such a collection ends with the moments from and until which it holds: the second is not part of the
period, a first one that is NULL means since ever, and a second one that is NULL means for ever. A row that
holds several times at once is there several times.

What follows from such collections is a scope that feeds nothing back, and whose rounds are moments: a row
enters at the round of its first moment, and leaves, as a negated row, at that of its second. The sum of the
differences up to a round is the collection at that moment, for every operator and for loops inside. What
leaves the scope are differences with their rounds, which are made periods again: the copies of a row are
numbered as they begin, and the last one that began is the first that ends, so that periods that touch each
other are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from engine.errors import PlanError
from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Literal, Op
from engine.plan.nodes import (
    Clamp,
    Concat,
    Entry,
    Filter,
    LoopBinding,
    Map,
    Negate,
    Node,
    Ordering,
    Recursive,
    Threshold,
    Variable,
    WithRound,
    project,
)
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.schema import BIGINT, BOOLEAN, TIMESTAMPTZ, Column, Schema, Type

FIRST = datetime(1, 1, 1, tzinfo=UTC)
"""The first moment of a period; moments are microseconds from here, which is round 1."""
_ROUND_OF_1970 = (datetime(1970, 1, 1, tzinfo=UTC) - FIRST) // timedelta(microseconds=1) + 1
_VALUE = "during"


def at_one_moment(name: str, timed: Node) -> Node:
    """The rows of `timed` that hold at the current moment of the scope that `during` makes, in which its
    rows enter under `name`."""
    return project(Variable(name, _changes(timed).schema), tuple(range(len(timed.schema) - 2)))


def during(body: Node, timed: Mapping[str, Node], names: tuple[str, str]) -> Node:
    """The rows of `body`, which reads the collections `timed` at one moment, with the periods in which they
    hold; `names` are those of the two columns."""
    width = len(body.schema)
    if not timed:
        raise PlanError("nothing holds during periods")
    kind = next(iter(timed.values())).schema.types[-1]
    entries = tuple(
        Entry(name, changes, ColumnRef(len(changes.schema) - 1, BIGINT))
        for name, changes in ((name, _changes(node)) for name, node in timed.items())
    )
    changed = Recursive((LoopBinding(_VALUE, WithRound(body)),), _VALUE, entries=entries)
    began = Threshold(Concat((_signed(changed, 1), _signed(Negate(changed), -1))), Clamp.POSITIVE)
    row = tuple(range(width))
    copies = Windowed(WindowFunction.SUM, width + 1, BIGINT)
    counted = Window(began, row, (Ordering(width),), 1, (copies,))
    number = Call(
        Op.ADD,
        (ColumnRef(width + 2, BIGINT), Case(((_has_sign(width, -1), _ONE),), Literal(0, BIGINT), BIGINT)),
        BIGINT,
    )
    refs = tuple(ColumnRef(c, type) for c, type in enumerate(counted.schema.types[:-1]))
    numbered = Map(
        counted,
        (*refs, number),
        Schema((*counted.schema.columns[:-1], Column("number", BIGINT))),
    )
    following = Windowed(WindowFunction.VALUE, width, BIGINT, start=1, end=1)
    ended = Window(numbered, (*row, width + 2), (Ordering(width),), 1, (following,))
    beginnings = Filter(ended, _has_sign(width, 1))
    moments = (_moment(width, kind), _moment(width + 3, kind))
    columns = (*body.schema.columns, *(Column(name, kind) for name in names))
    return Map(beginnings, (*refs[:width], *moments), Schema(columns))


_ONE = Literal(1, BIGINT)


def _signed(changed: Node, sign: int) -> Node:
    """The differences with their moments and a sign."""
    refs = tuple(ColumnRef(c, type) for c, type in enumerate(changed.schema.types))
    schema = Schema((*changed.schema.columns, Column("sign", BIGINT, nullable=False)))
    return Map(changed, (*refs, Literal(sign, BIGINT)), schema)


def _has_sign(width: int, sign: int) -> Expression:
    return Call(Op.EQ, (ColumnRef(width + 1, BIGINT), Literal(sign, BIGINT)), BOOLEAN)


def _changes(timed: Node) -> Node:
    """The rows at the round of their first moment, and negated at that of their second; the round is the
    last column."""
    width = len(timed.schema) - 2
    kind = timed.schema.types[-1]
    refs = tuple(ColumnRef(c, type) for c, type in enumerate(timed.schema.types[:width]))
    schema = Schema((*timed.schema.columns[:width], Column("round", BIGINT)))
    ending = Filter(timed, Call(Op.NOT, (Call(Op.IS_NULL, (ColumnRef(width + 1, kind),), BOOLEAN),), BOOLEAN))
    return Concat(
        (
            Map(timed, (*refs, _round(width, kind)), schema),
            Negate(Map(ending, (*refs, _round(width + 1, kind)), schema)),
        )
    )


def _round(column: int, kind: Type) -> Expression:
    """The round of a moment; that of a first moment which is NULL is NULL, which enters at round 0."""
    if kind == BIGINT:
        return ColumnRef(column, BIGINT)
    if kind != TIMESTAMPTZ:
        raise PlanError(f"a period's moments are {kind}, not TIMESTAMPTZ")
    return Call(Op.ADD, (Cast(ColumnRef(column, kind), BIGINT), Literal(_ROUND_OF_1970, BIGINT)), BIGINT)


def _moment(column: int, kind: Type) -> Expression:
    """The moment of a round; NULL for round 0."""
    round = ColumnRef(column, BIGINT)
    moment: Expression = round
    if kind != BIGINT:
        moment = Cast(Call(Op.SUB, (round, Literal(_ROUND_OF_1970, BIGINT)), BIGINT), kind)
    is_first = Call(Op.EQ, (round, Literal(0, BIGINT)), BOOLEAN)
    return Case(((is_first, Literal(None, kind)),), moment, kind)
