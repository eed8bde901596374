"""Columns and constraints as declared by CREATE TABLE and ALTER TABLE.

Any property of a table that cannot be kept is refused by its name and place, never ignored. A constraint
without a name gets the name that PostgreSQL would give it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlglot import exp

from engine.schema import BIGINT, BIT, INTEGER, SMALLINT, TIMESTAMP, TIMESTAMPTZ, Column, Schema, Type
from planner.dialects.systems.postgres_bits import length_condition, length_of
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, PlannerError
from planner.identifiers import column_name, fold, relation_name
from planner.native.reference import fixed_length
from planner.parsing.namespace import Namespace
from planner.parsing.script import Piece
from planner.parsing.watermarks import WatermarkConstraint
from planner.positions import fail, refuse
from planner.relation import Watermark
from planner.relation_names import own_name
from planner.rewriting.valid_times import FROM, PERIODS, TO
from planner.sql_types import UNTYPED, data_type
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
    "NO ACTION": Action.NOTHING,
    "RESTRICT": Action.NOTHING,
    "CASCADE": Action.CASCADE,
    "SET NULL": Action.SET_NULL,
}
_LONGEST_DELAY = 3_652_500 * 86_400_000_000
"""10,000 years, in microseconds: more than lie between the times that a watermark follows."""
_USUAL = ("MATCH SIMPLE", "NOT DEFERRABLE", "DEFERRABLE", "INITIALLY DEFERRED", "INITIALLY IMMEDIATE")
"""Options of foreign keys that change nothing: all are checked when the work is done."""
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
    _watermark: Watermark | None = None
    _has_valid_time: bool = False

    @property
    def rules(self) -> TableRules:
        return TableRules(
            self._defaults,
            self._generated,
            self._identities,
            tuple(self._constraints),
            watermark=self._watermark,
            valid_time=self._has_valid_time,
        )

    def schema(self) -> Schema:
        """The columns; those of the key are NOT NULL. Raises Unsupported for a column that takes the numbers
        of a sequence, but could be NULL too: a row without a value for it gets a number."""
        key = self.key or ()
        for column in self.columns:
            identity = self._identities.get(column.name)
            if identity is not None and identity.sequence and column.nullable and column.name not in key:
                raise self.piece.unsupported(
                    f"DEFAULT nextval of column {column.name}, which may be NULL, is not supported",
                    "add NOT NULL: a NULL takes the next number",
                    self.piece.find("NEXTVAL"),
                )
        return Schema(tuple(replace(c, nullable=c.nullable and c.name not in key) for c in self.columns))

    def column(self, definition: exp.ColumnDef) -> None:
        """Add a column with everything after its type."""
        name = column_name(definition.this)
        if any(name.lower() == other.name.lower() for other in self.columns):
            fail(InvalidQuery(f"column {name} is defined twice"), definition.this)
        constraints = definition.args.get("constraints") or ()
        kinds = [constraint.args["kind"] for constraint in constraints]
        if definition.kind is None and not any(isinstance(k, exp.ComputedColumnConstraint) for k in kinds):
            fail(InvalidQuery(f"column {name} has no type"), definition)
        serial = None if definition.kind is None else _SERIALS.get(definition.kind.this)
        if serial is not None:
            self._identities[name] = Identity(False, len(self._identities))
        nullable = serial is None and self._may_be_null(definition.kind)
        self.columns.append(Column(name, serial or self._type(definition), nullable))
        self._limit_bits(name, definition.kind)
        for constraint in constraints:
            self._of_column(name, constraint, definition)

    def add_period(self) -> None:
        """Add the columns of the period during which a row is valid; the key is then unique at each time.

        Raises InvalidQuery for a column of that name, and Unsupported for a constraint between rows.
        """
        for name, nullable in ((FROM, False), (TO, True)):
            if any(column.name.lower() == name for column in self.columns):
                raise InvalidQuery(
                    f"column {name} is defined twice: PERIOD VALID_TIME adds it", "leave the column out"
                )
            self.columns.append(Column(name, TIMESTAMPTZ, nullable))
        between = next((c for c in self._constraints if isinstance(c, Unique | ForeignKey)), None)
        if between is not None:
            raise self.piece.unsupported(
                f"constraint {between.name} of a table with valid time is not supported",
                "its PRIMARY KEY is unique at each valid time; assert anything else of a view over it",
            )
        self._defaults[FROM] = Text("now()")
        self._add(Check(self._named((), "valid_time"), Text(PERIODS)))
        self.key = None if self.key is None else (*self.key, FROM)
        self._has_valid_time = True

    def constraint(self, part: exp.Expression) -> None:
        """Add a constraint of the table."""
        if isinstance(part, exp.Identifier):
            fail(InvalidQuery(f"column {column_name(part)} has no type"), part)
        if isinstance(part, WatermarkConstraint):
            self._mark(part)
            return
        name = fold(part.this) if isinstance(part, exp.Constraint) else ""
        for kind in part.expressions if isinstance(part, exp.Constraint) else [part]:
            self._of_table(name, kind)

    def _mark(self, part: WatermarkConstraint) -> None:
        """Set the watermark. Raises Unsupported unless it is a column's time less a fixed span."""
        at, expression = part.this, part.expression
        delay = 0 if at == expression else None
        span = expression.expression if isinstance(expression, exp.Sub) and expression.this == at else None
        if isinstance(span, exp.Interval | exp.Cast) and isinstance(span.this, exp.Literal):
            delay = fixed_length(span.sql("duckdb"))
        if not isinstance(at, exp.Column) or at.table or delay is None or not 0 <= delay <= _LONGEST_DELAY:
            form = "WATERMARK FOR ts AS ts - INTERVAL '5 minutes'"
            span = "a fixed span of less than 10,000 years"
            refuse(part, "this watermark is not supported", f"write {form}, with {span}")
        name = column_name(at.this)
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            fail(InvalidQuery(f"the watermark names column {name}, which the table does not have"), at)
        if found.type != TIMESTAMP:
            fail(InvalidQuery(f"the watermark is of column {name}, which is {found.type}, not TIMESTAMP"), at)
        if self._watermark is not None:
            fail(InvalidQuery("a table has at most one watermark"), part)
        self._watermark = Watermark(name, delay)

    def _may_be_null(self, type: exp.DataType | None) -> bool:
        """Whether a column of the type may be NULL if nothing else is said."""
        if type is None:
            return True
        while type.this is exp.DType.LOWCARDINALITY and type.expressions:
            type = type.expressions[0]
        return bool(type.args.get("nullable")) or not has(self.piece.dialect, Trait.ABSENT_IS_DEFAULT)

    def _limit_bits(self, name: str, type: exp.DataType | None) -> None:
        """Add the constraint that a type of bits with a length is."""
        is_limited = type is not None and self.piece.dialect == "postgres"
        condition = length_condition(name, type) if is_limited else None
        if condition is not None:
            self._add(Check(self._named((name,), "length"), self._text(condition)))

    def _type(self, definition: exp.ColumnDef) -> Type:
        """UNTYPED for a generated column that has the type of its expression."""
        if definition.kind is None:
            return UNTYPED
        try:
            if self.piece.dialect == "postgres" and length_of(definition.kind) is not None:
                return BIT
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
            case exp.DefaultColumnConstraint(this=value) if of := sequence_of(value, self.piece.names):
                self._identities[name] = Identity(False, len(self._identities), sequence=of)
            case exp.DefaultColumnConstraint(this=value):
                self._defaults[name] = self._text(value)
            case exp.ComputedColumnConstraint(this=value):
                self._generated[name] = self._text(value)
            case exp.GeneratedAsIdentityColumnConstraint() as kind if kind.expression is None:
                start, increment = self._counting(kind, definition)
                self._identify(name, bool(kind.this), start, increment)
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
        actions = {"DELETE": Action.NOTHING, "UPDATE": Action.NOTHING}
        given = more or {}
        options = [*(reference.args.get("options") or ()), *(given.get("options") or ())]
        options += [f"ON {w.upper()} {given[w].upper()}" for w in ("delete", "update") if given.get(w)]
        for option in options:
            text = str(option).upper()
            _, on, what = (*text.split(" ", 2), "", "")[:3]
            if on in actions and what in _ACTIONS:
                actions[on] = _ACTIONS[what]
            elif text not in _USUAL:
                self._refuse(text, reference)
        to = reference.this
        named = isinstance(to, exp.Schema)
        target = _names(to.expressions) if named else ()
        if target and len(target) != len(columns):
            fail(InvalidQuery(f"a foreign key of {len(columns)} columns refers to {len(target)}"), reference)
        table = relation_name(to.this if named else to)
        called = name or self._named(columns, "fkey")
        self._add(ForeignKey(called, columns, table, target, actions["DELETE"], actions["UPDATE"]))

    def _identify(self, name: str, always: bool, start: int = 1, increment: int = 1) -> None:
        self._identities[name] = Identity(always, len(self._identities), start, increment)
        self.columns[-1] = replace(self.columns[-1], nullable=False)

    def _counting(self, kind: exp.Expression, definition: exp.ColumnDef) -> tuple[int, int]:
        """The first number of an identity, and the step to the next one. Raises Unsupported for limits other
        than those of the column's type, and InvalidQuery for what is no number."""
        start, increment = (
            1 if kind.args.get(option) in (None, False) else _whole(kind.args[option])
            for option in ("start", "increment")
        )
        if start is None or not increment:
            fail(
                InvalidQuery("an identity starts with a whole number, and its increment is not 0"), definition
            )
        low = kind.args.get("minvalue")
        if kind.args.get("cycle") or (isinstance(low, exp.Expression) and _whole(low) != 1):
            word = "CYCLE" if kind.args.get("cycle") else "MINVALUE"
            raise self.piece.unsupported(
                f"{word} of an identity is not supported",
                "make a sequence, and give the column DEFAULT nextval('name')",
                self.piece.find(word, definition),
            )
        return start, increment

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


def sequence_of(value: exp.Expression, names: Namespace) -> str | None:
    """The full name of the sequence whose next number an expression is."""
    if not isinstance(value, exp.Anonymous) or value.name.lower() != "nextval" or len(value.expressions) != 1:
        return None
    return sequence_named(value.expressions[0], names)


def sequence_named(value: exp.Expression, names: Namespace) -> str | None:
    """The full name that the text in a call of a sequence's function means: `'s'`, or `'app.s'::regclass`."""
    text = value.this if isinstance(value, exp.Cast) else value
    if not isinstance(text, exp.Literal) or not text.is_string:
        return None
    (table,) = [exp.to_table(text.this, dialect="postgres")]
    full = relation_name(table)
    return full if table.args.get("db") is not None else names.meant(full, ())


def _whole(value: object) -> int | None:
    """A literal whole number; None for anything else."""
    negative = isinstance(value, exp.Neg)
    literal = value.this if isinstance(value, exp.Neg) else value
    if not isinstance(literal, exp.Literal) or literal.is_string or not literal.this.isdigit():
        return None
    return -int(literal.this) if negative else int(literal.this)


def _names(nodes: Iterable[exp.Expression]) -> tuple[str, ...]:
    return tuple(column_name(node) for node in nodes)
