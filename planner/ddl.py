"""What CREATE TABLE, CREATE VIEW and DROP say, apart from a view's query, which stays text.

A table has columns, NOT NULL and a primary key. Whatever else SQL lets a table have is
refused by its name and place, and never left out in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import TokenType

from engine.schema import Column, Schema
from planner.errors import InvalidQuery, PlannerError, Unsupported
from planner.identifiers import column_name, relation_name
from planner.positions import fail
from planner.script import Piece
from planner.types import data_type

_CONSTRAINTS: tuple[tuple[type[exp.Expression], str], ...] = (
    (exp.CheckColumnConstraint, "CHECK"),
    (exp.UniqueColumnConstraint, "UNIQUE"),
    (exp.Reference, "REFERENCES"),
    (exp.ForeignKey, "FOREIGN KEY"),
    (exp.DefaultColumnConstraint, "DEFAULT"),
    (exp.GeneratedAsIdentityColumnConstraint, "GENERATED AS IDENTITY"),
    (exp.GeneratedAsRowColumnConstraint, "GENERATED"),
    (exp.ComputedColumnConstraint, "GENERATED"),
    (exp.AutoIncrementColumnConstraint, "AUTO_INCREMENT"),
    (exp.CollateColumnConstraint, "COLLATE"),
    (exp.CommentColumnConstraint, "COMMENT"),
    (exp.ExcludeColumnConstraint, "EXCLUDE"),
    (exp.LikeProperty, "LIKE"),
    (exp.IndexColumnConstraint, "INDEX"),
)

_SELECT_1 = tuple(Dialect().tokenize("SELECT 1"))
_VIEW_FORM = "CREATE [OR REPLACE] [MATERIALIZED] VIEW name [(column, ...)] AS query"
_NO_COLUMN = ("a table needs at least one column", "CREATE TABLE name (column type, ...)")
_OPTIONS = {"replace": "OR REPLACE", "expression": "AS SELECT"}
_OPTION_HINTS = {
    "AS SELECT": "create the table with its columns, then INSERT INTO it ... SELECT",
    "OR REPLACE": "drop the table first",
    "TEMPORARY": "every table is kept",
}


def table_columns(create: exp.Create, piece: Piece) -> tuple[Schema, tuple[str, ...] | None]:
    """The columns of a CREATE TABLE and the names of its primary key's columns; None without one."""
    _refuse_options(create, piece)
    definition = create.this
    if not isinstance(definition, exp.Schema):
        raise piece.failure(*_NO_COLUMN)
    columns: list[Column] = []
    keys: list[tuple[exp.Expression, tuple[str, ...]]] = []
    for part in definition.expressions:
        if isinstance(part, exp.ColumnDef):
            column, in_key = _column(part, piece)
            if any(column.name.lower() == other.name.lower() for other in columns):
                fail(InvalidQuery(f"column {column.name} is defined twice"), part.this)
            columns.append(column)
            if in_key:
                keys.append((part, (column.name,)))
        else:
            keys.append((part, _table_key(part, piece)))
    if not columns:
        raise piece.failure(*_NO_COLUMN)
    if len(keys) > 1:
        fail(
            InvalidQuery("a table has one primary key at most", "PRIMARY KEY (a, b) takes several columns"),
            keys[1][0],
        )
    schema = Schema(tuple(columns))
    return (_with_key(schema, *keys[0]), keys[0][1]) if keys else (schema, None)


@dataclass(frozen=True)
class ViewHead:
    """A CREATE VIEW up to its AS; `query` is the token where its query begins."""

    name: str
    column_names: tuple[str, ...]
    or_replace: bool
    if_not_exists: bool
    materialized: bool
    query: int


def view_head(piece: Piece) -> ViewHead:
    if "RECURSIVE" in piece.words(4):
        raise piece.unsupported(
            "CREATE RECURSIVE VIEW is not supported",
            "CREATE VIEW name AS WITH RECURSIVE ...",
            piece.find("RECURSIVE"),
        )
    query = _query_token(piece)
    tree = replace(piece, tokens=(*piece.tokens[:query], *_SELECT_1)).parse()
    if not isinstance(tree, exp.Create):
        raise piece.failure("the definition of the view cannot be read", _VIEW_FORM)
    materialized = False
    for option in tree.args["properties"].expressions if tree.args.get("properties") else ():
        if not isinstance(option, exp.MaterializedProperty):
            word = option.sql(piece.dialect)
            raise piece.unsupported(f"CREATE VIEW with {word} is not supported", _VIEW_FORM, piece.find(word))
        materialized = True
    named = isinstance(tree.this, exp.Schema)
    return ViewHead(
        name=relation_name(tree.this.this if named else tree.this),
        column_names=tuple(column_name(c) for c in tree.this.expressions) if named else (),
        or_replace=bool(tree.args.get("replace")),
        if_not_exists=bool(tree.args.get("exists")),
        materialized=materialized,
        query=query,
    )


