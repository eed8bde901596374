"""Inlines definitions that are used once or are little work; removes unused ones.

    r0 := filter(scan t); join(r0, r0)   →   join(filter(scan t), filter(scan t))

A remaining definition is planned once for all its uses, and no filter is pushed into it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from planner.ir import Project, Relational, RelationalProgram, Selection, SharedRef, TableScan, Values
from planner.ir.column_numbers import Numbers
from planner.ir.renumber import renumbered
from planner.ir.rewrite import with_inputs


def inline_definitions(program: RelationalProgram, numbers: Numbers) -> RelationalProgram:
    return _Inlining(program, numbers).program()


class _Inlining:
    def __init__(self, program: RelationalProgram, numbers: Numbers) -> None:
        self.source = program
        self.numbers = numbers
        self.uses = _uses(program)
        self.inlined: dict[int, Relational] = {}
        self.places: dict[int, int] = {}

    def program(self) -> RelationalProgram:
        kept: list[Relational] = []
        for number, operator in enumerate(self.source.definitions):
            if not self.uses[number]:
                continue
            value = self._rewritten(operator)
            if self.uses[number] == 1 or _is_cheap(value):
                self.inlined[number] = value
            else:
                self.places[number] = len(kept)
                kept.append(value)
        return RelationalProgram(tuple(kept), self._rewritten(self.source.root), self.source.outputs)

    def _rewritten(self, operator: Relational) -> Relational:
        if not isinstance(operator, SharedRef):
            return with_inputs(operator, tuple(self._rewritten(i) for i in operator.inputs))
        if operator.number in self.places:
            return replace(operator, number=self.places[operator.number])
        value = self.inlined[operator.number]
        if self.uses[operator.number] == 1:
            return Project(value, tuple((a, value.attribute(old).ref) for a, old in operator.renaming))
        copy, names = renumbered(value, self.numbers)
        return Project(copy, tuple((a, copy.attribute(names[old]).ref) for a, old in operator.renaming))


def _uses(program: RelationalProgram) -> Counter[int]:
    """The number of references to each definition from operators that are themselves in use."""
    uses = Counter(_references(program.root))
    for number in reversed(range(len(program.definitions))):
        if uses[number]:
            uses.update(_references(program.definitions[number]))
    return uses


def _references(operator: Relational) -> list[int]:
    own = [operator.number] if isinstance(operator, SharedRef) else []
    return own + [number for i in operator.inputs for number in _references(i)]


def _is_cheap(operator: Relational) -> bool:
    match operator:
        case TableScan() | Values() | SharedRef():
            return True
        case Selection(input=input) | Project(input=input):
            return _is_cheap(input)
        case _:
            return False
