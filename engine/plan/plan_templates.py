"""Plans with parameters: planned once, and given values each time that they are to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

from engine.plan.expressions import Expression, Literal, Parameter
from engine.plan.nodes import Node
from engine.plan.rebuilding import rebuilt

Values = Mapping[int, object]
"""Values of parameters by number, as `Literal` takes them."""


@dataclass(frozen=True, eq=False)
class PlanTemplate:
    """A plan with parameters. Binding them costs the nodes and expressions that hold some."""

    plan: Node

    def bound(self, values: Values) -> Node:
        """The plan with values for its parameters."""
        found: Node = _Binding(self._holders, values)(self.plan)
        return found

    @cached_property
    def _holders(self) -> frozenset[int]:
        """The parts of the plan that hold parameters, by `id`."""
        found: set[int] = set()
        _holds(self.plan, found, {})
        return frozenset(found)


def bound(expression: Expression, values: Values) -> Expression:
    """The expression with values for its parameters."""
    holders: set[int] = set()
    _holds(expression, holders, {})
    found: Expression = _Binding(frozenset(holders), values)(expression)
    return found


class _Binding:
    """Parts that hold no parameter stay the same objects."""

    def __init__(self, holders: frozenset[int], values: Values) -> None:
        self._holders = holders
        self._values = values
        self._found: dict[int, Any] = {}

    def __call__(self, part: Any) -> Any:
        if isinstance(part, Parameter):
            return Literal(self._values[part.number], part.type)
        if id(part) not in self._holders:
            return part
        if id(part) not in self._found:
            self._found[id(part)] = rebuilt(part, self)
        return self._found[id(part)]


def _holds(part: Any, holders: set[int], known: dict[int, bool]) -> bool:
    """Whether a part holds a parameter; notes those that do."""
    if isinstance(part, Parameter):
        return True
    if id(part) not in known:
        held = [_holds(each, holders, known) for each in _parts(part)]
        known[id(part)] = any(held)
        if known[id(part)]:
            holders.add(id(part))
    return known[id(part)]


def _parts(part: Any) -> Iterator[Any]:
    if isinstance(part, tuple):
        yield from part
    elif is_dataclass(part) and not isinstance(part, type):
        yield from (getattr(part, field.name) for field in fields(part))
