"""ALTER TABLE and ALTER VIEW."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.identifiers import column_name, fold, relation_name
from planner.parsing.script import Piece
from planner.positions import fail, refuse
from planner.relation_names import full_name, is_temporary, own_name, schema_of
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
from planner.statements.declarations import Declarations, sequence_of
from planner.statements.owner_statements import set_owner
from planner.statements.replacement_statements import applied_to_view
from planner.statements.schema_statements import rename_schema
from planner.statements.statements import Statement
from planner.statements.table_rules import Text
from planner.statements.type_statements import alter_type
from planner.statements.word_reader import WordReader

_HINT = (
    "ALTER TABLE takes ADD and DROP of COLUMN and CONSTRAINT, RENAME, and ALTER COLUMN with SET or DROP "
    "of DEFAULT and NOT NULL"
)


@dataclass(frozen=True)
class AlterTable(Statement):
    name: str
    if_exists: bool
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class RenameView(Statement):
    name: str
    to: str
    if_exists: bool


def alter(piece: Piece) -> Statement:
    found = set_owner(piece) or _moved(piece) or applied_to_view(piece)
    if found is not None:
        return found
    if piece.words(2)[1:] == ("TYPE",):
        return alter_type(piece)
    if piece.words(2)[1:] == ("SCHEMA",):
        return rename_schema(piece)
    if [token.text.upper() for token in piece.tokens[-3:]] == ["ADD", "PERIOD", "VALID_TIME"]:
        hint = "make a table with PERIOD VALID_TIME and insert the rows there"
        raise piece.unsupported("a period cannot be added", hint)
    tree = piece.parse()
    if not isinstance(tree, exp.Alter) or tree.args.get("kind") not in ("TABLE", "VIEW"):
        raise piece.unsupported(f"{' '.join(piece.words(4))} is not supported", _HINT)
    name, if_exists = relation_name(tree.this), bool(tree.args.get("exists"))
    if tree.args["kind"] == "VIEW":
        return _view(piece, tree, name, if_exists)
    actions = tuple(action for node in tree.args["actions"] for action in _actions(piece, name, node))
    if len(actions) > 1 and any(isinstance(action, RenameTable) for action in actions):
        raise piece.unsupported(
            "RENAME TO together with other actions is not supported", "write two statements"
        )
    return AlterTable(piece, name, if_exists, actions)


def _moved(piece: Piece) -> Statement | None:
    """ALTER TABLE or ALTER VIEW name SET SCHEMA schema, which sqlglot does not parse."""
    if piece.words(2)[1:] not in (("TABLE",), ("VIEW",)):
        return None
    words = [token.text.upper() for token in piece.tokens]
    if words[-3:-1] != ["SET", "SCHEMA"]:
        return None
    reader = WordReader(piece, 2, "write ALTER TABLE name SET SCHEMA schema")
    if_exists = reader.skip("IF", "EXISTS")
    name = reader.relation()
    reader.expect("SET", "SCHEMA")
    to = full_name(reader.schema(), own_name(name))
    reader.end()
    if is_temporary(name) or is_temporary(to):
        raise piece.unsupported("a table cannot become temporary, or stay if it is", "copy its rows")
    if words[1] == "VIEW":
        return RenameView(piece, name, to, if_exists)
    return AlterTable(piece, name, if_exists, (RenameTable(to),))


def _renamed(name: str, to: exp.Expression) -> str:
    """The full name of a renamed relation, which stays in its schema."""
    new = relation_name(to)
    if to.args.get("db") is None:
        return full_name(schema_of(name), own_name(new))
    if schema_of(new) != schema_of(name):
        refuse(to, "RENAME TO another schema is not supported", "use ALTER ... SET SCHEMA")
    return new


def _view(piece: Piece, tree: exp.Alter, name: str, if_exists: bool) -> RenameView:
    match tree.args["actions"]:
        case [exp.AlterRename(this=to)]:
            return RenameView(piece, name, _renamed(name, to), if_exists)
    raise piece.unsupported(
        f"{' '.join(piece.words(5))} is not supported",
        "use ALTER VIEW name RENAME TO other, or CREATE OR REPLACE VIEW",
    )


def _actions(piece: Piece, table: str, node: exp.Expression) -> list[Action]:
    match node:
        case exp.ColumnDef():
            return [_add_column(piece, table, node)]
        case exp.Schema():
            return [_add_column(piece, table, definition) for definition in node.expressions]
        case exp.Drop(kind="COLUMN"):
            _no_cascade(piece, node)
            (column,) = node.args["tables"]
            return [DropColumn(column_name(column), bool(node.args.get("exists")))]
        case exp.Drop(kind="CONSTRAINT"):
            _no_cascade(piece, node)
            (constraint,) = node.args["tables"]
            return [DropConstraint(fold(constraint.this), bool(node.args.get("exists")))]
        case exp.AlterRename(this=to):
            return [RenameTable(_renamed(table, to))]
        case exp.RenameColumn():
            return [RenameColumn(column_name(node.this), column_name(node.args["to"]))]
        case exp.AddConstraint():
            return [_add_constraint(piece, table, part) for part in node.expressions]
        case exp.AlterColumn():
            return [_alter_column(piece, table, node)]
    raise piece.unsupported(f"ALTER TABLE ... {node.sql(piece.dialect)} is not supported", _HINT)


def _add_column(piece: Piece, table: str, node: exp.ColumnDef) -> AddColumn:
    declared = Declarations(table, piece)
    declared.column(node)
    if declared.key is not None:
        raise piece.unsupported(
            "ADD COLUMN with PRIMARY KEY is not supported",
            "declare it in CREATE TABLE",
            piece.find("PRIMARY"),
        )
    (column,) = declared.columns
    if column.name in declared.rules.identities:
        raise piece.unsupported(
            "ADD COLUMN of an identity column is not supported", "declare it in CREATE TABLE"
        )
    exists = bool(node.args.get("exists"))
    return AddColumn(column, declared.rules, exists, declared.comments.get(column.name))


def _add_constraint(piece: Piece, table: str, node: exp.Expression) -> AddConstraint | AddKey:
    declared = Declarations(table, piece)
    declared.constraint(node)
    if declared.key is not None:
        return AddKey(declared.key)
    return AddConstraint(declared.rules)


def _set_type(piece: Piece, table: str, node: exp.AlterColumn) -> SetType:
    if node.args.get("using"):
        raise piece.unsupported(
            "ALTER COLUMN ... TYPE ... USING is not supported",
            "add a column of the other type, UPDATE it from this one, and drop this one",
            piece.find("USING"),
        )
    declared = Declarations(table, piece)
    column = node.find(exp.Identifier)
    declared.column(exp.ColumnDef(this=column, kind=node.args["dtype"]))
    (made,) = declared.columns
    if made.name in declared.rules.identities:
        raise piece.unsupported(
            "ALTER COLUMN ... TYPE of a serial type is not supported", "name the type that it stands for"
        )
    return SetType(made.name, made.type, declared.rules)


def _alter_column(piece: Piece, table: str, node: exp.AlterColumn) -> Action:
    name, args = column_name(node.this), node.args
    if args.get("default") is not None:
        sequence = sequence_of(args["default"], piece.names)
        if sequence is not None:
            return SetSequence(name, sequence)
        return SetDefault(name, Text(args["default"].sql(piece.dialect), piece.dialect))
    if args.get("allow_null") is not None:
        return SetNullable(name, bool(args["allow_null"]))
    if args.get("drop"):
        return SetDefault(name, None)
    if args.get("dtype") is not None:
        return _set_type(piece, table, node)
    raise piece.unsupported(f"this action on column {name} is not supported", _HINT)


def _no_cascade(piece: Piece, node: exp.Drop) -> None:
    if node.args.get("cascade"):
        raise piece.unsupported(
            "ALTER TABLE ... CASCADE is not supported",
            "first drop the objects that depend on it",
            piece.find("CASCADE"),
        )
    if len(node.args["tables"]) != 1:
        fail(InvalidQuery("DROP takes one name", "write DROP for each name, separated by commas"), node)
