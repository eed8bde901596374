"""The search for reasons: from a row of a query down to rows of tables.

An operator's witness has a row for each way in which a row is made. The search follows the first one, in the
order of the rows' words. The leaves of a witness are explained by themselves. Rows of a recursion are facts:
each is explained once, by rows of the round before the one in which it came.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from engine.kernels.words import NULL
from engine.plan.nodes import Function
from engine.schema import Column, Schema
from planner.evidence.goal_plans import source_of
from planner.evidence.one_leaf import one_leaf
from planner.evidence.witnesses import Leaf, Witness
from planner.ir import (
    Aggregate,
    Context,
    Distinct,
    Fixpoint,
    Nearest,
    Over,
    Project,
    RecursiveRef,
    Relational,
    Selection,
    SetKind,
    SetOp,
    SharedRef,
    TableScan,
    ThetaJoin,
    Top,
    UnnestLists,
    Values,
)
from service.derivations.facts import Facts
from service.derivations.program_queries import (
    Goal,
    ProgramQueries,
    RoundState,
    Scope,
    Ways,
    fitting,
    goal_of,
)
from service.derivations.reason import NO_ROW, ExplainedRow, Reason
from service.derivations.unrolled import Unrolled

_EXTREMES = (Function.MIN, Function.MAX)
_LOOKED_FOR = (Distinct, Fixpoint, Project, RecursiveRef, Selection, TableScan, ThetaJoin)
"""Operators whose rows are looked for when they are explained; others have to have them."""


@dataclass(frozen=True)
class SearchLimits:
    """The most causes that are shown of a group, and the most facts that are explained."""

    causes: int = 10
    facts: int = 500


@dataclass(eq=False)
class Search:
    """Explains rows of one query. `view_of` gives the search over a view that it reads, None for a table."""

    queries: ProgramQueries
    limits: SearchLimits
    facts: Facts
    view_of: Callable[[str], Search | None]

    def reason(self, words: tuple[int, ...]) -> Reason:
        """Why the query has a row, which is there; the facts that it cites are explained later."""
        return self._there(self.queries.program.root, self._asked(words), {})

    def _asked(self, words: tuple[int, ...]) -> Goal:
        return {c.id: word for c, word in zip(self.queries.program.outputs, words, strict=True)}

    # Operators

    def _reason(self, operator: Relational, goal: Goal, scope: Scope) -> Reason:
        """Why an operator has a row with the words of the goal."""
        match operator:
            case TableScan():
                return self._scanned(operator, goal)
            case Values():
                return Reason("a constant row", self.queries.shown(operator.columns, goal))
            case Aggregate():
                return self._group(operator, goal, scope)
            case SetOp():
                return self._combined(operator, goal, scope)
            case Over():
                return self._window(operator, goal, scope)
            case Top():
                return self._chosen(operator, goal, scope)
            case UnnestLists(input=input):
                return self._over("element of a list", operator, ((input, goal),), scope)
            case Nearest(left=left, right=right):
                sides = ((left, goal), (right, goal)) if _is_there(right, goal) else ((left, goal),)
                return self._over("nearest row", operator, sides, scope)
            case Context(input=input, renaming=renaming):
                inner = {old: goal[new.id] for new, old in renaming if new.id in goal}
                return self._some(input, inner, scope)
            case SharedRef(number=number, renaming=renaming):
                inner = {old: goal[new.id] for new, old in renaming if new.id in goal}
                return self._some(self.queries.program.definitions[number], inner, scope)
            case Fixpoint():
                return self._recursive(operator, goal, scope)
            case RecursiveRef():
                return self._cited(operator, goal, scope)
        return self._made(operator, goal, scope)

    def _there(self, operator: Relational, goal: Goal, scope: Scope) -> Reason:
        """Why an operator has a row that is there, whose columns are known. Where the row is made of one row
        of a leaf, of which it tells enough, that one need not be looked for; of a union one side is."""
        leaf, inner = one_leaf(operator, goal)
        if isinstance(leaf, SetOp) or not _telling(leaf) <= inner.keys():
            return self._some(operator, goal, scope)
        return self._reason(leaf, inner, scope)

    def _made(self, operator: Relational, goal: Goal, scope: Scope) -> Reason:
        """A row that is made from one row of each leaf; where it is there several times, in all its ways."""
        found, row = self.queries.prepared.witness(operator), self.queries.shown(operator.columns, goal)
        match found.query:
            case SetOp(kind=SetKind.UNION) as union if union.ids <= goal.keys():
                return self._first_side(union, goal, scope)
        ways = self.queries.ways(found, goal, scope)
        count = len(ways.counts)
        if not count:
            return Reason(NO_ROW, row)
        if count == 1 or self.queries.answer(operator, goal, scope)[1].sum() == 1:
            return self._one_way(found, goal_of(ways.columns, ways.words[:, 0]), row, scope)
        shown, more = self._shown_ways(found, ways, row, scope)
        return Reason(f"in {count} ways", row, shown, more=more)

    def _one_way(self, found: Witness, made: Goal, row: ExplainedRow, scope: Scope) -> Reason:
        parts = self._parts(found, made, scope)
        return parts[0] if len(parts) == 1 else Reason("row", row, tuple(parts))

    def _shown_ways(
        self, found: Witness, ways: Ways, row: ExplainedRow, scope: Scope
    ) -> tuple[tuple[Reason, ...], int]:
        """The reasons of the first rows of a witness, and how many are left out."""
        wanted = min(len(ways.counts), self.limits.causes)
        shown = ways.words.T[: self.facts.causes(wanted)]
        more = len(ways.counts) - len(shown)
        self.facts.is_cut |= more > 0
        made = [goal_of(ways.columns, each) for each in shown]
        return tuple(self._one_way(found, each, row, scope) for each in made), more

    def _parts(self, found: Witness, made: Goal, scope: Scope) -> list[Reason]:
        """The rows from which a witness has made one."""
        causes = [self._leaf(leaf, made, scope) for leaf in found.leaves if _has(leaf, made)]
        for mark, matches in found.marks:
            if made[mark] == 1:
                words, _ = self.queries.answer(matches, {id: made[id] for id in matches.left.ids}, scope)
                causes.append(self._reason(matches.right, goal_of(matches.columns, words[:, 0]), scope))
        return causes + [Reason("there is no match", None) for _ in found.absent]

    def _leaf(self, leaf: Leaf, made: Goal, scope: Scope) -> Reason:
        if isinstance(leaf.operator, TableScan) and leaf.place is not None:
            return self._placed(leaf.operator, made[leaf.place])
        return self._reason(leaf.operator, made, scope)

    def _group(self, group: Aggregate, goal: Goal, scope: Scope) -> Reason:
        keys = {key: goal[key] for key in group.keys if key in goal}
        found, row = self.queries.prepared.witness(group.input), self.queries.shown(group.columns, goal)
        extremes = [item.arguments[0] for item in group.items if item.function in _EXTREMES]
        ways = self.queries.ways(found, keys, scope, extremes)
        decisive = _decisive(group, goal, ways)
        rule = "group" if decisive.all() else f"extreme rows of {len(decisive)}"
        shown = self.queries.shown(group.input.columns, keys)
        deciding = ways._replace(words=ways.words[:, decisive], counts=ways.counts[decisive])
        causes, more = self._shown_ways(found, deciding, shown, scope)
        return Reason(rule, row, causes, more=more)

    def _members(self, input: Relational, keys: Goal, scope: Scope) -> tuple[tuple[Reason, ...], int]:
        """Why an input has its rows with some keys, and how many of them are left out."""
        found = self.queries.prepared.witness(input)
        ways = self.queries.ways(found, keys, scope)
        return self._shown_ways(found, ways, self.queries.shown(input.columns, keys), scope)

    def _first_side(self, union: SetOp, goal: Goal, scope: Scope) -> Reason:
        """Why a union has a row that is there once: one side is enough. After the first round of a recursion,
        it is more likely one that reads the round before."""
        variables = {variable for variable, state in scope.items() if state.round > 0}
        for side, inner in sorted(_sides(union, goal), key=lambda it: not _reads(it[0], variables)):
            found = self._if_there(side, inner, scope)
            if not found.is_missing:
                return found
        return Reason(NO_ROW, self.queries.shown(union.columns, goal))

    def _if_there(self, side: Relational, goal: Goal, scope: Scope) -> Reason:
        """Why a side of a union has a row, if it has it."""
        if not isinstance(side, _LOOKED_FOR) and not self.queries.answer(side, goal, scope)[1].size:
            return Reason(NO_ROW, self.queries.shown(side.columns, goal))
        return self._some(side, goal, scope)

    def _combined(self, operation: SetOp, goal: Goal, scope: Scope) -> Reason:
        row, sides = self.queries.shown(operation.columns, goal), _sides(operation, goal)
        if operation.kind is SetKind.UNION:
            found = [self._if_there(side, inner, scope) for side, inner in sides]
            causes = [cause for cause in found if not cause.is_missing]
            if not causes:
                return Reason(NO_ROW, row)
            return causes[0] if len(causes) == 1 else Reason("union", row, tuple(causes))
        kept = sides if operation.kind is SetKind.INTERSECT else sides[:1]
        causes = [self._some(side, inner, scope) for side, inner in kept]
        if operation.kind is SetKind.EXCEPT:
            causes.append(Reason("fewer such rows are taken away", None))
        return Reason(operation.kind.value, row, tuple(causes))

    def _window(self, window: Over, goal: Goal, scope: Scope) -> Reason:
        """A row with values of the rows of its partition."""
        keys = {key: goal[key] for key in window.keys if key in goal}
        causes, more = self._members(window.input, keys, scope)
        return Reason("window", self.queries.shown(window.columns, goal), causes, more=more)

    def _chosen(self, top: Top, goal: Goal, scope: Scope) -> Reason:
        """A row that is among the first ones of its group; with an OFFSET, others have to be before it."""
        keys = {key: goal[key] for key in top.keys if key in goal}
        row = self.queries.shown(top.columns, goal)
        if top.offset:
            causes, more = self._members(top.input, keys, scope)
            return Reason("first rows", row, causes, more=more)
        rule = "first rows" if top.limit is None else f"among the first {top.limit}"
        return Reason(rule, row, (self._there(top.input, goal, scope),))

    def _over(
        self, rule: str, operator: Relational, sides: tuple[tuple[Relational, Goal], ...], scope: Scope
    ) -> Reason:
        causes = []
        for side, goal in sides:
            causes.append(self._some(side, goal, scope))
        return Reason(rule, self.queries.shown(operator.columns, sides[0][1]), tuple(causes))

    def _some(self, operator: Relational, goal: Goal, scope: Scope) -> Reason:
        """Why an operator has a row of which some columns are known."""
        goal = {id: word for id, word in goal.items() if id in operator.ids}
        if not operator.ids <= goal.keys():
            words, counts = self.queries.answer(operator, goal, scope)
            if not counts.size:
                return Reason(NO_ROW, self.queries.shown(operator.columns, goal))
            goal = goal_of(operator.columns, words[:, 0])
        return self._reason(operator, goal, scope)

    def _scanned(self, scan: TableScan, goal: Goal) -> Reason:
        """A row of a table, or of a view, with the words of the goal."""
        rows = self.queries.rows.rows(source_of(scan))
        fits = np.ones(len(rows.counts), bool)
        for column, position in zip(scan.columns, scan.positions, strict=True):
            if column.id in goal:
                fits &= rows.column(position) == goal[column.id]
        found = np.flatnonzero(fits)
        if not len(found):
            return Reason(NO_ROW, self.queries.shown(scan.columns, goal))
        return self._placed(scan, int(found[0]))

    def _placed(self, scan: TableScan, place: int) -> Reason:
        """The row at a place of a table, or of a view."""
        source = source_of(scan)
        rows = self.queries.rows.rows(source)
        name, names = self.queries.rows.relation(scan.name), self.queries.rows.names(source)
        row = tuple(int(rows.column(position)[place]) for position in range(len(names)))
        columns = zip(names, source.schema.types[:-1], strict=True)
        shown = ExplainedRow(Schema(tuple(Column(name, type, True) for name, type in columns)), row)
        view = self.view_of(name)
        if view is None:
            return Reason(f"row of table {name}", shown, relation=name, times=int(rows.counts[place]))
        whole = self.queries.rows.whole(name, place)
        fact = self.facts.cite((name, whole), lambda: view.reason(whole))
        return Reason(f"row of view {name}", shown, fact=fact)

    # Recursions

    def _recursive(self, fixpoint: Fixpoint, goal: Goal, scope: Scope) -> Reason:
        unrolled = self.queries.unroll(fixpoint, goal, scope)
        binding = unrolled.bindings[fixpoint.result]
        round = unrolled.rounds
        words, _ = unrolled.state(binding.variable, round)
        fits = fitting(words, ((column, place) for place, column in enumerate(fixpoint.columns)), goal)
        row = self.queries.shown(fixpoint.columns, goal)
        return self._cite(RoundState(unrolled, round), binding.variable, words[:, fits], row)

    def _cited(self, reference: RecursiveRef, goal: Goal, scope: Scope) -> Reason:
        state = scope[reference.variable]
        words, _ = state.unrolled.state(reference.variable, state.round)
        fits = fitting(words, zip(reference.columns, reference.positions, strict=True), goal)
        row = self.queries.shown(reference.columns, goal)
        return self._cite(state, reference.variable, words[:, fits], row)

    def _cite(self, state: RoundState, variable: int, words: np.ndarray, row: ExplainedRow) -> Reason:
        """A reason that names a fact, which is explained if it is not yet."""
        if not words.shape[1]:
            return Reason(NO_ROW, row)
        unrolled = state.unrolled
        rounds = unrolled.came(variable, words, state.round)
        first, came = words[:, int(rounds.argmin())], int(rounds.min())
        name = next(b.name for b in unrolled.bindings if b.variable == variable)
        fact = (id(unrolled), variable, came, tuple(first.tolist()))
        number = self.facts.cite(fact, lambda: self._fact(unrolled, variable, first, came))
        return Reason(f"row of {name}", row, fact=number)

    def _fact(self, unrolled: Unrolled, variable: int, row: np.ndarray, came: int) -> Reason:
        """Why a row came in a round."""
        binding = next(b for b in unrolled.bindings if b.variable == variable)
        goal = dict(zip(binding.outputs, row.tolist(), strict=True))
        scope = {b.variable: RoundState(unrolled, came - 1) for b in unrolled.bindings}
        found = self._some(binding.value, goal, scope)
        columns = tuple(
            Column(c.name, binding.value.attribute(id).type, True)
            for c, id in zip(map(binding.value.attribute, binding.outputs), binding.outputs, strict=True)
        )
        shown = ExplainedRow(Schema(columns), tuple(row.tolist()))
        return Reason(f"{binding.name}, round {came}", shown, (found,))


def _telling(leaf: Relational) -> frozenset[int]:
    """The columns that have to be known of a leaf's row; of a group these are its keys, and its extremes."""
    if isinstance(leaf, Aggregate):
        extremes = (it.attribute.id for it in leaf.items if it.function in _EXTREMES)
        return frozenset((*leaf.keys, *extremes))
    return leaf.ids


