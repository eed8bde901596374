"""Prepared programs: the queries about a view's rows, planned once and kept for the next questions.

A query is kept by the operator that it is about and the columns of which values are known; the values are
its parameters. Programs are kept as long as questions about them come; those of which nobody asked for the
longest time go when all together have too many operators. Nothing is kept of rows.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from engine.plan.nodes import Source
from planner.evidence.explainable import explainable, narrowed, reads_time
from planner.evidence.goal_plans import GoalPlan, filtered, goal_plan, round_plans
from planner.evidence.recursion_rounds import fixpoint_in, operators_in, parameters_in, round_of
from planner.evidence.witnesses import Witness, witness
from planner.ir import Fixpoint, RecursiveBinding, Relational, RelationalProgram

T = TypeVar("T")
_MOST_QUERIES, _MOST_OPERATORS = 256, 50_000
"""The most queries of a program that are kept, and the most operators that all kept ones have together, some
kilobytes each."""


@dataclass(frozen=True, eq=False)
class PreparedRecursion:
    """A recursion, restricted by values of the columns `known`, and its bindings over the round before."""

    fixpoint: Fixpoint
    bindings: tuple[RecursiveBinding, ...]
    known: frozenset[int]


class _Kept(NamedTuple):
    """What was made of something, and how many operators it has, about."""

    of: Relational | PreparedRecursion
    made: Any
    size: int


class PreparedProgram:
    """A program in the form in which its rows are explained. Any thread may use it."""

    def __init__(self, program: RelationalProgram, now: datetime) -> None:
        self.program, self._numbers = explainable(program, now)
        self.size = len(operators_in(*self.program.definitions, self.program.root))
        """The operators of the program, and about those of its queries."""
        self._lock = threading.RLock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

    def witness(self, operator: Relational) -> Witness:
        return self._known("witness", operator, (), lambda: witness(operator, self._numbers))

    def goal(
        self,
        operator: Relational,
        known: Collection[int],
        variables: Mapping[int, Source],
        outputs: Collection[int] | None = None,
    ) -> GoalPlan:
        """As `goal_plan`, of an operator of the program or of one that was prepared for it."""
        asked = (frozenset(known), tuple(variables.items()), None if outputs is None else tuple(outputs))
        return self._known(
            "goal", operator, asked, lambda: goal_plan(operator, self.program, known, variables, outputs)
        )

    def recursion(self, fixpoint: Fixpoint, known: Collection[int]) -> PreparedRecursion:
        """The recursion, restricted to what rows with known values can follow from where that is known
        beforehand."""
        return self._known("recursion", fixpoint, frozenset(known), lambda: self._recursion(fixpoint, known))

    def rounds(self, of: PreparedRecursion, variables: Mapping[int, Source]) -> tuple[GoalPlan, ...]:
        """As `round_plans`, of the bindings of a recursion that was prepared."""
        return self._known(
            "rounds",
            of,
            tuple(variables.items()),
            lambda: round_plans(of.bindings, self.program, variables),
        )

    def _recursion(self, fixpoint: Fixpoint, known: Collection[int]) -> PreparedRecursion:
        variables = frozenset(binding.variable for binding in fixpoint.bindings)
        wanted = filtered(fixpoint, known)
        small = narrowed(wanted, replace(self.program, root=wanted))
        found = fixpoint_in(small.root, variables) or fixpoint
        own = parameters_in(found) & fixpoint.ids
        if not own:
            found = fixpoint
        return PreparedRecursion(found, round_of(found, self.program.definitions, self._numbers), own)

    def _known(
        self, about: str, of: Relational | PreparedRecursion, asked: Hashable, make: Callable[[], T]
    ) -> T:
        """What was made of an object, which lives as long as this is kept."""
        key = (about, id(of), asked)
        with self._lock:
            if key not in self._kept:
                operator = of.fixpoint if isinstance(of, PreparedRecursion) else of
                self._kept[key] = _Kept(of, make(), len(operators_in(operator)))
                self.size += self._kept[key].size
            self._kept.move_to_end(key)
            found = self._kept[key].made
            while len(self._kept) > _MOST_QUERIES:
                self.size -= self._kept.popitem(last=False)[1].size
            return found  # type: ignore[no-any-return]


class PreparedPrograms:
    """The prepared programs of a service. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[RelationalProgram, PreparedProgram]] = OrderedDict()

    def of(self, program: RelationalProgram, now: datetime) -> PreparedProgram:
        """The prepared program of an epoch with the time `now`. Raises Unsupported as `explainable` does."""
        with self._lock:
            found = self._kept.get(id(program))
        made = PreparedProgram(program, now) if found is None else found[1]
        if found is not None or not reads_time(program):
            with self._lock:
                self._kept[id(program)] = (program, made)
                self._kept.move_to_end(id(program))
                while len(self._kept) > 1 and self._size() > _MOST_OPERATORS:
                    self._kept.popitem(last=False)
        return made

    def _size(self) -> int:
        return sum(prepared.size for _, prepared in self._kept.values())
