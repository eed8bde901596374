"""One plan for each kind of operator, over a table of changing rows."""

from __future__ import annotations

from engine.plan.clocked import CLOCK, Temporal
from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.group_queries import GroupQuery
from engine.plan.list_elements import Elements, Unnest
from engine.plan.multijoins import multi_join
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Filter,
    Function,
    GroupBy,
    Join,
    LoopBinding,
    Map,
    Node,
    Ordering,
    Recursive,
    Reduce,
    Source,
    Threshold,
    TopK,
    Variable,
    project,
)
from engine.plan.row_ids import intern_rows
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.schema import BIGINT, BOOLEAN, DOUBLE, TIMESTAMP, Column, Schema

KEY, PLACE, SINCE, AMOUNT = range(4)
TABLE = Source(
    "rows",
    Schema(
        tuple(
            Column(name, type, nullable=False)
            for name, type in (("key", BIGINT), ("place", BIGINT), ("since", TIMESTAMP), ("amount", DOUBLE))
        )
    ),
)
"""Rows of a key, a place among the rows of the key, a moment, and a float."""

_ONE = Schema((Column("c0", BIGINT),))
_PAIR = Schema((Column("c0", BIGINT), Column("c1", BIGINT)))
_NUMBERS = project(TABLE, (KEY, PLACE))


def _reduce(function: Function, *columns: int) -> Node:
    type = DOUBLE if function in (Function.AVG, Function.COMOMENT) or AMOUNT in columns else BIGINT
    argument, other = (*columns, None, None)[:2]
    return Reduce(TABLE, (KEY,), (AggregateSpec(function, argument, type, other=other),))


def _window(function: WindowFunction, *frame: int | None, column: int | None = PLACE) -> Node:
    start, end = frame or (None, 0)
    type = DOUBLE if column == AMOUNT else BIGINT
    argument = None if function in (WindowFunction.ROW_NUMBER, WindowFunction.RANK) else column
    return Window(
        TABLE, (KEY,), (Ordering(PLACE),), 1, (Windowed(function, argument, type, start, end or 0),)
    )


def _filtered() -> Node:
    place = ColumnRef(PLACE, BIGINT)
    is_odd = Call(Op.EQ, (Call(Op.MOD, (place, Literal(2, BIGINT)), BIGINT), Literal(1, BIGINT)), BOOLEAN)
    more = Call(Op.ADD, (place, Literal(1, BIGINT)), BIGINT)
    return Map(Filter(TABLE, is_odd), (ColumnRef(KEY, BIGINT), more), _PAIR)


def _unnested() -> Node:
    """Each row three times."""
    bounds = (ColumnRef(PLACE, BIGINT), Literal(1, BIGINT), Literal(3, BIGINT), Literal(1, BIGINT))
    names = Schema(tuple(Column(f"c{i}", BIGINT) for i in range(4)))
    return Unnest(Map(TABLE, bounds, names), (Elements((1, 2, 3)),))


def _recursion() -> Node:
    """The least place of each key, and of the keys that are such places."""
    least = Variable("least", _PAIR)
    met = Threshold(project(Join(least, _NUMBERS, (0,), (1,)), (2, 1)), Clamp.DISTINCT)
    found = Reduce(Concat((_NUMBERS, met)), (0,), (AggregateSpec(Function.MIN, 1, BIGINT),))
    return Recursive((LoopBinding("least", found),), "least")


def _size(key: tuple, rows: list) -> list:
    return [((len(rows),), 1)]


_TRIANGLE = (((0, 1), (1, 0)), ((1, 1), (2, 0)), ((2, 1), (0, 0)))
"""Which columns of three tables of pairs agree: those of a, b; b, c; and c, a."""
_MEDIAN = "SELECT g, quantile_disc(c0, 0.5) FROM groups GROUP BY g"
FAMILIES: dict[str, dict[str, Node]] = {
    "Row by row": {
        "map and filter": _filtered(),
        "unnest": _unnested(),
        "temporal": Temporal(TABLE, SINCE, None),
    },
    "Groups": {
        "distinct": Threshold(_NUMBERS, Clamp.DISTINCT),
        "count": _reduce(Function.COUNT),
        "sum of floats": _reduce(Function.SUM, AMOUNT),
        "comoment": _reduce(Function.COMOMENT, AMOUNT, AMOUNT),
        "min": _reduce(Function.MIN, PLACE),
        "top 3": TopK(TABLE, (KEY,), (Ordering(PLACE),), 3, 0),
        "ids": intern_rows(_NUMBERS),
        "median": GroupQuery(_NUMBERS, (KEY,), _MEDIAN, _ONE),
        "Python": GroupBy(_NUMBERS, (KEY,), _size, _ONE),
    },
    "Joins": {
        "join": project(Join(_NUMBERS, TABLE, (0,), (0,)), (0, 1, 3)),
        "triangles": project(multi_join([_NUMBERS] * 3, _TRIANGLE), (0, 2, 4)),
        "recursion": _recursion(),
    },
    "Windows": {
        "row_number": _window(WindowFunction.ROW_NUMBER),
        "rank": _window(WindowFunction.RANK),
        "lag": _window(WindowFunction.VALUE, -1, -1),
        "first of four": _window(WindowFunction.FIRST, -3, 0),
        "running sum": _window(WindowFunction.SUM),
        "running max": _window(WindowFunction.MAX),
        "sum of seven": _window(WindowFunction.SUM, -6, 0),
        "max of seven": _window(WindowFunction.MAX, -6, 0),
        "sum of floats so far": _window(WindowFunction.SUM, column=AMOUNT),
    },
}
"""Plans by what they compute. `temporal` reads the clock too."""
KINDS = {name: plan for family in FAMILIES.values() for name, plan in family.items()}
SLOW = ("Python", "triangles", "recursion", "sum of floats so far")
"""Those that take ten times as long as others for a change, or more."""
SOURCES = (TABLE, CLOCK)
