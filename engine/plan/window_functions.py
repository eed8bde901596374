"""Window functions as a plan node: each row with results that depend on its position in a group.

The rows of a group are sorted, and every copy of a row has a position of its own. A function's frame are the
positions from `start` to `end`, relative to the current one; it begins with the first row if `start` is None.
(A frame that ends with the last row begins with it in the reverse order.)
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError
from engine.plan.node import Unary, check_columns
from engine.plan.nodes import Ordering
from engine.schema import Column, Schema, Type


class WindowFunction(enum.Enum):
    """What is computed over a frame.

    ROW_NUMBER and RANK count from 1 and have no argument; peers have the same RANK. VALUE is the argument at
    position `start`, or the default if the group has no such position; FIRST and LAST are the argument at the
    frame's ends, or NULL. COUNT, SUM, AVG, MIN and MAX are as in a Reduce.
    """

    ROW_NUMBER = "row_number"
    RANK = "rank"
    VALUE = "value"
    FIRST = "first"
    LAST = "last"
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


PLACES = frozenset({WindowFunction.ROW_NUMBER, WindowFunction.RANK})
SUMS = frozenset({WindowFunction.COUNT, WindowFunction.SUM, WindowFunction.AVG})
EXTREMES = frozenset({WindowFunction.MIN, WindowFunction.MAX})
ENDS = frozenset({WindowFunction.FIRST, WindowFunction.LAST})


@dataclass(frozen=True)
class Windowed:
    """`function` over column `argument` of the input (a COUNT without one counts rows).

    With `peers` the frame extends to the last peer of the row at its end. With `distances` the frame are, in
    place of positions, the rows whose value in the order's one column lies between the current row's plus the
    first distance and plus the second, in the direction of the order: whole numbers of the unit in which
    values are words, or floats for floats. NULLs, and NaNs, are peers that no other row's frame has.
    """

    function: WindowFunction
    argument: int | None
    type: Type
    start: int | None = None
    end: int = 0
    peers: bool = False
    default: object = None
    name: str = ""
    distances: tuple[int, int] | tuple[float, float] | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether rows far away have no influence."""
        return self.function not in PLACES and (self.start is not None or self.distances is not None)

    def __str__(self) -> str:
        given = "" if self.argument is None else f"#{self.argument}"
        if self.function in PLACES:
            return f"{self.function.value}()"
        if self.function is WindowFunction.VALUE:
            return f"{self.function.value}({given}) at {self.start:+d}"
        if self.distances is not None:
            low, high = self.distances
            return f"{self.function.value}({given or '*'}) between distances {low:+} and {high:+}"
        start = "first" if self.start is None else f"{self.start:+d}"
        frame = f"from {start} to {self.end:+d}{' with peers' if self.peers else ''}"
        return f"{self.function.value}({given or '*'}) {frame}"


@dataclass(frozen=True, eq=False)
class Window(Unary):
    """The input's columns, then the functions' values.

    Rows are sorted by `order`, and then by the words of their other columns; rows that agree in the first
    `peers` columns of `order` are peers. A row with a negative multiplicity is left out.
    """

    keys: tuple[int, ...]
    order: tuple[Ordering, ...]
    peers: int
    functions: tuple[Windowed, ...]

    def __post_init__(self) -> None:
        check_columns("a window's key", self.keys, self.input.schema)
        check_columns("a window's order", tuple(column for column, _, _ in self.order), self.input.schema)
        if not 0 <= self.peers <= len(self.order):
            raise PlanError(f"a window's peers take {self.peers} columns of an order with {len(self.order)}")
        for function in self.functions:
            self._check(function)

    def _check(self, function: Windowed) -> None:
        if function.argument is not None:
            check_columns(str(function), (function.argument,), self.input.schema)
        elif function.function not in PLACES | {WindowFunction.COUNT}:
            raise PlanError(f"{function.function.value} has no argument")
        if function.function is WindowFunction.VALUE and function.start is None:
            raise PlanError("a VALUE has no distance to its row")
        if function.function in ENDS and function.start is None:
            raise PlanError(f"a frame of {function.function.value} has no first row")
        if function.distances is not None and not (
            self._is_by_distance and function.function in SUMS | EXTREMES
        ):
            raise PlanError(
                f"{function} needs an order by one number or moment that is no key, and an aggregate"
            )
        if function.peers and (function.start is not None or function.end != 0):
            raise PlanError("a frame with peers begins at the first row and ends at the current one")

    @property
    def _is_by_distance(self) -> bool:
        """Whether the order has distances: those of whole numbers, decimals, floats, dates and times."""
        if self.peers != 1 or self.order[0][0] in self.keys:
            return False
        type = self.input.schema.types[self.order[0][0]]
        return not (type.is_interned or type.may_be_wide)

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return Schema((*self.input.schema.columns, *map(self._column, self.functions)))

    def _column(self, f: Windowed) -> Column:
        nullable = f.function not in PLACES | {WindowFunction.COUNT}
        return Column(f.name or str(f), f.type, nullable)