def _decisive(group: Aggregate, goal: Goal, ways: Ways) -> np.ndarray:
    """Which rows of a group decide its values, bool[n]: where each value is a MIN or a MAX, those that have
    it, and otherwise all."""
    words = ways.words
    places = {column.id: place for place, column in enumerate(ways.columns)}
    decisive = np.zeros(words.shape[1], bool)
    for item in group.items:
        of_extreme = np.zeros(words.shape[1], bool)
        if item.function in _EXTREMES and goal.get(item.attribute.id, NULL) != NULL:
            of_extreme = words[places[item.arguments[0]]] == goal[item.attribute.id]
        if not of_extreme.any():
            return np.ones(words.shape[1], bool)
        decisive |= of_extreme
    return decisive if group.items else ~decisive


def _sides(operation: SetOp, goal: Goal) -> list[tuple[Relational, Goal]]:
    """The sides of a set operation, each with the goal in its own columns."""
    sides: list[tuple[Relational, Goal]] = []
    for side, ids in ((operation.left, operation.lefts), (operation.right, operation.rights)):
        pairs = zip(operation.columns, ids, strict=True)
        sides.append((side, {id: goal[column.id] for column, id in pairs if column.id in goal}))
    return sides


def _reads(operator: Relational, variables: Collection[int]) -> bool:
    """Whether an operator reads one of the recursive names, here or below."""
    if isinstance(operator, RecursiveRef) and operator.variable in variables:
        return True
    return any(_reads(input, variables) for input in operator.inputs)


def _has(leaf: Leaf, made: Goal) -> bool:
    """Whether a witness has a row of the leaf, which is none of an outer join without a match, and whether
    it says more than that a value exists."""
    if isinstance(leaf.operator, Context):
        return False
    return leaf.mark is None or made[leaf.mark] != NULL


def _is_there(right: Relational, goal: Goal) -> bool:
    return any(goal.get(id, NULL) != NULL for id in right.ids)
