"""Rounds: what a recursion computes in one round, as queries over the rows of the round before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.errors import OverBudget
from engine.plan.expressions import Parameter
from planner import ir
from planner.ir.column_numbers import Numbers
from planner.ir.renumber import renumbered
from planner.ir.rewrite import bottom_up

_MOST_COPIED = 5_000
"""The most operators that are copied for one round."""


def round_of(
    fixpoint: ir.Fixpoint, definitions: Sequence[ir.Relational], numbers: Numbers
) -> tuple[ir.RecursiveBinding, ...]:
    """The bindings, each over the previous round alone: what a binding reads of its own round is put in its
    place, also where a definition reads it. Rows enter whatever their priority, which changes rounds and no
    answer. Raises OverBudget."""
    current, copies = _current(definitions), _Copies(numbers)
    made: dict[int, ir.RecursiveBinding] = {}

    def changed(operator: ir.Relational) -> ir.Relational:
        match operator:
            case ir.Prioritized(input=input):
                return input
            case ir.RecursiveRef(variable=variable, is_current=True) if variable in made:
                outputs = [made[variable].outputs[place] for place in operator.positions]
                return copies.renamed(made[variable].value, zip(operator.columns, outputs, strict=True))
            case ir.SharedRef(number=number, renaming=renaming) if current[number] & made.keys():
                return copies.renamed(bottom_up(definitions[number], changed), renaming)
        return operator

    for binding in fixpoint.bindings:
        made[binding.variable] = replace(binding, value=bottom_up(binding.value, changed))
    return tuple(made.values())


def _current(definitions: Sequence[ir.Relational]) -> list[frozenset[int]]:
    """The variables of which each definition reads rows of the same round, itself or by an earlier one."""
    found: list[frozenset[int]] = []
    for definition in definitions:
        shared = [it.number for it in operators_in(definition) if isinstance(it, ir.SharedRef)]
        found.append(definition.current.union(*(found[number] for number in shared)))
    return found


class _Copies:
    """Copies of operators, of which there may be so many: what reads another twice has two copies of it."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._operators = 0

    def renamed(self, operator: ir.Relational, renaming: Iterable[tuple[ir.Attribute, int]]) -> ir.Relational:
        """A copy with some of the operator's columns renamed. Raises OverBudget."""
        self._operators += len(operators_in(operator))
        if self._operators > _MOST_COPIED:
            raise OverBudget(f"a round of its recursion has more than {_MOST_COPIED} steps")
        copy, names = renumbered(operator, self._numbers)
        return ir.Project(copy, tuple((column, copy.attribute(names[old]).ref) for column, old in renaming))


def fixpoint_in(operator: ir.Relational, variables: frozenset[int]) -> ir.Fixpoint | None:
    """The recursion that binds the variables, here or below."""
    if isinstance(operator, ir.Fixpoint) and {b.variable for b in operator.bindings} == variables:
        return operator
    found = (fixpoint_in(input, variables) for input in operator.inputs)
    return next((fixpoint for fixpoint in found if fixpoint is not None), None)


def operators_in(*roots: ir.Relational) -> list[ir.Relational]:
    """The operators and all below, each once."""
    found: dict[int, ir.Relational] = {}
    waiting = [*roots]
    while waiting:
        operator = waiting.pop()
        if id(operator) not in found:
            found[id(operator)] = operator
            waiting += operator.inputs
    return list(found.values())


def parameters_in(operator: ir.Relational) -> frozenset[int]:
    """The numbers of the parameters here and below."""
    found: set[int] = set()
    waiting: list[ir.Expression] = []
    for each in operators_in(operator):
        waiting += each.expressions
    while waiting:
        part = waiting.pop()
        if isinstance(part, Parameter):
            found.add(part.number)
        else:
            waiting += ir.children(part)
    return frozenset(found)
