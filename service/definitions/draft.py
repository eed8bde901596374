"""A draft: a table as ALTER TABLE would leave it, built action by action."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from engine.codec.numerals import explained
from engine.schema import Column, Schema, Type, keeps_words
from planner.adhoc.rowwise import with_types
from planner.errors import UnknownColumn, Unsupported
from planner.parsing.parse import parse_query
from planner.relation import Relation
from planner.rewriting.valid_times import FROM, TO
from planner.statements.alterations import (
    Action,
    AddColumn,
    AddConstraint,
    AddKey,
    DropColumn,
    DropConstraint,
    RenameColumn,
    RenameTable,
    SetDefault,
    SetNullable,
    SetSequence,
    SetType,
)
from planner.statements.indexes import SecondaryIndex
from planner.statements.table_rules import Check, ForeignKey, Identity, TableRules, Text, Unique, is_of_period
from planner.suggestions import did_you_mean
from service.definitions.definition import Definition, table_relation
from service.definitions.layouts import Shift
from service.definitions.referring import resolved
from service.errors import Conflict, Invalid, NotFound

if TYPE_CHECKING:
    from service.definitions.definitions import Definitions


@dataclass
class Draft:
    """`origins` has each column's place in `old`, None for a new column.

    `moves` says that the rows' layout or the table's name changes. `renamed` maps old names of columns to
    new ones; `dropped` has the old names of dropped columns.
    """

    old: Definition
    among: Definitions
    name: str
    columns: list[Column]
    origins: list[int | None]
    key: tuple[str, ...] | None
    rules: TableRules
    comments: dict[str, str]
    indexes: tuple[SecondaryIndex, ...] = ()
    moves: bool = False
    renamed: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, old: Definition, among: Definitions) -> Draft:
        names, key = old.schema.names, old.relation.key
        return cls(
            old,
            among,
            old.name,
            list(old.schema.columns),
            list(range(len(names))),
            None if key is None else tuple(names[i] for i in key),
            old.details.rules,
            dict(old.details.comments),
            old.details.indexes,
        )

    def take(self, action: Action) -> None:
        """Applies an action. Raises Conflict, Invalid, NotFound or a PlannerError if it is impossible."""
        match action:
            case AddColumn():
                self._add_column(action)
            case DropColumn(name=name, if_exists=if_exists):
                if not (if_exists and name not in self._names):
                    self._drop_column(name)
            case RenameColumn(name=name, to=to):
                self._rename_column(name, to)
            case RenameTable(to=to):
                self.name = to
                self.moves = True
                mine = self.old.name
                self.rules = self.rules.with_targets(lambda f: replace(f, table=to) if f.table == mine else f)
            case AddConstraint(rules=rules):
                self._add_rules(rules)
            case AddKey(columns=columns):
                self._add_key(columns)
            case SetSequence(name=name, sequence=sequence):
                self._set_sequence(name, sequence)
            case DropConstraint():
                self._drop_constraint(action)
            case SetDefault(name=name, text=text):
                self._set_default(name, text)
            case SetNullable(name=name, nullable=nullable):
                self._set_nullable(name, nullable)
            case SetType(name=name, type=type, rules=rules):
                self._set_type(name, type)
                self._set_length(name, rules)

    def definition(self) -> Definition:
        """The altered table. Raises a PlannerError if its rules are not valid."""
        relation = self._relation()
        rules = resolved(self.rules, relation, self._others())
        details = replace(self.old.details, rules=rules, comments=self.comments, indexes=self.indexes)
        return self.among.table_like(self.old, relation, details)

    def shift(self, new: Definition) -> Shift:
        """The shift from rows of the old layout to rows of the new one."""
        defaults = new.filling.defaults().tolist() if new.filling is not None else []
        words, texts = [], []
        for place, origin in enumerate(self.origins):
            if origin is None:
                word = defaults[place]
                needs_text = explained(np.array([word]), new.schema.types[place]).size > 0
                words.append(word)
                texts.append(self.among.engine.dictionary.text(word) if needs_text else None)
        places = tuple(-1 if origin is None else origin for origin in self.origins)
        return Shift(places, tuple(words), tuple(texts))

    # Actions

    def _add_column(self, action: AddColumn) -> None:
        column = action.column
        if column.name in self._names:
            if action.if_not_exists:
                return
            raise Conflict(f"table {self.name} has a column {column.name} already", code="duplicate_column")
        generated = {**self.rules.generated, **action.rules.generated}
        self.columns = list(with_types(Schema((*self.columns, column)), generated).columns)
        self.origins.append(None)
        self.moves = True
        if action.comment is not None:
            self.comments[column.name] = action.comment
        self._add_rules(action.rules)

    def _drop_column(self, name: str) -> None:
        place = self._place(name)
        self._check_period(name)
        if self.key is not None and name in self.key:
            raise Conflict(f"column {name} is in the primary key of table {self.name}", code="in_use")
        for other, text in self.rules.generated.items():
            if name in text.columns():
                raise Conflict(f"column {other} is computed from column {name}", code="in_use")
        if self.rules.watermark is not None and self.rules.watermark.column == name:
            raise Conflict(f"column {name} has the WATERMARK of table {self.name}", code="in_use")
        gone = [c for c in self.rules.constraints if name in c.columns]
        for constraint in gone:
            self._check_free(constraint)
        kept = tuple(c for c in self.rules.constraints if c not in gone)
        self.rules = replace(self.rules.without_column(name), constraints=kept)
        self.indexes = tuple(index for index in self.indexes if name not in index.all)
        self.comments.pop(name, None)
        if self.origins[place] is not None:
            self.dropped.append(self.old.schema.names[self.origins[place] or 0])
        del self.columns[place], self.origins[place]
        self.moves = True

    def _rename_column(self, name: str, to: str) -> None:
        place = self._place(name)
        self._check_period(name)
        if to in self._names:
            raise Conflict(f"table {self.name} has a column {to} already", code="duplicate_column")
        self.columns[place] = replace(self.columns[place], name=to)
        self.rules = self.rules.with_renamed_column(name, to).with_targets(
            lambda f: self._with_target(f, name, to)
        )
        self.indexes = tuple(index.renamed_column(name, to) for index in self.indexes)
        self.key = None if self.key is None else tuple(to if n == name else n for n in self.key)
        self.comments = {to if n == name else n: text for n, text in self.comments.items()}
        origin = self.origins[place]
        if origin is not None:
            self.renamed[self.old.schema.names[origin]] = to

    def _with_target(self, foreign: ForeignKey, name: str, to: str) -> ForeignKey:
        if foreign.table != self.old.name:
            return foreign
        return replace(foreign, target=tuple(to if n == name else n for n in foreign.target))

    def _add_key(self, columns: tuple[str, ...]) -> None:
        if self.rules.valid_time:
            raise Unsupported(
                f"table {self.name} has valid time, and gets no primary key later",
                "make another table with the key and insert the rows there",
            )
        if self.key is not None:
            raise Conflict(f"table {self.name} has a primary key already", code="name_in_use")
        for name in columns:
            place = self._place(name)
            self.columns[place] = replace(self.columns[place], nullable=False)
        required = tuple(name for name in self.rules.required if name not in columns)
        self.rules = replace(self.rules, required=required)
        self.key = columns
        self.moves = True

    def _set_default(self, name: str, text: Text | None) -> None:
        self._place(name)
        defaults = {n: t for n, t in self.rules.defaults.items() if n != name}
        counted = {n: i for n, i in self.rules.identities.items() if n != name or i.sequence is None}
        self.rules = replace(
            self.rules,
            defaults=defaults if text is None else {**defaults, name: text},
            identities=counted,
        )

    def _set_sequence(self, name: str, sequence: str) -> None:
        self._set_default(name, None)
        if self.columns[self._place(name)].nullable and name not in self.rules.required:
            raise Invalid(
                f"column {name} may be NULL, and a NULL takes the next number of a sequence",
                f"ALTER COLUMN {name} SET NOT NULL first",
                code="null_not_allowed",
            )
        if name in self.rules.identities or name in self.rules.generated:
            raise Conflict(f"column {name} has numbers or values of its own", code="in_use")
        numbers = [identity.number for identity in self.old.details.rules.identities.values()]
        number = max([*numbers, *(i.number for i in self.rules.identities.values())], default=-1) + 1
        identities = {**self.rules.identities, name: Identity(False, number, sequence=sequence)}
        self.rules = replace(self.rules, identities=identities)

    def _add_rules(self, rules: TableRules) -> None:
        for constraint in rules.constraints:
            if self.rules.valid_time and not isinstance(constraint, Check):
                raise Unsupported(
                    f"constraint {constraint.name} of a table with valid time is not supported",
                    "its PRIMARY KEY is unique at each valid time; assert anything else of a view over it",
                )
            if self.rules.find(constraint.name) is not None:
                raise Conflict(
                    f"table {self.name} has a constraint {constraint.name} already",
                    "name it: ADD CONSTRAINT name ...",
                    code="name_in_use",
                )
            for name in constraint.columns:
                self._place(name)
        self.rules = self.rules.merged(rules)

    def _drop_constraint(self, action: DropConstraint) -> None:
        found = self.rules.find(action.name)
        if found is None:
            if action.if_exists:
                return
            names = [c.name for c in self.rules.constraints]
            raise NotFound(
                f"table {self.name} has no constraint {action.name}",
                did_you_mean(action.name, names, f"it has {', '.join(names)}" if names else ""),
                code="unknown_constraint",
            )
        self._check_free(found)
        if self.rules.valid_time and is_of_period(found):
            self._check_period(FROM)
        kept = tuple(c for c in self.rules.constraints if c is not found)
        self.rules = replace(self.rules, constraints=kept)

    def _check_free(self, constraint: object) -> None:
        """Raises Conflict if a foreign key needs the UNIQUE."""
        if not isinstance(constraint, Unique):
            return
        for other in self.among.all.values():
            for foreign in other.details.rules.of(ForeignKey):
                if foreign.table == self.old.name and set(foreign.target) == set(constraint.columns):
                    raise Conflict(
                        f"constraint {foreign.name} of table {other.name} refers to constraint "
                        f"{constraint.name}",
                        f"drop {foreign.name} first",
                        code="in_use",
                    )

    def _check_period(self, name: str) -> None:
        """Raises Conflict for a column that belongs to the period of a table with valid time."""
        if self.rules.valid_time and name in (FROM, TO):
            raise Conflict(
                f"column {name} belongs to the period of table {self.name}",
                "a table with valid time keeps it; make another table and insert the rows there",
                code="in_use",
            )

    def _set_nullable(self, name: str, nullable: bool) -> None:
        place = self._place(name)
        self._check_period(name)
        required = tuple(n for n in self.rules.required if n != name)
        if not nullable:
            required = (*required, name) if self.columns[place].nullable else required
        elif not self.columns[place].nullable:
            if self.key is not None and name in self.key:
                raise Invalid(f"column {name} is in the primary key of table {self.name}")
            self.columns[place] = replace(self.columns[place], nullable=True)
            self.moves = True
        self.rules = replace(self.rules, required=required)

    def _set_type(self, name: str, type: Type) -> None:
        """Gives a column a type that has all values of its own. Raises Unsupported for any other."""
        place = self._place(name)
        self._check_period(name)
        old = self.columns[place].type
        if name in self.rules.generated:
            raise Conflict(
                f"column {name} is computed, and has the type of its expression",
                "change the columns that it is computed from",
                code="in_use",
            )
        if not keeps_words(old, type):
            raise Unsupported(
                f"column {name} {old} of table {self.name} cannot become {type}",
                "a type may become a wider integer, or a NUMERIC with more digits; for another one, add a "
                "column, UPDATE it from this one, and drop this one",
            )
        self.columns[place] = replace(self.columns[place], type=type)
        before = {column.name: column.type for column in self.columns}
        self.columns = list(with_types(Schema(tuple(self.columns)), self.rules.generated).columns)
        for column in self.columns:
            if not keeps_words(before[column.name], column.type):
                raise Conflict(
                    f"column {column.name} is computed from column {name}, and would become {column.type}",
                    f"drop {column.name} first",
                    code="in_use",
                )
        self.moves = self.moves or old != type

    def _set_length(self, name: str, rules: TableRules) -> None:
        """Gives a column the length of its new type, under the name of the one that it had."""
        old, new = self.rules.length_of(name), rules.constraints
        if old is not None:
            kept = tuple(c for c in self.rules.constraints if c is not old)
            self.rules = replace(self.rules, constraints=kept)
            new = tuple(replace(constraint, name=old.name) for constraint in new)
        self._add_rules(replace(rules, constraints=new))

    # The table so far

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.columns]

    def _place(self, name: str) -> int:
        if name not in self._names:
            raise UnknownColumn(
                f'table "{self.name}" has no column "{name}"',
                did_you_mean(name, self._names, f"it has {', '.join(self._names)}"),
            )
        return self._names.index(name)

    def _relation(self) -> Relation:
        schema = Schema(tuple(self.columns))
        key = None if self.key is None else tuple(schema.index(name) for name in self.key)
        made = table_relation(self.name, schema, key, self.rules)
        return made if self.moves else replace(made, plan=self.old.relation.plan)

    def _others(self) -> dict[str, Definition]:
        return {n: d for n, d in self.among.all.items() if n != self.old.name}


def columns_lost(table: Definition, dropped: Collection[str], readers: Iterable[Definition]) -> None:
    """Raises Conflict if a view's query may use a column that is dropped."""
    for view in readers:
        for name, seen in view.details.sees.items():
            if seen.relation != table.name:
                continue
            for old, now in seen.columns.items():
                if now in dropped and _mentions(view, name, old):
                    raise Conflict(
                        f"view {view.name} reads column {now} of table {table.name}",
                        f"drop {view.name} first",
                        code="in_use",
                    )


def _mentions(view: Definition, relation: str, column: str) -> bool:
    """Whether a view's query may use a column of a relation."""
    tree = parse_query(view.sql, view.dialect)
    if any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star)):
        return True
    others = {t.alias_or_name for t in tree.find_all(exp.Table) if t.name.lower() != relation.lower()}
    for node in tree.find_all(exp.Column):
        if node.name.lower() == column.lower() and node.table not in others:
            return True
    return False
