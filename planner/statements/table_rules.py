"""The rules of a table beyond the types of its columns: constraints, defaults and generated values.

Expressions are kept as text with their dialect; columns and tables are known by name. Nothing here knows
rows: `planner.adhoc.rowwise` makes expressions computable.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from engine.schema import Schema
from planner.dialects.systems.postgres_bits import limits_length
from planner.identifiers import fold, parts_of
from planner.parsing.dialect_parsers import trees
from planner.relation import Watermark
from planner.rewriting.valid_times import FROM, PERIODS, TO

_OF_LENGTH = re.compile("_length[0-9]*$")


@dataclass(frozen=True)
class Text:
    """A scalar expression in a dialect."""

    sql: str
    dialect: str = "postgres"

    def tree(self) -> exp.Expression:
        """The expression's tree, a new one each time."""
        (found,) = trees(self.sql, self.dialect)
        assert isinstance(found, exp.Expression)
        return found

    def columns(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset(fold(parts_of(column)[0]) for column in self.tree().find_all(exp.Column))

    def renamed(self, old: str, new: str) -> Text:
        """The expression with a column renamed."""
        tree = self.tree()
        for column in tree.find_all(exp.Column):
            name = parts_of(column)[0]  # of a struct's field, that of the struct
            if fold(name) == old:
                name.replace(exp.to_identifier(new, quoted=True))
        return replace(self, sql=tree.sql(self.dialect))


class Action(enum.Enum):
    """The action on rows that refer to a deleted row, or to one that has got another key."""

    NOTHING = "NO ACTION"
    CASCADE = "CASCADE"
    SET_NULL = "SET NULL"


@dataclass(frozen=True)
class Check:
    """Every row makes `condition` true or NULL."""

    name: str
    condition: Text

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted(self.condition.columns()))


