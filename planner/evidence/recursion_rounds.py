"""Rounds: what a recursion computes in one round, as queries over the rows of the round before."""

from __future__ import annotations

from dataclasses import replace

from engine.plan.expressions import Parameter
from planner.ir import (
    Expression,
    Fixpoint,
    Prioritized,
    Project,
    RecursiveBinding,
    RecursiveRef,
    Relational,
    children,
)
from planner.ir.column_numbers import Numbers
from planner.ir.renumber import renumbered
from planner.ir.rewrite import bottom_up


def round_of(fixpoint: Fixpoint, numbers: Numbers) -> tuple[RecursiveBinding, ...]:
    """The bindings, each over the previous round alone: what a binding reads of its own round is put in its
    place. Rows enter whatever their priority, which changes rounds and no answer."""
    made: dict[int, RecursiveBinding] = {}

    def changed(operator: Relational) -> Relational:
        match operator:
            case Prioritized(input=input):
                return input
            case RecursiveRef(variable=variable, is_current=True) if variable in made:
                binding = made[variable]
                copy, names = renumbered(binding.value, numbers)
                columns = zip(operator.columns, operator.positions, strict=True)
                items = ((c, copy.attribute(names[binding.outputs[place]]).ref) for c, place in columns)
                return Project(copy, tuple(items))
        return operator

    for binding in fixpoint.bindings:
        made[binding.variable] = replace(binding, value=bottom_up(binding.value, changed))
    return tuple(made.values())


def fixpoint_in(operator: Relational, variables: frozenset[int]) -> Fixpoint | None:
    """The recursion that binds the variables, here or below."""
    if isinstance(operator, Fixpoint) and {b.variable for b in operator.bindings} == variables:
        return operator
    found = (fixpoint_in(input, variables) for input in operator.inputs)
    return next((fixpoint for fixpoint in found if fixpoint is not None), None)


def operators_in(*roots: Relational) -> list[Relational]:
    """The operators and all below, each once."""
    found: dict[int, Relational] = {}
    waiting = [*roots]
    while waiting:
        operator = waiting.pop()
        if id(operator) not in found:
            found[id(operator)] = operator
            waiting += operator.inputs
    return list(found.values())


def parameters_in(operator: Relational) -> frozenset[int]:
    """The numbers of the parameters here and below."""
    found: set[int] = set()
    waiting: list[Expression] = []
    for each in operators_in(operator):
        waiting += each.expressions
    while waiting:
        part = waiting.pop()
        if isinstance(part, Parameter):
            found.add(part.number)
        else:
            waiting += children(part)
    return frozenset(found)