def drop_target(drop: exp.Drop, piece: Piece) -> tuple[str, bool]:
    """The name that a DROP drops, and whether it may be missing."""
    tables = drop.args.get("tables") or [drop.this]
    if len(tables) > 1:
        fail(Unsupported("DROP of several names at once is not supported", "drop them one by one"), tables[1])
    for option in ("cascade", "temporary", "constraints", "purge", "concurrently", "sync"):
        if drop.args.get(option):
            word = option.upper()
            raise piece.unsupported(
                f"DROP ... {word} is not supported", "drop what depends on it first", piece.find(word)
            )
    return relation_name(tables[0]), bool(drop.args.get("exists"))


def _query_token(piece: Piece) -> int:
    """The token behind the first AS outside parentheses."""
    depth = 0
    for i, token in enumerate(piece.tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.token_type == TokenType.ALIAS:
            if i + 1 == len(piece.tokens):
                raise piece.failure("the view has no query", _VIEW_FORM, i)
            return i + 1
    raise piece.failure("AS and a query are missing", _VIEW_FORM, len(piece.tokens) - 1)


def _refuse_options(create: exp.Create, piece: Piece) -> None:
    for option, value in create.args.items():
        if not value or option in ("this", "kind", "exists"):
            continue
        if option == "properties":
            word = value.expressions[0].sql(piece.dialect)
        else:
            word = _OPTIONS.get(option, option.strip("_").upper())
        raise piece.unsupported(
            f"CREATE TABLE with {word} is not supported",
            _OPTION_HINTS.get(word, "a table has columns, NOT NULL and a PRIMARY KEY"),
            piece.find(word.split()[0]),
        )


def _column(definition: exp.ColumnDef, piece: Piece) -> tuple[Column, bool]:
    """The column, and whether PRIMARY KEY stands in its definition."""
    name = column_name(definition.this)
    if definition.kind is None:
        fail(InvalidQuery(f"column {name} has no type"), definition)
    nullable, in_key = True, False
    for constraint in definition.args.get("constraints") or ():
        match constraint.kind:
            case exp.NotNullColumnConstraint() as kind:
                nullable = bool(kind.args.get("allow_null"))
            case exp.PrimaryKeyColumnConstraint():
                in_key = True
            case kind:
                _refuse(kind, f"column {name}", piece, definition)
    try:
        type = data_type(definition.kind, piece.dialect)
    except PlannerError as error:
        fail(error, definition.this)
    return Column(name, type, nullable), in_key


def _table_key(part: exp.Expression, piece: Piece) -> tuple[str, ...]:
    """The columns of a table-level PRIMARY KEY; anything else at that level is refused."""
    if isinstance(part, exp.Identifier):
        fail(InvalidQuery(f"column {column_name(part)} has no type"), part)
    named = part.expressions if isinstance(part, exp.Constraint) else [part]
    if len(named) != 1 or not isinstance(named[0], exp.PrimaryKey):
        other = next(p for p in named if not isinstance(p, exp.PrimaryKey))
        _refuse(other, "a table", piece)
    return tuple(column_name(column) for column in named[0].expressions)


def _with_key(schema: Schema, part: exp.Expression, key: tuple[str, ...]) -> Schema:
    """The schema with the key's columns NOT NULL."""
    for i, name in enumerate(key):
        if name not in schema.names:
            fail(InvalidQuery(f"the primary key names column {name}, which the table has not"), part)
        if name in key[:i]:
            fail(InvalidQuery(f"the primary key names column {name} twice"), part)
    return Schema(tuple(replace(c, nullable=c.nullable and c.name not in key) for c in schema.columns))


def _refuse(kind: exp.Expression, owner: str, piece: Piece, near: exp.Expression | None = None) -> None:
    word = next((word for node, word in _CONSTRAINTS if isinstance(kind, node)), kind.sql(piece.dialect))
    raise piece.unsupported(
        f"{word} on {owner} is not supported",
        "a table has columns, NOT NULL and a PRIMARY KEY",
        piece.find(word.split()[0], near),
    )
