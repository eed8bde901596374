"""Columns and constraints as declared by CREATE TABLE and ALTER TABLE.

Any property of a table that cannot be kept is refused by its name and place, never ignored. A constraint
without a name gets the name that PostgreSQL would give it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlglot import exp

from engine.schema import BIGINT, INTEGER, SMALLINT, Column, Schema, Type
from planner.errors import InvalidQuery, PlannerError
from planner.identifiers import column_name, fold, relation_name
from planner.parsing.script import Piece
from planner.positions import fail
from planner.relation_names import own_name
from planner.sql_types import data_type
from planner.statements.table_rules import (
    Action,
    Check,
    Constraint,
    ForeignKey,
    Identity,
    TableRules,
    Text,
    Unique,
)

_REFUSED: tuple[tuple[type[exp.Expression], str], ...] = (
    (exp.GeneratedAsRowColumnConstraint, "GENERATED"),
    (exp.CollateColumnConstraint, "COLLATE"),
    (exp.ExcludeColumnConstraint, "EXCLUDE"),
    (exp.LikeProperty, "LIKE"),
    (exp.IndexColumnConstraint, "INDEX"),
)
_SERIALS: dict[exp.DType, Type] = {
    exp.DType.SMALLSERIAL: SMALLINT,
    exp.DType.SERIAL: INTEGER,
    exp.DType.BIGSERIAL: BIGINT,
}
_ACTIONS = {
    "ON DELETE NO ACTION": Action.NOTHING,
    "ON DELETE RESTRICT": Action.NOTHING,
    "ON DELETE CASCADE": Action.CASCADE,
    "ON DELETE SET NULL": Action.SET_NULL,
    "ON UPDATE NO ACTION": None,
    "ON UPDATE RESTRICT": None,
    "MATCH SIMPLE": None,
    "NOT DEFERRABLE": None,
    "DEFERRABLE": None,
    "INITIALLY DEFERRED": None,
    "INITIALLY IMMEDIATE": None,
}
_COUNTED_BY = {"start": "START WITH", "increment": "INCREMENT BY", "minvalue": "MINVALUE"}
"""Options of an identity, as sqlglot calls them, that change its numbers unless they are 1."""
HINT = "use NOT NULL, DEFAULT, GENERATED, PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY"


@dataclass
class Declarations:
    """The declarations of `table` so far; `taken` are the names of existing constraints."""

    table: str
    piece: Piece
    taken: set[str] = field(default_factory=set)
    columns: list[Column] = field(default_factory=list)
    key: tuple[str, ...] | None = None
    comments: dict[str, str] = field(default_factory=dict)
    _defaults: dict[str, Text] = field(default_factory=dict)
    _generated: dict[str, Text] = field(default_factory=dict)
    _identities: dict[str, Identity] = field(default_factory=dict)
    _constraints: list[Constraint] = field(default_factory=list)

    @property
    def rules(self) -> TableRules:
        return TableRules(self._defaults, self._generated, self._identities, tuple(self._constraints))

    def schema(self) -> Schema:
        """The columns; those of the key are NOT NULL."""
        key = self.key or ()
        return Schema(tuple(replace(c, nullable=c.nullable and c.name not in key) for c in self.columns))

    def column(self, definition: exp.ColumnDef) -> None:
        """Add a column with everything after its type."""
        name = column_name(definition.this)
        if any(name.lower() == other.name.lower() for other in self.columns):
            fail(InvalidQuery(f"column {name} is defined twice"), definition.this)
        if definition.kind is None:
            fail(InvalidQuery(f"column {name} has no type"), definition)
        serial = _SERIALS.get(definition.kind.this)
        if serial is not None:
            self._identities[name] = Identity(False, len(self._identities))
        self.columns.append(Column(name, serial or self._type(definition), serial is None))
        for constraint in definition.args.get("constraints") or ():
            self._of_column(name, constraint, definition)

    def constraint(self, part: exp.Expression) -> None:
        """Add a constraint of the table."""
        if isinstance(part, exp.Identifier):
            fail(InvalidQuery(f"column {column_name(part)} has no type"), part)
        name = fold(part.this) if isinstance(part, exp.Constraint) else ""
        for kind in part.expressions if isinstance(part, exp.Constraint) else [part]:
            self._of_table(name, kind)

    def _type(self, definition: exp.ColumnDef) -> Type:
        try:
            return data_type(definition.args["kind"], self.piece.dialect)
        except PlannerError as error:
            fail(error, definition.this)

    def _of_column(self, name: str, constraint: exp.Expression, definition: exp.ColumnDef) -> None:
        given = fold(constraint.this) if isinstance(constraint.this, exp.Identifier) else ""
        match constraint.args["kind"]:
            case exp.NotNullColumnConstraint() as kind:
                nullable = bool(kind.args.get("allow_null"))
                self.columns[-1] = replace(self.columns[-1], nullable=nullable)
            case exp.PrimaryKeyColumnConstraint():
                self._set_key((name,), definition)
            case exp.DefaultColumnConstraint(this=value):
                self._defaults[name] = self._text(value)
            case exp.ComputedColumnConstraint(this=value):
                self._generated[name] = self._text(value)
            case exp.GeneratedAsIdentityColumnConstraint() as kind if kind.expression is None:
                self._check_counter(kind, definition)
                self._identify(name, bool(kind.this))
            case exp.AutoIncrementColumnConstraint():
                self._identify(name, False)
            case exp.CommentColumnConstraint(this=text):
                self.comments[name] = text.name
            case exp.Reference() as kind:
                self._refer(given, (name,), kind)
            case kind:
                self._of_table(given, kind, (name,), definition)

    def _of_table(
        self,
        name: str,
        kind: exp.Expression,
        columns: tuple[str, ...] = (),
        near: exp.Expression | None = None,
    ) -> None:
        match kind:
            case exp.PrimaryKey():
                self._set_key(_names(kind.expressions), kind)
            case exp.CheckColumnConstraint(this=condition):
                text = self._text(condition)
                read = columns or tuple(sorted(text.columns()))
                self._add(Check(name or self._named(read if len(read) == 1 else (), "check"), text))
            case exp.UniqueColumnConstraint():
                if kind.args.get("nulls"):
                    self._refuse("NULLS NOT DISTINCT", near)
                listed = columns if kind.this is None else _names(kind.this.expressions)
                self._add(Unique(name or self._named(listed, "key"), listed))
            case exp.ForeignKey():
                self._refer(name, _names(kind.expressions), kind.args["reference"], kind.args)
            case _:
                word = next((word for node, word in _REFUSED if isinstance(kind, node)), None)
                self._refuse(word or kind.sql(self.piece.dialect), near)

    def _refer(
        self, name: str, columns: tuple[str, ...], reference: exp.Reference, more: dict | None = None
    ) -> None:
        """A foreign key; without target columns it refers to the primary key, which the catalog knows."""
        action = Action.NOTHING
        given = more or {}
        options = [*(reference.args.get("options") or ()), *(given.get("options") or ())]
        options += [f"ON {w.upper()} {given[w].upper()}" for w in ("delete", "update") if given.get(w)]
        for option in options:
            text = str(option).upper()
            if text not in _ACTIONS:
                self._refuse(text, reference)
            action = _ACTIONS[text] or action
        to = reference.this
        named = isinstance(to, exp.Schema)
        target = _names(to.expressions) if named else ()
        if target and len(target) != len(columns):
            fail(InvalidQuery(f"a foreign key of {len(columns)} columns refers to {len(target)}"), reference)
        table = relation_name(to.this if named else to)
        self._add(ForeignKey(name or self._named(columns, "fkey"), columns, table, target, action))

    def _identify(self, name: str, always: bool) -> None:
        self._identities[name] = Identity(always, len(self._identities))
        self.columns[-1] = replace(self.columns[-1], nullable=False)

    def _check_counter(self, kind: exp.Expression, definition: exp.ColumnDef) -> None:
        """Refuse options by which an identity would count otherwise than 1, 2, 3, ..."""
        for option, words in _COUNTED_BY.items():
            value = kind.args.get(option)
            if isinstance(value, exp.Expression) and value.sql() != "1":
                near = [self.piece.find(word, definition) for word in (words.split()[0], "IDENTITY")]
                raise self.piece.unsupported(
                    f"{words} {value.sql()} of an identity is not supported",
                    "an identity counts 1, 2, 3, ...: leave the option out, or compute others from it",
                    near[0] or near[1],
                )

    def _set_key(self, columns: tuple[str, ...], node: exp.Expression) -> None:
        if self.key is not None:
            fail(
                InvalidQuery(
                    "a table has at most one primary key", "write PRIMARY KEY (a, b) for several columns"
                ),
                node,
            )
        self.key = columns
        _check_twice("the primary key", columns, node)

    def _add(self, constraint: Constraint) -> None:
        if constraint.name in self.taken:
            raise InvalidQuery(f"two constraints are named {constraint.name}")
        if not isinstance(constraint, Check):
            _check_twice(f"constraint {constraint.name}", constraint.columns, None)
        self.taken.add(constraint.name)
        self._constraints.append(constraint)

    def _named(self, columns: Iterable[str], suffix: str) -> str:
        """A name that no constraint has yet."""
        name = base = "_".join((own_name(self.table), *columns, suffix))
        number = 0
        while name in self.taken:
            number += 1
            name = f"{base}{number}"
        return name

    def _text(self, tree: exp.Expression) -> Text:
        return Text(tree.sql(self.piece.dialect), self.piece.dialect)

    def _refuse(self, word: str, near: exp.Expression | None) -> NoReturn:
        owner = f"column {column_name(near.this)}" if isinstance(near, exp.ColumnDef) else "a table"
        raise self.piece.unsupported(
            f"{word} on {owner} is not supported", HINT, self.piece.find(word.split()[0], near)
        )


def check_columns(declared: Declarations, names: Iterable[str]) -> None:
    """Raise InvalidQuery if a key or constraint names a column that the table, with columns `names`,
    lacks."""
    known = set(names)
    whose = {"the primary key": declared.key or ()}
    whose |= {f"constraint {c.name}": c.columns for c in declared.rules.constraints}
    whose |= {f"column {name}": tuple(text.columns()) for name, text in declared.rules.generated.items()}
    for who, columns in whose.items():
        for name in columns:
            if name not in known:
                raise InvalidQuery(f"{who} names column {name}, which the table does not have")


def _check_twice(who: str, columns: tuple[str, ...], node: exp.Expression | None) -> None:
    for i, name in enumerate(columns):
        if name in columns[:i]:
            fail(InvalidQuery(f"{who} names column {name} twice"), node)


def _names(nodes: Iterable[exp.Expression]) -> tuple[str, ...]:
    return tuple(column_name(node) for node in nodes)