@dataclass(frozen=True)
class Unique:
    """No two rows agree in `columns`, except rows with a NULL in them."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ForeignKey:
    """Each row without a NULL in `columns` agrees in them with the `target` columns of a row of `table`."""

    name: str
    columns: tuple[str, ...]
    table: str
    target: tuple[str, ...]
    on_delete: Action = Action.NOTHING
    on_update: Action = Action.NOTHING

    @property
    def actions(self) -> str:
        """The actions as SQL writes them behind the columns, with a space before each."""
        found = (("DELETE", self.on_delete), ("UPDATE", self.on_update))
        return "".join(f" ON {on} {a.value}" for on, a in found if a is not Action.NOTHING)


Constraint = Check | Unique | ForeignKey


def is_of_period(constraint: Constraint) -> bool:
    """Whether the constraint is the one that PERIOD VALID_TIME brings."""
    return isinstance(constraint, Check) and constraint.condition.sql == PERIODS


@dataclass(frozen=True)
class Identity:
    """An identity column, with counter `number` of its table, or with a `sequence`, by its full name.

    `always` says that SQL may not give it a value. Its nth number is `start` and n - 1 times the `increment`.
    """

    always: bool
    number: int = 0
    start: int = 1
    increment: int = 1
    sequence: str | None = None


@dataclass(frozen=True)
class TableRules:
    """The rules of one table. `defaults`, `generated` and `identities` are by column.

    `required` are columns that became NOT NULL after the table was made: past rows may have NULLs there.
    Rows of a table that is `append_only` stay as they were inserted. One with a `watermark` takes no late
    rows. Those of a table with `valid_time` hold during periods.
    """

    defaults: Mapping[str, Text] = field(default_factory=dict)
    generated: Mapping[str, Text] = field(default_factory=dict)
    identities: Mapping[str, Identity] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    required: tuple[str, ...] = ()
    append_only: bool = False
    watermark: Watermark | None = None
    valid_time: bool = False

    @property
    def judges(self) -> bool:
        """Whether rows have rules beyond the types of their columns and NOT NULL."""
        return bool(self.generated or self.identities or self.constraints or self.required or self.watermark)

    def of(self, kind: type) -> tuple:
        """The constraints of a kind."""
        return tuple(c for c in self.constraints if isinstance(c, kind))

    def find(self, name: str) -> Constraint | None:
        return next((c for c in self.constraints if c.name == name), None)

    def length_of(self, column: str) -> Check | None:
        """The CHECK that is the length of a column's type."""
        checks: Iterable[Check] = self.of(Check)
        named = (check for check in checks if _OF_LENGTH.search(check.name))
        return next((check for check in named if limits_length(check.condition.tree(), column)), None)

    def readers(self, column: str) -> list[str]:
        """The names of the constraints and generated columns that read a column."""
        found = [c.name for c in self.constraints if column in c.columns]
        found += [name for name, text in self.generated.items() if column in text.columns()]
        return [*found, *(["WATERMARK"] if self.watermark and self.watermark.column == column else [])]

    def without_column(self, name: str) -> TableRules:
        """The rules without those of this column alone."""
        return replace(
            self,
            defaults=_without(self.defaults, name),
            generated=_without(self.generated, name),
            identities=_without(self.identities, name),
            required=tuple(column for column in self.required if column != name),
        )

    def with_renamed_column(self, old: str, new: str) -> TableRules:
        """The rules of the table with a column renamed."""

        def names(columns: Iterable[str]) -> tuple[str, ...]:
            return tuple(new if name == old else name for name in columns)

        def constraint(of: Constraint) -> Constraint:
            if isinstance(of, Check):
                return replace(of, condition=of.condition.renamed(old, new))
            return replace(of, columns=names(of.columns))

        return TableRules(
            defaults=dict(zip(names(self.defaults), self.defaults.values(), strict=True)),
            generated={
                name: text.renamed(old, new)
                for name, text in zip(names(self.generated), self.generated.values(), strict=True)
            },
            identities=dict(zip(names(self.identities), self.identities.values(), strict=True)),
            constraints=tuple(map(constraint, self.constraints)),
            required=names(self.required),
            append_only=self.append_only,
            watermark=self.watermark and replace(self.watermark, column=names([self.watermark.column])[0]),
            valid_time=self.valid_time,
        )

    def with_sequences(self, change: Callable[[str], str]) -> TableRules:
        """The rules with each full name of a sequence changed by `change`."""
        identities = {
            name: i if i.sequence is None else replace(i, sequence=change(i.sequence))
            for name, i in self.identities.items()
        }
        return replace(self, identities=identities)

    def merged(self, more: TableRules) -> TableRules:
        """These rules together with `more`."""
        return TableRules(
            {**self.defaults, **more.defaults},
            {**self.generated, **more.generated},
            {**self.identities, **more.identities},
            (*self.constraints, *more.constraints),
            (*self.required, *more.required),
            self.append_only or more.append_only,
            more.watermark or self.watermark,
            self.valid_time or more.valid_time,
        )

    def with_texts(self, change: Callable[[Text], Text]) -> TableRules:
        """The rules with each expression changed by `change`."""
        return replace(
            self,
            defaults={name: change(text) for name, text in self.defaults.items()},
            generated={name: change(text) for name, text in self.generated.items()},
            constraints=tuple(
                replace(c, condition=change(c.condition)) if isinstance(c, Check) else c
                for c in self.constraints
            ),
        )

    def with_targets(self, change: Callable[[ForeignKey], ForeignKey]) -> TableRules:
        """The rules with each foreign key changed by `change`."""
        return replace(
            self, constraints=tuple(change(c) if isinstance(c, ForeignKey) else c for c in self.constraints)
        )


NO_RULES = TableRules()


def period_of(rules: TableRules, schema: Schema) -> tuple[int, int] | None:
    """The places of the period's columns in a table with valid time; None for any other."""
    return (schema.index(FROM), schema.index(TO)) if rules.valid_time else None


def _without(named: Mapping, name: str) -> dict:
    return {key: value for key, value in named.items() if key != name}
