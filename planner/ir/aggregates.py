"""Aggregates: functions of a group, in the three classes in which they are maintained.

A `Function` of the engine's is accumulated, or read off the front of an ordered trace. A `First` is read
off such a trace too. A `GeneralAggregate` one is asked of DuckDB over the whole group whenever that changes.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.plan.nodes import Function
from planner.ir.core import Attribute

_PLACE = re.compile(r"\{(\d+|over)\}")


@dataclass(frozen=True)
class First:
    """The first argument in the row that comes first by the other arguments, and then by the first itself.

    `order` says of each of the others, and last of the first, whether it descends and whether NULLs are
    before the rest.
    """

    name: str
    order: tuple[tuple[bool, bool], ...]


@dataclass(frozen=True)
class GeneralAggregate:
    """`template` is in DuckDB's SQL, with places `{0}`, `{1}`, ... for the arguments, and `{over}` behind
    each aggregate, where OVER may follow; `nothing` is the value for no rows."""

    name: str
    template: str
    nothing: float | None = None

    def text(self, arguments: Sequence[str], over: str = "") -> str:
        """The template with its places taken."""
        places = {"over": over, **{str(i): argument for i, argument in enumerate(arguments)}}
        return _PLACE.sub(lambda place: places[place[1]], self.template)


AggregateFunction = Function | First | GeneralAggregate


@dataclass(frozen=True)
class AggregateItem:
    """`function` of the columns `arguments` of the input, none for a count of rows.

    `distinct`: of the distinct values of its one argument; what is General says so in its template.
    """

    attribute: Attribute
    function: AggregateFunction
    arguments: tuple[int, ...] = ()
    distinct: bool = False


def name_of(function: AggregateFunction | enum.Enum) -> str:
    """What a user knows the function by."""
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
