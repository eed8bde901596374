"""Aggregates: functions of a group, in three classes of maintenance.

A `Function` of the engine is accumulated, or read from the front of an ordered trace. A `First` is read from
such a trace too. DuckDB computes a `GeneralAggregate` over the whole group whenever the group changes.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.plan.nodes import Function
from planner.ir.core import Attribute
from planner.ir.declared import ColumnNumber, Record

_PLACE = re.compile(r"\{(\d+|over)\}")


@dataclass(frozen=True)
class First:
    """The first argument in the first row by the other arguments, and then by the first argument itself.

    `order` has a pair for each of the others, and last for the first argument: descending, and NULLs first.
    """

    name: str
    order: tuple[tuple[bool, bool], ...]


@dataclass(frozen=True)
class GeneralAggregate:
    """`template` is DuckDB's SQL, with places `{0}`, `{1}`, ... for the arguments, and `{over}` after each
    aggregate, where OVER may follow; `nothing` is the value for no rows. `by_values` is the template's ORDER
    BY if the rows of an ordered window have an order of their own, in whose place it stands."""

    name: str
    template: str
    nothing: float | None = None
    by_values: str = ""

    def text(self, arguments: Sequence[str], over: str = "", order: str = "") -> str:
        """The template with its places filled; `order` is that of the rows, if they have one."""
        template = self.template
        if order and self.by_values:
            template = template.replace(self.by_values, f" ORDER BY {order}")
        places = {"over": over, **{str(i): argument for i, argument in enumerate(arguments)}}
        return _PLACE.sub(lambda place: places[place[1]], template)


AggregateFunction = Function | First | GeneralAggregate


@dataclass(frozen=True)
class AggregateItem(Record):
    """`function` of the input's columns `arguments`; without arguments, it counts rows.

    `distinct` means the distinct values of its one argument; a general aggregate has DISTINCT in its
    template.
    """

    attribute: Attribute
    function: AggregateFunction
    arguments: tuple[ColumnNumber, ...] = ()
    distinct: bool = False


def function_name(function: AggregateFunction | enum.Enum) -> str:
    """The user's name of the function."""
    return str(function.value) if isinstance(function, enum.Enum) else function.name


def nothing_of(function: AggregateFunction) -> float | None:
    """The function's value for no rows."""
    match function:
        case Function.COUNT:
            return 0
        case GeneralAggregate(nothing=nothing):
            return nothing
        case _:
            return None
