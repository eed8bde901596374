"""Queries over the parts of one query's program, each computed over the rows of one epoch."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engine.codec.python import exact_row
from engine.kernels.words import NULL
from engine.plan.nodes import Source
from engine.schema import Column, Schema
from engine.state.reading import Rows
from planner.evidence.goal_plans import goal_plan
from planner.evidence.witnesses import Witness
from planner.ir import Attribute, Fixpoint, Relational, RelationalProgram
from service.derivations.prepared_program import PreparedProgram
from service.derivations.reason import ExplainedRow
from service.derivations.seen_rows import SeenRows
from service.derivations.unrolled import Unrolled

_FEW_WORDS = 1 << 16
"""The most words of an answer that is kept for the rest of a question."""

Goal = Mapping[int, int]
"""Words of columns, by number."""


class RoundState(NamedTuple):
    """The rows of a recursion after a round."""

    unrolled: Unrolled
    round: int


Scope = Mapping[int, RoundState]
"""What is read of the recursions around an operator, by variable."""


class Ways(NamedTuple):
    """Rows int64[W, n] of a witness, with their counts, and the columns that they have."""

    columns: tuple[Attribute, ...]
    words: np.ndarray
    counts: np.ndarray


@dataclass(eq=False)
class ProgramQueries:
    """Asks for rows of operators of a program, over the rows that it sees."""

    prepared: PreparedProgram
    rows: SeenRows
    _unrolled: dict[Hashable, Unrolled] = field(default_factory=dict)
    _answered: dict[Hashable, tuple[Relational, Rows]] = field(default_factory=dict)
    """What was asked before, with the operator that it was about, unless it was much."""

    @property
    def program(self) -> RelationalProgram:
        return self.prepared.program

    def result(self) -> Rows:
        """The program's rows, with its columns in their order."""
        outputs = [column.id for column in self.program.outputs]
        return self.rows.answer(self.prepared.goal(self.program.root, (), {}, outputs), {}, {}, {})

    def answer(self, operator: Relational, goal: Goal, scope: Scope) -> Rows:
        """The operator's rows with the words of the goal, its columns in their order."""
        return self._answer(operator, goal, scope, None)

    def once(self, query: Relational, scope: Scope) -> Rows:
        """The rows of a query that nobody asks again, its columns in their order."""
        plan = goal_plan(query, self.program, (), _variables(scope))
        return self.rows.answer(plan, _outer(scope), {}, self._given(scope))

    def ways(self, found: Witness, goal: Goal, scope: Scope, more: Collection[int] = ()) -> Ways:
        """The rows of a witness with the words of the goal: the columns that tell its leaves, those of the
        goal, and `more`."""
        kept = {*found.telling, *goal, *more}
        columns = tuple(column for column in found.query.columns if column.id in kept)
        return Ways(columns, *self._answer(found.query, goal, scope, [column.id for column in columns]))

    def _answer(
        self, operator: Relational, goal: Goal, scope: Scope, outputs: Collection[int] | None
    ) -> Rows:
        known = {id: word for id, word in goal.items() if id in operator.ids}
        rounds = tuple((id(it.unrolled), it.round) for it in scope.values())
        asked = (id(operator), tuple(known.items()), rounds, None if outputs is None else tuple(outputs))
        if asked in self._answered:
            return self._answered[asked][1]
        values = self.values(operator.columns, known)
        plan = self.prepared.goal(operator, values, _variables(scope), outputs)
        found = self.rows.answer(plan, {**_outer(scope), **values}, known, self._given(scope))
        if found[0].size <= _FEW_WORDS:
            self._answered[asked] = (operator, found)
        return found

    def unroll(self, fixpoint: Fixpoint, goal: Goal, scope: Scope) -> Unrolled:
        """The recursion, restricted to what the goal can follow from where that is known beforehand."""
        own = self.values(fixpoint.columns, goal)
        found = self.prepared.recursion(fixpoint, own)
        values = {**_outer(scope), **{id: own[id] for id in found.known}}
        rounds = tuple((variable, it.round) for variable, it in scope.items())
        key = (id(found.fixpoint), tuple(values.items()), rounds)
        if key not in self._unrolled:
            self._unrolled[key] = Unrolled(found, self.prepared, self.rows, values, self._given(scope))
        return self._unrolled[key]

    def values(self, columns: tuple[Attribute, ...], goal: Goal) -> dict[int, object]:
        """The values of known words, without NULLs."""
        found = [column for column in columns if goal.get(column.id, NULL) != NULL]
        schema = Schema(tuple(Column(f"c{i}", column.type, True) for i, column in enumerate(found)))
        values = exact_row([goal[column.id] for column in found], schema, self.rows.dictionary)
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


def _variables(scope: Scope) -> dict[int, Source]:
    return {variable: it.unrolled.variables[variable] for variable, it in scope.items()}


def _outer(scope: Scope) -> dict[int, object]:
    """The values to which the recursions of a scope are restricted."""
    return {id: value for it in scope.values() for id, value in it.unrolled.values.items()}


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
