"""Queries over the parts of one query's program, each computed over the rows of one epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from engine.codec.python import decode_row
from engine.kernels.words import NULL
from engine.plan.nodes import Source
from engine.schema import Column, Schema
from engine.state.reading import Rows
from planner.evidence.explainable import narrowed
from planner.evidence.goal_plans import filtered, goal_plan
from planner.evidence.recursion_rounds import fixpoint_in
from planner.ir import Attribute, Fixpoint, Relational, RelationalProgram
from planner.ir.column_numbers import Numbers
from service.derivations.reason import ExplainedRow
from service.derivations.seen_rows import SeenRows
from service.derivations.unrolled import Unrolled

Goal = Mapping[int, int]
"""Words of columns, by number."""


class RoundState(NamedTuple):
    """The rows of a recursion after a round."""

    unrolled: Unrolled
    round: int


Scope = Mapping[int, RoundState]
"""What is read of the recursions around an operator, by variable."""


@dataclass(eq=False)
class ProgramQueries:
    """Asks for rows of operators of a program, over the rows that it sees."""

    program: RelationalProgram
    numbers: Numbers
    rows: SeenRows
    _unrolled: dict[tuple[Fixpoint, tuple[tuple[int, int], ...]], Unrolled] = field(default_factory=dict)

    def result(self) -> Rows:
        """The program's rows, with its columns in their order."""
        outputs = [column.id for column in self.program.outputs]
        goal = goal_plan(self.program.root, self.program, {}, {}, outputs)
        return self.rows.answer(goal, {}, {})

    def answer(self, operator: Relational, goal: Goal, scope: Scope) -> Rows:
        """The operator's rows with the words of the goal, its columns in their order."""
        variables = {variable: it.unrolled.variables[variable] for variable, it in scope.items()}
        known = {id: word for id, word in goal.items() if id in operator.ids}
        plan = goal_plan(operator, self.program, self.values(operator.columns, known), variables)
        return self.rows.answer(plan, known, self._given(scope))

    def unroll(self, fixpoint: Fixpoint, goal: Goal, scope: Scope) -> Unrolled:
        """The recursion, restricted to what the goal can follow from where that is known beforehand."""
        variables = frozenset(binding.variable for binding in fixpoint.bindings)
        wanted = filtered(fixpoint, self.values(fixpoint.columns, goal))
        small = narrowed(wanted, replace(self.program, root=wanted))
        found = fixpoint_in(small.root, variables) or fixpoint
        key = (found, tuple((variable, it.round) for variable, it in scope.items()))
        if key not in self._unrolled:
            self._unrolled[key] = Unrolled(found, self.program, self.numbers, self.rows, self._given(scope))
        return self._unrolled[key]

    def values(self, columns: tuple[Attribute, ...], goal: Goal) -> dict[int, object]:
        """The values of known words, without NULLs."""
        found = [column for column in columns if goal.get(column.id, NULL) != NULL]
        schema = Schema(tuple(Column(f"c{i}", column.type, True) for i, column in enumerate(found)))
        values = decode_row([goal[column.id] for column in found], schema, self.rows.dictionary)
        return {column.id: value for column, value in zip(found, values, strict=True)}

    def shown(self, columns: tuple[Attribute, ...], goal: Goal) -> ExplainedRow:
        """The known words of columns as a row."""
        known = [column for column in columns if column.id in goal]
        schema = Schema(tuple(Column(c.name, c.type, True) for c in known))
        return ExplainedRow(schema, tuple(goal[column.id] for column in known))

    def _given(self, scope: Scope) -> dict[Source, Rows]:
        return {
            it.unrolled.variables[variable]: it.unrolled.state(variable, it.round)
            for variable, it in scope.items()
        }


def goal_of(columns: tuple[Attribute, ...], words: np.ndarray) -> dict[int, int]:
    """A row's words by column."""
    return {column.id: word for column, word in zip(columns, words.tolist(), strict=True)}


def fitting(words: np.ndarray, places: Iterable[tuple[Attribute, int]], goal: Goal) -> np.ndarray:
    """Which of the rows int64[W, n] have the words of the goal; `places` are where columns stand."""
    fits = np.ones(words.shape[1], bool)
    for column, place in places:
        if column.id in goal:
            fits &= words[place] == goal[column.id]
    return fits
