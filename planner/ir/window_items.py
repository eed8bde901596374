"""Window functions: each row with the values of functions of the rows around it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from engine.plan.expressions import Literal
from engine.plan.nodes import Function, Ordering
from planner.ir.aggregates import GeneralAggregate
from planner.ir.core import Attribute, Relational, Widening
from planner.ir.declared import ColumnNumber, Record


class Unit(enum.Enum):
    """What a frame counts: rows, distances of the ordered value, or groups of peers."""

    ROWS = "rows"
    RANGE = "range"
    GROUPS = "groups"


class FrameSide(enum.Enum):
    PRECEDING = "preceding"
    CURRENT = "current row"
    FOLLOWING = "following"


@dataclass(frozen=True)
class Edge:
    """The start or end of a frame: a distance to one side of the current row, or unbounded.

    `offset` is a constant as DuckDB reads it (`2`, `INTERVAL '1' DAY`), or `{n}`: the n-th distance that the
    row itself has.
    """

    side: FrameSide
    offset: str | None = None

    @property
    def place(self) -> int | None:
        """The distance in rows or groups, negative before the current row; None if there is none."""
        if self.side is FrameSide.CURRENT:
            return 0
        if self.offset is None or not self.offset.isdecimal():
            return None
        return int(self.offset) if self.side is FrameSide.FOLLOWING else -int(self.offset)

    def __str__(self) -> str:
        if self.side is FrameSide.CURRENT:
            return self.side.value
        return f"{'unbounded' if self.offset is None else self.offset} {self.side.value}"


START, CURRENT, END = Edge(FrameSide.PRECEDING), Edge(FrameSide.CURRENT), Edge(FrameSide.FOLLOWING)


@dataclass(frozen=True)
class Frame:
    """The rows that a function sees from a row, without those that `exclude` names as in SQL."""

    unit: Unit
    start: Edge
    end: Edge
    exclude: str = ""

    @property
    def is_all(self) -> bool:
        """Whether it is always the whole partition."""
        return self.start == START and self.end == END and not self.exclude

    def __str__(self) -> str:
        text = f"{self.unit.value} between {self.start} and {self.end}"
        return f"{text} exclude {self.exclude}" if self.exclude else text

    @property
    def varying(self) -> int:
        """The number of distances that depend on the row."""
        return sum((edge.offset or "").startswith("{") for edge in (self.start, self.end))

    def text(self, distances: Sequence[str]) -> str:
        """The frame with the texts of the distances that the row has."""
        return str(self).format(*distances) if distances else str(self)


WHOLE = Frame(Unit.ROWS, START, END)
RUNNING = Frame(Unit.RANGE, START, CURRENT)


class PlaceFunction(enum.Enum):
    """Functions of a row's position in its partition, and of the rows at other positions."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    PERCENT_RANK = "percent_rank"
    CUME_DIST = "cume_dist"
    NTILE = "ntile"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"
    LAST_VALUE = "last_value"
    NTH_VALUE = "nth_value"


Argument = ColumnNumber | Literal
"""A column of the input, or a constant."""


@dataclass(frozen=True)
class WindowItem(Record):
    """`function` of the rows of `frame`: of all values or, for an aggregate, of the distinct ones.

    The last arguments are the distances of the frame that depend on the row.
    """

    attribute: Attribute
    function: PlaceFunction | Function | GeneralAggregate
    arguments: tuple[Argument, ...]
    frame: Frame
    distinct: bool = False
    ignores_nulls: bool = False

    @property
    def given(self) -> tuple[Argument, ...]:
        """The arguments of the function itself."""
        return self.arguments[: len(self.arguments) - self.frame.varying]

    @property
    def distances(self) -> tuple[Argument, ...]:
        """The columns of the frame's distances."""
        return self.arguments[len(self.arguments) - self.frame.varying :]


@dataclass(frozen=True)
class Over(Widening):
    """The rows of the input, each with the items' values: functions of the rows with equal `keys` in `order`.

    Rows that are equal in `order` are peers; `ties` order them, so that the result is a function of the bag.
    """

    input: Relational
    keys: tuple[ColumnNumber, ...]
    order: tuple[Ordering, ...]
    ties: tuple[ColumnNumber, ...]
    items: tuple[WindowItem, ...]
