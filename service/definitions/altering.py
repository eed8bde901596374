"""Alterations: ALTER TABLE, ALTER VIEW and COMMENT.

An alteration is drafted whole, then made in the engine, then stored in the catalog; if either refuses,
nothing has changed. Views that read the altered relation are planned again and must keep their columns.
Those whose new plan is the same program over the same words keep their state, and the others are computed
again. Alterations run on the writer's thread, which computes small views; large ones are built beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.errors import EngineError, OverBudget
from engine.kernels.words import NULL
from engine.plan.clocked import CLOCK
from engine.plan.nodes import sources_of
from engine.plan.same_program import ChangedSource
from engine.runtime.carrying import CarriedState
from engine.schema import Schema
from planner.errors import PlannerError
from planner.relation import Relation
from planner.statements.alterations import Action
from planner.statements.table_rules import ForeignKey
from planner.suggestions import did_you_mean
from service.catalog.details import Seen
from service.catalog.records import Definer, Layout
from service.changes.constraints import Bonds, KeyReference, bonds_of
from service.changes.resolve import Net, Rows, sum_rows
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.assertions import check_installed
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.draft import Draft, columns_lost
from service.definitions.key_history import repeats
from service.definitions.layouts import History, Shift
from service.definitions.same_columns import check_columns_stay, check_time_stays
from service.errors import Conflict, Invalid
from service.names import check_columns


class Alterations:
    def __init__(self, definitions: Definitions) -> None:
        self.definitions = self._of = definitions

    # Tables

    def alter_table(self, name: str, actions: Sequence[Action], missing_ok: bool = False) -> list[str]:
        """Alters a table. Returns notices: which views are computed again, and why. Raises Conflict, Invalid,
        NotFound or a PlannerError, and then alters nothing."""
        if missing_ok and name not in self._of.all:
            return []
        old = self._of.known.get(name, view=False)
        draft = Draft.of(old, self._of)
        for action in actions:
            draft.take(action)
        new = draft.definition()
        check_columns(new.schema.names)
        if new.name != name:
            self._of.must_be_free(new.name)
        others = self._referring(old, new, draft.renamed)
        columns_lost(old, draft.dropped, self._of.known.readers(name))
        if draft.moves:
            return self._rebuild(old, new, draft, others)
        self._amend(old, new, draft, others)
        return []

    def _amend(self, old: Definition, new: Definition, draft: Draft, others: Sequence[Definition]) -> None:
        """Alters what leaves rows as they are: names of columns, constraints, defaults."""
        of = self._of
        readers = (
            [self._renamed(view, new, draft) for view in of.known.readers(old.name)] if draft.renamed else []
        )
        changed = {d.name: d for d in (new, *others, *readers)}
        of.check_held(*changed.values())
        before, after = of.indexes(old), of.indexes(new)
        made = [index for index in after if index not in before and not of.has_index(index)]
        self._check_rows(old, new, of.engine.snapshot.rows(old.name))
        with of.undone_by(lambda: of.drop_indexes(made)):
            of.drop_indexes(made)  # one that was made for reads may have failed
            for index in made:
                of.compute(index, after[index])
            with of.store.changing() as changing:
                for definition in changed.values():
                    changing.change(definition.record())
        of.drop_indexes(of.all_indexes(old).keys() - of.all_indexes(new).keys())
        of.replace_all({**of.all, **changed})

    def _rebuild(
        self, old: Definition, new: Definition, draft: Draft, others: Sequence[Definition]
    ) -> list[str]:
        """Alters the layout or the name of a table, and with it everything that reads the table."""
        delta, since = self._of.engine.history_of(old.name)
        shift = draft.shift(new)
        shifted = shift.apply(delta, self._of.engine.dictionary)
        shifted = new.filling.recomputed(shifted) if new.filling is not None else shifted
        self._check_history(new, shifted)
        newest = sum_rows(np.ascontiguousarray(shifted[:-2]), shifted[-1])
        self._check_rows(old, new, newest)
        dependants, again = self._dependants(old, new, draft)

        def write(changing: Definer) -> Sequence[Definition]:
            for definition in (*others, *again):
                changing.change(definition.record())
            return [*others, retired(changing, old, new, shift)]

        histories = {new.name: (shifted, since)}
        changed = _changed_source(old, new, shift)
        return self.exchange([old, *dependants], [new, *again], histories, write, changed)

    def _referring(self, old: Definition, new: Definition, renamed: Mapping[str, str]) -> list[Definition]:
        """The other tables whose foreign keys must follow the new names of the table or its columns."""

        def follow(foreign: ForeignKey) -> ForeignKey:
            if foreign.table != old.name:
                return foreign
            return replace(foreign, table=new.name, target=tuple(renamed.get(c, c) for c in foreign.target))

        changed = []
        for definition in self._of.all.values():
            rules = definition.details.rules
            if definition.name == old.name or definition.is_view:
                continue
            followed = rules.with_targets(follow)
            if followed != rules:
                details = replace(definition.details, rules=followed)
                changed.append(replace(definition, details=details))
        return changed

    def _check_rows(self, old: Definition, new: Definition, rows: Rows) -> None:
        """Raises Conflict or Invalid if the current rows violate a new constraint."""
        engine = self._of.engine
        changes = TableChanges.of(ChangeOp.INSERT, new.schema, rows[0])
        for error, _ in new.faults(changes, old.details.rules):
            raise Invalid(f"a row {error.message}", "change these rows first", code=error.code)
        known = {constraint.name for constraint in old.details.rules.constraints}
        own = bonds_of(new.relation, new.details.rules, self._of.relations)
        bonds = Bonds(tuple(bond for bond in own if bond.name not in known))
        tables = {new.name} | {bond.parent.table for bond in bonds.all if isinstance(bond, KeyReference)}
        nets = {}
        for table in tables:
            words, counts = rows if table == new.name else engine.snapshot.rows(table)
            nets[table] = Net(words, np.zeros(len(counts), np.int64), counts)
        broken = bonds.broken(nets, None, engine.dictionary)
        if broken is not None:
            raise broken.error

    def _check_history(self, new: Definition, delta: np.ndarray) -> None:
        """Raises Invalid if a NOT NULL column is NULL at a readable epoch; all of these get new columns."""
        words = delta[:-2]
        for place, column in enumerate(new.schema.columns):
            if not column.nullable and (words[place] == NULL).any():
                raise Invalid(
                    f"column {column.name} of table {new.name} would be NULL, and is NOT NULL",
                    "give it a DEFAULT",
                    code="null_not_allowed",
                )
        if new.relation.key is not None and repeats(delta, new.relation.key):
            raise Conflict(
                f"two rows of table {new.name} have one primary key, now or at an epoch that can be read",
                "change these rows, and wait until their history is gone; or add UNIQUE",
                code="unique_violated",
            )

    def _renamed(self, view: Definition, new: Definition, draft: Draft) -> Definition:
        """A view with the current names of the altered table and its columns."""

        def change(seen: Seen) -> Seen:
            if seen.relation != draft.old.name:
                return seen
            for before, after in draft.renamed.items():
                seen = seen.renamed_column(before, after)
            kept = {a: b for a, b in seen.columns.items() if b in new.schema.names}
            return replace(seen, relation=new.name, columns=kept)

        return replace(view, details=view.details.seeing(change))

    # Views

    def rename_view(self, name: str, to: str, missing_ok: bool = False) -> None:
        of = self._of
        if missing_ok and name not in of.all:
            return
        old = of.known.get(name, view=True)
        of.must_be_free(to)
        new = of.view(old.id, to, old.sql, old.dialect, old.created, old.details)
        dependants, again = self._dependants(old, new, Draft.of(old, of))

        def write(changing: Definer) -> Sequence[Definition]:
            for definition in (new, *again):
                changing.change(definition.record())
            return []

        self.exchange([old, *dependants], [new, *again], {}, write)

    def comment(self, name: str, column: str | None, text: str | None, view: bool | None) -> None:
        """Sets the comment on a table, a view or one of its columns. Removes it if there is no text."""
        definition = self._of.known.get(name, view=view)
        if column is not None and column not in definition.schema.names:
            raise Invalid(
                f"{name} has no column {column}",
                did_you_mean(column, definition.schema.names, f"it has {', '.join(definition.schema.names)}"),
                code="unknown_column",
            )
        new = replace(definition, details=definition.details.commented(column or "", text))
        with self._of.store.changing() as changing:
            changing.change(new.record())
        self._of.put(new)

    # Replacing relations

    def exchange(
        self,
        olds: Sequence[Definition],
        news: Sequence[Definition],
        histories: Mapping[str, History],
        write: Callable[[Definer], Sequence[Definition]],
        *changed: ChangedSource,
    ) -> list[str]:
        """Replaces relations, first in the engine, then in the catalog; each comes after what it reads. What
        `write` stores there and returns takes the places of definitions too. `changed` are the tables with
        other columns. Returns notices: which views are computed again, and why."""
        of = self._of
        of.check_held(*olds)
        before = {d.name: of.engine.history_of(d.name) for d in olds if not d.is_view}
        failing = {new.name for old, new in zip(olds, news, strict=True) if old.is_view and self._fails(old)}
        carried = self._carried(olds, news, changed)
        of.withdraw(olds)
        installed: list[Definition] = []
        try:
            among = {n: d for n, d in of.all.items() if n not in {old.name for old in olds}}
            among |= {definition.name: definition for definition in news}
            for old, definition in zip(olds, news, strict=True):
                if self._keeps_state(definition, carried):
                    installed.append(replace(definition, kept_from=old.maintained))
                else:
                    may_fail = definition.name in failing
                    installed.append(self._installed(definition, histories, may_fail, among))
            check_installed(installed, of.engine)
            with of.store.changing() as changing:
                written = write(changing)
        except BaseException:
            of.withdraw(news)
            for definition in olds:
                of.put(self._installed(definition, before, definition.is_view, of.all))
            raise
        gone = {old.name for old in olds}
        kept = {n: d for n, d in of.all.items() if n not in gone}
        of.replace_all({**kept, **{d.name: d for d in (*installed, *written)}})
        again = sorted(carried.reasons.items())
        return [f"view {name} is computed again: {reason}" for name, reason in again]

    def _carried(
        self, olds: Sequence[Definition], news: Sequence[Definition], changed: Sequence[ChangedSource]
    ) -> CarriedState:
        """The state that the views keep."""
        pairs = list(zip(olds, news, strict=True))
        views = [(old, new) for old, new in pairs if new.planned is not None]
        plans = {
            old.name: (new.name, new.maintained)
            for old, new in views
            if CLOCK not in sources_of(new.maintained)
        }
        renamed = [
            ChangedSource(old.relation.plan, new.relation.plan, tuple(range(len(new.schema))))
            for old, new in pairs
            if not old.is_view and old.schema == new.schema
        ]
        carried = self._of.engine.carry(plans, [*changed, *renamed])
        timed = {new.name: "it reads the time" for old, new in views if old.name not in plans}
        return replace(carried, reasons={**carried.reasons, **timed})

    def _dependants(
        self, old: Definition, new: Definition, draft: Draft | None
    ) -> tuple[list[Definition], list[Definition]]:
        """The views that read a relation, and how they are over the altered one."""
        of = self._of
        dependants = of.known.dependants(old.name)
        relations = {n: r for n, r in of.relations.items() if n != old.name} | {new.name: new.relation}
        seeing = [view if draft is None else self._renamed(view, new, draft) for view in dependants]
        return dependants, [self.again(view, view.schema, relations, new.name) for view in seeing]

    def _fails(self, view: Definition) -> bool:
        return view.failure is not None or self._of.engine.snapshot.failure(view.name) is not None

    def _installed(
        self,
        definition: Definition,
        histories: Mapping[str, History],
        may_fail: bool,
        among: Mapping[str, Definition],
    ) -> Definition:
        of = self._of
        if definition.is_view and definition.failure is None and of.is_large(definition):
            return of.compute_later(definition, "it is computed anew, because what it reads was altered")
        try:
            of.install([definition], histories, among)
        except OverBudget as error:
            return of.compute_later(definition, error.message)
        except EngineError as error:
            if not may_fail:
                raise
            return replace(definition, failure=error.message)
        return definition

    def _keeps_state(self, view: Definition, carried: CarriedState) -> bool:
        """Lets a view go on with the state that was carried over; false if it has none."""
        is_carried = view.planned is not None and view.name not in carried.reasons
        return is_carried and self._of.engine.restore_view(view.name, view.maintained, carried.ground)

    def again(
        self, view: Definition, columns: Schema, relations: dict[str, Relation], altered: str
    ) -> Definition:
        """A view planned over the altered relations, among which it is then. Raises Conflict if it fails or
        does not have the columns."""
        texts = (view.sql, view.dialect)
        try:
            made = self._of.view(view.id, view.name, *texts, view.created, view.details, relations)
        except PlannerError as error:
            if view.planned is None:
                return view
            raise Conflict(
                f"view {view.name} reads {altered} and would fail: {error.message}",
                f"drop {view.name} first",
                code="in_use",
            ) from None
        check_time_stays(view, made, altered)
        check_columns_stay(columns, made, altered)
        relations[made.name] = made.relation
        return made


def _changed_source(old: Definition, new: Definition, shift: Shift) -> ChangedSource:
    """The altered table in plans. Its generated columns are computed again."""
    generated = new.details.rules.generated
    places = (
        -1 if place in shift.retyped or name in generated else place
        for place, name in zip(shift.places, new.schema.names, strict=True)
    )
    return ChangedSource(old.relation.plan, new.relation.plan, tuple(places))


def retired(changing: Definer, old: Definition, new: Definition, shift: Shift) -> Definition:
    """Stores a table that has another layout now, under the number of this layout, which it returns."""
    layout = Layout(old.logged, old.id, old.name, old.schema, old.relation.key, shift.dump())
    numbered = replace(new, layout=changing.retire(layout))
    changing.change(numbered.record())
    return numbered
