"""Why a row is not there: the condition, the join or the group at which it fails, and the rows that lack.

A query is taken apart into leaves and conditions, with the wished values as conditions too. A leaf that has
no row with the values that it needs lacks one; otherwise, a condition without which there would be a row is
named, with what it turns away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.kernels.words import NULL
from engine.plan.expressions import Call, Cast, ColumnRef, Literal, Op
from planner.evidence.goal_plans import source_of
from planner.evidence.taken_apart import TakenApart, connected, implied, of_leaves, taken_apart
from planner.ir import (
    Aggregate,
    Attribute,
    Context,
    Distinct,
    Expression,
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
    references,
)
from planner.ir.constants import PLAIN
from planner.ir.scalar_text import ScalarText
from planner.ir.scalars import call, rewrite
from service.derivations.picked_columns import word_of
from service.derivations.program_queries import Goal, ProgramQueries, RoundState, Scope, goal_of
from service.derivations.reason import Reason

_MADE = Selection | Project | ThetaJoin | Distinct


@dataclass(eq=False)
class Absence:
    """Explains why one query lacks rows. `view_of` gives the same for a view that it reads, None for a
    table."""

    queries: ProgramQueries
    view_of: Callable[[str], Absence | None]

    def reason(self, wish: Mapping[str, int]) -> Reason:
        """Why the query has no row with the wished words, by the names of its columns."""
        goal = {c.id: wish[c.name] for c in self.queries.program.outputs if c.name in wish}
        return self._reason(self.queries.program.root, goal, {})

    def _reason(self, operator: Relational, wish: Goal, scope: Scope) -> Reason:
        """Why an operator has no row with the words of the wish."""
        wish = {id: word for id, word in wish.items() if id in operator.ids}
        match operator:
            case TableScan():
                return self._scanned(operator, wish)
            case Aggregate(input=input, keys=keys):
                return self._among(operator, input, keys, wish, scope)
            case Over(input=input):
                return self._windowed(operator, input, wish, scope)
            case Top(input=input):
                return self._chosen(operator, input, wish, scope)
            case SetOp():
                return self._combined(operator, wish, scope)
            case UnnestLists(input=input):
                return self._within("no list has such an element", operator, input, wish, scope)
            case Nearest(left=left):
                return self._within("no such row is the nearest one", operator, left, wish, scope)
            case Context(input=input, renaming=renaming):
                return self._reason(input, _renamed(renaming, wish), scope)
            case SharedRef(number=number, renaming=renaming):
                below = self.queries.program.definitions[number]
                return self._reason(below, _renamed(renaming, wish), scope)
            case Fixpoint():
                return self._recursive(operator, wish, scope)
            case RecursiveRef(name=name):
                return Reason(f"{name} has no such row", self.queries.shown(operator.columns, wish))
        if isinstance(operator, _MADE):
            return self._made(operator, wish, scope)
        return Reason("there is no such row", self.queries.shown(operator.columns, wish))

    # What is made of one row of each leaf

    def _made(self, operator: Relational, wish: Goal, scope: Scope) -> Reason:
        apart = taken_apart(operator, [id for id, word in wish.items() if word != NULL])
        if apart.leaves == (operator,):
            return Reason("there is no such row", self.queries.shown(operator.columns, wish))
        wished = list(self._wished(operator.columns, apart, wish))
        impossible = [it for it in wished if not references(it)]
        given = [*wished, *implied((*wished, *apart.conditions))]
        given = [it for it in given if references(it)]
        lacking = self._lacking(apart, given, scope)
        if lacking:
            return lacking[0] if len(lacking) == 1 else Reason("rows are missing", None, tuple(lacking))
        taken = self._taken(apart, [*given, *apart.conditions], scope)
        if taken is not None:
            return taken
        return self._turned_away(apart, given, scope, bool(impossible))

    def _wished(self, columns: tuple[Attribute, ...], apart: TakenApart, wish: Goal) -> Sequence[Expression]:
        """The wish as conditions over the leaves, as far as values can be compared."""
        values = self.queries.values(columns, wish)
        found: list[Expression] = []
        for column in columns:
            made = apart.values.get(column.id, column.ref)
            if wish.get(column.id) == NULL:
                found.append(call(Op.IS_NULL, made))
            elif column.id in values and column.type.kind in PLAIN:
                found.append(call(Op.EQ, made, Literal(values[column.id], column.type)))
        return found

    def _lacking(self, apart: TakenApart, given: Sequence[Expression], scope: Scope) -> list[Reason]:
        """The leaves that have no row with the given values, or none that meets a condition of its own."""
        found = []
        for leaf in apart.leaves:
            needed = [it for it in given if references(it) <= leaf.ids]
            if not self._has_rows([leaf], needed, scope):
                found.append(self._lacks(leaf, needed, scope))
                continue
            own = [it for it in apart.conditions if references(it) <= leaf.ids]
            for condition in own:
                if not self._has_rows([leaf], [*needed, condition], scope):
                    found.append(self._turned(leaf, needed, condition, scope))
        return found

    def _lacks(self, leaf: Relational, needed: Sequence[Expression], scope: Scope) -> Reason:
        """Why a leaf has no row with the needed values: it lacks one, or no row has a computed value."""
        known = self._words(leaf, needed)
        of_columns = [it for it in needed if references(it) <= known.keys()]
        computed = [it for it in needed if not references(it) <= known.keys()]
        if computed and self._has_rows([leaf], of_columns, scope):
            return Reason(f"no row has {self._text(computed[0], [leaf])}", None)
        return self._reason(leaf, known, scope)

    def _turned(
        self, leaf: Relational, needed: Sequence[Expression], condition: Expression, scope: Scope
    ) -> Reason:
        """A condition that turns away all rows of a leaf, with one of them."""
        query = of_leaves([leaf], needed)
        words, counts = self.queries.once(query, scope)
        row = self.queries.shown(query.columns, goal_of(query.columns, words[:, 0]))
        many = f"{int(counts.sum())} rows, such as this one" if len(counts) > 1 else "this row"
        return Reason(f"{self._text(condition, [leaf])} turns away {many}", row)

    def _taken(self, apart: TakenApart, conditions: Sequence[Expression], scope: Scope) -> Reason | None:
        """What takes the row away that there would be; None if there would be none."""
        if not apart.absent or not self._has_rows(apart.leaves, conditions, scope):
            return None
        for side, condition in apart.absent:
            query = of_leaves([*apart.leaves, side], [*conditions, condition])
            words, counts = self.queries.once(query, scope)
            if counts.size:
                row = self.queries.shown(side.columns, goal_of(query.columns, words[:, 0]))
                return Reason("a match takes the row away", row)
        return None

    def _turned_away(
        self, apart: TakenApart, given: Sequence[Expression], scope: Scope, is_impossible: bool
    ) -> Reason:
        """A condition between leaves without which there would be a row."""
        if is_impossible:
            return Reason("a column has always another value", None)
        between = [it for it in apart.conditions if not any(references(it) <= x.ids for x in apart.leaves)]
        for condition in between:
            others = [it for it in (*given, *apart.conditions) if it is not condition]
            if self._has_rows(apart.leaves, others, scope):
                return Reason(f"no rows meet {self._text(condition, apart.leaves)}", None)
        texts = " and ".join(self._text(it, apart.leaves) for it in between)
        return Reason(f"no rows meet {texts} together" if texts else "there is no such row", None)

    def _has_rows(self, leaves: Sequence[Relational], conditions: Sequence[Expression], scope: Scope) -> bool:
        return all(
            self.queries.once(of_leaves(*group), scope)[1].size for group in connected(leaves, conditions)
        )

    def _words(self, leaf: Relational, conditions: Sequence[Expression]) -> Goal:
        """The words that conditions want of a leaf's columns."""
        known: dict[int, int] = {}
        for condition in conditions:
            match condition:
                case Call(op=Op.EQ, args=(ColumnRef(index=id, type=type), Literal(value=value))):
                    known[id] = word_of(value, type, self.queries.rows.dictionary)
                case Call(op=Op.IS_NULL, args=(ColumnRef(index=id),)):
                    known[id] = NULL
        return known

    def _text(self, condition: Expression, leaves: Sequence[Relational]) -> str:
        """A condition as a reader wrote it: without casts of numbers, which types have added."""
        names = {
            c.id: f"{leaf.name}.{c.name}" if len(leaves) > 1 and isinstance(leaf, TableScan) else c.name
            for leaf in leaves
            for c in leaf.columns
        }
        return ScalarText(lambda id: names.get(id, "?"))(rewrite(condition, _without_cast))

    # Everything else

    def _scanned(self, scan: TableScan, wish: Goal) -> Reason:
        """A relation lacks a row, which has the names that its columns have now."""
        name, names = self.queries.rows.relation(scan.name), self.queries.rows.names(source_of(scan))
        places = zip(scan.columns, scan.positions, strict=True)
        columns = tuple(replace(column, name=names[place]) for column, place in places)
        row = self.queries.shown(columns, wish)
        view = self.view_of(name)
        if view is None:
            never = self._never_null(name, [c.name for c in columns if wish.get(c.id) == NULL])
            if never is not None:
                return Reason(f"column {never} of table {name} is never NULL", row)
            return Reason(f"table {name} has no such row", row, relation=name)
        wished = {column.name: wish[column.id] for column in columns if column.id in wish}
        return Reason(f"view {name} has no such row", row, (view.reason(wished),))

    def _never_null(self, table: str, names: Sequence[str]) -> str | None:
        """The first of the columns in which no row of a table can be NULL."""
        definition = self.queries.rows.definitions.get(table)
        strict = () if definition is None else definition.strict.columns
        required = {column.name for column in strict if not column.nullable}
        return next((name for name in names if name in required), None)

    def _among(
        self,
        operator: Relational,
        input: Relational,
        keys: tuple[int, ...],
        wish: Goal,
        scope: Scope,
    ) -> Reason:
        """A group that is there with other values, or has no rows."""
        wanted = {key: wish[key] for key in keys if key in wish}
        words, counts = self.queries.answer(operator, wanted, scope)
        if counts.size:
            found = goal_of(operator.columns, words[:, 0])
            return Reason("the group has other values", self.queries.shown(operator.columns, found))
        return self._within("the group has no row", operator, input, wish, scope)

    def _windowed(self, window: Over, input: Relational, wish: Goal, scope: Scope) -> Reason:
        """A row that is there with other values of the window, or is not there at all."""
        wanted = {id: word for id, word in wish.items() if id in input.ids}
        words, counts = self.queries.answer(window, wanted, scope)
        if not counts.size:
            return self._reason(input, wanted, scope)
        found = goal_of(window.columns, words[:, 0])
        return Reason("the window has other values", self.queries.shown(window.columns, found))

    def _chosen(self, top: Top, input: Relational, wish: Goal, scope: Scope) -> Reason:
        if self.queries.answer(input, wish, scope)[1].size:
            first = "all" if top.limit is None else f"{top.limit}"
            behind = f" after {top.offset}" if top.offset else ""
            row = self.queries.shown(top.columns, wish)
            return Reason(f"the row is not among the first {first}{behind}", row)
        return self._reason(input, wish, scope)

    def _within(self, rule: str, operator: Relational, input: Relational, wish: Goal, scope: Scope) -> Reason:
        inner = {id: word for id, word in wish.items() if id in input.ids}
        row = self.queries.shown(operator.columns, wish)
        if self.queries.answer(input, inner, scope)[1].size:
            return Reason(rule, row)
        return Reason(rule, row, (self._reason(input, inner, scope),))

    def _combined(self, operation: SetOp, wish: Goal, scope: Scope) -> Reason:
        sides = []
        for side, ids in ((operation.left, operation.lefts), (operation.right, operation.rights)):
            pairs = zip(operation.columns, ids, strict=True)
            sides.append((side, {id: wish[column.id] for column, id in pairs if column.id in wish}))
        row = self.queries.shown(operation.columns, wish)
        there = [bool(self.queries.answer(side, inner, scope)[1].size) for side, inner in sides]
        if operation.kind is SetKind.EXCEPT and there[0]:
            return Reason("EXCEPT takes the row away", row)
        asked = sides[:1] if operation.kind is SetKind.EXCEPT else sides
        lacking = [it for it, is_there in zip(asked, there, strict=False) if not is_there]
        causes = tuple(self._reason(side, inner, scope) for side, inner in lacking)
        rule = "no part of the union has it" if operation.kind is SetKind.UNION else "a side lacks it"
        return causes[0] if len(causes) == 1 else Reason(rule, row, causes)

    def _recursive(self, fixpoint: Fixpoint, wish: Goal, scope: Scope) -> Reason:
        """Why no round makes the row, although the rows of all rounds are there."""
        unrolled = self.queries.unroll(fixpoint, wish, scope)
        binding = unrolled.bindings[fixpoint.result]
        inner = {
            id: wish[column.id]
            for column, id in zip(fixpoint.columns, binding.outputs, strict=True)
            if column.id in wish
        }
        last = {b.variable: RoundState(unrolled, unrolled.rounds) for b in unrolled.bindings}
        row = self.queries.shown(fixpoint.columns, wish)
        cause = self._reason(binding.value, inner, {**scope, **last})
        return Reason(f"no round of {binding.name} makes the row", row, (cause,))


def _without_cast(expression: Expression) -> Expression | None:
    match expression:
        case Cast(arg=ColumnRef(type=before) as column, type=after) if before.is_numeric and after.is_numeric:
            return column
    return None


def _renamed(renaming: Sequence[tuple[Attribute, int]], wish: Goal) -> Goal:
    return {old: wish[new.id] for new, old in renaming if new.id in wish}
